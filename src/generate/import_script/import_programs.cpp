// SPDX-License-Identifier: MIT
// Which commands of the old script start its programs, and what of them is the program.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

#include "check/launch_facts.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/batch_program.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/program_text.hpp"

namespace hpcml::import_script {
namespace {

using check::Launch;
using check::Link;

/// One task on one node, as the launch line itself says.
bool runs_once(const Launch& launch) {
  const auto* step = launch.step();
  if (!step || launch.agent()) return false;
  for (const char* tasks : {"ntasks", "n", "np"})
    if (step->value(tasks) == "1") return true;
  return false;
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
  return check::starts_python_file(launch) ||
         (last.program == "python" && !last.operands.empty() && !last.module.empty() &&
          last.module != "pip" && last.module != "venv");
}

/// A step with a tool that gets the nodes ready, sized for the old nodes: it is sized for the new ones. One
/// that is placed on a node by its name, or runs next to the others, stays as the script has it.
bool is_sized_helper(const ImportState& porting, const Launch& launch, const SizeEvaluator& sizes) {
  const auto* step = launch.step();
  if (!step || launch.agent() || launch.command->context.substitution || launch.command->context.background ||
      launch.command->parent || !check::is_tool(launch) || &launch.last() == step)
    return false;
  if (step->find("nodelist") || step->find("relative") || step->find("jobid") || step->find("overlap"))
    return false;
  const bool sized = std::any_of(step->options.begin(), step->options.end(),
                                 [](const auto& option) { return is_planned_of_step(option.name); });
  return sized || step->program != "srun" || !has_srun(porting.to) || sizes.tasks_per_node <= 1;
}

/// A tool that runs in an image before or after the programs, by the batch script: it goes into the new
/// image.
bool is_image_helper(const Launch& launch) {
  return !launch.step() && !launch.agent() && launch.chain.front().role == check::Role::container &&
         &launch.last() != &launch.chain.front() && !launch.command->parent &&
         !launch.command->context.substitution && !launch.command->context.background &&
         check::is_tool(launch);
}

/// A program of the script's own that starts steps itself: within a step these would wait for ever.
bool starts_steps(const Launch& launch) {
  static constexpr std::array<std::string_view, 4> k_words = {"srun", "slurm", "mpirun", "submitit"};
  const auto& words = launch.command->words;
  return std::any_of(words.begin() + 1, words.end(), [](const auto& word) {
    const auto text = word.text();
    const auto value = std::string_view(text).substr(text.find('=') + 1); // npos + 1 is 0
    return std::find(k_words.begin(), k_words.end(), value) != k_words.end() || text.find("srun ") == 0;
  });
}

/// Whether a word can be a program by its looks alone.
bool is_program_word(const std::string& text) {
  return launch_chain::is_run_by_python(text) || text == "bash" || text == "sh" || text.ends_with(".sh") ||
         launch_chain::find_wrapper(util::base_name(text)) != nullptr;
}

/// Whether the link has an option of which it is not known if the next word is its value.
bool has_unknown_option(const Link& link) {
  if (!link.complete) return true;
  const auto* wrapper = launch_chain::find_wrapper(link.program);
  if (link.program == "srun" || !wrapper) return false;
  return std::any_of(link.options.begin(), link.options.end(), [&](const auto& option) {
    const auto word = (option.name.size() == 1 ? "-" : "--") + option.name;
    return !option.value && !launch_chain::has_word(wrapper->flags, word);
  });
}

bool starts_programs(const Link& link) {
  return link.role == check::Role::step || link.role == check::Role::agent ||
         link.role == check::Role::container;
}

/// The first link whose words are replaced: `poetry run` before srun stays in front of the new srun.
const Link& first_replaced(const Launch& top) {
  const auto* step = top.step();
  const bool follows_programs = step && std::none_of(&top.chain.front(), step, starts_programs);
  return follows_programs ? *step : top.chain.front();
}

/// The whole of the words that start the program, from the first link that is replaced to the last word.
std::pair<std::size_t, std::size_t> range_of(const Launch& top, bool replaces_all) {
  std::size_t begin = (replaces_all ? top.chain.front() : first_replaced(top)).place.offset;
  std::size_t end = begin;
  for (const auto& word : top.command->words)
    if (word.place.offset >= begin) end = std::max<std::size_t>(end, word.place.offset + word.place.length);
  return {begin, end};
}

/// What follows an option that hpcml does not know may be its value: `mpirun --new-option 2 python x.py`.
bool is_ambiguous(const Launch& launch, const std::vector<std::string>& command) {
  const auto* agent = launch.agent();
  std::size_t at = skip_env(command);
  if (agent && agent == &launch.last() && command.size() > agent->operands.size())
    at = command.size() - agent->operands.size();
  if (at >= command.size() || runs_shell(command)) return false;
  const auto& first = command[at];
  if (first.find_first_not_of("0123456789.,:") == std::string::npos) return true;
  if (first.empty() || first.front() == '-' || first.front() == '^') return true;
  if (is_program_word(first) || first.find_first_of("/$.") != std::string::npos) return false;
  return std::any_of(launch.chain.begin(), launch.chain.end(),
                     [](const Link& link) { return starts_programs(link) && has_unknown_option(link); }) &&
         std::any_of(command.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.end(), is_program_word);
}

/// Whether a shell of the script's own starts Python in its text: `conda run -n e bash -c "python x.py"`.
bool starts_python_in_text(const Launch& shell, const std::vector<Launch>& launches,
                           const shell::Command* first) {
  const auto& name = shell.last().program;
  if (shell.command->parent || shell.step() || shell.container() || (name != "bash" && name != "sh"))
    return false;
  return std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
    const auto* command = launch.command;
    while (command->parent) command = first + *command->parent;
    return &launch != &shell && command == shell.command && !launch.step() && !launch.agent() &&
           !launch.container() && is_program(launch);
  });
}

