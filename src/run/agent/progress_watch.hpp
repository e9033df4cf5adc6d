// SPDX-License-Identifier: MIT
// Signs of life of a node's ranks: their output, their progress files, and accesses to the store.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "run/agent/stall_watch.hpp"
#include "run/launch/output_relay.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::agent {

class ProgressWatch {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// `files`: of each local rank; `activity`: of the store that this agent serves; null: none.
  ProgressWatch(std::chrono::seconds limit, Time start, std::vector<std::string> files,
                const store::SharedStoreActivity* activity)
      : x_stall(limit, start), x_files(std::move(files)), x_states(x_files.size()), x_activity(activity) {}

  /// Returns the event for the coordinator: the ranks became quiet, or busy again; nothing if unchanged.
  std::optional<QuietEvent> look(const launch::OutputRelay& output);
  /// When to look next at the latest.
  Time due() const { return x_stall.due(); }

private:
  StallWatch x_stall;
  std::vector<std::string> x_files;
  std::vector<std::string> x_states; ///< of the files when they were seen last
  const store::SharedStoreActivity* x_activity;
};

} // namespace hpcml::agent
