// SPDX-License-Identifier: MIT
#include "plan/command_launcher.hpp"

#include <algorithm>
#include <array>

#include "chain/started_launcher.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using chain::StartedLauncher;
using Option = std::pair<std::string, std::optional<std::string>>;

/// What becomes of an option of an agent that the job itself decides.
enum class Taken {
  nodes,     ///< is the job's number of nodes
  ranks,     ///< is the number of ranks of a node
  processes, ///< is the number of all ranks
  meeting,   ///< the job's own meeting place takes its place
  module,    ///< the program is a module
  plain,     ///< the program is none of Python's
  nothing,   ///< says what is so anyhow
};

constexpr std::array<std::pair<std::string_view, Taken>, 24> k_taken = {
    {{"nnodes", Taken::nodes},
     {"nproc_per_node", Taken::ranks},
     {"rdzv_id", Taken::meeting},
     {"rdzv_backend", Taken::meeting},
     {"rdzv_endpoint", Taken::meeting},
     {"rdzv_conf", Taken::meeting},
     {"node_rank", Taken::meeting},
     {"master_addr", Taken::meeting},
     {"master_port", Taken::meeting},
     {"local_addr", Taken::meeting},
     {"standalone", Taken::meeting},
     {"m", Taken::module},
     {"module", Taken::module},
     {"no_python", Taken::plain},
     {"use_env", Taken::nothing},
     {"num_machines", Taken::nodes},
     {"num_processes", Taken::processes},
     {"machine_rank", Taken::meeting},
     {"main_process_ip", Taken::meeting},
     {"main_process_port", Taken::meeting},
     {"same_network", Taken::nothing},
     {"multi_gpu", Taken::nothing},
     {"cpu", Taken::nothing},
     {"", Taken::nothing}}};

const Taken* find_taken(const std::string& option) {
  const auto* found =
      std::find_if(k_taken.begin(), k_taken.end(), [&](const auto& row) { return row.first == option; });
  return found == k_taken.end() || option.empty() ? nullptr : &found->second;
}

std::string word_of(const Option& option) {
  const auto dashes = option.first.size() == 1 ? "-" : "--";
  return dashes + option.first + (option.second ? "=" + *option.second : "");
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + util::shell_quote(word);
  return text;
}

/// The agent's program as a command of its own: Python runs its scripts and modules.
std::vector<std::string> program_of(const StartedLauncher& agent) {
  const bool module = agent.has("m") || agent.has("module");
  std::vector<std::string> command;
  if (!agent.has("no_python")) command.push_back("python");
  if (module) command.push_back("-m");
  command.insert(command.end(), agent.command.begin(), agent.command.end());
  return command;
}

/// Reads the options of an agent into the request.
class AgentReader {
public:
  AgentReader(PlanContext& context, const StartedLauncher& agent) : x_context(context), x_agent(agent) {}

  void run() {
    if (x_agent.command.empty())
      return x_context.error("usage/command", x_agent.written + " has no program to start",
                             "write it behind the options, for example: -- " + x_agent.written + " train.py");
    check_unknown();
    for (const auto& option : x_agent.options) {
      const auto* taken = find_taken(option.first);
      if (!taken)
        x_context.plan.launcher.agent_options.push_back(util::shell_quote(full_word(option)));
      else
        take(option, *taken);
    }
    if (x_ranks) take_ranks();
    say();
  }

private:
  model::Origin origin(const Option& option) const {
    return {model::OriginKind::flag, x_agent.name + " " + word_of(option), {}, {}, {}};
  }
  void error(const std::string& what, const std::string& hint) {
    x_context.error("usage/command", x_agent.written + ": " + what, hint);
  }

  static std::string full_word(Option option) {
    if (option.first == "r") option.first = "redirects";
    if (option.first == "t") option.first = "tee";
    return word_of(option);
  }

  /// The last option, where it is not known to have a value and what follows is no script: it may be its
  /// value.
  void check_unknown() {
    if (x_agent.options.empty() || x_agent.has("m") || x_agent.has("module") || x_agent.has("no_python"))
      return;
    const auto& last = x_agent.options.back();
    if (last.second || find_taken(last.first) || util::ends_with(x_agent.command.front(), ".py") ||
        last.first == "run_path")
      return;
    error("whether --" + last.first + " takes a value is not known, so neither is where the program begins",
          "write --" + last.first + "=VALUE, or the program as a path that ends in .py");
  }

  void take(const Option& option, Taken what) {
    switch (what) {
    case Taken::nodes: return take_nodes(option);
    case Taken::ranks:
    case Taken::processes: x_ranks = option; return;
    case Taken::meeting: x_replaced.push_back(word_of(option)); return;
    case Taken::module:
    case Taken::plain:
    case Taken::nothing: return;
    }
  }

