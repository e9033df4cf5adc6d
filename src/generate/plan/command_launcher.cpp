// SPDX-License-Identifier: MIT
// An agent that is in the command itself: torchrun or accelerate with their own options.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/plan_request.hpp"

namespace hpcml::plan {

using model::OptionMeaning;

std::vector<std::string> agent_program(const launch_chain::StartedLauncher& agent) {
  const bool module = agent.has({OptionMeaning::module});
  std::vector<std::string> command;
  if (!agent.has({OptionMeaning::plain})) command.push_back("python");
  if (module) command.push_back("-m");
  command.insert(command.end(), agent.command.begin(), agent.command.end());
  return command;
}

namespace {

using launch_chain::StartedLauncher;
using Option = std::pair<std::string, std::optional<std::string>>;

/// Whether the job decides it: options of that kind are read here, others stay the agent's.
bool is_taken(OptionMeaning meaning) {
  switch (meaning) {
  case OptionMeaning::none:
  case OptionMeaning::config:
  case OptionMeaning::hosts:
  case OptionMeaning::no_ssh:
  case OptionMeaning::watching:
  case OptionMeaning::manner: return false;
  default: return true;
  }
}

std::string word_of(const Option& option) {
  const auto dashes = option.first.size() == 1 ? "-" : "--";
  return dashes + option.first + (option.second ? "=" + *option.second : "");
}

/// Reads the options of an agent into the request.
class AgentReader {
public:
  AgentReader(PlanStepResult<JobWithAgentOptions>& result, const StartedLauncher& agent)
      : x_job(result.value), x_diagnostics(result.remarks), x_agent(agent) {}

  void run() {
    if (x_agent.command.empty())
      return x_diagnostics.error(
          "usage/command",
          fmt::format("the command starts {} without a program for its ranks", x_agent.written),
          fmt::format("add the program after the options of {0}, for example: -- {0} train.py",
                      x_agent.written));
    check_unknown();
    for (const auto& option : x_agent.options) {
      const auto meaning = x_agent.row->meaning_of(option.first);
      if (is_taken(meaning))
        take(option, meaning);
      else
        x_job.agent_options.push_back(util::shell_quote(full_word(option)));
    }
    if (x_ranks) take_ranks();
    report_options();
  }

private:
  model::Origin origin(const Option& option) const {
    return {model::OriginKind::flag, x_agent.name + " " + word_of(option), {}, {}, {}};
  }
  void error(const std::string& what, const std::string& hint) {
    x_diagnostics.error("usage/command", x_agent.written + ": " + what, hint);
  }

  static std::string full_word(Option option) {
    if (option.first == "r") option.first = "redirects";
    if (option.first == "t") option.first = "tee";
    return word_of(option);
  }

  /// The last option, where it is not known to have a value and what follows is not a script: it may be its
  /// value.
  void check_unknown() {
    if (x_agent.options.empty() || x_agent.has({OptionMeaning::module, OptionMeaning::plain})) return;
    const auto& last = x_agent.options.back();
    if (last.second || is_taken(x_agent.row->meaning_of(last.first)) ||
        x_agent.command.front().ends_with(".py") || last.first == "run_path")
      return;
    error(fmt::format("cannot find the program in the command: it is unknown whether --{} requires a value",
                      last.first),
          fmt::format("use --{}=VALUE, or a path to the program that ends in .py", last.first));
  }

  void take(const Option& option, OptionMeaning what) {
    switch (what) {
    case OptionMeaning::nodes: return take_nodes(option);
    case OptionMeaning::ranks_per_node:
    case OptionMeaning::ranks: x_ranks = option; return;
    case OptionMeaning::module:
    case OptionMeaning::plain:
    case OptionMeaning::no_gpus:
    case OptionMeaning::local_rank:
    case OptionMeaning::usual: return;              // the program's own words, and what is so anyhow
    default: x_replaced.push_back(word_of(option)); // the job's own rendezvous endpoint takes its place
    }
  }

  /// "4", or "1:4": a job that may continue with fewer nodes than it began with.
  void take_nodes(const Option& option) {
    const auto text = option.second.value_or("");
    const auto colon = text.find(':');
    const auto least = util::parse_unsigned(text.substr(0, colon));
    const auto most = colon == std::string::npos ? least : util::parse_unsigned(text.substr(colon + 1));
    if (!least || !most || *least == 0 || *most < *least || *most > 1000000)
      return error(fmt::format("{} is not a valid number of nodes", word_of(option)),
                   "use for example --nnodes=2, or 1:4 for an elastic job");
    auto& nodes = x_job.job.nodes;
    if (!nodes) nodes = model::Sourced<unsigned>{static_cast<unsigned>(*most), origin(option)};
    if (nodes->value < *least || nodes->value > *most)
      return error(fmt::format("{} contradicts the job's {} nodes ({})", word_of(option), nodes->value,
                               nodes->origin.by),
                   "remove one of them: the launcher uses the nodes of the job");
    if (*least < nodes->value) {
      x_job.least_nodes = static_cast<unsigned>(*least);
      x_diagnostics.note(
          fmt::format("Slurm ends the job if a node fails: use --sbatch=--no-kill and --srun=--no-kill "
                      "to continue with {} or more",
                      util::counted(*least, "node")),
          origin(option));
    }
  }

