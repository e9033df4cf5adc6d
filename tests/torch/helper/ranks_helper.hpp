// SPDX-License-Identifier: MIT
// Starts ranks as processes with their variables set by hand: no launcher of ours is involved.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/util/process.hpp"
#include "torch/helper/tested_build.hpp"

namespace torch_test {

struct Run {
  std::map<int, hpcml::util::ProcessOutput> ranks;
  double seconds = 0;

  /// All JSON events of this name from the rank's stdout.
  std::vector<nlohmann::json> events(int rank, const std::string& name) const;
  /// Everything that was printed, for INFO.
  std::string transcript() const;
};

/// Runs `words(rank)` for each rank of `present` in a world of `world_size`, all at once, and waits for all.
Run run_ranks(int world_size, const std::vector<int>& present,
              const std::function<std::vector<std::string>(int)>& words,
              const std::map<std::string, std::string>& extra_env = {}, int port = 0);

/// All ranks of the world, with the same words: `first`, then `more`.
Run run_all_ranks(int world_size, std::vector<std::string> first, const std::vector<std::string>& more);

/// The programs under test.
std::string helper_path();
std::string train_path();
std::string resume_path();

} // namespace torch_test
