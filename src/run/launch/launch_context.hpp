// SPDX-License-Identifier: MIT
// The environment of a launch, with what it uses to ask and to report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/system.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::launch {

/// What runs the preflight's checks.
struct PreflightProgram {
  std::vector<std::string> words; ///< to which "preflight" and its flags are added
  std::string note;               ///< a note for the log if it is not the helper of this hpcml; else empty
};
/// Finds it for the torch of a command, with a rank's environment.
using ChoosePreflight = std::function<util::Result<PreflightProgram>(const std::vector<std::string>& command,
                                                                     const util::EnvSnapshot& env)>;

/// Returns why Slurm ends this job, or nothing if Slurm does not answer soon.
using AskSlurm = std::function<std::optional<model::FailureClass>()>;

/// The fabric of the site that this machine is known to belong to, as its profile describes it; empty if
/// unknown. Reading a profile takes as long as the rest of launch.
using FindFabric = std::function<std::string()>;

struct RuntimeContext : ProcessContext {
  std::string program; ///< path of the running hpcml
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  ChoosePreflight choose_preflight;   ///< set where ranks may have --preflight
  AskSlurm ask_slurm;                 ///< may be unset
  FindFabric find_fabric;             ///< may be unset
  System* system = &System::native(); ///< that performs the launch
};

} // namespace hpcml::launch
