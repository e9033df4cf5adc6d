// SPDX-License-Identifier: MIT
// Directories of checkpoints: written atomically and checked; the last ones are kept. Without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hpcml/ddp/latest_checkpoint.hpp"

namespace hpcml::ddp {

inline constexpr std::size_t k_kept_checkpoints = 2;

/// Writes the files (name → bytes) as checkpoint `step`, and replaces an existing one of that step; throws
/// std::runtime_error with path and reason. Then removes older complete checkpoints, and incomplete ones of
/// earlier writers.
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
