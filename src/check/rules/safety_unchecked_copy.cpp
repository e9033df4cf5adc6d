// SPDX-License-Identifier: MIT
// Results that the script removes although their copy may have failed.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_unchecked_copy {

/// True if the two commands run in turn whenever one of them does, and the exit code of the first decides
/// nothing.
bool runs_in_turn(const shell::CommandContext& copy, const shell::CommandContext& removal) {
  return copy.function == removal.function && copy.script == removal.script &&
         copy.condition == removal.condition && copy.trap == removal.trap && copy.loop == removal.loop &&
         copy.guarded == removal.guarded && !copy.background;
}

bool may_run(const shell::CommandContext& context) {
  return !context.uncalled && !context.unreached && !context.substitution && !context.errexit;
}

/// "$run/out" of "${run}/out": both spellings name the same directory.
std::string without_braces(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const bool begins = path.substr(at, 2) == "${";
    const auto end = begins ? path.find('}', at) : std::string_view::npos;
    const bool alone = end != std::string_view::npos &&
                       util::is_variable_name(path.substr(at + 2, end - at - 2)) &&
                       (end + 1 == path.size() || !util::is_name_char(path[end + 1]));
    text += path[at];
    if (!alone) continue;
    text += path.substr(at + 2, end - at - 2);
    at = end;
  }
  return text;
}

/// The path without what selects all of a directory's files: "run" of "run/" and of "run/*".
std::string directory_of(std::string_view path) {
  if (path.ends_with("/*")) path.remove_suffix(1);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return without_braces(path);
}

