// SPDX-License-Identifier: MIT
// Checkpoints that are complete or not there, and a training that resumes as if it had never stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include "hpcml/ddp/distributed_sampler.hpp"
#include "hpcml/ddp/latest_checkpoint.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

/// What a training is made of. The random state of each rank (of the CPU, and of its GPU) is saved besides.
struct TrainingState {
  torch::nn::Module& module;
  torch::optim::Optimizer& optimizer;
  DistributedSampler* sampler = nullptr; ///< nullptr: none, or its position is the program's own matter
  std::map<std::string, at::Tensor> values =
      {}; ///< the program's own values, from rank 0; loaded into existing ones, by name
};

/// What was loaded.
struct Resumed {
  std::int64_t step = -1;                ///< that was saved last; -1: there was nothing
  int world_size = 0;                    ///< that saved it; if it differs, random states stay unchanged
  std::vector<std::string> skipped = {}; ///< newer checkpoints, newest first: "FILE: why it cannot be used"
  explicit operator bool() const { return step >= 0; }
};

/// Writes `directory`/step-N, on all ranks together, and keeps the newest two. Rank 0 writes to .step-N.part
/// in the same directory, waits for the disk and renames it, so that load_checkpoint never uses an incomplete
/// one. Returns on all ranks when it is written; throws std::runtime_error on all, with rank 0's reason, if
/// that fails: the training can continue. A complete checkpoint is a directory step-N with a file `complete`:
/// a first line "hpcml-checkpoint 1", then a line "SIZE CRC32 NAME" for each other file, in bytes and
/// lower-case hexadecimal digits.
void save_checkpoint(ProcessGroup& group, const std::filesystem::path& directory, std::int64_t step,
                     const TrainingState& state);

/// Loads the newest checkpoint whose bytes are those that were saved, the same on all ranks. Rank 0 chooses
/// it and reports each newer one that is incomplete or damaged, with file and reason, in a line on standard
/// error. Every rank reads it by itself, so the directory must be on storage that all nodes share. Throws
/// Error if a rank does not find it or reads other bytes, and std::runtime_error on all ranks if there are
/// only damaged ones. Without any, or with unfinished ones alone, nothing is loaded.
Resumed load_checkpoint(ProcessGroup& group, const std::filesystem::path& directory, TrainingState& state);

} // namespace hpcml::ddp
