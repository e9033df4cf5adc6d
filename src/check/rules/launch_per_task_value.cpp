// SPDX-License-Identifier: MIT
// Per-task variables of Slurm that the batch shell expands, before there are tasks.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_per_task_value {

/// What an assignment "NAME=…" before the byte gives, where the variable is not exported and so not in the
/// environment.
std::string_view assigned_before(std::string_view text, std::string_view name, std::size_t offset) {
  std::string_view last;
  for (auto at = text.find(name); at < offset && at + name.size() <= offset; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if (at > 0 && end < text.size() && text[end] == '=' &&
        (text[at - 1] == '\n' || text[at - 1] == ' ' || text[at - 1] == ';' || text[at - 1] == '\t'))
      last = text.substr(end + 1, std::min(text.find('\n', end), text.size()) - end - 1);
  }
  return last;
}

constexpr std::string_view k_per_task[] = {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"};

std::string_view per_task_name(std::string_view text) {
  for (const auto name : k_per_task)
    if (reads(text, name)) return name;
  return {};
}

/// The per-task variable after "$NODE_RANK".
std::string_view per_task_name_behind(const LintContext& subject, const Launch& launch,
                                      std::string_view piece) {
  if (piece.size() < 2 || piece[0] != '$') return {};
  auto name = piece.substr(1);
  if (name.front() == '{' && name.back() == '}') name = name.substr(1, name.size() - 2);
  if (name.empty() || name.find_first_of("[](){}:/%#- ") != std::string_view::npos) return {};
  if (const auto* value = launch.variable(name))
    return value->pieces.empty() ? std::string_view() : per_task_name(value->pieces[0].text);
  const auto value = assigned_before(subject.text, name, launch.command->place.offset);
  const auto task = per_task_name(value);
  // After a backslash or in single quotes it is the task's shell that expands it.
  const auto at = value.find("$" + std::string(task)), brace = value.find("${" + std::string(task));
  const auto dollar = std::min(at, brace);
  const bool handed_on =
      !task.empty() && !value.empty() &&
      (value[0] == '\'' || (dollar != std::string_view::npos && dollar > 0 && value[dollar - 1] == '\\'));
  return handed_on ? std::string_view() : task;
}

/// In "bash -c" with double quotes a backslash hands the variable on to the task's shell.
std::vector<Edit> escape(const LintContext& subject, const shell::Argument& word,
                         const shell::ArgumentPiece& piece) {
  const auto text = subject.text;
  if (word.place.offset >= text.size() || text[word.place.offset] != '"' || word.pieces.size() < 2 ||
      piece.place.offset <= word.place.offset)
    return {};
  const auto at = piece.place.offset;
  const bool alone =
      text.substr(at, 1) == "$" && text[at - 1] != '\\' && text.substr(at, piece.text.size()) == piece.text;
  return alone ? std::vector<Edit>{{at, 0, "\\"}} : std::vector<Edit>{};
}

bool runs_shell(const Launch& launch) {
  const auto& words = launch.command->words;
  return std::any_of(words.begin(), words.end(),
                     [](const auto& word) { return word.text() == "-c" || word.text() == "-lc"; });
}

/// With the c10d rendezvous torch gives the nodes their ranks itself, whatever --node_rank says.
bool is_unread_rank(const Launch& launch, const shell::Argument& value) {
  const auto is_rank = [](std::string_view text) {
    return text.find("node_rank") != std::string_view::npos ||
           text.find("node-rank") != std::string_view::npos ||
           text.find("machine_rank") != std::string_view::npos ||
           text.find("machine-rank") != std::string_view::npos;
  };
  bool rank = is_rank(value.text()), dynamic = false;
  const shell::Argument* before = nullptr;
  for (const auto& word : launch.command->words) {
    dynamic = dynamic || word.text().find("c10d") != std::string::npos;
    if (&word == &value && before) rank = rank || is_rank(before->text());
    before = &word;
  }
  return rank && dynamic;
}

void check_words(const LintContext& subject, const Launch& launch, const Link& step, RuleMatches& hits) {
  for (const auto& word : launch.command->words) {
    if (word.place.offset <= step.place.offset) continue;
    for (const auto& piece : word.pieces) {
      if (piece.known) continue;
      const bool direct = !per_task_name(piece.text).empty();
      const auto name =
          direct ? per_task_name(piece.text) : per_task_name_behind(subject, launch, piece.text);
      if (name.empty() || piece.text.starts_with("$(") || is_unread_rank(launch, word)) continue;
      if (name == "SLURM_NODEID" && shape_of(subject, launch).nodes == 1) continue; // 0 is right
      const auto fix = direct && runs_shell(launch) ? escape(subject, word, piece) : std::vector<Edit>();
      add_match(hits, {fix.empty() ? word.place : piece.place,
                       fmt::format("the batch shell expands {} before {} starts, so every task gets the "
                                   "value of the batch host, 0",
                                   piece.text, step.program),
                       fmt::format("use single quotes to let each task expand it: {} bash -c '… ${} …'",
                                   step.program, name),
                       fix});
    }
  }
}

/// True if the launch is a script that a shell runs in each task: what it runs is not visible.
bool is_script(const Launch& launch) {
  const auto& program = launch.last().program;
  return (program == "bash" || program == "sh") && !launch.last().operands.empty() &&
         !launch.last().operands[0].text().starts_with('-');
}

/// Whether some program within this step has the setting that was made outside.
bool reaches_program(const LintContext& subject, const Link& step, std::string_view name,
                     const shell::Argument& set) {
  const bool is_device = name.ends_with("_DEVICES");
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    const auto* own = launch.step();
    if (!own || own->place.offset != step.place.offset || (is_shell(launch) && !is_script(launch)) ||
        is_utility(launch) || (launch.agent() && !is_device))
      return false;
    const auto* value = launch.variable(name);
    return value && value->place.offset == set.place.offset;
  });
}

