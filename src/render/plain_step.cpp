// SPDX-License-Identifier: MIT
// Steps that need no hpcml on the node: one task per rank, or one agent (torchrun, accelerate) per node.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "model/gpu_vendor.hpp"
#include "model/mpi_ranks.hpp"
#include "plan/command_words.hpp"
#include "render/sections.hpp"
#include "render/template.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

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
  if (util::ends_with(command[0], ".py")) return {false, false, command};
  if (!plan::is_interpreter(command[0])) return {true, false, command};
  std::size_t next = 1;
  // The agent gives -u itself. Any other option of the interpreter would be lost: then it starts the command
  // as it is.
  while (next < command.size() && command[next] == "-u") ++next;
  const bool module = next < command.size() && command[next] == "-m";
  if (module) ++next;
  if (next >= command.size() || util::starts_with(command[next], "-")) return {true, false, command};
  return {false, module, {command.begin() + static_cast<std::ptrdiff_t>(next), command.end()}};
}

Word number(const char* option, unsigned value) { return Word::literal(fmt::format("{}={}", option, value)); }

Words torchrun_words(const model::Plan& plan, const AgentProgram& program) {
  // Underscores: torch 1.x knows no other form of these options.
  const auto least = plan.launcher.least_nodes;
  Words words{Word::literal("torchrun"),
              least == 0 ? number("--nnodes", plan.layout.nodes)
                         : Word::literal(fmt::format("--nnodes={}:{}", least, plan.layout.nodes)),
              number("--nproc_per_node", plan.layout.ranks_per_node),
              Word::expression("--rdzv_id=\"$SLURM_JOB_ID\""),
              Word::literal("--rdzv_backend=c10d"),
              Word::expression("--rdzv_endpoint=\"$MASTER_ADDR:$MASTER_PORT\"")};
  for (const auto& option : plan.launcher.agent_options) words.push_back(Word::expression(option));
  if (program.plain) words.push_back(Word::literal("--no_python"));
  if (program.is_module) words.push_back(Word::literal("-m"));
  return words;
}

/// Whether options say how the ranks of accelerate work together, or name a configuration that does.
bool says_how(const std::vector<std::string>& options) {
  static constexpr std::array<std::string_view, 6> c_names = {"--config_file", "--config-file", "--use_",
                                                              "--multi",       "--cpu",         "--tpu"};
  return std::any_of(options.begin(), options.end(), [](const std::string& option) {
    const auto text = option.substr(0, 1) == "'" ? option.substr(1) : option;
    return std::any_of(c_names.begin(), c_names.end(),
                       [&](std::string_view name) { return util::starts_with(text, name); });
  });
}

Words accelerate_words(const model::Plan& plan, const AgentProgram& program) {
  Words words{Word::literal("accelerate"), Word::literal("launch")};
  const auto& options = plan.launcher.agent_options;
  const bool configured = says_how(options);
  if (!configured && plan.layout.gpus_per_node == 0)
    words.push_back(Word::literal("--cpu"));
  else if (!configured && plan.layout.world_size() > 1)
    words.push_back(Word::literal("--multi_gpu"));
  words.push_back(number("--num_machines", plan.layout.nodes));
  words.push_back(number("--num_processes", plan.layout.world_size()));
  words.push_back(Word::expression("--main_process_ip=\"$MASTER_ADDR\""));
  words.push_back(Word::expression("--main_process_port=\"$MASTER_PORT\""));
  for (const char* usual : {"--mixed_precision=no", "--dynamo_backend=no"}) {
    const std::string word = usual;
    const auto name = word.substr(0, word.find('=') + 1);
    if (!configured && std::none_of(options.begin(), options.end(),
                                    [&](const auto& option) { return util::starts_with(option, name); }))
      words.push_back(Word::literal(word));
  }
  for (const auto& option : options) words.push_back(Word::expression(option));
  if (program.plain) words.push_back(Word::literal("--no_python"));
  if (program.is_module) words.push_back(Word::literal("--module"));
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

/// Starts the agent. What differs from node to node only the task knows: the machine's number, and for
/// torchrun which node holds the store, where the meeting place is no name of the node and torchrun could not
/// tell by itself.
std::string start_agent(const model::Plan& plan) {
  const auto node = plan.launcher.by_srun() ? task_variable(plan, plan.launcher.rank_variable, "SLURM_NODEID")
                                            : task_rank(plan);
  if (plan.launcher.choice.kind() == model::LauncherKind::accelerate)
    return "exec \"$1\" \"$2\" --machine_rank=" + node + " \"${@:3}\"";
  const auto& meeting = plan.rendezvous;
  if (meeting.interface.empty() && meeting.suffix.empty() && meeting.from_env.empty() && !meeting.ipv4)
    return "exec \"$@\"";
  return "exec \"${@:1:3}\" --rdzv_conf=\"is_host=$([[ " + node +
         " == 0 ]] && echo true || echo false)\" \"${@:4}\"";
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

std::vector<Words> plain_groups(const model::Plan& plan) {
  std::vector<Words> groups{step_words(plan)};
  if (!plan.launcher.choice.is_agent()) {
    // DeepSpeed reads the same variables, so its ranks start like all others and its own ssh launcher is not
    // needed.
    for (auto& group : wrapper_groups(plan, rank_lines(plan))) groups.push_back(std::move(group));
    groups.push_back(program_words(plan, plan.command));
    return groups;
  }
  auto exports = task_exports(plan);
  if (!exports.empty()) exports += "\n";
  for (auto& group : wrapper_groups(plan, exports, start_agent(plan))) groups.push_back(std::move(group));
  const auto program = agent_program(plan.command);
  groups.push_back(plan.launcher.choice.kind() == model::LauncherKind::accelerate
                       ? accelerate_words(plan, program)
                       : torchrun_words(plan, program));
  groups.push_back(program_words(plan, program.words));
  return groups;
}

} // namespace hpcml::render
