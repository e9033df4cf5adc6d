// SPDX-License-Identifier: MIT
#include "generate/import_script/unsupported_forms.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "check/launch_facts.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/batch_program.hpp"

namespace hpcml::import_script {
namespace {

using shell::SyntaxNode;

/// Finds what makes a rank of a task of the job array.
class ArrayRanks {
public:
  explicit ArrayRanks(std::string_view text) : x_text(text) {}

  /// Looks at assignments in order; `by_task`: only some tasks of the array run them.
  void visit(const SyntaxNode& node, bool by_task) {
    if (node.kind == SyntaxNode::Kind::simple) return visit_command(node, by_task);
    const bool chosen = by_task || is_chosen_by_task(node);
    for (const auto& child : node.children) visit(child, chosen);
  }
  /// Whether the text reads the number of the task, or what was computed from it.
  bool reads_task(std::string_view text) const {
    return std::any_of(x_of_task.begin(), x_of_task.end(), [&](const std::string& known) {
      return shell::find_name(text, known) != std::string_view::npos;
    });
  }

  const SyntaxNode* rank = nullptr; ///< the first assignment of a rank by the task
  std::string name = {};            ///< the variable of the rank
  bool has_address = false;         ///< the script sets where ranks connect

private:
  std::string_view text_of(const SyntaxNode& node) const {
    return x_text.substr(node.place.offset, node.place.length);
  }
  bool is_chosen_by_task(const SyntaxNode& node) const {
    if (node.kind == SyntaxNode::Kind::choice)
      return !node.words.empty() &&
             reads_task(x_text.substr(node.words.front().place.offset, node.words.front().place.length));
    if (node.kind != SyntaxNode::Kind::branch) return false;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (reads_task(text_of(node.children[i]))) return true;
    return false;
  }
  void visit_command(const SyntaxNode& node, bool by_task) {
    static constexpr std::array<std::string_view, 6> k_ranks = {"RANK",       "NODE_RANK",  "LOCAL_RANK",
                                                                "GROUP_RANK", "WORLD_RANK", "MACHINE_RANK"};
    for (const auto* list : {&node.assignments, &node.declared})
      for (const auto& assignment : *list) {
        has_address = has_address || assignment.name == "MASTER_ADDR";
        const bool of_task =
            by_task || reads_task(x_text.substr(assignment.place.offset, assignment.place.length));
        if (!of_task) continue;
        if (!rank && util::contains(k_ranks, std::string_view(assignment.name))) {
          rank = &node;
          name = assignment.name;
        }
        x_of_task.insert(assignment.name);
      }
  }

  std::string_view x_text;
  std::set<std::string> x_of_task = {"SLURM_ARRAY_TASK_ID"};
};

/// The option that gives the agent the number of its node.
const check::GivenOption* node_rank_of(const FoundLaunch& found) {
  const auto* agent = found.launch->agent();
  return agent ? agent->find(model::OptionMeaning::node_rank) : nullptr;
}

/// Whether the text starts steps, ranks or an image; with `python`, or Python.
bool starts_programs(const std::string& text, bool python) {
  const auto words = util::split(text, ' ');
  return model::starts_launcher(text) || std::any_of(words.begin(), words.end(), [&](const auto& word) {
           return model::find_engine_program(util::base_name(word)) != nullptr ||
                  (python && launch_chain::is_python(word));
         });
}

/// Whether the line is a directive that sbatch does not read: "#PJM -L gpu=4". Those of sbatch with a letter
/// before them are comments.
bool is_foreign_directive(std::string_view line) {
  if (!line.starts_with('#')) return false;
  const auto name = line.substr(1, line.find(' ') - 1); // npos - 1 is past the end
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool is_name = name == "$" || (name.size() > 1 && std::all_of(name.begin(), name.end(), is_upper));
  return is_name && line.substr(name.size() + 1).starts_with(" -") && !name.ends_with("SBATCH") &&
         name != "SLURM" && name != "PBS" && name != "BSUB";
}

diag::TextRange place_of(const FoundLaunch& found) { return {found.begin, found.end - found.begin}; }

/// The first program that is in the node's place, from `from` on; null if there is none.
const FoundLaunch* find_program_in(const SyntaxNode& node, const std::vector<FoundLaunch>& programs) {
  const auto end = std::size_t{node.place.offset} + node.place.length;
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const FoundLaunch& program) {
    return !program.is_helper && program.begin >= node.place.offset && program.begin < end;
  });
  return found == programs.end() ? nullptr : &*found;
}

