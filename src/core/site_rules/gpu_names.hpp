// SPDX-License-Identifier: MIT
// How requests name kinds of GPUs and parts of them.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"

namespace hpcml::site_rules {

/// The MIG instance that Slurm calls so, or none.
const model::MigInstanceType* find_slice(const model::GpuShape& gpu, const std::string& type);

/// True if GPUs of this kind, or parts of them, are asked for by `type`.
bool has_gpu_type(const model::GpuShape& gpu, const std::string& type);

/// The names that Slurm has for the GPUs of these nodes and for their parts, each once; empty where one of
/// the GPUs has none that the profile knows.
std::vector<std::string> gpu_type_names(const std::vector<const model::NodeType*>& nodes);

/// What a request calls the node's GPUs: Slurm's name for them, else the node type's own.
std::string gpu_name(const model::NodeType& node);

/// Slurm's names for the GPUs of those nodes that are not called `chosen`, each once.
std::vector<std::string> other_gpu_types(const std::vector<const model::NodeType*>& nodes,
                                         const std::string& chosen);

/// What the GPUs of the nodes are, each once: "NVIDIA A100 80GB".
std::vector<std::string> gpu_models(const std::vector<const model::NodeType*>& nodes);

/// Whether a GPU whose name in Slurm is not known can be of the type, by what users call it.
bool may_be_type(const model::GpuShape& gpu, const std::string& type);

} // namespace hpcml::site_rules