/// A variable that the batch script sets for a step.
struct BatchSetting {
  std::string_view name;
  const shell::Argument& value;
  diag::TextRange place;
};

void check_setting(const LintContext& subject, const Launch& launch, const Link& step,
                   const BatchSetting& setting, RuleMatches& hits) {
  static constexpr std::array<std::string_view, 9> k_names = {
      "CUDA_VISIBLE_DEVICES", "GROUP_RANK", "HIP_VISIBLE_DEVICES", "LOCAL_RANK", "MACHINE_RANK", "NODE_RANK",
      "PET_NODE_RANK",        "RANK",       "ROCR_VISIBLE_DEVICES"};
  if (!util::contains(k_names, setting.name)) return;
  const auto* piece = reading_piece(setting.value, {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"});
  if (!piece || !reaches_program(subject, step, setting.name, setting.value)) return;
  const auto name = std::string(per_task_name(piece->text));
  if (name == "SLURM_NODEID" && shape_of(subject, launch).nodes == 1) return;
  add_match(
      hits,
      {setting.place,
       fmt::format("{} is set in the batch script, where {} is 0, so every task gets 0", setting.name, name),
       fmt::format("set it in each task: {} bash -c 'export {}=${}; exec python …' in single quotes",
                   step.program, setting.name, name)});
}

void check_exports(const LintContext& subject, const Launch& launch, const Link& step, RuleMatches& hits) {
  for (const auto& setting : launch.command->own)
    check_setting(subject, launch, step, {setting.name, setting.value, setting.value.place}, hits);
  if (!launch.command->exports) return;
  for (const auto& variable : *launch.command->exports)
    if (variable->value.words.size() == 1)
      check_setting(subject, launch, step, {variable->name, variable->value.words[0], variable->set_at},
                    hits);
}

/// Reports a rank that is the same number for all tasks of a step whose program reads it.
void check_constant(const LintContext& subject, const Launch& launch, const Link& step, RuleMatches& hits) {
  const auto* rank = launch.variable("RANK");
  const auto* world = launch.variable("WORLD_SIZE");
  const auto tasks = shape_of(subject, launch).tasks;
  if (!rank || !rank->known() || rank->place.offset >= step.place.offset || !launch.python() ||
      launch.agent() || !util::parse_unsigned(rank->text()) || !tasks || *tasks < 2 ||
      (world && world->known() && world->text() == "1"))
    return;
  add_match(hits,
            {rank->place, fmt::format("RANK is {} for all {} tasks", rank->text(), *tasks),
             fmt::format("set it in each task: {} bash -c 'export RANK=$SLURM_PROCID; exec python …' in "
                         "single quotes",
                         step.program)});
}

/// A text that `cat` writes into a file.
struct WrittenText {
  const shell::Argument* text = nullptr;
  std::string file;
};

std::optional<WrittenText> written_text(const shell::Command& command) {
  if (command.parent || command.redirects.size() != 2 || !is_program(command, "cat")) return std::nullopt;
  const bool first = command.redirects[0].op.starts_with("<<");
  const auto& text = command.redirects[first ? 0 : 1];
  const auto& file = command.redirects[first ? 1 : 0];
  if (!text.op.starts_with("<<") || !file.op.starts_with('>')) return std::nullopt;
  return WrittenText{&text.target, file.target.text()};
}

/// True if a step of several tasks has the file among its words.
bool is_run_by_tasks(const LintContext& subject, const std::string& file) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    const auto& words = launch.command->words;
    return launch.step() && is_own(launch, *launch.step()) &&
           (has_word(words, file) || has_word(words, "./" + file)) && shape_of(subject, launch).tasks != 1;
  });
}

