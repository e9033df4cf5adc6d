// SPDX-License-Identifier: MIT
// A signal before the time limit that no process handles.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

#include "check/node_reach.hpp"
#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/slurm/values.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_signal_not_handled {

bool is_shell(std::string_view text) {
  const auto line = shebang_line(text);
  return line.find("bash") != std::string_view::npos || util::trim(line).ends_with("/sh") ||
         line.find("zsh") != std::string_view::npos || line.find("/sh ") != std::string_view::npos;
}

/// "SIGUSR1", "USR1" and "10" are one signal.
std::string plain_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : static_cast<char>(c);
  });
  if (name.starts_with("SIG")) name.erase(0, 3);
  if (name == "10") return "USR1";
  if (name == "12") return "USR2";
  if (name == "15") return "TERM";
  if (name == "2") return "INT";
  if (name == "1") return "HUP";
  return name;
}

/// Whether a file's name says that it sets up an environment: "env.sh", "setup_modules.bash", "$ENV_FILE".
bool is_named_for_setup(const std::string& name) {
  static constexpr std::array<std::string_view, 8> k_signs = {"env",  "setup",  "module", "conda",
                                                              "vars", "config", "paths",  "activate"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return name.find(sign) != std::string::npos; });
}

/// Whether a file that is read in, or a text that is evaluated, only sets up an environment, as those of
/// conda, virtualenv and the modules do: they set no trap.
bool sets_up_environment(const shell::Command& command) {
  const auto words = command.arguments();
  if (words.empty()) return false;
  const auto text = words[0].text();
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (command.name() == "eval") return has("shell.bash hook") || has("shell hook") || has("modulecmd");
  if (has("/etc/profile")) return true;
  const auto base = util::base_name(text);
  static constexpr std::array<std::string_view, 12> c_names = {
      "activate", "conda.sh", "mamba.sh",      "micromamba.sh", ".bashrc",    "bashrc",
      "profile",  ".profile", ".bash_profile", "setvars.sh",    "modules.sh", "z00_lmod.sh"};
  return std::find(c_names.begin(), c_names.end(), base) != c_names.end() ||
         (base == "bash" && has("/init/")) || is_named_for_setup(util::to_lower(base));
}

/// `exec "$HPCML" internal batch … -- bash "$0"`: hpcml takes the shell's place, and handles its signals.
bool runs_in_batch(const shell::Command& command) {
  for (std::size_t i = 1; i < command.words.size(); ++i)
    if (command.words[i - 1].text() == "internal" && command.words[i].text() == "batch") return true;
  return false;
}

/// Whether a shell runs the script and handles its signals.
bool is_own_shell(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  return is_shell(subject.text) && std::none_of(commands.begin(), commands.end(), runs_in_batch);
}

/// The words of a command that name signals for which it sets a trap: `trap ACTION SIGNAL…`, and
/// `requeue_job FUNCTION SIGNAL…`, a function that modules for checkpoints offer.
std::span<const shell::Argument> trapped_signals(const shell::Command& command) {
  const auto name = command.name();
  if (command.parent || !name || (*name != "trap" && *name != "requeue_job")) return {};
  const auto words = command.arguments();
  return words.empty() ? words : words.subspan(1);
}

struct Shell {
  const shell::Command* trap = nullptr; ///< for the signal, of the batch shell itself
  bool waits = false;                   ///< elsewhere than in a trap
  bool unknown = false; ///< something that cannot be seen may set a trap or take the shell's place
};

/// A wait that the shell comes to before any signal.
bool is_wait(const shell::Command& command) { return !command.context.trap && is_program(command, "wait"); }

Shell look(const LintContext& subject, const std::string& signal) {
  Shell result;
  result.unknown = !subject.listing.complete || !subject.listing.unread.empty();
  bool in_known_eval = false;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (!name && !(in_known_eval && command.context.script == "eval")) result.unknown = true;
    if (name && *name == "eval") in_known_eval = sets_up_environment(command);
    if (!name || command.context.uncalled) continue;
    result.waits = result.waits || is_wait(command);
    if ((*name == "source" || *name == "." || *name == "eval") && !sets_up_environment(command))
      result.unknown = true;
    if (std::find(command.prefixes.begin(), command.prefixes.end(), "exec") != command.prefixes.end())
      result.unknown = true;
    for (const auto& word : trapped_signals(command)) {
      if (!word.known())
        result.unknown = true;
      else if (plain_name(word.text()) == signal && !result.trap)
        result.trap = &command;
    }
  }
  return result;
}

/// True if the launch is a program that may run for the whole job: a step, a launcher, python or a script.
bool may_run_long(const Launch& launch) {
  const auto& program = launch.chain.front().program;
  const bool is_script = (program == "bash" || program == "sh") && !launch.last().operands.empty();
  const auto& command = *launch.command;
  const bool is_local = command.program && command.words[*command.program].prefix().starts_with("./");
  return program == "srun" || is_script || is_local || does_work(launch);
}

