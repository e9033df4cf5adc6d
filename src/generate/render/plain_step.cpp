// SPDX-License-Identifier: MIT
// Steps that need no hpcml on the node: one task per rank, or one agent per node.
#include <algorithm>
#include <fmt/format.h>

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/model/launcher_row.hpp"
#include "core/model/mpi_ranks.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::render {

namespace {

/// A Python command as agents want it: its script and arguments, without the interpreter.
struct AgentProgram {
  bool plain = false;     ///< not a Python script: the agent must start it unchanged
  bool is_module = false; ///< "-m NAME"
  std::vector<std::string> words;
};

/// Whether the first words of an imported command are also the first words of its text: a variable may hold
/// several.
bool has_leading_words(const model::ImportedLaunch& program, std::size_t count) {
  const auto& source = program.source;
  if (source.empty()) return true;
  return source.size() > count &&
         std::equal(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count),
                    program.command.begin());
}

AgentProgram agent_program(const std::vector<std::string>& command) {
  if (command.empty()) return {true, false, {}};
  if (command[0].ends_with(".py")) return {false, false, command};
  if (!launch_chain::is_python(command[0])) return {true, false, command};
  std::size_t next = 1;
  // The agent adds -u itself. Any other option of the interpreter would be lost, so that it then starts the
  // command unchanged.
  while (next < command.size() && command[next] == "-u") ++next;
  const bool module = next < command.size() && command[next] == "-m";
  if (module) ++next;
  if (next >= command.size() || command[next].starts_with("-")) return {true, false, command};
  return {false, module, {command.begin() + static_cast<std::ptrdiff_t>(next), command.end()}};
}

/// A word of the agent's row; one with a dollar is the shell's to expand.
ScriptWord script_word(const model::Plan& plan, std::string_view text) {
  const auto least = plan.launcher.least_nodes;
  const auto& layout = plan.layout;
  // As srun's --ntasks: the number that sbatch gave the job, which may not be that of the script.
  const bool is_jobs = has_one_task_per_node(plan);
  const auto nodes = is_jobs ? "\"$SLURM_NNODES\"" : std::to_string(layout.nodes);
  const auto ranks = is_jobs ? fmt::format("$((SLURM_NNODES * {}))", layout.ranks_per_node)
                             : std::to_string(layout.world_size());
  std::string word(text);
  for (const auto& [name, value] :
       {std::pair{"{nodes}", nodes},
        {"{least_nodes}", least == 0 ? nodes : fmt::format("{}:{}", least, layout.nodes)},
        {"{ranks_per_node}", std::to_string(layout.ranks_per_node)},
        {"{ranks}", ranks}})
    word = util::replace_all(word, name, value);
  return word.find('$') == std::string::npos ? ScriptWord::literal(word) : ScriptWord::expression(word);
}

/// True if one of the user's options begins with this text.
bool gives_option(const std::vector<std::string>& options, std::string_view begin) {
  return !begin.empty() && std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return (option.starts_with("'") ? option.substr(1) : option).starts_with(begin);
  });
}

ScriptWords agent_words(const model::Plan& plan, const AgentProgram& program,
                        const std::vector<std::string>& options) {
  const auto& script = plan.launcher.choice.row().script;
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

/// Each of the node's GPUs by number: what a task sees if Slurm sets no list.
std::string all_gpus(unsigned count) {
  std::vector<std::string> numbers;
  for (unsigned gpu = 0; gpu < count; ++gpu) numbers.push_back(std::to_string(gpu));
  return util::join(numbers, ",");
}

/// True if Slurm itself shows each task its own GPUs only.
bool gives_gpus_by_task(const model::Plan& plan) {
  const auto& args = plan.launcher.step_args;
  return std::any_of(plan.directives.begin(), plan.directives.end(),
                     [](const auto& directive) { return directive.name == "--gpus-per-task"; }) ||
         std::any_of(args.begin(), args.end(), [](const std::string& arg) {
           return arg.starts_with("--gpus-per-task") ||
                  (arg.starts_with("--gpu-bind") && arg != "--gpu-bind=none");
         });
}

/// True if each rank's GPUs are those with its own number among all of the node's, whatever Slurm lists.
bool has_gpus_by_number(const model::Plan& plan) {
  const auto& layout = plan.layout;
  const auto& ranks = plan.binding.ranks;
  if (plan.binding.binder != model::Binder::srun_masks || layout.gpus_per_node != layout.gpus_held ||
      layout.gpus_per_rank != 1 || ranks.empty())
    return false;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].gpus != std::vector<unsigned>{static_cast<unsigned>(rank)}) return false;
  return true;
}