/// Whether the launch starts a program of the job; with `tools` also one that only looks around.
bool is_started(const Launch& launch, bool tools) {
  if (is_program(launch)) return true;
  return tools && launch.step() && !launch.command->context.substitution && check::is_tool(launch) &&
         &launch.last() != launch.step();
}

/// Which of the node's children holds the place; none: their number.
std::size_t child_at(const shell::SyntaxNode& node, std::size_t at) {
  const auto holds = [&](const shell::SyntaxNode& child) {
    return at >= child.place.offset && at < std::size_t{child.place.offset} + child.place.length;
  };
  return static_cast<std::size_t>(std::find_if(node.children.begin(), node.children.end(), holds) -
                                  node.children.begin());
}

/// True if only one of the two places is executed: they are branches of one `if` or arms of one `case`.
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
bool refuse_list(ImportState& porting, const Launch& launch, diag::TextRange place) {
  const auto& words = launch.command->words;
  if (launch.step() &&
      std::any_of(words.begin(), words.end(), [](const auto& word) { return word.text() == ":"; })) {
    porting.error(place, "port/launch",
                  fmt::format("{} starts several programs at once, separated by ':', which hpcml gen --from "
                              "cannot import",
                              launch.step()->program),
                  "use one program in the script that branches on its rank (SLURM_PROCID)");
    return true;
  }
  if (!launch.step() || !launch.step()->find("multi-prog")) return false;
  porting.error(place, "port/launch",
                "srun --multi-prog cannot be imported: its file assigns programs to ranks that the new "
                "job may not have",
                "use one program in the script that branches on its rank (SLURM_PROCID)");
  return true;
}

/// The line has run `first` before and runs `now` this time: where the words are not the same, the line's
/// variables stay, if they make both; else it is refused.
void keep_expansions(ImportState& porting, const Launch& launch, const shell::ScriptCommands& listing,
                     const ProgramCommandText& now, FoundLaunch& first) {
  if (now.source == first.program.source || first.program.source.empty()) return;
  std::string why;
  const auto kept = program_text(porting, *first.launch, listing, VariableExpansionMode::kept, why);
  const auto kept_text = program_text(porting, launch, listing, VariableExpansionMode::kept, why);
  if (kept && kept_text && kept->source == kept_text->source) {
    first.program.source = kept->source;
    return;
  }
  porting.error(
      {first.begin, first.end - first.begin}, "port/launch",
      fmt::format("a loop or function starts '{}' several times with different arguments, which cannot be "
                  "imported",
                  shown_command(first)),
      "use one line in the script for each start, with all arguments written out");
}

