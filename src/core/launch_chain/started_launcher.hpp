// SPDX-License-Identifier: MIT
// The launcher that a command starts: what a user wrote after `--`, or a rank is about to run.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/launch_chain/programs.hpp"
#include "core/model/launcher_row.hpp"

namespace hpcml::launch_chain {

/// A launcher among the words of a command, also after `env` or a container's words, and in the text of a
/// `bash -c`.
struct StartedLauncher {
  std::string name;    ///< "torchrun" (also for `python -m torch.distributed.run`), "srun", "bede-mpirun"
  std::string written; ///< as written in the script: "python -m torch.distributed.run"
  const model::LauncherRow* row = nullptr; ///< what is known of it; never nothing in one that was found
  Role role = Role::agent; ///< agent: starts processes on its node; step: tasks on the nodes of the job
  bool first = false;      ///< the command's own program is the launcher, and nothing else is around it
  bool in_text = false;    ///< in a shell's text: there may be more in it than the launcher
  bool complete = true;    ///< false: there may be more options than those that are known
  bool sure = true; ///< false: what is next to it (another launcher, torchrun's variables, a file that is
                    ///< read) may set more
  std::vector<std::string> prefixes; ///< what is before it, where it is a word of the command itself
  /// Its options in order, first those set by variables, without leading dashes and with "_" instead of "-"
  /// ("nproc_per_node"), and their values.
  std::vector<std::pair<std::string, std::optional<std::string>>> options;
  std::vector<std::string> option_words; ///< the same as they were written
  std::vector<std::string>
      command; ///< what it starts; empty where that cannot be distinguished from the words

  /// The last value of an option under one of two names; nothing where it is not given.
  std::optional<std::string> value(const std::string& option, const std::string& or_option = {}) const;
  /// The last value of an option that says this.
  std::optional<std::string> value(model::OptionMeaning what) const;
  bool has(const std::string& option) const;
  /// Whether an option says one of these.
  bool has(std::initializer_list<model::OptionMeaning> what) const;
  /// Whether it is hpcml's own.
  bool is_hpcml() const;
  /// True if its options connect it to the launchers of other nodes: a rendezvous endpoint and the number of
  /// nodes, or the number of this node, are given, or a file that contains them.
  bool joins_other_nodes() const;
  /// Adds the options that its variables set (torchrun's PET_NNODES), if `find` returns their values. Options
  /// of the command line override them.
  void take_variables(const std::function<std::optional<std::string>(const std::string&)>& find);
  /// The two halves of that: a rendezvous endpoint, and the number of nodes or of this one.
  bool names_place() const;
  bool counts_nodes() const;
};

/// The first launcher that the command starts; nothing where its words show none.
std::optional<StartedLauncher> find_started_launcher(const std::vector<std::string>& command);
/// The same for the text of a shell script.
std::optional<StartedLauncher> find_started_launcher_in(const std::string& script);

} // namespace hpcml::launch_chain
