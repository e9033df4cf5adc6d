// SPDX-License-Identifier: MIT
// Folders of checkpoints: written whole, checked, the last ones kept. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "hpcml/ddp/latest_checkpoint.hpp"

namespace hpcml::ddp {

inline constexpr std::size_t k_kept_checkpoints = 2;

/// Writes the files (name → bytes) as checkpoint `step`; throws std::runtime_error with path and reason. One
/// of that step that is there already is replaced. Then removes older whole ones, and what earlier writers
/// left half.
void write_checkpoint(const std::filesystem::path& folder, std::int64_t step,
                      const std::map<std::string, std::string>& files);
/// The bytes of a file of a checkpoint; throws where it is not what `complete` says.
std::string read_checkpoint_file(const std::filesystem::path& folder, std::int64_t step,
                                 const std::string& name);
/// As zlib's.
std::uint32_t crc32(const std::string& bytes);

} // namespace hpcml::ddp
