// SPDX-License-Identifier: MIT
#include "check/work_log.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

/// True if a command there runs at most once and is the script's own.
bool is_plain(const shell::Command& command) {
  const auto& context = command.context;
  return !context.loop && !context.inexact && !context.uncalled && !context.unreached &&
         !context.substitution && !context.trap && context.function.empty() && context.script.empty();
}

/// True if the name is that of a file which all jobs see: not of a node, not of a device.
bool is_shared(const shell::Argument& name, bool moved) {
  if (!name.known() || name.many) return false;
  const auto text = name.text();
  if (text.empty() || (moved && text[0] != '/') || text.find_first_of("%*?") != std::string::npos)
    return false;
  if (has_gap(text)) return false;
  for (const std::string_view head : {"/dev/", "/tmp", "/local", "/var/", "/scratch/local"})
    if (text.starts_with(head)) return false;
  return true;
}

/// True if the command changes to a directory that may be another one in each job.
bool moves_away(const shell::Command& command) {
  static constexpr auto k_same =
      std::to_array<std::string_view>({"$SLURM_SUBMIT_DIR", "${SLURM_SUBMIT_DIR}", "$HOME", "${HOME}", "~",
                                       "$USER", "${USER}", "$WORK", "$SCRATCH", "${WORK}", "${SCRATCH}"});
  const auto name = program_name(command);
  if (name != "cd" && name != "pushd" && name != "popd") return false;
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    return std::any_of(word.pieces.begin(), word.pieces.end(), [](const shell::ArgumentPiece& piece) {
      return !piece.known && !util::contains(k_same, std::string_view(piece.text));
    });
  });
}

/// Collects the logs of one script.
class LogCollector {
public:
  explicit LogCollector(const LintContext& subject) : x_subject(subject) {}

  std::vector<WorkLog> collect() {
    for (const auto& launch : x_subject.launches) {
      const auto& command = *launch.command;
      const bool step = launch.chain.front().program == "srun";
      if ((command.redirects.empty() && !command.context.pipeline && !step) || command.parent ||
          !is_plain(command) || !does_work(launch))
        continue;
      x_python = launch.python() || launch.agent();
      add_redirects(command);
      if (step) add_step(launch, command);
      if (const auto* next = command.context.pipeline ? next_command(command) : nullptr) add_tee(*next);
    }
    return std::move(x_logs);
  }

private:
  const LintContext& x_subject;
  std::vector<WorkLog> x_logs;
  const shell::Command* x_seen = nullptr; ///< the last command that was asked whether it moves away
  bool x_moved = false;                   ///< one up to there does
  bool x_python = false;                  ///< the launch is a python program

  /// The command of the script itself after this one; nothing after the last.
  const shell::Command* next_command(const shell::Command& command) const {
    const auto* end = x_subject.listing.commands.data() + x_subject.listing.commands.size();
    const auto* next = std::find_if(&command + 1, end, [](const auto& later) { return !later.parent; });
    return next == end ? nullptr : next;
  }

  /// True if the script may be in another directory for each job when it comes to the command.
  bool has_moved(const shell::Command& command) {
    const auto* begin = x_seen ? x_seen : x_subject.listing.commands.data();
    if (begin < &command) {
      x_moved = x_moved || std::any_of(begin, &command, moves_away);
      x_seen = &command;
    }
    return x_moved;
  }

  void add(const shell::Command& command, const shell::Argument& name, diag::TextRange place,
           WorkLog::Writer writer) {
    if (place.length > 0 && is_shared(name, has_moved(command)))
      x_logs.push_back(
          {name.text(), place, writer, command.context.condition || command.context.guarded, x_python});
  }

  void add_tee(const shell::Command& command) {
    if (!command.context.pipeline || !is_program(command, "tee") || !is_plain(command)) return;
    const auto words = command.arguments();
    if (words.size() == 1) add(command, words[0], words[0].place, WorkLog::Writer::tee);
  }

  /// True if it ends a placeholder: "<options> train.py".
  bool ends_gap(const shell::Command& command, const shell::ResolvedRedirect& redirect) const {
    const auto at = redirect.place.offset;
    return at > 0 && at < x_subject.text.size() && util::is_name_char(x_subject.text[at - 1]) &&
           redirect.fd.empty() &&
           std::any_of(command.redirects.begin(), command.redirects.end(),
                       [](const shell::ResolvedRedirect& input) { return input.op == "<"; });
  }

  void add_redirects(const shell::Command& command) {
    for (const auto& redirect : command.redirects) {
      const bool empties =
          redirect.op == ">" || redirect.op == ">|" || redirect.op == "&>" || redirect.op == ">&";
      const auto target = redirect.target.text();
      const bool is_number = target.find_first_not_of("0123456789-") == std::string::npos;
      if (empties && !is_number && !ends_gap(command, redirect))
        add(command, redirect.target, redirect.place, WorkLog::Writer::redirect);
    }
  }

  void add_step(const Launch& launch, const shell::Command& command) {
    const auto& first = launch.chain.front();
    if (first.find("open-mode")) return;
    if (const auto* output = first.find("output"); output && output->value && output->value->text() != "none")
      add(command, *output->value, output->place, WorkLog::Writer::step);
  }
};

} // namespace

std::vector<WorkLog> find_fixed_logs(const LintContext& subject) { return LogCollector(subject).collect(); }

std::string hint_for(const WorkLog& log, const std::string& variable) {
  switch (log.writer) {
  case WorkLog::Writer::tee: return fmt::format("add {} to the name, or use tee -a", variable);
  case WorkLog::Writer::step: return fmt::format("add {} to the name, or use --open-mode=append", variable);
  case WorkLog::Writer::redirect: break;
  }
  return fmt::format("add {} to the name, or use >>", variable);
}

} // namespace hpcml::check
