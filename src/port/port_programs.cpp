// SPDX-License-Identifier: MIT
// Which commands of the old script start its programs, and what of them is the program.
#include <algorithm>
#include <array>
#include <tuple>

#include "check/launch_facts.hpp"
#include "port/porting.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::port {
namespace {

using check::Launch;
using check::Link;

bool is_starter(const Link& link) {
  static constexpr std::array<std::string_view, 13> k_starters = {
      "srun",        "mpirun",    "mpiexec", "ibrun",      "torchrun", "accelerate", "deepspeed",
      "singularity", "apptainer", "shifter", "podman-hpc", "hpcml",    "numactl"};
  return std::find(k_starters.begin(), k_starters.end(), link.program) != k_starters.end();
}

/// The command's words from the one at `place` on; all of them are its program and arguments.
std::vector<shell::Argument> words_from(const shell::Command& command, shell::Place place) {
  const auto found = std::find_if(command.words.begin(), command.words.end(),
                                  [&](const auto& word) { return word.place.offset == place.offset; });
  return {found, command.words.end()};
}

/// What the innermost starter runs, as words: an agent's script as python runs it, else the program behind
/// the chain's starters.
std::vector<shell::Argument> program_words(const Launch& launch) {
  std::size_t first = launch.chain.size();
  while (first > 0 && !is_starter(launch.chain[first - 1])) --first;
  if (first < launch.chain.size()) return words_from(*launch.command, launch.chain[first].place);
  const auto& agent = launch.chain.back();
  if (agent.operands.empty() || launch.container() == &agent) return {};
  std::vector<shell::Argument> words;
  const auto script = agent.operands.front().text();
  const bool module = agent.find("m") || agent.find("module");
  if (module || util::ends_with(script, ".py")) words.push_back(shell::known_argument("python", {}));
  if (module) words.push_back(shell::known_argument("-m", {}));
  words.insert(words.end(), agent.operands.begin(), agent.operands.end());
  return words;
}

/// The words as bash text. A word that stands in the script by itself keeps its text; one that came out of a
/// variable with others, or stands in a text for another shell, is written out if all of it is known.
std::optional<std::vector<std::string>>
source_of(std::string_view text, const std::vector<shell::Argument>& words, const shell::Command& command) {
  std::vector<std::string> source;
  for (const auto& word : words) {
    const auto at_same_place =
        std::count_if(command.words.begin(), command.words.end(),
                      [&](const auto& other) { return other.place.offset == word.place.offset; });
    if (!command.parent && word.place.length > 0 && at_same_place == 1)
      source.emplace_back(text.substr(word.place.offset, word.place.length));
    else if (word.known())
      source.push_back(util::shell_quote(word.text()));
    else
      return std::nullopt;
  }
  return source;
}

/// What `srun bash -c '$LAUNCHER … $CMD'` runs, as a shell of its own in the same quotes: only that shell
/// knows the words.
std::optional<model::PortedLaunch> in_shell(std::string_view text, const std::vector<shell::Argument>& words,
                                            const Launch& launch, const shell::View& view) {
  const auto& command = *launch.command;
  const auto first =
      std::find_if(words.begin(), words.end(), [](const auto& word) { return word.place.length > 0; });
  if (!command.parent || !launch.agent() || first == words.end()) return std::nullopt;
  // In the launcher's own variable the program cannot be told from it.
  const auto* agent = launch.agent();
  const bool of_agent = first->place.offset == agent->place.offset ||
                        std::any_of(agent->options.begin(), agent->options.end(), [&](const auto& option) {
                          return option.place.offset == first->place.offset;
                        });
  const auto& outer = view.commands[*command.parent].words;
  const auto script = std::find_if(outer.begin(), outer.end(), [&](const auto& word) {
    return first->place.offset > word.place.offset &&
           first->place.offset < word.place.offset + word.place.length;
  });
  if (of_agent || script == outer.end()) return std::nullopt;
  const char quote = text[script->place.offset];
  const auto last = script->place.offset + script->place.length - 1;
  if ((quote != '\'' && quote != '"') || text[last] != quote) return std::nullopt;
  std::string line = "exec";
  for (auto word = words.begin(); word != first; ++word) line += " " + word->text();
  // The program's words go on to the end of the text, or to what ends a command.
  const auto begin = words.back().place.offset;
  auto end = begin + words.back().place.length;
  if (text.substr(begin, last - begin).find_first_of(";|&<>\n") == std::string_view::npos)
    end = static_cast<std::uint32_t>(last);
  else if (!words.back().known())
    return std::nullopt;
  line += " " + std::string(util::trim(text.substr(first->place.offset, end - first->place.offset)));
  return model::PortedLaunch{{"bash", "-c", line}, {"bash", "-c", quote + line + quote}, false};
}

std::optional<unsigned> number(const std::optional<std::string>& text) {
  const auto value = text ? util::parse_unsigned(*text) : std::nullopt;
  return value && *value <= 1000000 ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

std::optional<unsigned> agent_processes(const Launch& launch) {
  const auto* agent = launch.agent();
  if (!agent) return std::nullopt;
  for (const char* option : {"nproc_per_node", "nproc-per-node"})
    if (const auto value = number(agent->value(option))) return value;
  const auto processes = number(agent->value("num_processes"));
  const auto machines = number(agent->value("num_machines"));
  if (processes && machines && *machines > 0) return *processes / *machines;
  return std::nullopt;
}

/// One task on one node, as the launch line itself says.
bool runs_once(const Launch& launch) {
  const auto* step = launch.step();
  return step && !launch.agent() && step->value("ntasks") == "1";
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
                                  [&](const Launch& other) { return other.command == command; });
  return found == launches.end() ? nullptr : &*found;
}

bool is_program(const Launch& launch) {
  if (launch.command->context.substitution || launch.chain.front().program == "sbatch" ||
      launch.chain.front().program == "ssh")
    return false;
  if (launch.agent()) return true;
  const auto& last = launch.last();
  if (launch.step()) return !check::is_tool(launch) && &last != launch.step();
  // Without a step only Python programs are surely what the job is for.
  return last.program == "python" && !last.operands.empty() &&
         (util::ends_with(last.operands.front().text(), ".py") ||
          (!last.module.empty() && last.module != "pip" && last.module != "venv"));
}

} // namespace

