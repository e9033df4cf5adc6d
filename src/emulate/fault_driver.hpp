// SPDX-License-Identifier: MIT
// Makes things go wrong on an emulated cluster, at their times, while the user's command runs.
#pragma once

#include <string>
#include <vector>

#include "core/util/child.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/cluster_start.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// Whether this sandbox can have the run's faults; the error says what is missing.
util::Status check_faults(const Sandbox& sandbox, const ClusterRunOptions& run);

/// A process next to the command that waits for the first job, then for each fault's time, and says each that
/// happens. Without faults there is none.
class FaultDriver {
public:
  FaultDriver(Sandbox& sandbox, const ClusterRunOptions& run, const SlurmDaemons& daemons);
  ~FaultDriver();
  FaultDriver(const FaultDriver&) = delete;
  FaultDriver& operator=(const FaultDriver&) = delete;
  /// Ends it; a sentence for each fault that has not happened.
  std::vector<std::string> finish();

private:
  struct Shared;
  void inject_faults(Sandbox& sandbox, const SlurmDaemons& daemons);
  void stop();
  const ClusterRunOptions& x_run;
  Shared* x_shared = nullptr; ///< memory that both processes see
  util::ChildProcess x_child;
};

} // namespace hpcml::emulate