/// True if the shell waits for the program, and looks at signals only when it has ended.
bool is_in_foreground(const Launch& launch) {
  const auto& context = launch.command->context;
  return !launch.command->parent && !context.background && !context.substitution && !context.trap &&
         !context.uncalled && !context.unreached && may_run_long(launch);
}

/// True if the job's work is in the background: what is in the foreground then is short.
bool works_in_background(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    return launch.command->context.background && does_work(launch);
  });
}

/// True if the script starts anything in the background that a wait may be for.
bool has_background(const LintContext& subject) {
  return std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [](const shell::Command& command) { return command.context.background; });
}

/// True if the shell may be free to run a trap while the work runs in the background.
bool may_wait(const LintContext& subject, const Shell& batch) {
  return works_in_background(subject) || (batch.waits && has_background(subject));
}

/// The first program after the trap that delays it.
const Launch* find_delaying(const LintContext& subject, const shell::Command& trap) {
  const auto found =
      std::find_if(subject.launches.begin(), subject.launches.end(),
                   [&](const Launch& launch) { return launch.command > &trap && is_in_foreground(launch); });
  return found == subject.launches.end() ? nullptr : &*found;
}

/// True if programs run in the foreground, and all of them before the trap is set.
bool is_set_late(const LintContext& subject, const shell::Command& trap) {
  return !find_delaying(subject, trap) &&
         std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
           return launch.command < &trap && does_work(launch) && is_in_foreground(launch);
         });
}

/// Whether the script shows all that it does, and starts no step.
bool has_no_steps(const LintContext& subject) {
  return shows_all_programs(subject) &&
         std::any_of(subject.launches.begin(), subject.launches.end(),
                     [](const Launch& launch) { return launch.python() || launch.agent(); }) &&
         std::none_of(subject.launches.begin(), subject.launches.end(), may_reach_nodes);
}

/// Reports a signal to the steps that the job does not have, or for which the batch shell has a trap.
RuleMatches find_for_steps(const LintContext& subject, const slurm::OptionSetting& setting,
                           const std::string& signal, const Shell& batch) {
  if (!batch.trap && !batch.unknown && has_no_steps(subject))
    return {{setting.place,
             fmt::format("no process receives {}: without B: it goes to the job's steps, and this job "
                         "starts none",
                         signal),
             "add srun before the program, or use B: and a trap that passes the signal on"}};
  if (!batch.trap || subject.launches.empty()) return {};
  return {{batch.trap->place,
           "this trap never runs: without B: the signal goes to the job's steps, not to the batch shell",
           fmt::format("use --signal=B:{}, start srun with & and wait for it", setting.value.value_or(""))}};
}

/// Reports a trap of the batch shell that runs too late, or that is set too late.
RuleMatches find_late(const LintContext& subject, const std::string& signal, const shell::Command& trap) {
  if (const auto* launch = find_delaying(subject, trap))
    return {{launch->command->place,
             fmt::format("the trap for {} runs only after this {} has ended", signal,
                         launch->step() ? "step" : "program"),
             "add & to start it in the background, and wait"}};
  if (is_set_late(subject, trap))
    return {{trap.place,
             fmt::format("this trap is set after the program has ended: until then {} kills the batch shell",
                         signal),
             "set it before the program, start the program with &, and wait"}};
  return {};
}

RuleMatches find(const LintContext& subject) {
  const auto* setting = subject.directive("signal");
  if (!setting || setting->place.length == 0 || !is_own_shell(subject)) return {};
  const auto spec = slurm::parse_signal(setting->value.value_or(""), subject.version);
  if (!spec || spec->at_reservation) return {};
  const auto signal = plain_name(spec->signal);
  if (signal == "CONT" || signal == "CHLD" || signal == "URG" || signal == "WINCH" || signal == "KILL")
    return {};
  const auto batch = look(subject, signal);
  if (!spec->to_batch_shell) return find_for_steps(subject, *setting, signal, batch);
  if (!batch.trap) {
    if (batch.unknown) return {};
    return {{setting->place, fmt::format("the batch shell has no trap for {} and is killed by it", signal),
             fmt::format("add trap 'what to do' {}, or remove B: to send the signal to the steps", signal)}};
  }
  if (batch.unknown || may_wait(subject, batch)) return {};
  return find_late(subject, signal, *batch.trap);
}

} // namespace slurm_signal_not_handled

Rule rule_slurm_signal_not_handled() {
  using namespace slurm_signal_not_handled;
  return {
      .id = "slurm/signal-not-handled",
      .severity = diag::Severity::warning,
      .title = "Signal without a handler",
      .why =
          "--signal=B:USR1@60 signals the batch shell only, which dies of it unless it has a trap, and runs "
          "the trap only when the "
          "foreground command has ended. Without B: it goes to the steps only, and the shell's trap never "
          "runs. Either way the "
          "checkpoint is not written.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_signal",
      .bad = {R"(#!/bin/bash
#SBATCH --signal=B:USR1@120
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --signal=B:USR1@120
trap 'touch stop' USR1
srun python train.py &
wait
)"},
      .find = find,
  };
}

} // namespace hpcml::check