/// The GPUs of one rank; `local_rank` is its word for that.
void add_own_gpus(const model::Plan& plan, const std::string& local_rank, TaskVariables& variables) {
  const auto visible = model::visible_devices_variable(plan.gpu_vendor);
  const auto count = plan.layout.gpus_per_rank;
  if (count == 0 || visible.empty() || plan.gpu_visibility.value != model::GpuVisibilityMode::own ||
      gives_gpus_by_task(plan))
    return;
  if (has_gpus_by_number(plan)) {
    variables.back().push_back(fmt::format("{}={}", visible, local_rank));
    return;
  }
  const auto cut = [&](const std::string& fields) {
    variables.push_back({fmt::format("{0}=$(cut -d, -f{1} <<<\"${0}\")", visible, fields)});
  };
  // Arithmetic would run code in a variable that a profile names.
  variables.push_back({"LOCAL_RANK=${LOCAL_RANK//[!0-9]/}",
                       fmt::format("{0}=${{{0}:-{1}}}", visible, all_gpus(plan.layout.gpus_per_node))});
  // A list of one GPU has no comma: cut then leaves it as is.
  if (count == 1) return cut("$((LOCAL_RANK+1))");
  cut(fmt::format("$((LOCAL_RANK*{}+1))-", count));
  cut(fmt::format("-{}", count));
}

/// The variables of one rank.
TaskVariables rank_variables(const model::Plan& plan) {
  const auto& launcher = plan.launcher;
  const bool by_srun = launcher.by_srun();
  const auto world_size = by_srun || !launcher.world_size_variable.empty()
                              ? task_variable(plan, launcher.world_size_variable, "SLURM_NTASKS")
                              : std::to_string(plan.layout.world_size());
  TaskVariables variables{{"RANK=" + task_rank(plan), "WORLD_SIZE=" + world_size}};
  if (by_srun) variables.back().push_back("NODE_RANK=$SLURM_NODEID");
  // Ranks are in blocks, node by node.
  auto local_rank = fmt::format("$((${{RANK//[!0-9]/}} % {}))", plan.layout.tasks_per_node);
  if (by_srun || util::is_variable_name(launcher.local_rank_variable))
    local_rank = task_variable(plan, launcher.local_rank_variable, "SLURM_LOCALID");
  variables.push_back(
      {"LOCAL_RANK=" + local_rank, fmt::format("LOCAL_WORLD_SIZE={}", plan.layout.ranks_per_node)});
  add_own_gpus(plan, local_rank, variables);
  return variables;
}

/// The site's variables that only a task can evaluate.
void add_task_variables(const model::Plan& plan, TaskVariables& variables) {
  for (const auto& variable : plan.env)
    if (variable.scope == model::ValueScope::task && variable.expression)
      variables.push_back({variable.name + "=" + quote_expression(variable.value)});
}

/// Starts the agent, and sets what differs from node to node, which only the task knows.
std::string start_agent(const model::Plan& plan, TaskVariables& variables) {
  const auto& script = plan.launcher.choice.row().script;
  const auto& endpoint = plan.rendezvous;
  const bool plain_rendezvous =
      endpoint.interface.empty() && endpoint.suffix.empty() && endpoint.from_env.empty() && !endpoint.ipv4;
  if (script.of_node.empty() || (script.of_odd_rendezvous && plain_rendezvous)) return "exec \"$@\"";
  auto node = plan.launcher.by_srun() ? task_variable(plan, plan.launcher.rank_variable, "SLURM_NODEID")
                                      : task_rank(plan);
  constexpr std::size_t k_short = 40; // what fits into the agent's line
  if (node.size() > k_short) {
    variables.insert(variables.begin(), {"NODE_RANK=" + node});
    node = "$NODE_RANK";
  }
  const auto word = util::replace_all(std::string(script.of_node), "{node}", node);
  if (script.of_node_at == 0) return word + " exec \"$@\"";
  std::string first;
  for (std::size_t i = 1; i <= script.of_node_at; ++i) first += fmt::format("\"${}\" ", i);
  return fmt::format("exec {}{} \"${{@:{}}}\"", first, word, script.of_node_at + 1);
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
  return text + ends;
}

std::string task_variable(const model::Plan& plan, const std::string& name, const std::string& fallback) {
  const auto& variable = util::is_variable_name(name) ? name : fallback;
  // Slurm sets its own in each task. What another launcher forgets to set must not become an empty rank.
  return plan.launcher.by_srun() ? "$" + variable : "${" + variable + ":?}";
}

std::vector<ScriptWords> plain_groups(const JobStepInput& step) {
  const auto& plan = step.plan;
  std::vector<ScriptWords> groups{step_words(step)};
  TaskVariables variables;
  const bool is_agent = plan.launcher.choice.is_agent();
  if (!is_agent) variables = rank_variables(plan);
  add_task_variables(plan, variables);
  if (!is_agent) {
    // What reads the same variables starts like all others, and its own ssh launcher is not needed.
    for (auto& group : wrapper_groups(step, variables)) groups.push_back(std::move(group));
    groups.push_back(program_words(step.program, step.program.command));
    return groups;
  }
  const auto start = start_agent(plan, variables);
  for (auto& group : wrapper_groups(step, variables, start)) groups.push_back(std::move(group));
  auto program = agent_program(step.program.command);
  if (!has_leading_words(step.program, step.program.command.size() - program.words.size()))
    program = {true, false, step.program.command};
  groups.push_back(
      agent_words(plan, program, step.program.agent_options.value_or(plan.launcher.agent_options)));
  for (auto& word : program_words(step.program, program.words)) groups.back().push_back(std::move(word));
  return groups;
}

} // namespace hpcml::render
