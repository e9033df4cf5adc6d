// SPDX-License-Identifier: MIT
// The store that a script serves for the ranks of its steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/store/rendezvous_service.hpp"

namespace hpcml::launch {

/// What a script asks for.
struct ScriptStoreRequest {
  std::vector<std::string> addresses;  ///< numeric; none: those of the name, or all of this node's
  std::uint16_t port = 0;              ///< 0: with a name one of the job's, else any that is free
  std::chrono::seconds warn_after{20}; ///< time after which waits are reported
  std::string name;                    ///< name of this node for the ranks
  bool with_parent = false;            ///< until the process that has started this one ends
};

/// Serves the job of `env` until SIGTERM, SIGINT or SIGHUP, or until its parent exits. With `with_parent`,
/// these signals are ignored if Slurm or the terminal sends them. Once ranks can connect, `ready` receives
/// HOST:PORT, or only the port if there is no name. `report` receives messages. Only launchers with the job's
/// key are served (`find_job_channel`).
util::Status serve_for_script(const ScriptStoreRequest& options, const util::EnvSnapshot& env,
                              const std::function<void(const std::string&)>& ready,
                              const store::RendezvousService::MessageSink& report);

} // namespace hpcml::launch
