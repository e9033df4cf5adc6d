// SPDX-License-Identifier: MIT
// What starts the ranks of a job: hpcml, an agent on each node, or the program that starts tasks itself.
#pragma once

#include <string>
#include <string_view>

#include "util/result.hpp"

namespace hpcml::model {

/// How the ranks come to be.
enum class LauncherKind {
  hpcml,      ///< `hpcml launch` in every task
  torchrun,   ///< one agent per node
  accelerate, ///< one agent per node
  deepspeed,  ///< ranks as tasks: it reads them from the environment, and its own launcher would want ssh
  tasks,      ///< ranks as tasks of srun, ibrun, mpirun, …
};

/// A launcher by its name: "hpcml", "torchrun", "srun", "bede-mpirun". Whether a site has it is the site's
/// affair.
class Launcher {
public:
  Launcher() = default; ///< hpcml
  static util::Result<Launcher> parse(std::string_view name);
  LauncherKind kind() const { return x_kind; }
  const std::string& name() const { return x_name; }
  /// True where `hpcml launch` runs in the tasks; else the script is plain and needs no hpcml on the node.
  bool is_hpcml() const { return x_kind == LauncherKind::hpcml; }
  /// True where one agent per node starts the ranks.
  bool is_agent() const { return x_kind == LauncherKind::torchrun || x_kind == LauncherKind::accelerate; }

private:
  LauncherKind x_kind = LauncherKind::hpcml;
  std::string x_name = "hpcml";
};

/// True for the name of a program that starts tasks: srun, ibrun, mpirun, mpiexec, jsrun, aprun, or one of
/// these with a prefix.
bool starts_tasks(std::string_view name);

} // namespace hpcml::model
