// SPDX-License-Identifier: MIT
// Which commands of the old script start its programs, and what of them is the program.
#include <algorithm>
#include <array>
#include <tuple>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/program_text.hpp"

namespace hpcml::import_script {
namespace {

using check::Launch;

/// One task on one node, as the launch line itself says.
bool runs_once(const Launch& launch) {
  const auto* step = launch.step();
  if (!step || launch.agent()) return false;
  for (const char* tasks : {"ntasks", "n", "np"})
    if (step->value(tasks) == "1") return true;
  return false;
}

/// The whole of the words that start the program, from the first link to the last word.
std::pair<std::size_t, std::size_t> range_of(const Launch& top) {
  std::size_t begin = top.chain.front().place.offset;
  std::size_t end = begin;
  for (const auto& word : top.command->words)
    if (word.place.offset >= begin) end = std::max<std::size_t>(end, word.place.offset + word.place.length);
  return {begin, end};
}

/// The launch of the script's own text that this one is part of.
const Launch* top_of(const Launch& launch, const std::vector<Launch>& launches, const shell::Command* first) {
  const auto* command = launch.command;
  while (command->parent) command = first + *command->parent;
  const auto found = std::find_if(launches.begin(), launches.end(),
                                  [&](const Launch& candidate) { return candidate.command == command; });
  return found == launches.end() ? nullptr : &*found;
}

bool is_program(const Launch& launch) {
  if (launch.command->context.substitution || launch.chain.front().program == "sbatch" ||
      launch.chain.front().program == "ssh")
    return false;
  if (launch.agent()) return true;
  const auto& last = launch.last();
  if (!launch.step() && launch.chain.front().role == check::Role::container && !launch.command->parent)
    return &last != &launch.chain.front() && !check::is_tool(launch);
  if (launch.step()) return !check::is_tool(launch) && &last != launch.step();
  // Without a step only Python programs are surely what the job is for.
  return last.program == "python" && !last.operands.empty() &&
         (last.operands.front().text().ends_with(".py") ||
          (!last.module.empty() && last.module != "pip" && last.module != "venv"));
}

/// Which of the node's children holds the place; none: their number.
std::size_t child_at(const shell::SyntaxNode& node, std::size_t at) {
  const auto holds = [&](const shell::SyntaxNode& child) {
    return at >= child.place.offset && at < std::size_t{child.place.offset} + child.place.length;
  };
  return static_cast<std::size_t>(std::find_if(node.children.begin(), node.children.end(), holds) -
                                  node.children.begin());
}

/// Whether only one of the two places is come to: they stand in branches of one `if` or arms of one `case`.
bool are_alternatives(const shell::SyntaxNode& program, std::size_t a, std::size_t b) {
  const auto* node = &program;
  while (true) {
    const auto first = child_at(*node, a), second = child_at(*node, b);
    const auto count = node->children.size();
    if (first == count || second == count) return false;
    if (first == second) {
      node = &node->children[first];
      continue;
    }
    const auto is_condition = [&](std::size_t child) { return child % 2 == 0 && child + 1 < count; };
    if (node->kind == shell::SyntaxNode::Kind::branch) return !is_condition(first) && !is_condition(second);
    return node->kind == shell::SyntaxNode::Kind::choice;
  }
}

/// srun reads its programs from a file, which holds the old layout's ranks: whether the line is such a one.
bool refuse_list(ImportState& porting, const Launch& launch, diag::Place place) {
  if (!launch.step() || !launch.step()->find("multi-prog")) return false;
  porting.error(
      place, "port/launch",
      "srun --multi-prog starts what a file lists for each rank, and the ranks of the new job are other ones",
      "use one program that branches on its rank (SLURM_PROCID)");
  return true;
}

/// The line has run `first` before and runs `now` this time: where the words are not the same, the line's
/// variables stay, if they make both; else it is refused.
void keep_expansions(ImportState& porting, const Launch& launch, const shell::View& view,
                     const ProgramText& now, FoundLaunch& first) {
  if (now.source == first.program.source || first.program.source.empty()) return;
  std::string why;
  const auto kept = program_text(porting.text, *first.launch, view, Expansions::kept, why);
  const auto kept_text = program_text(porting.text, launch, view, Expansions::kept, why);
  if (kept && kept_text && kept->source == kept_text->source) {
    first.program.source = kept->source;
    return;
  }
  porting.error({first.begin, first.end - first.begin}, "port/launch",
                "this line runs more than once, each time with other arguments",
                "use one line for each, with all arguments written out");
}

/// Steps beside each other share the job's nodes; the steps that are written here take all of them.
void refuse_parallel(ImportState& porting, const std::vector<FoundLaunch>& found,
                     const shell::SyntaxNode& program) {
  const auto has_neighbour = [&](const FoundLaunch& launch) {
    return launch.launch->command->context.loop ||
           std::any_of(found.begin(), found.end(), [&](const FoundLaunch& neighbour) {
             return neighbour.begin != launch.begin &&
                    !are_alternatives(program, launch.begin, neighbour.begin);
           });
  };
  for (const auto& launch : found)
    if (launch.launch->command->context.background && has_neighbour(launch))
      return porting.error({launch.begin, launch.end - launch.begin}, "port/parallel",
                           "this step runs in parallel with other steps of its job and shares their nodes",
                           "use a separate job for each, or an array");
}

} // namespace

std::vector<FoundLaunch> find_programs(ImportState& porting, const std::vector<Launch>& launches,
                                       const shell::View& view, const shell::SyntaxNode& tree) {
  std::vector<FoundLaunch> found;
  const bool has_step = std::any_of(launches.begin(), launches.end(), [](const Launch& launch) {
    return is_program(launch) && (launch.step() || launch.agent());
  });
  for (const auto& launch : launches) {
    if (!is_program(launch) || (has_step && !launch.step() && !launch.agent())) continue;
    const auto* top = top_of(launch, launches, view.commands.data());
    if (!top) continue;
    // Inside `bash -c` only an agent is taken out; any other program stays in the shell that it was written
    // for.
    if (launch.command->parent && !launch.agent()) continue;
    FoundLaunch launch_found;
    launch_found.launch = &launch;
    std::tie(launch_found.begin, launch_found.end) = range_of(*top);
    const auto before = std::find_if(found.begin(), found.end(), [&](const FoundLaunch& earlier) {
      return earlier.begin == launch_found.begin;
    });
    // Inside `bash -c` the agent is the better knowledge; else it is a function or loop that is come to
    // twice.
    const bool inside = launch.command->parent.has_value();
    const bool again = before != found.end() && before->launch->command->parent.has_value() == inside;
    if (before != found.end() && !again && !inside) continue;
    const diag::Place place{launch_found.begin, launch_found.end - launch_found.begin};
    if (refuse_list(porting, launch, place)) continue;
    std::string why = "what this line starts is known only when it runs";
    auto program = program_text(porting.text, launch, view, Expansions::written_out, why);
    if (!program) {
      porting.error(place, "port/launch", why, "add the program's arguments to this line itself");
      continue;
    }
    if (again) {
      keep_expansions(porting, launch, view, *program, *before);
      continue;
    }
    launch_found.program.command = program->command;
    launch_found.program.source = program->source;
    launch_found.command = program->inner.empty() ? program->command : program->inner;
    launch_found.program_begin = program->begin;
    launch_found.program.once = runs_once(launch);
    if (before != found.end()) found.erase(before);
    found.push_back(std::move(launch_found));
  }
  refuse_parallel(porting, found, tree);
  std::sort(found.begin(), found.end(),
            [](const FoundLaunch& a, const FoundLaunch& b) { return a.begin < b.begin; });
  return found;
}

} // namespace hpcml::import_script