/// Rejects parallel steps: they share the job's nodes, but the steps of the new script use all of them.
void refuse_parallel(ImportState& porting, const std::vector<FoundLaunch>& found,
                     const shell::SyntaxNode& program) {
  const auto has_neighbour = [&](const FoundLaunch& launch) {
    return launch.launch->command->context.loop ||
           std::any_of(found.begin(), found.end(), [&](const FoundLaunch& neighbour) {
             return neighbour.begin != launch.begin &&
                    !are_alternatives(program, launch.begin, neighbour.begin);
           });
  };
  for (const auto& launch : found) {
    const auto& context = launch.launch->command->context;
    if (context.background && context.loop && launch.launch->agent() && launch.launch->step())
      return porting.error(
          {launch.begin, launch.end - launch.begin}, "port/parallel",
          fmt::format("a loop starts '{}' once for each node with its own rank, which cannot be imported",
                      shown_command(launch)),
          fmt::format("use one srun --ntasks-per-node=1 for all nodes in place of the loop, with "
                      "$SLURM_NODEID as the node's rank of {}",
                      launch.launch->agent()->program));
    if (context.background && has_neighbour(launch))
      return porting.error(
          {launch.begin, launch.end - launch.begin}, "port/parallel",
          fmt::format(
              "step '{}' runs in parallel with other steps on the same nodes, which cannot be imported",
              shown_command(launch)),
          "use a separate job for each step, or a job array");
  }
}

/// A program that PATH has on the old site: a wrapper of the site's, or one of the script's environment.
void report_site_program(ImportState& porting, const FoundLaunch& found) {
  if (porting.is_of_new_site() || found.is_helper) return;
  const auto& command = found.program.command;
  const auto word = std::find_if(command.begin(), command.end(), [](const std::string& text) {
    return text != "env" && text != "time" && text != "exec" && text.find('=') == std::string::npos;
  });
  if (word == command.end() || word->find_first_of("/$ ") != std::string::npos) return;
  const auto* engine = model::find_engine_program(*word);
  const bool wraps = engine != nullptr && !engine->in_chain;
  if (!wraps && is_program_word(*word)) return;
  porting.warn({found.begin, found.end - found.begin}, "port/program",
               fmt::format("program '{}' has no directory: it must be in PATH on {}, not only on {}", *word,
                           porting.to.id, porting.source_name()),
               wraps ? "add --container IMAGE to hpcml gen to run the program in an image"
                     : "use the full path of the program in the script, or check that PATH has it there");
}

/// Which launches are programs of the job.
class ProgramSelection {
public:
  ProgramSelection(const ImportState& porting, const std::vector<Launch>& launches,
                   const shell::ScriptCommands& listing, const SizeEvaluator& sizes)
      : x_porting(porting), x_launches(launches), x_listing(listing), x_sizes(sizes),
        x_has_program(std::any_of(launches.begin(), launches.end(), is_program)),
        x_has_image(
            std::any_of(launches.begin(), launches.end(),
                        [](const Launch& launch) { return is_program(launch) && launch.container(); })),
        x_batch_program(x_has_program ? nullptr : find_batch_program(launches, listing)),
        x_has_step(std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
          return is_started(launch, !x_has_program) && (launch.step() || launch.agent());
        })) {}
  bool is_helper(const Launch& launch) const {
    return (x_has_image && is_image_helper(launch)) ||
           ((x_has_program || x_batch_program) && is_sized_helper(x_porting, launch, x_sizes));
  }
  /// Whether it is a command of the batch script that may start ranks and steps itself.
  bool is_unread(const Launch& launch) const {
    return &launch == x_batch_program && launch.last().program != "python";
  }
  bool holds(const Launch& launch) const {
    if (is_helper(launch) || &launch == x_batch_program) return true;
    if (x_batch_program) return false;
    if (!x_has_step && starts_python_in_text(launch, x_launches, x_listing.commands.data())) return true;
    if (!is_started(launch, !x_has_program)) return false;
    // Inside `bash -c` only an agent is taken out; any other program stays in the shell that it was written
    // for.
    return launch.agent() || (!launch.command->parent && (launch.step() || !x_has_step));
  }

private:
  const ImportState& x_porting;
  const std::vector<Launch>& x_launches;
  const shell::ScriptCommands& x_listing;
  const SizeEvaluator& x_sizes;
  bool x_has_program, x_has_image;
  const Launch* x_batch_program; ///< if there is no other program
  bool x_has_step;
};

/// The launch's program; nothing, and reported, if it is ambiguous.
std::optional<ProgramCommandText> read_program(ImportState& porting, const Launch& launch,
                                               const shell::ScriptCommands& listing, diag::TextRange place) {
  if (refuse_list(porting, launch, place)) return std::nullopt;
  std::string why;
  auto program = program_text(porting, launch, listing, VariableExpansionMode::written_out, why);
  if (!program) {
    if (why.empty())
      porting.error(place, "port/launch",
                    "the program that this line starts is known only when the script runs",
                    "add the program's arguments to this line itself");
    else
      porting.error(place, "port/launch", why,
                    "use a separate line of the script for it, before or after this shell");
    return std::nullopt;
  }
  if (!is_ambiguous(launch, program->command)) return program;
  porting.error(place, "port/launch",
                fmt::format("{} has an option that hpcml does not know, so the program of this line is "
                            "ambiguous",
                            launch.chain.front().program),
                "use --option=value, in one word, for the options of this line in the script");
  return std::nullopt;
}