  /// "4", or "1:4": a job that may go on with fewer nodes than it began with.
  void take_nodes(const Option& option) {
    const auto text = option.second.value_or("");
    const auto colon = text.find(':');
    const auto least = util::parse_unsigned(text.substr(0, colon));
    const auto most = colon == std::string::npos ? least : util::parse_unsigned(text.substr(colon + 1));
    if (!least || !most || *least == 0 || *most < *least || *most > 1000000)
      return error(word_of(option) + " is no number of nodes",
                   "for example --nnodes=2, or 1:4 for an elastic job");
    auto& nodes = x_context.job.nodes;
    if (!nodes) nodes = model::Sourced<unsigned>{static_cast<unsigned>(*most), origin(option)};
    if (nodes->value < *least || nodes->value > *most)
      return error(word_of(option) + " in a job of " + std::to_string(nodes->value) + " nodes (" +
                       nodes->origin.by + ")",
                   "leave one of them out: the job's nodes are the launcher's");
    if (*least < nodes->value) {
      x_context.plan.launcher.least_nodes = static_cast<unsigned>(*least);
      x_context.note("the job goes on with " + std::to_string(*least) +
                         " nodes or more; Slurm ends it with a node that fails unless --sbatch=--no-kill",
                     origin(option));
    }
  }

  void take_ranks() {
    const auto& [option, value] = *x_ranks;
    const auto text = value.value_or("");
    if (text == "gpu" || text == "auto") return; // as many as GPUs: the job's own rule
    auto number = util::parse_unsigned(text);
    const unsigned nodes = x_context.job.nodes ? std::max(1u, x_context.job.nodes->value) : 1;
    if (number && find_taken(option) && *find_taken(option) == Taken::processes && *number % nodes == 0)
      number = *number / nodes;
    else if (number && *find_taken(option) == Taken::processes)
      number.reset();
    if (!number || *number == 0 || *number > 1000000)
      return error(word_of(*x_ranks) + " is no number of ranks for " + std::to_string(nodes) +
                       (nodes == 1 ? " node" : " nodes"),
                   "say --tasks-per-node N instead");
    const auto ranks = static_cast<unsigned>(*number);
    auto& tasks = x_context.job.tasks_per_node;
    // "--tasks-per-node 1" beside it counts the launchers.
    if (tasks && tasks->value != ranks && tasks->value != 1)
      return error(word_of(*x_ranks) + " and " + tasks->origin.by + " " + std::to_string(tasks->value) +
                       " disagree",
                   "leave one of them out: both are the ranks of a node");
    tasks = model::Sourced<unsigned>{ranks, origin(*x_ranks)};
  }

  void say() {
    const auto end = x_agent.name == "accelerate" ? "" : "; a rank finds its place in RANK and LOCAL_RANK";
    std::string text =
        x_agent.written + " is started once on each node, with the job's own meeting place" + end;
    if (!x_replaced.empty()) text += "; it stands for " + util::join(x_replaced, " ");
    x_context.findings.push_back({diag::Severity::note, "request/launcher", text, {}, {}});
    if (util::ends_with(x_agent.written, "torch.distributed.launch") && !x_agent.has("use_env"))
      x_context.warning("request/launcher",
                        "torch.distributed.launch also gives the program --local-rank, torchrun does not",
                        "read LOCAL_RANK from the environment in the program");
  }

  PlanContext& x_context;
  const StartedLauncher& x_agent;
  std::optional<Option> x_ranks;
  std::vector<std::string> x_replaced;
};

/// The agent with its options where the command is one; nothing where the command is anything else.
std::optional<StartedLauncher> agent_of(const PlanContext& context, bool& only_options) {
  const auto& job = context.job;
  auto words = job.command;
  const bool agent_wanted = job.launcher && job.launcher->value.is_agent();
  only_options = agent_wanted && util::starts_with(words.front(), "-");
  if (only_options) {
    if (job.launcher->value.kind() == model::LauncherKind::accelerate) words.insert(words.begin(), "launch");
    words.insert(words.begin(), job.launcher->value.name());
  }
  auto found = chain::find_started_launcher(words);
  if (!found || !found->first) return std::nullopt;
  const bool is_agent = found->name == "torchrun" || found->name == "accelerate";
  const bool wanted = !job.launcher || job.launcher->value.name() == found->name;
  return is_agent && wanted ? found : std::nullopt;
}

} // namespace

void take_command_launcher(PlanContext& context) {
  auto& job = context.job;
  if (job.body) {
    context.plan.launcher.agent_options = job.body->agent_options;
    context.plan.launcher.least_nodes = job.body->least_nodes;
  }
  if (job.command.empty() || job.command.front().empty() || job.body || !job.steps.empty()) return;
  bool only_options = false;
  const auto agent = agent_of(context, only_options);
  if (!agent) {
    if (util::starts_with(job.command.front(), "-"))
      context.error("usage/command", "the command begins with an option: " + job.command.front(),
                    "the program stands first behind --, then its arguments");
    return;
  }
  AgentReader(context, *agent).run();
  if (!job.launcher)
    job.launcher = model::Sourced<model::Launcher>{
        model::Launcher::parse(agent->name).value(), // one of the two that is_agent() knows
        {model::OriginKind::flag, "the command, which begins with " + agent->written, {}, {}, {}}};
  if (!agent->command.empty()) job.command = program_of(*agent);
}