std::vector<FoundLaunch> find_programs(Porting& porting, const std::vector<Launch>& launches,
                                       const shell::View& view) {
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
    FoundLaunch one;
    one.launch = &launch;
    std::tie(one.begin, one.end) = range_of(*top);
    const bool same_text = std::any_of(found.begin(), found.end(),
                                       [&](const FoundLaunch& other) { return other.begin == one.begin; });
    if (same_text && !launch.command->parent) continue; // a function or loop that is come to twice
    const auto words = program_words(launch);
    const auto source = source_of(porting.text, words, *launch.command);
    const auto shell = source ? std::nullopt : in_shell(porting.text, words, launch, view);
    const slurm::Place place{one.begin, one.end - one.begin};
    if (words.empty() || (!source && !shell)) {
      porting.error(place, "port/launch", "what this line starts is known only when it runs",
                    "write the program's words into the line itself");
      continue;
    }
    if (shell)
      one.program = *shell;
    else
      one.program.source = *source;
    if (!shell)
      for (const auto& word : words) one.program.command.push_back(word.text());
    one.program.once = runs_once(launch);
    one.agent_processes = agent_processes(launch);
    if (same_text) // the agent inside it is the better knowledge
      found.erase(std::find_if(found.begin(), found.end(),
                               [&](const FoundLaunch& other) { return other.begin == one.begin; }));
    found.push_back(std::move(one));
  }
  std::sort(found.begin(), found.end(),
            [](const FoundLaunch& a, const FoundLaunch& b) { return a.begin < b.begin; });
  return found;
}

} // namespace hpcml::port