/// Reports each `conda run` that is removed from the launch.
void note_replaced_environment(ImportState& porting, const Launch& launch) {
  const auto& option = porting.chosen.environment;
  for (const auto& link : launch.chain)
    if (!option.empty() && runs_in_environment(link))
      porting.note(link.place, "port/environment",
                   fmt::format("'{} run' is removed: {} of the request replaces it", link.program, option),
                   fmt::format("remove {} from hpcml gen to keep it", option));
}

void set_program(FoundLaunch& found, const ProgramCommandText& program) {
  found.program.command = program.command;
  found.program.source = program.source;
  found.command = program.inner.empty() ? program.command : program.inner;
  found.program_begin = program.begin;
  found.program.once = runs_once(*found.launch);
}

/// Notes programs of the batch script that are not imported, except those with settings or prefixes.
void note_batch_programs(ImportState& porting, const std::vector<Launch>& launches,
                         const ProgramSelection& selection) {
  for (const auto& launch : launches) {
    const auto& command = *launch.command;
    if (!selection.holds(launch) && command.own.empty() && command.prefixes.empty() &&
        runs_batch_program(launch))
      porting.batch_programs.emplace(command.place.offset, command.place.length);
  }
}

/// Whether the batch script itself runs the program: no srun starts it, or one process of a helper is enough.
bool runs_in_batch(const ImportState& porting, const FoundLaunch& found, const SizeEvaluator& sizes) {
  const auto& launch = *found.launch;
  if (found.bare() && !launch.container()) return sizes.nodes > 1 || starts_steps(launch);
  return found.is_helper && found.program.once && !has_srun(porting.to);
}

} // namespace

std::string short_line(std::string_view text) {
  constexpr std::size_t k_most = 60;
  auto end = std::min({text.find('\n'), text.size(), k_most});
  // A character of UTF-8 is not cut.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + (end < text.size() ? " …" : "");
}

std::string shown_command(const FoundLaunch& found) {
  return short_line(util::join(found.program.command, " "));
}

std::vector<FoundLaunch> find_programs(ImportState& porting, const std::vector<Launch>& launches,
                                       const shell::ScriptCommands& listing, const shell::SyntaxNode& tree,
                                       const SizeEvaluator& sizes) {
  std::vector<FoundLaunch> found;
  const ProgramSelection selection(porting, launches, listing, sizes);
  for (const auto& launch : launches) {
    const auto* top = selection.holds(launch) ? top_of(launch, launches, listing.commands.data()) : nullptr;
    if (!top) continue;
    FoundLaunch launch_found;
    launch_found.launch = &launch;
    std::tie(launch_found.begin, launch_found.end) = range_of(*top, !porting.chosen.environment.empty());
    const auto before = std::find_if(found.begin(), found.end(), [&](const FoundLaunch& earlier) {
      return earlier.begin == launch_found.begin;
    });
    // Inside `bash -c` the agent is the better knowledge; else it is a function or loop that is come to
    // twice.
    const bool inside = launch.command->parent.has_value();
    const bool again = before != found.end() && before->launch->command->parent.has_value() == inside;
    if (before != found.end() && !again && !inside) continue;
    const auto program =
        read_program(porting, launch, listing, {launch_found.begin, launch_found.end - launch_found.begin});
    if (!program) continue;
    if (again) {
      keep_expansions(porting, launch, listing, *program, *before);
      continue;
    }
    set_program(launch_found, *program);
    note_replaced_environment(porting, launch);
    launch_found.is_helper = selection.is_helper(launch);
    if (launch_found.is_helper && is_image_helper(launch)) launch_found.program.once = true;
    launch_found.is_unread = selection.is_unread(launch);
    launch_found.in_batch = launch_found.is_unread || runs_in_batch(porting, launch_found, sizes);
    if (before != found.end()) found.erase(before);
    found.push_back(std::move(launch_found));
  }
  note_batch_programs(porting, launches, selection);
  for (const auto& launch : found) report_site_program(porting, launch);
  refuse_parallel(porting, found, tree);
  std::sort(found.begin(), found.end(),
            [](const FoundLaunch& a, const FoundLaunch& b) { return a.begin < b.begin; });
  return found;
}

} // namespace hpcml::import_script
