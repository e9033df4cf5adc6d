// SPDX-License-Identifier: MIT
// Steps that need no hpcml on the node: one task per rank, or one agent per node.
#include <algorithm>
#include <fmt/format.h>

#include "core/launch_chain/unknown_words.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/model/launcher_row.hpp"
#include "core/model/mpi_ranks.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

/// A Python command as agents want it: its script and arguments, without the interpreter.
struct AgentProgram {
  bool plain = false;     ///< no Python script: the agent must start it as it is
  bool is_module = false; ///< "-m NAME"
  std::vector<std::string> words;
};

AgentProgram agent_program(const std::vector<std::string>& command) {
  if (command.empty()) return {true, false, {}};
  if (command[0].ends_with(".py")) return {false, false, command};
  if (!launch_chain::is_python(command[0])) return {true, false, command};
  std::size_t next = 1;
  // The agent gives -u itself. Any other option of the interpreter would be lost: then it starts the command
  // as it is.
  while (next < command.size() && command[next] == "-u") ++next;
  const bool module = next < command.size() && command[next] == "-m";
  if (module) ++next;
  if (next >= command.size() || command[next].starts_with("-")) return {true, false, command};
  return {false, module, {command.begin() + static_cast<std::ptrdiff_t>(next), command.end()}};
}

/// A word of the agent's row; one with a dollar is the shell's to expand.
ScriptWord script_word(const model::Plan& plan, std::string_view text) {
  const auto least = plan.launcher.least_nodes;
  const auto nodes = std::to_string(plan.layout.nodes);
  std::string word(text);
  for (const auto& [name, value] :
       {std::pair{"{nodes}", nodes},
        {"{least_nodes}", least == 0 ? nodes : fmt::format("{}:{}", least, nodes)},
        {"{ranks_per_node}", std::to_string(plan.layout.ranks_per_node)},
        {"{ranks}", std::to_string(plan.layout.world_size())}})
    word = util::replace_all(word, name, value);
  return word.find('$') == std::string::npos ? ScriptWord::literal(word) : ScriptWord::expression(word);
}

/// Whether an option of the person's begins so.
bool gives_option(const std::vector<std::string>& options, std::string_view begin) {
  return !begin.empty() && std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return (option.starts_with("'") ? option.substr(1) : option).starts_with(begin);
  });
}

ScriptWords agent_words(const model::Plan& plan, const AgentProgram& program) {
  const auto& script = plan.launcher.choice.row().script;
  const auto& options = plan.launcher.agent_options;
  const auto configures = [&](auto begin) { return gives_option(options, begin); };
  const bool configured = std::any_of(script.configures.begin(), script.configures.end(), configures);
  // A configuration for several CPUs starts one process on each node: the option goes before it.
  const bool on_cpus = plan.layout.gpus_per_node == 0 && plan.layout.world_size() > 1;
  const bool decided = std::any_of(script.configures.begin(), script.configures.end(), [&](auto begin) {
    return configures(begin) && !(on_cpus && begin.starts_with("--config"));
  });
  ScriptWords words;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) words.push_back(script_word(plan, text));
  };
  for (std::size_t i = 0; i < script.words.size(); ++i) {
    if (i == script.of_node_at && !decided && plan.layout.world_size() > 1)
      add(script.several);
    else if (i == script.of_node_at && !decided && plan.layout.gpus_per_node == 0)
      add(script.no_gpus);
    add(script.words[i]);
  }
  for (const auto usual : script.usual)
    if (!configured && !gives_option(options, usual.substr(0, usual.find('=') + 1))) add(usual);
  for (const auto& option : options) words.push_back(ScriptWord::expression(option));
  if (program.plain) add(script.plain);
  if (program.is_module) add(script.module);
  return words;
}

/// Each of the node's GPUs by number: what a task sees where Slurm sets no list.
std::string all_gpus(unsigned count) {
  std::vector<std::string> numbers;
  for (unsigned gpu = 0; gpu < count; ++gpu) numbers.push_back(std::to_string(gpu));
  return util::join(numbers, ",");
}

