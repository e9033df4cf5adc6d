// SPDX-License-Identifier: MIT
// The libraries that a compiled program asks its loader for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/find_torch/find_torch.hpp"

namespace hpcml::find_torch {

/// What the dynamic section of a program says.
struct ElfNeeds {
  std::vector<std::string> libraries; ///< DT_NEEDED: "libtorch_cpu.so"
  std::vector<std::string> folders;   ///< DT_RUNPATH, else DT_RPATH, with $ORIGIN as it is written
};

/// Reads a 64-bit program of this machine's byte order; nothing where it is none or is cut short. A program
/// that is linked statically needs nothing.
std::optional<ElfNeeds> read_elf_needs(const std::string& path, const FileView& files);

} // namespace hpcml::find_torch