/// Reports what the batch shell expands in a script that it writes and a step runs.
void check_written(const LintContext& subject, RuleMatches& hits) {
  std::size_t left = 100; // each is looked for among all commands
  for (const auto& command : subject.listing.commands) {
    const auto written = written_text(command);
    const auto is_per_task = [](const shell::ArgumentPiece& piece) {
      return !piece.known && !per_task_name(piece.text).empty();
    };
    if (!written || std::none_of(written->text->pieces.begin(), written->text->pieces.end(), is_per_task))
      continue;
    if (left-- == 0) return;
    if (!is_run_by_tasks(subject, written->file)) continue;
    for (const auto& piece : written->text->pieces)
      if (is_per_task(piece))
        add_match(hits, {piece.place,
                         fmt::format("the batch shell expands {} when it writes {}, so every task gets 0",
                                     piece.text, written->file),
                         "put the word after << in single quotes, or a backslash before the dollar sign"});
  }
}

/// Reports what the batch shell expands in the text of a here-document that the step's shells read.
void check_input(const Launch& launch, const Link& step, RuleMatches& hits) {
  for (const auto& redirect : launch.command->redirects) {
    if (!redirect.op.starts_with("<<")) continue;
    for (const auto& piece : redirect.target.pieces) {
      const auto name = piece.known ? std::string_view() : per_task_name(piece.text);
      if (name.empty()) continue;
      add_match(hits, {piece.place,
                       fmt::format("the batch shell expands {} before {} starts, so every task gets the "
                                   "value of the batch host, 0",
                                   piece.text, step.program),
                       "put the word after << in single quotes, or a backslash before the dollar sign"});
    }
  }
}

/// Reports ranks of programs in a step, also those that the step's shells start.
void check_constants(const LintContext& subject, RuleMatches& hits) {
  if (subject.text.find("RANK=") == std::string_view::npos) return;
  for (const auto& launch : subject.launches)
    if (const auto* step = launch.step()) check_constant(subject, launch, *step, hits);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  check_constants(subject, hits);
  if (std::none_of(std::begin(k_per_task), std::end(k_per_task),
                   [&](auto name) { return subject.text.find(name) != std::string_view::npos; }))
    return hits;
  check_written(subject, hits);
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || !is_own(launch, *step)) continue;
    const auto shape = shape_of(subject, launch);
    if (shape.tasks && *shape.tasks == 1) continue;
    check_words(subject, launch, *step, hits);
    check_exports(subject, launch, *step, hits);
    check_input(launch, *step, hits);
  }
  return hits;
}

} // namespace launch_per_task_value

Rule rule_launch_per_task_value() {
  using namespace launch_per_task_value;
  return {
      .id = "launch/per-task-value",
      .severity = diag::Severity::warning,
      .title = "Task number expanded before the tasks start",
      .why = "SLURM_PROCID, SLURM_LOCALID and SLURM_NODEID differ per task, but the batch shell expands them "
             "once, on the first node: every process believes "
             "that it is rank 0 and the rendezvous hangs or each node trains alone.",
      .link = "https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun bash -c "torchrun --nnodes=2 --node_rank=$SLURM_NODEID --master_addr=$M train.py"
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun bash -c 'export RANK=$SLURM_PROCID; python train.py'
)"},
      .find = find,
  };
}

} // namespace hpcml::check
