// SPDX-License-Identifier: MIT
// The properties of a launcher: the columns of its row in launcher_rows.hpp. Code does not compare names of
// launchers; a new property is a new column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/model/launcher.hpp"
#include "core/model/program_syntax.hpp"

namespace hpcml::model {

/// What an option of a launcher is about.
enum class OptionMeaning : std::uint8_t {
  none,
  nodes,          ///< how many nodes
  ranks_per_node, ///< how many processes on each
  ranks,          ///< how many processes in total
  world,          ///< the same, if it also shows that there are other nodes
  node_rank,      ///< which node this is
  address,        ///< the first node's
  port,           ///< the port there
  endpoint,       ///< address and port
  backend,        ///< what the nodes connect by; where it is given, they count themselves
  settings,       ///< of that backend: they may name the place
  rendezvous,     ///< else of how the nodes connect
  alone,          ///< that this node is the only one
  config,         ///< a file that may say all of it
  hosts,          ///< a list of nodes that it reaches by itself
  no_ssh,         ///< that something else than ssh reaches them
  module,         ///< the program is a module
  plain,          ///< the program is none of Python's
  no_gpus,        ///< its processes use no GPUs
  local_rank,     ///< whether the program gets its local rank as an option
  watching,       ///< how it watches its processes: stays where it is, and is not a reason to keep it
  manner,         ///< how it goes about it: of no use to another launcher
  usual,          ///< what is so anyhow under a job's launch
};

/// An option by its name without dashes before and with "_" for "-" within: "nproc_per_node".
struct LauncherOptionRow {
  std::string_view name;
  OptionMeaning meaning;
};

/// How a script starts the agent of a node. In its words {nodes}, {least_nodes} ("1:4", or the number of
/// nodes), {ranks_per_node} and {ranks} are numbers; a word with a dollar is the shell's to expand.
struct AgentStartTemplate {
  std::array<std::string_view, 7> words = {}; ///< to the first empty one
  std::string_view plain = "";                ///< "the program is none of Python's"
  std::string_view module = "";               ///< "the program is a module"
  std::string_view several = "";              ///< several ranks, with or without GPUs, if no option sets how
  std::string_view no_gpus = "";              ///< one rank without GPUs, likewise
  std::array<std::string_view, 2> usual = {}; ///< said where neither these nor a configuration are given
  /// How options begin that state how ranks work together, or name a configuration.
  std::array<std::string_view, 6> configures = {};
  std::string_view of_node = ""; ///< what only the task knows; {node} is the node's number
  std::size_t of_node_at = 0; ///< after this many words, also the two above; 0: a variable before the agent
  bool of_odd_rendezvous = false; ///< needed only where the rendezvous endpoint is not a name of the node
};

/// All that is known of a launcher.
struct LauncherRow {
  ProgramSyntax words;
  bool starts_tasks = false; ///< tasks on the job's nodes; else processes on its own node
  RankStartMethod ranks = RankStartMethod::nobody; ///< a value of --launcher, except `nobody`
  std::string_view modules = "";                   ///< its names for `python -m`, between spaces
  std::span<const LauncherOptionRow> options = {};
  bool of_python = false;           ///< Python environments install it in the same directory as pip
  bool alone_without_nodes = false; ///< starts on one node if it gets no number
  bool one_without_ranks = true;    ///< starts one process if it gets no number; else one per GPU
  bool counts_nodes = false;        ///< its nodes can count themselves, by a separate backend
  bool reads_config = false;        ///< a file in the user's home may set what its options do not
  /// With the option for processes without GPUs it starts one on its node, which joins no other, whatever
  /// number is requested.
  bool alone_without_gpus = false;
  std::string_view config_variable = "";   ///< names that file
  std::string_view hosts_file = "";        ///< where it looks for the list of nodes if no option names one
  bool uses_ssh = false;                   ///< starts the other nodes over ssh
  bool has_library = false;                ///< programs ask its own library for their place
  bool one_thread = false;                 ///< sets OMP_NUM_THREADS=1 if it is not set
  bool passes_local_rank = false;          ///< the program gets its local rank as an option by default
  std::string_view local_rank_module = ""; ///< the module that alone does so
  std::string_view number_option = "";     ///< sets the number of the node
  std::string_view address_option = "";    ///< sets the rendezvous endpoint of several nodes, at PORT
  std::string_view without_address = "";   ///< what happens without that
  bool of_some_sites = false;              ///< a program that only some sites have
  AgentStartTemplate script = {};

  /// What an option of this name is about, with or without dashes before it, "-" or "_" within.
  OptionMeaning meaning_of(std::string_view option) const;
  /// Its first option that says this; empty where none does.
  std::string_view option_for(OptionMeaning what) const;
  /// Whether it is a step's: a site's own may be in its place, with another word before its name.
  bool is_step() const { return starts_tasks && ranks == RankStartMethod::tasks; }
  /// Whether its number of nodes may change while it runs, as its script's words can say.
  bool is_elastic() const;
  /// The variable that says the same as the option, written without dashes before it; empty where it reads
  /// none.
  std::string variable_for(std::string_view option) const;
};

} // namespace hpcml::model