/// The variables of one rank, as lines for its shell.
std::string rank_lines(const model::Plan& plan) {
  const auto& launcher = plan.launcher;
  const auto visible = model::visible_devices_variable(plan.gpu_vendor);
  const bool own =
      plan.layout.gpus_per_rank > 0 && plan.gpu_visibility.value == model::GpusSeen::own && !visible.empty();
  const bool slurm = launcher.by_srun();
  TemplateData data{
      {"rank", task_rank(plan)},
      {"local_rank", task_local_rank(plan, "RANK")},
      {"world_size", slurm || !launcher.world_size_variable.empty()
                         ? task_variable(plan, launcher.world_size_variable, "SLURM_NTASKS")
                         : std::to_string(plan.layout.world_size())},
      {"local_world_size", std::to_string(plan.layout.ranks_per_node)},
      {"node_rank", false},
      {"own_gpus", own},
      {"gpus_per_rank", std::to_string(plan.layout.gpus_per_rank)},
      {"step_gpus", fmt::format("\"${{{}:-{}}}\"", visible, all_gpus(plan.layout.gpus_per_node))},
      {"visible", visible},
      {"task_env", false}};
  if (slurm) data["node_rank"] = std::string("\"$SLURM_NODEID\"");
  if (const auto exports = task_exports(plan); !exports.empty()) data["task_env"] = exports;
  return render_template("rank_program", data);
}

/// Starts the agent. What differs from node to node only the task knows.
std::string start_agent(const model::Plan& plan) {
  const auto& script = plan.launcher.choice.row().script;
  const auto& endpoint = plan.rendezvous;
  const bool plain_rendezvous =
      endpoint.interface.empty() && endpoint.suffix.empty() && endpoint.from_env.empty() && !endpoint.ipv4;
  if (script.of_node.empty() || (script.of_odd_rendezvous && plain_rendezvous)) return "exec \"$@\"";
  const auto node = plan.launcher.by_srun() ? task_variable(plan, plan.launcher.rank_variable, "SLURM_NODEID")
                                            : task_rank(plan);
  const auto behind = script.of_node_at;
  std::string first = fmt::format("\"${{@:1:{}}}\"", behind);
  if (behind < 3) first = behind == 1 ? "\"$1\"" : "\"$1\" \"$2\"";
  return fmt::format("exec {} {} \"${{@:{}}}\"", first,
                     util::replace_all(std::string(script.of_node), "{node}", node), behind + 1);
}

} // namespace

std::string task_rank(const model::Plan& plan) {
  if (plan.launcher.by_srun()) return task_variable(plan, plan.launcher.rank_variable, "SLURM_PROCID");
  if (util::is_variable_name(plan.launcher.rank_variable))
    return task_variable(plan, plan.launcher.rank_variable, "");
  std::string text, ends;
  for (const auto& known : model::k_mpi_ranks) {
    const bool last = &known == &model::k_mpi_ranks.back();
    text += std::string("${") + known.rank + (last ? ":?" : ":-");
    ends += "}";
  }
  return "\"" + text + ends + "\"";
}

std::string task_local_rank(const model::Plan& plan, const std::string& rank) {
  if (plan.launcher.by_srun() || util::is_variable_name(plan.launcher.local_rank_variable))
    return task_variable(plan, plan.launcher.local_rank_variable, "SLURM_LOCALID");
  return fmt::format("$((${{{}//[!0-9]/}} % {}))", rank,
                     plan.layout.tasks_per_node); // ranks stand in blocks, node by node
}

std::string task_variable(const model::Plan& plan, const std::string& name, const std::string& fallback) {
  const auto& variable = util::is_variable_name(name) ? name : fallback;
  // Slurm sets its own in each task. What another launcher forgets to set must not become an empty rank.
  return plan.launcher.by_srun() ? "\"$" + variable + "\"" : "\"${" + variable + ":?}\"";
}

std::string task_exports(const model::Plan& plan) {
  std::string text;
  for (const auto& variable : plan.env) {
    if (variable.scope != model::Scope::task || !variable.expression) continue;
    text += fmt::format("{}  export {}={}", text.empty() ? "" : "\n", variable.name,
                        quote_expression(variable.value));
  }
  return text;
}

std::vector<ScriptWords> plain_groups(const ScriptStep& step) {
  const auto& plan = step.plan;
  std::vector<ScriptWords> groups{step_words(step)};
  if (!plan.launcher.choice.is_agent()) {
    // What reads the same variables starts like all others, and its own ssh launcher is not needed.
    for (auto& group : wrapper_groups(step, rank_lines(plan))) groups.push_back(std::move(group));
    groups.push_back(program_words(step.program, step.program.command));
    return groups;
  }
  auto exports = task_exports(plan);
  if (!exports.empty()) exports += "\n";
  for (auto& group : wrapper_groups(step, exports, start_agent(plan))) groups.push_back(std::move(group));
  const auto program = agent_program(step.program.command);
  groups.push_back(agent_words(plan, program));
  groups.push_back(program_words(step.program, program.words));
  return groups;
}

} // namespace hpcml::render