/// Whether the command removes variables that srun reads: `unset SLURM_NTASKS`, or names that are not known.
bool unsets_slurm(const shell::Command& command) {
  static constexpr std::array<std::string_view, 9> k_names = {
      "SLURM_JOBID",    "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES",
      "SLURM_NODELIST", "SLURM_NPROCS", "SLURM_NTASKS",       "SLURM_TASKS_PER_NODE"};
  const auto is_one = [](const std::string& name) { return util::contains(k_names, std::string_view(name)); };
  const auto words = command.arguments();
  return command.name() == "unset" && std::any_of(words.begin(), words.end(), [&](const auto& word) {
           return !word.known() || is_one(word.text());
         });
}

/// The first assignment of a variable with the job's size, which srun reads as its option:
/// `export SLURM_NNODES=1`, not `SLURM_NNODES=${SLURM_NNODES:-1}`. Null if there is none.
const shell::Assignment* find_slurm_size(const SyntaxNode& node, std::string_view text) {
  static constexpr std::array<std::string_view, 11> k_names = {
      "SLURM_GPUS",     "SLURM_GPUS_PER_NODE",  "SLURM_GPUS_PER_TASK", "SLURM_JOB_NUM_NODES",
      "SLURM_NNODES",   "SLURM_NPROCS",         "SLURM_NTASKS",        "SLURM_NTASKS_PER_NODE",
      "SLURM_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_JOB_NODELIST"};
  for (const auto* list : {&node.assignments, &node.declared})
    for (const auto& assignment : *list)
      if (util::contains(k_names, std::string_view(assignment.name)) &&
          text.substr(assignment.place.offset, assignment.place.length).find("{" + assignment.name) ==
              std::string_view::npos)
        return &assignment;
  for (const auto& child : node.children)
    if (const auto* found = find_slurm_size(child, text)) return found;
  return nullptr;
}

/// The number by which a shell text multiplies the number of the node to compute a rank:
/// 4 of "RANK=$((SLURM_NODEID * 4 + SLURM_LOCALID))"; 0 if it does not.
unsigned ranks_per_node_in(std::string_view text) {
  constexpr std::string_view k_node = "SLURM_NODEID";
  for (auto at = text.find(k_node); at != std::string_view::npos; at = text.find(k_node, at + 1)) {
    const auto begin = text.rfind("$((", at);
    if (begin == std::string_view::npos || text.find("))", begin) < at) continue;
    if (!text.substr(0, begin).ends_with("RANK=")) continue;
    const auto after = text.find_first_not_of(" }*", at + k_node.size());
    const auto digits = text.substr(std::min(after, text.size()));
    const auto number =
        util::parse_unsigned(std::string(digits.substr(0, digits.find_first_not_of("0123456789"))));
    if (number) return static_cast<unsigned>(*number);
  }
  return 0;
}

/// Whether `env -i` is before the launch.
bool has_no_environment(const FoundLaunch& found) {
  const auto& words = found.launch->command->words;
  return std::any_of(words.begin(), words.end(), [&](const auto& word) {
    return word.place.offset < found.begin && (word.text() == "-i" || word.text() == "--ignore-environment");
  });
}

/// Whether the command is one of ssh that starts Python or a launcher on another node.
bool starts_by_ssh(const shell::Command& command) {
  static constexpr std::array<std::string_view, 3> k_names = {"clush", "pdsh", "ssh"};
  const auto name = command.name().value_or("");
  return util::contains(k_names, std::string_view(name)) &&
         std::any_of(command.words.begin(), command.words.end(), [](const auto& word) {
           const auto text = word.text();
           return text.find(".py") != std::string::npos || model::starts_launcher(text);
         });
}

