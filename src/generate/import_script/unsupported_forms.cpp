// SPDX-License-Identifier: MIT
#include "generate/import_script/unsupported_forms.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

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

/// Whether the text starts steps, ranks or an image.
bool starts_programs(const std::string& text) {
  const auto words = util::split(text, ' ');
  return model::starts_launcher(text) || std::any_of(words.begin(), words.end(), [](const auto& word) {
           return model::find_engine_program(util::base_name(word)) != nullptr;
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

} // namespace

void report_no_program(ImportState& porting, const shell::ScriptCommands& view) {
  for (const auto& command : view.commands)
    if (command.name() == "srun" && std::any_of(command.words.begin(), command.words.end(),
                                                [](const auto& word) { return !word.known(); }))
      return porting.error(
          command.place, "port/no-program",
          fmt::format("the program that srun starts in line {} of {} is known only when the "
                      "script runs",
                      porting.lines.number_at(command.place.offset), porting.file),
          "add the program's name to the script, or run hpcml gen -- PROGRAM without --from");
  if (const auto* command = find_unknown_command(view))
    return porting.error(
        command->place, "port/no-program",
        fmt::format("the program that line {} of {} starts is known only when the script runs",
                    porting.lines.number_at(command->place.offset), porting.file),
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
    if (imported || is_output || !starts_programs(text)) continue;
    porting.error(command.place, "port/eval",
                  fmt::format("eval runs '{}', a text that the script composes: its launch cannot be "
                              "imported",
                              short_line(util::trim(text))),
                  "use the command itself in the script, without eval");
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