namespace {

/// How often a command is started.
struct Starts {
  unsigned per_node = 1;
  unsigned nodes = 1;
};

/// "A=1" words in front become --env, a container's image --container.
std::string flags_of_prefixes(const std::vector<std::string>& prefixes) {
  std::string text;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const auto& word = prefixes[i];
    const auto equals = word.find('=');
    if (equals != std::string::npos && util::is_variable_name(word.substr(0, equals)))
      text += "--env " + util::shell_quote(word) + " ";
    if (chain::role_of(word.substr(word.rfind('/') + 1)) == chain::Role::container)
      text += "--container " + util::shell_quote(prefixes.back()) + " ";
  }
  return text;
}

std::optional<unsigned> number_of(const StartedLauncher& found, const std::string& option,
                                  const std::string& or_option = {}) {
  const auto number = util::parse_unsigned(found.value(option, or_option).value_or(""));
  return number && *number > 0 && *number <= 1000000 ? std::optional(static_cast<unsigned>(*number))
                                                     : std::nullopt;
}

/// The ranks of a node as a step's options have them: "-n 8 -N 2" are four.
std::optional<unsigned> tasks_of(const StartedLauncher& found) {
  if (const auto own = number_of(found, "ntasks_per_node", "npernode")) return own;
  if (const auto own = number_of(found, "ppn")) return own;
  if (const auto own = number_of(found, "nproc_per_node", "num_gpus")) return own;
  auto all = number_of(found, "ntasks", "np");
  if (!all) all = number_of(found, "n", "nproc");
  const auto nodes = number_of(found, "nodes", "N").value_or(1);
  return all && *all % nodes == 0 ? std::optional(*all / nodes) : std::nullopt;
}

/// What to type instead of a command with a launcher in it.
std::string right_line(const StartedLauncher& found) {
  std::string flags = flags_of_prefixes(found.prefixes);
  auto command = found.command;
  if (found.name == "torchrun" || found.name == "accelerate" || found.name == "deepspeed")
    flags += "--launcher " + found.name + " ";
  const auto tasks = tasks_of(found);
  if (const auto nodes = number_of(found, "nodes", "nnodes"))
    flags += "--nodes " + std::to_string(*nodes) + " ";
  if (tasks) flags += "--tasks-per-node " + std::to_string(*tasks) + " ";
  if (const auto cpus = number_of(found, "cpus_per_task"))
    flags += "--cpus-per-task " + std::to_string(*cpus) + " ";
  if (found.role == chain::Role::agent && found.name != "hpcml") command = program_of(found);
  return flags + "-- " + (found.command.empty() ? "PROGRAM" : quoted(command));
}

void refuse(PlanContext& context, const StartedLauncher& found, const Starts& starts) {
  const auto all = starts.per_node * starts.nodes;
  const auto times = starts.per_node > 1
                         ? "once per rank, " + std::to_string(starts.per_node) + " times on a node"
                     : all > 1 ? std::string("once on each node, and none would know of the others")
                               : std::string("within a task that has been started already");
  const auto tasks = found.role == chain::Role::step;
  std::string what = found.written + " starts " + (tasks ? "the job's tasks" : "a node's processes") +
                     " itself, and would be started " + times;
  std::string hint = "say " + right_line(found);
  if (!tasks && found.name != "hpcml" && (found.in_text || !found.first))
    hint += "; or, to start the command once on each node: --tasks-per-node 1 --gpus-per-node " +
            std::to_string(context.plan.layout.gpus_per_node) +
            (starts.nodes > 1 ? ", with " + found.name + "'s options for several nodes" : "");
  context.error("usage/command", what, hint);
}

void check_command(PlanContext& context, const std::vector<std::string>& command, bool once,
                   const std::string& script = {}) {
  auto found = chain::find_started_launcher(command);
  if (!found && !script.empty()) found = chain::find_started_launcher_in(script);
  if (!found) return;
  const auto& layout = context.plan.layout;
  const Starts starts = once ? Starts{} : Starts{layout.ranks_per_node, layout.nodes};
  const bool alone = starts.per_node == 1 && found->role == chain::Role::agent && found->name != "hpcml";
  if (alone && (starts.nodes == 1 || found->meets_other_nodes())) return;
  refuse(context, *found, starts);
}

} // namespace

void check_inner_launchers(PlanContext& context) {
  const auto& job = context.job;
  if (job.body) {
    for (const auto& piece : job.body->pieces)
      check_command(context, piece.launch.command, piece.launch.once);
  } else if (!job.steps.empty()) {
    for (const auto& step : job.steps) check_command(context, step.command, step.once);
  } else {
    check_command(context, job.command, false, job.command_script);
  }
}

} // namespace hpcml::plan
