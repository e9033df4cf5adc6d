// SPDX-License-Identifier: MIT
#include "run/resolve/task_starter.hpp"

#include <algorithm>
#include <initializer_list>

namespace hpcml::launch {

namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* candidate) { return name == candidate; });
}

struct StepTitle {
  std::string job;
  std::string step; ///< "4", "4+1", "batch"
};

/// Of "slurmstepd: [123.4+1]"; empty where the title is another.
StepTitle read_title(const std::string& title) {
  const auto open = title.find('['), close = title.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const auto id = title.substr(open + 1, close - open - 1);
  const auto dot = id.find('.');
  if (dot == std::string::npos) return {};
  return {id.substr(0, dot), id.substr(dot + 1)};
}

} // namespace

TaskStarter evaluate_ancestors(const std::vector<std::string>& names, const std::string& job) {
  bool direct = true;
  for (const auto& name : names) {
    if (is_one_of(name, {"mpirun", "mpiexec", "orterun", "prterun", "orted", "prted", "mpiexec.hydra",
                         "hydra_pmi_proxy", "mpispawn", "mpirun_rsh"}))
      return TaskStarter::mpi;
    if (name.starts_with(k_step_daemon)) {
      const auto title = read_title(name);
      if (is_one_of(title.step, {"batch", "interactive", "extern"}))
        return title.job == job ? TaskStarter::script : TaskStarter::unknown;
      if (title.step.find('+') != std::string::npos) return TaskStarter::component;
      return direct ? TaskStarter::task : TaskStarter::below;
    }
    direct = direct && is_one_of(name, {"sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh"});
  }
  return TaskStarter::unknown;
}

} // namespace hpcml::launch