void report_ssh(ImportState& porting, const shell::Command& command) {
  const auto line = short_line(porting.text.substr(command.place.offset, command.place.length));
  porting.error(command.place, "port/launch",
                fmt::format("'{}' starts a program on another node, which cannot be imported", line),
                "use srun in the script to start the program on all nodes");
}

/// The file that the command sources, unless it is that of a Python environment or of a login, which set
/// neither functions of the user nor variables of programs; empty: none.
std::string sourced_file(const shell::Command& command) {
  static constexpr std::array<std::string_view, 8> k_setups = {
      "activate", ".bashrc", "bashrc", ".bash_profile", ".profile", "profile", "conda.sh", "mamba.sh"};
  if ((command.name() != "source" && command.name() != ".") || command.arguments().empty()) return {};
  auto file = command.arguments()[0].text();
  const bool is_setup =
      util::contains(k_setups, std::string_view(util::base_name(file))) || file.starts_with("/etc/");
  return is_setup ? std::string() : file;
}

/// Whether the sourced file may define functions: a list of variables does not.
bool may_define_functions(const std::string& file) {
  return !file.empty() && util::base_name(file) != ".env";
}

/// Whether the name is one for a function that starts the training: "run_training", "launch".
bool is_named_as_start(const std::string& name) {
  static constexpr std::array<std::string_view, 4> k_starts = {"launch", "run_", "start_", "train"};
  return std::any_of(k_starts.begin(), k_starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// Whether the launch's program may be a function that starts programs: that in its words, or by its name.
bool may_be_starting_function(const check::Launch& launch) {
  static constexpr std::array<std::string_view, 11> k_programs = {
      "coverage", "hatch", "mprof", "pdm", "perf", "pipenv", "pixi", "poetry", "strace", "wandb", "xargs"};
  const auto& link = launch.last();
  if (!shell::is_name(link.program) || launch.step() || launch.agent() || launch.container() ||
      check::is_utility(launch) || check::is_shell(launch) || launch.command->parent ||
      util::contains(k_programs, std::string_view(link.program)) ||
      launch_chain::find_wrapper(link.program) != nullptr)
    return false;
  return is_named_as_start(link.program) ||
         std::any_of(link.operands.begin(), link.operands.end(), [](const auto& word) {
           const auto name = util::base_name(word.text());
           return launch_chain::is_run_by_python(name) || name == "bash" || name == "sh" ||
                  name.ends_with(".sh") || model::find_launcher(name) != nullptr;
         });
}

} // namespace

void refuse_sourced_functions(ImportState& porting, const std::vector<check::Launch>& launches,
                              const shell::ScriptCommands& view) {
  const shell::Command* sourced = nullptr;
  std::size_t next = 0; // of the commands before the launch
  for (const auto& launch : launches) {
    for (; next < view.commands.size() && &view.commands[next] < launch.command; ++next) {
      if (may_define_functions(sourced_file(view.commands[next]))) sourced = &view.commands[next];
    }
    if (!sourced || launch.command->context.substitution || !may_be_starting_function(launch)) continue;
    return porting.error(
        launch.command->place, "port/launch",
        fmt::format(
            "'{}' may be a function of {}, which line {} sources and hpcml does not read: it may start "
            "a container or a launcher",
            launch.last().program, sourced->arguments()[0].text(),
            porting.script.number_at(sourced->place.offset)),
        "use the function's own commands in the script in place of this call");
  }
}

bool sources_settings(const shell::ScriptCommands& view) {
  return std::any_of(view.commands.begin(), view.commands.end(),
                     [](const auto& command) { return !sourced_file(command).empty(); });
}

void report_no_program(ImportState& porting, const shell::ScriptCommands& view) {
  for (const auto& command : view.commands)
    if (command.name() == "srun" && std::any_of(command.words.begin(), command.words.end(),
                                                [](const auto& word) { return !word.known(); }))
      return porting.error(
          command.place, "port/no-program",
          fmt::format("the program that srun starts in line {} of {} is known only when the "
                      "script runs",
                      porting.script.number_at(command.place.offset), porting.file),
          "add the program's name to the script, or run hpcml gen -- PROGRAM without --from");
  const auto by_ssh = std::find_if(view.commands.begin(), view.commands.end(), starts_by_ssh);
  if (by_ssh != view.commands.end()) return report_ssh(porting, *by_ssh);
  if (const auto* command = find_unknown_command(view))
    return porting.error(
        command->place, "port/no-program",
        fmt::format("the program that line {} of {} starts is known only when the script runs",
                    porting.script.number_at(command->place.offset), porting.file),
        "add the program's name to the script, or run hpcml gen -- PROGRAM without --from");
  porting.error(
      {}, "port/no-program",
      fmt::format("{} starts no program that hpcml gen --from can import", porting.file),
      "add a line such as 'srun python train.py' to it, or run hpcml gen -- PROGRAM without --from");
}

void refuse_array_ranks(ImportState& porting, const slurm::JobOptions& request, const SyntaxNode& program,
                        const std::vector<FoundLaunch>& programs) {
  if (!request.has("array")) return;
  ArrayRanks ranks(porting.text);
  ranks.visit(program, false);
  diag::TextRange place = ranks.rank ? ranks.rank->place : diag::TextRange{};
  auto setting = ranks.rank && ranks.has_address ? ranks.name : std::string();
  for (const auto& found : programs)
    if (const auto* option = node_rank_of(found);
        option && option->value && ranks.reads_task(option->value->text())) {
      place = option->place;
      setting = "--" + option->name;
    }
  if (setting.empty()) return;
  porting.error(place, "port/array",
                fmt::format("{} is set by SLURM_ARRAY_TASK_ID: the tasks of the array are the ranks of one "
                            "training, which cannot be imported",
                            setting),
                "use one job with --nodes in the script in place of the array, and srun before the program");
}

void refuse_eval(ImportState& porting, const shell::ScriptCommands& view,
                 const std::vector<FoundLaunch>& programs) {
  for (const auto& command : view.commands) {
    const auto& context = command.context;
    if (command.name() != "eval" || context.substitution || context.unreached || context.uncalled ||
        command.parent)
      continue;
    const auto begin = command.place.offset, end = begin + command.place.length;
    std::vector<std::string> words;
    for (const auto& word : command.arguments()) words.push_back(word.text());
    const auto text = util::join(words, " ");
    const bool imported = std::any_of(programs.begin(), programs.end(), [&](const FoundLaunch& found) {
      return found.begin >= begin && found.begin < end;
    });
    const bool is_output = text.starts_with("$(") || text.starts_with('`'); // of a tool that sets up a shell
    if (imported || is_output || !starts_programs(text, programs.empty())) continue;
    porting.error(command.place, "port/eval",
                  fmt::format("eval runs '{}', a text that the script composes: its launch cannot be "
                              "imported",
                              short_line(util::trim(text))),
                  "use the command itself in the script, without eval");
  }
}

void refuse_pipelines(ImportState& porting, const SyntaxNode& program,
                      const std::vector<FoundLaunch>& programs) {
  const FoundLaunch* first = nullptr;
  for (const auto& child : program.children) {
    const auto* found = find_program_in(child, programs);
    if (found && first && program.kind == SyntaxNode::Kind::pipeline)
      return porting.error(
          place_of(*found), "port/parallel",
          fmt::format("'{}' runs at the same time as '{}' in one pipeline, which cannot be imported",
                      shown_command(*found), shown_command(*first)),
          "use a file between the two programs");
    if (found) first = found;
    if (found) refuse_pipelines(porting, child, programs);
  }
}

void refuse_other_starts(ImportState& porting, const shell::ScriptCommands& view,
                         const std::vector<FoundLaunch>& programs) {
  const auto starts = [](const FoundLaunch& found) { return !found.in_batch; };
  if (std::none_of(programs.begin(), programs.end(), starts)) return;
  const bool names_slurm = porting.text.find("SLURM") != std::string_view::npos;
  for (const auto& found : programs)
    if (starts(found) && has_no_environment(found))
      porting.error(
          place_of(found), "port/launch",
          fmt::format("env -i removes variables that the launch of '{}' reads", shown_command(found)),
          "use env -u NAME in the script to remove single variables");
  for (const auto& command : view.commands) {
    if (command.context.uncalled || command.context.unreached || command.context.substitution) continue;
    const auto line = short_line(porting.text.substr(command.place.offset, command.place.length));
    if (names_slurm && unsets_slurm(command))
      porting.error(command.place, "port/launch",
                    fmt::format("'{}' removes variables that the launch of the new script reads", line),
                    "remove this command, or use env -u NAME before the program, in the script");
    else if (starts_by_ssh(command))
      report_ssh(porting, command);
  }
}

void refuse_set_sizes(ImportState& porting, const SyntaxNode& program,
                      const std::vector<FoundLaunch>& programs) {
  const auto is_step = [](const FoundLaunch& found) { return !found.in_batch; };
  if (porting.is_of_new_site() || std::none_of(programs.begin(), programs.end(), is_step)) return;
  if (const auto* setting = find_slurm_size(program, porting.text))
    porting.error(setting->place, "port/launch",
                  fmt::format("the script sets {} itself, which srun of the script for {} reads as an option",
                              setting->name, porting.to.id),
                  "remove this line from the script: Slurm sets the variable in the job");
}

void refuse_computed_ranks(ImportState& porting, const std::vector<FoundLaunch>& programs) {
  if (!porting.new_layout) return;
  const auto now = porting.new_layout->ranks_per_node;
  for (const auto& found : programs)
    for (const auto& word : found.program.source)
      if (const auto before = ranks_per_node_in(word); before > 0 && before != now)
        return porting.error(place_of(found), "port/variable",
                             fmt::format("'{}' computes its rank for {} per node, but the job on {} has {}",
                                         shown_command(found), util::counted(before, "rank"), porting.to.id,
                                         now),
                             "use $SLURM_PROCID as the rank in the script, or leave RANK to the launcher");
}

void refuse_own_ranks(ImportState& porting, const std::vector<FoundLaunch>& programs) {
  const auto& intent = porting.result.intent;
  if (!intent.is_known || intent.world() != 1) return;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_of_one = {
      {{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}}};
  for (const auto& found : programs) {
    if (found.in_batch || found.is_helper || found.launch->agent()) continue;
    for (const auto& [name, value] : k_of_one)
      if (const auto* set = found.launch->variable(name);
          set && set->known() && util::parse_unsigned(set->text()) && set->text() != value)
        return porting.error(
            place_of(found), "port/variable",
            fmt::format(
                "the script sets {}={} for '{}', but the launcher of the new job sets {} for one process",
                name, set->text(), shown_command(found), value),
            fmt::format("remove {} from the script, or use torchrun or srun with all ranks in it", name));
  }
}

void refuse_foreign_resources(ImportState& porting, const slurm::ScriptHeader& header) {
  const auto& gpus = porting.result.job.gpus_per_node;
  if (!gpus || gpus->value > 0 || porting.chosen.nodes) return;
  std::size_t begin = 0;
  for (const auto& line : util::split(porting.text.substr(0, header.end), '\n')) {
    if (is_foreign_directive(line))
      return porting.error({begin, line.size()}, "port/directive",
                           fmt::format("'{}' may request GPUs, but sbatch and hpcml do not read it, and the "
                                       "script requests no others",
                                       short_line(line)),
                           "add --gpus-per-node N to hpcml gen, with 0 for a job without GPUs");
    begin += line.size() + 1;
  }
}

} // namespace hpcml::import_script
