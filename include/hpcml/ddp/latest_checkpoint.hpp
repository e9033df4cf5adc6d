// SPDX-License-Identifier: MIT
// Which checkpoint a training resumes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcml::ddp {

/// Returns the steps of all entries named step-N in `directory`, complete or not, newest first. N has no
/// leading zeros.
std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& directory);

enum class CheckpointCheck {
  sizes,     ///< the file `complete`, and that the files it lists exist with their sizes
  checksums, ///< also their contents: reads all bytes
};

/// Why a checkpoint cannot be used.
struct CheckpointProblem {
  std::string text;        ///< "FILE: why"; empty: the checkpoint is complete
  bool unfinished = false; ///< it has no file `complete`: its writer did not finish it
  explicit operator bool() const { return !text.empty(); }
};
CheckpointProblem find_checkpoint_problem(const std::filesystem::path& checkpoint, CheckpointCheck check);

/// Returns the step of the newest complete checkpoint in `directory`, by the sizes of its files; -1: none.
std::int64_t find_latest_checkpoint(const std::filesystem::path& directory);

/// Returns the path of the checkpoint of that step, whether it exists or not.
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::int64_t step);

} // namespace hpcml::ddp
