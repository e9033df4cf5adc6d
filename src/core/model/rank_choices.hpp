// SPDX-License-Identifier: MIT
// What may be chosen for the ranks: the process group's backend and its store, what a rank sees of the GPUs.
#pragma once

#include <array>

#include "core/model/enum_names.hpp"

namespace hpcml::model {

/// What carries the process group. `automatic`: NCCL if there are GPUs, else Gloo.
enum class Backend { automatic, nccl, gloo };

template <>
inline constexpr std::array<NamedValue<Backend>, 3> k_words<Backend> = {
    {{"auto", Backend::automatic}, {"nccl", Backend::nccl}, {"gloo", Backend::gloo}}};

/// What a rank sees of the node's GPUs: all of them, or only its own.
enum class GpuVisibilityMode { all, own };

template <>
inline constexpr std::array<NamedValue<GpuVisibilityMode>, 2> k_words<GpuVisibilityMode> = {
    {{"all", GpuVisibilityMode::all}, {"own", GpuVisibilityMode::own}}};

/// Whether cores of NUMA nodes that have no GPU are dealt out, to the ranks of the same package.
enum class IdleCorePolicy { none, package };

template <>
inline constexpr std::array<NamedValue<IdleCorePolicy>, 2> k_words<IdleCorePolicy> = {
    {{"none", IdleCorePolicy::none}, {"package", IdleCorePolicy::package}}};

/// What happens when a rank has not what its plan says.
enum class BindCheckAction { none, warn, fail };

template <>
inline constexpr std::array<NamedValue<BindCheckAction>, 2> k_words<BindCheckAction> = {
    {{"warn", BindCheckAction::warn}, {"fail", BindCheckAction::fail}}};

/// Who serves the store where the ranks' programs connect: hpcml, rank 0's program, or by what torch it is.
enum class StoreProvider { automatic, own, env };

template <>
inline constexpr std::array<NamedValue<StoreProvider>, 3> k_words<StoreProvider> = {
    {{"auto", StoreProvider::automatic}, {"own", StoreProvider::own}, {"env", StoreProvider::env}}};

/// Whether GPUs may compute float32 in TF32, which is faster and has ten bits after the point.
enum class Tf32 { on, off };

template <>
inline constexpr std::array<NamedValue<Tf32>, 2> k_words<Tf32> = {{{"on", Tf32::on}, {"off", Tf32::off}}};

} // namespace hpcml::model
