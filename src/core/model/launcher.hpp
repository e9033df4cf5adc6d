// SPDX-License-Identifier: MIT
// What starts the ranks of a job: hpcml, an agent on each node, or the program that starts tasks itself. All
// that is known of one is its row in launcher_rows.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::model {

struct LauncherRow;

/// How the ranks come to be in a script that gen writes.
enum class RankStartMethod : std::uint8_t {
  launch, ///< `hpcml launch` in every task
  agent,  ///< one agent per node starts them
  tasks,  ///< they are tasks, and read their place from the environment
  nobody, ///< gen writes no script with it: it is known in scripts of others
};

/// A launcher by its name: "hpcml", "torchrun", "srun", "bede-mpirun". Whether a site has it is the site's
/// affair.
class Launcher {
public:
  Launcher(); ///< hpcml
  static util::Result<Launcher> parse(std::string_view name);
  /// What is known of its kind.
  const LauncherRow& row() const { return *x_row; }
  const std::string& name() const { return x_name; }
  /// True where `hpcml launch` runs in the tasks; else the script is plain and needs no hpcml on the node.
  bool is_hpcml() const { return ranks_by() == RankStartMethod::launch; }
  /// True where one agent per node starts the ranks.
  bool is_agent() const { return ranks_by() == RankStartMethod::agent; }
  /// True for a program that starts tasks itself: its name stands for the site's own.
  bool is_step() const;

private:
  RankStartMethod ranks_by() const;
  const LauncherRow* x_row;
  std::string x_name;
};

/// What is known of the launcher of this name, or of the one that a site's prefix is before ("bede-mpirun");
/// nothing of other programs.
const LauncherRow* find_launcher(std::string_view name);
/// The launchers that an environment of Python has next to its pip.
std::vector<std::string_view> python_launchers();
/// The launcher that `python -m MODULE` is ("torch.distributed.run" is torchrun); empty for other modules.
std::string_view launcher_of_module(std::string_view module);
/// Whether the text may hold a launcher's name or module.
bool may_name_launcher(std::string_view text);
/// Whether the text has the words that start a launcher: "srun ", "accelerate launch".
bool starts_launcher(std::string_view text);
/// True for the name of a program that starts tasks: srun, ibrun, mpirun, …, or one of these with a prefix.
bool starts_tasks(std::string_view name);

} // namespace hpcml::model
