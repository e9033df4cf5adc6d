// SPDX-License-Identifier: MIT
// How a script starts its programs: srun, container, torchrun and python as the links of one chain.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch_chain/programs.hpp"
#include "core/model/launcher_row.hpp"
#include "core/shell/script_commands.hpp"

namespace hpcml::launch_chain {

/// An option of a program, as it was written.
struct GivenOption {
  std::string name; ///< full name without dashes, for srun's "-n" "ntasks"; for others also a letter
  std::optional<shell::Argument> value; ///< none: it takes none, or none was given
  diag::TextRange place;                ///< the option's word and its value's
};

/// One program of a chain: `srun` with its options, then what it starts.
struct Link {
  std::string program;     ///< without its directory; "torchrun" also for `python -m torch.distributed.run`,
                           ///< whose name is in `module`
  Role role = Role::other; ///< of `program`
  std::string module;      ///< of `python -m MODULE`
  diag::TextRange place;   ///< the program's word
  std::vector<GivenOption> options;      ///< of the program itself
  std::vector<shell::Argument> operands; ///< what is neither program nor option and not the next link: an
                                         ///< image, a script with its arguments
  std::vector<shell::CommandPrefixVariable>
      sets;                        ///< variables that `env` in front of it, or its own options, set
                                   ///< for what it starts: srun's --export, a container's --env
  std::vector<std::string> passes; ///< variables that its options pass on by name only (`--env NAME`),
                                   ///< wherever they are set
  bool complete = true; ///< false: words of unknown number are among the options, there may be more

  /// The last option of that name; nothing where it is not given (or not seen, where !complete).
  const GivenOption* find(std::string_view option) const;
  /// The last option that says this by the launcher's row; nothing where none does, and of other programs.
  const GivenOption* find(model::OptionMeaning what) const;
  /// The same for the first of these that is reported.
  const GivenOption* find_any(std::initializer_list<model::OptionMeaning> what) const;
  /// The last option's known value; nothing where there is none or it is not known.
  std::optional<std::string> value(std::string_view option) const;
};

/// A command that may run, from the outermost program to the innermost.
struct Launch {
  const shell::Command* command = nullptr; ///< of the innermost text
  std::vector<Link> chain;                 ///< with those of the commands whose text this command is part of

  /// The first link that runs this program; nothing where none does.
  const Link* find(std::string_view program) const;
  /// The first link of that role; nothing where there is none.
  const Link* find(Role role) const;
  const Link* step() const { return find(Role::step); }
  const Link* agent() const { return find(Role::agent); }
  const Link* container() const { return find(Role::container); }
  /// python, the last in the chain.
  const Link* python() const;
  const Link& last() const { return chain.back(); }
  /// The value of an environment variable that the innermost program sees from the script or from the chain;
  /// nothing where neither sets it.
  const shell::Argument* variable(std::string_view name) const;
  /// Returns the names, with this beginning, of the variables that the innermost program may get from the
  /// script or the chain, also if their values are unknown.
  std::vector<std::string> variables(std::string_view beginning) const;
  /// The value of a variable that says this to the link's launcher, as an option would: PET_NNODES, or the
  /// one that names its configuration; nothing where none is set.
  const shell::Argument* variable(const Link& link, model::OptionMeaning what) const;
};

/// One launch per command of the listing whose program is known, but none for functions that nothing calls
/// and for what is after an exit.
std::vector<Launch> find_launches(const shell::ScriptCommands& listing);

} // namespace hpcml::launch_chain
