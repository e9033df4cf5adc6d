// SPDX-License-Identifier: MIT
// Folders of checkpoints: written whole, checked, the last ones kept. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hpcml/ddp/latest_checkpoint.hpp"

namespace hpcml::ddp {

inline constexpr std::size_t k_kept_checkpoints = 2;

/// Writes the files (name → bytes) as checkpoint `step`; throws std::runtime_error with path and reason. One
/// of that step that is there already is replaced. Then removes older whole ones, and what earlier writers
/// left half.
void write_checkpoint(const std::filesystem::path& directory, std::int64_t step,
                      const std::map<std::string, std::string>& files);
/// Returns the bytes of a file of a checkpoint; throws std::runtime_error if they are not what `complete`
/// lists.
std::string read_checkpoint_file(const std::filesystem::path& directory, std::int64_t step,
                                 const std::string& name);

/// A file of the newest checkpoint whose files are all intact.
struct UsableCheckpoint {
  std::int64_t step = -1;           ///< -1: no checkpoint can be used
  std::string bytes;                ///< of the file
  std::vector<std::string> skipped; ///< newer checkpoints, newest first: "FILE: why it cannot be used"
  bool damaged = false;             ///< one of them was complete once
};
UsableCheckpoint find_usable_checkpoint(const std::filesystem::path& directory, const std::string& name);

} // namespace hpcml::ddp