  void take_ranks() {
    const auto& [option, value] = *x_ranks;
    const auto text = value.value_or("");
    if (text == "gpu" || text == "auto") return; // as many as GPUs: the job's own rule
    auto number = util::parse_unsigned(text);
    const unsigned nodes = x_job.job.nodes ? std::max(1u, x_job.job.nodes->value) : 1;
    if (number && x_agent.row->meaning_of(option) == OptionMeaning::ranks)
      number = *number % nodes == 0 ? std::optional(*number / nodes) : std::nullopt;
    if (!number || *number == 0 || *number > 1000000)
      return error(fmt::format("{} is not a valid number of ranks for {}", word_of(*x_ranks),
                               util::counted(nodes, "node")),
                   "use --tasks-per-node N instead");
    const auto ranks = static_cast<unsigned>(*number);
    auto& tasks = x_job.job.tasks_per_node;
    // "--tasks-per-node 1" next to it counts the launchers.
    if (tasks && tasks->value != ranks && tasks->value != 1)
      return error(fmt::format("{} contradicts {} {}", word_of(*x_ranks), tasks->origin.by, tasks->value),
                   "remove one of them: both set the ranks of a node");
    tasks = model::Sourced<unsigned>{ranks, origin(*x_ranks)};
  }

  void report_options() {
    // Programs of those that have their own library ask it.
    const auto end = x_agent.row->has_library ? "" : "; a rank reads RANK and LOCAL_RANK";
    std::string text =
        fmt::format("{} starts once on each node, with the rendezvous of the job{}", x_agent.written, end);
    if (!x_replaced.empty())
      text += fmt::format("; this rendezvous replaces {}", util::join(x_replaced, " "));
    x_diagnostics.report("request/launcher", text);
    const auto& rank_module = x_agent.row->local_rank_module;
    if (!rank_module.empty() && x_agent.written.ends_with(rank_module) &&
        !x_agent.has({OptionMeaning::local_rank}))
      x_diagnostics.warning(
          "request/launcher",
          fmt::format("{} starts the ranks instead of {}, and does not pass --local-rank to the program",
                      x_agent.name, rank_module),
          "use the variable LOCAL_RANK in the program: int(os.environ['LOCAL_RANK'])");
  }

  JobWithAgentOptions& x_job;
  PlanStepDiagnostics& x_diagnostics;
  const StartedLauncher& x_agent;
  std::optional<Option> x_ranks;
  std::vector<std::string> x_replaced;
};

/// The agent with its options where the command is one; nothing where the command is anything else.
std::optional<StartedLauncher> agent_of(const model::JobSpec& job, bool& only_options) {
  auto words = job.command;
  const bool agent_wanted = job.launcher && job.launcher->value.is_agent();
  only_options = agent_wanted && words.front().starts_with("-");
  if (only_options) {
    const auto own = job.launcher->value.row().words.start();
    words.insert(words.begin(), own.begin(), own.end());
  }
  auto found = launch_chain::find_started_launcher(words);
  if (!found || !found->first) return std::nullopt;
  const bool is_agent = found->row->ranks == model::RankStartMethod::agent;
  const bool wanted = !job.launcher || job.launcher->value.name() == found->name;
  return is_agent && wanted ? found : std::nullopt;
}

} // namespace

PlanStepResult<JobWithAgentOptions> read_command_launcher(model::JobSpec outer_job) {
  PlanStepResult<JobWithAgentOptions> result{{std::move(outer_job), {}}};
  auto& job = result.value.job;
  if (job.body) {
    result.value.agent_options = job.body->agent_options;
    result.value.least_nodes = job.body->least_nodes;
  }
  if (job.command.empty() || job.command.front().empty() || job.body || !job.steps.empty()) return result;
  bool only_options = false;
  const auto agent = agent_of(job, only_options);
  if (!agent) {
    if (job.command.front().starts_with("-"))
      result.remarks.error(
          "usage/command",
          fmt::format("the command of the job begins with an option, '{}', instead of a program",
                      job.command.front()),
          "use -- PROGRAM ARGUMENTS, for example: -- python train.py");
    return result;
  }
  AgentReader(result, *agent).run();
  if (!job.launcher)
    job.launcher = model::Sourced<model::Launcher>{
        model::Launcher::parse(agent->name).value(), // its row says that gen writes it
        {model::OriginKind::flag,
         fmt::format("the command, which begins with {}", agent->written),
         {},
         {},
         {}}};
  if (!agent->command.empty()) job.command = agent_program(*agent);
  return result;
}

} // namespace hpcml::plan
