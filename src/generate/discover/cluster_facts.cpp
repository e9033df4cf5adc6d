// SPDX-License-Identifier: MIT
#include "generate/discover/cluster_facts.hpp"

#include <fmt/format.h>

#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"

namespace hpcml::discover {

namespace {

/// Asks and keeps the answer; what was not answered is noted as `what`.
class ClusterProbe {
public:
  ClusterProbe(const slurm::Commands& commands, ClusterFacts& facts) : x_commands(commands), x_facts(facts) {}

  /// What the command printed, on either stream if `both`; nothing if it could not be asked.
  std::optional<std::string> optional(const std::vector<std::string>& words, const std::string& what,
                                      bool both = false) {
    auto answer = x_commands.ask(words);
    if (both) answer.output.out += answer.output.err;
    return keep(std::move(answer), what);
  }

  /// The same for an answer that already exists.
  std::optional<std::string> keep(slurm::Answer answer, const std::string& what) {
    const bool ok = answer.ok();
    const auto text = answer.output.out;
    if (!ok) x_facts.unanswered.push_back({what, answer.why_not});
    x_facts.answers.push_back(std::move(answer));
    return ok ? std::optional(text) : std::nullopt;
  }

  template <class T>
  util::Status required(const std::vector<std::string>& words, T& target,
                        util::Result<T> (*parse)(std::string_view)) {
    auto answer = x_commands.ask(words);
    x_facts.answers.push_back(answer);
    if (!answer.ok())
      return util::Error{
          fmt::format("cannot query Slurm with '{}': {}", answer.command(), answer.why_not),
          fmt::format("run hpcml on a login node of the cluster, where '{}' must succeed", answer.command())};
    TRY(target, parse(answer.output.out));
    return util::Success{};
  }

private:
  const slurm::Commands& x_commands;
  ClusterFacts& x_facts;
};

void ask_accounts(ClusterProbe& ask, const slurm::Commands& commands, const ClusterQueryOptions& inquirer,
                  ClusterFacts& facts) {
  const bool kept = facts.config.has_accounting;
  if (const auto text = ask.keep(slurm::ask_accounts(commands, facts.config, inquirer.user),
                                 kept ? "sacctmgr show user" : "sacctmgr"))
    facts.accounts = slurm::read_accounts(*text);
  if (!kept) return;
  if (const auto text = ask.optional(slurm::qos_command(), "sacctmgr show qos"))
    facts.qos = slurm::read_qos_records(*text);
}

void ask_tools(ClusterProbe& ask, const ClusterQueryOptions& inquirer, ClusterFacts& facts) {
  if (inquirer.module_command.empty())
    facts.unanswered.push_back({"module avail", "no module system is set up in this shell"});
  else if (const auto text = ask.optional(inquirer.module_command, "module avail", true))
    facts.modules = read_modules(*text);
  for (const auto& engine : model::engine_programs())
    if (ask.optional({engine, "--version"}, engine)) facts.programs.push_back(engine);
  const bool nvidia = ask.optional({"nvidia-smi", "-L"}, "nvidia-smi").has_value();
  const bool amd = ask.optional({"rocm-smi", "--showid"}, "rocm-smi").has_value();
  if (nvidia != amd) facts.gpu_tool = nvidia ? "nvidia-smi" : "rocm-smi";
}

} // namespace

std::string UnansweredQuery::sentence() const { return why.starts_with(what) ? why : what + ": " + why; }

ClusterQueryOptions make_inquirer(const util::EnvSnapshot& env) {
  ClusterQueryOptions inquirer;
  inquirer.user = env.get_or("USER", env.get_or("LOGNAME", ""));
  if (const auto lmod = env.get_or("LMOD_CMD", ""); !lmod.empty())
    inquirer.module_command = {lmod, "bash", "-t", "-d", "avail"};
  else if (const auto modules = env.get_or("MODULES_CMD", ""); !modules.empty())
    inquirer.module_command = {modules, "bash", "avail", "-t", "-d"};
  // An exported function can only be called by bash; the text is ours, nothing of the user's is in it.
  else if (env.get("BASH_FUNC_module%%"))
    inquirer.module_command = {"bash", "-c", "module -t avail"};
  return inquirer;
}

util::Result<ClusterFacts> run_questions(const slurm::Commands& commands,
                                         const ClusterQueryOptions& inquirer) {
  ClusterFacts facts;
  ClusterProbe ask(commands, facts);
  TRY_DONE(ask.required({"scontrol", "-o", "show", "partition"}, facts.partitions, slurm::parse_partitions));
  if (auto status = ask.required({"scontrol", "-o", "show", "node"}, facts.nodes, slurm::parse_nodes);
      !status) {
    facts.unanswered.push_back({"scontrol show node", status.error().what});
    if (!ask.required(slurm::sinfo_nodes_command(), facts.nodes, slurm::parse_sinfo_nodes))
      return status.error();
  }
  TRY_DONE(ask.required({"scontrol", "show", "config"}, facts.config, slurm::parse_cluster_config));
  ask_accounts(ask, commands, inquirer, facts);
  ask_tools(ask, inquirer, facts);
  return facts;
}

std::vector<std::string> read_modules(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& line : util::split(text, '\n')) {
    auto name = std::string(util::trim(line));
    name = name.substr(0, name.find_first_of("( @<"));
    if (name.empty() || name.front() == '/' || name.front() == '-' || name.back() == ':' ||
        name.back() == '/')
      continue;
    util::add_once(names, name);
  }
  return names;
}

} // namespace hpcml::discover