bool is_in(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_relative(std::string_view path) {
  return !path.empty() && path[0] != '/' && path[0] != '$' && path[0] != '~' && path[0] != '-';
}

/// Directories that are removed at the end of the job anyway.
bool is_removed_by_site(std::string_view directory) {
  for (const std::string_view name : {"$SLURM_TMPDIR", "$TMPDIR", "$JOBFS", "$PBS_JOBFS"})
    if (is_in(directory, name)) return true;
  return false;
}

/// True if tar or zip writes an archive.
bool writes_archive(const shell::Command& command, std::string_view name) {
  const auto words = command.arguments();
  if (name == "zip") return words.size() > 1;
  if (name != "tar" || words.empty()) return false;
  const auto first = words[0].prefix();
  return first == "--create" || (!first.starts_with("--") && first.find('c') != std::string::npos &&
                                 first.find('x') == std::string::npos);
}

/// Programs whose last word names where they copy to.
constexpr std::array<std::string_view, 7> k_copying = {"aws", "cp", "gsutil", "mv", "rclone", "rsync", "scp"};

/// The words of the command that name what it copies; empty if it copies nothing.
std::vector<std::string> sources_of(const shell::Command& command) {
  const auto name = program_name(command);
  const bool archive = writes_archive(command, name);
  if (!archive && !util::contains(k_copying, name)) return {};
  std::vector<std::string> words;
  const auto arguments = command.arguments();
  const std::size_t first = archive ? 1 : 0;
  for (std::size_t i = first; i < arguments.size(); ++i)
    if (auto text = arguments[i].text(); !text.starts_with('-')) words.push_back(directory_of(text));
  if (words.empty()) return {};
  if (archive)
    words.erase(words.begin());
  else
    words.pop_back();
  return words;
}

/// A copy of the batch shell that is not checked, and the directory in which it ran.
struct UncheckedCopy {
  const shell::Command* command = nullptr;
  std::vector<std::string> sources;
  std::string work_directory; ///< empty if it is not known
  bool moved = false;         ///< a cd came after it
};

/// More copies of one script are not followed.
constexpr std::size_t k_most_copies = 32;

/// The directories that `rm -r` removes; none for another command.
std::vector<std::string> removed_by(const shell::Command& command) {
  if (!is_program(command, "rm")) return {};
  bool recursive = false;
  std::vector<std::string> directories;
  for (const auto& word : command.arguments()) {
    auto text = word.text();
    if (text.starts_with('-'))
      recursive = recursive || text.find_first_of("rR") != std::string::npos;
    else
      directories.push_back(directory_of(text));
  }
  return recursive ? directories : std::vector<std::string>();
}

/// True if the directory holds what the command copies, and both words are of the same directory.
bool holds_source(const UncheckedCopy& copy, std::string_view directory) {
  constexpr std::size_t k_shortest = 3;
  if (directory.size() < k_shortest || is_removed_by_site(directory)) return false;
  return std::any_of(copy.sources.begin(), copy.sources.end(), [&](const std::string& source) {
    if (is_relative(source) && !is_relative(directory))
      return source.find("..") == std::string::npos && is_in(copy.work_directory, directory);
    return is_in(source, directory) && !(is_relative(directory) && copy.moved);
  });
}

/// Follows the script's own commands from its first work on.
class CopyTracker {
public:
  explicit CopyTracker(const LintContext& subject) : x_subject(subject) {
    const auto* work = first_work(subject);
    if (!work) return;
    const auto begin = work->command->place.offset;
    for (const auto& command : subject.listing.commands) {
      if (command.parent && !command.context.trap) continue;
      if (is_program(command, "cd") || is_program(command, "pushd") || is_program(command, "popd"))
        enter(command);
      else if (command.place.offset >= begin || !command.context.function.empty())
        follow(command);
    }
  }
  RuleMatches hits;

private:
  void enter(const shell::Command& command) {
    const auto words = command.arguments();
    const bool known = words.size() == 1 && !command.context.condition && is_program(command, "cd");
    x_directory = known && !is_relative(words[0].text()) ? directory_of(words[0].text()) : std::string();
    for (auto& copy : x_copies) copy.moved = true;
  }

  void follow(const shell::Command& command) {
    const auto& context = command.context;
    const auto name = program_name(command);
    // What decides about the removal may be a test of the copy.
    if (name == "exit" || name == "return" || name == "test" || name == "[" || name == "[[" || name == "set")
      x_copies.clear();
    if (!may_run(context)) return;
    if (auto sources = sources_of(command); !sources.empty()) {
      if (is_in_list(x_subject, command)) return;
      if (x_copies.size() < k_most_copies) x_copies.push_back({&command, std::move(sources), x_directory});
      return;
    }
    for (const auto& directory : removed_by(command)) report(command, directory);
  }

  void report(const shell::Command& removal, const std::string& directory) {
    for (const auto& copy : x_copies) {
      if (!runs_in_turn(copy.command->context, removal.context) || !holds_source(copy, directory)) continue;
      const auto name = program_name(*copy.command);
      hits.add({copy.command->place,
                fmt::format("if this {} fails, the rm below removes {} anyway", name, directory),
                fmt::format("use: {} … && rm …", name)});
      return;
    }
  }

  const LintContext& x_subject;
  std::vector<UncheckedCopy> x_copies;
  std::string x_directory;
};

RuleMatches find(const LintContext& subject) {
  if (subject.text.find("rm -") == std::string_view::npos) return {};
  return std::move(CopyTracker(subject).hits);
}

} // namespace safety_unchecked_copy

Rule rule_safety_unchecked_copy() {
  using namespace safety_unchecked_copy;
  return {
      .id = "safety/unchecked-copy",
      .severity = diag::Severity::warning,
      .title = "Results removed after a copy that may fail",
      .why =
          "A full quota or a file system that does not respond lets cp, rsync or tar fail. Without a check "
          "the script continues, and rm -r removes the only copy of the results.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Lists.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
python train.py --output_dir /scratch/$USER/run
cp -r /scratch/$USER/run $HOME/results
rm -rf /scratch/$USER/run
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
python train.py --output_dir /scratch/$USER/run
cp -r /scratch/$USER/run $HOME/results && rm -rf /scratch/$USER/run
)"},
      .find = find,
  };
}

} // namespace hpcml::check
