// SPDX-License-Identifier: MIT
#include "generate/discover/trials.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::discover {

namespace {

using model::GpuOptionStyle;

/// Options by their long names, with values; the map's order is that of the command line.
using Options = std::map<std::string, std::string>;

constexpr std::size_t k_longest_reason = 160;

/// One plain line of what Slurm said.
std::string plain_reason(const std::string& text) {
  std::string line;
  for (const char c : text) line += c >= ' ' && c < 127 ? c : ' ';
  return line.substr(0, k_longest_reason);
}

class Trials {
public:
  Trials(const slurm::Commands& commands, DiscoveredSbatchRules& report)
      : x_commands(commands), x_report(report) {}

  /// Empty when Slurm would take the request, else why not.
  std::string refusal(const Options& options) {
    std::vector<std::string> words = {"sbatch", "--test-only"};
    for (const auto& [name, value] : options) words.push_back("--" + name + "=" + value);
    words.insert(words.end(), {"--wrap", "true"});
    ++x_report.requests;
    const auto answer = x_commands.ask(words);
    if (answer.ok()) return {};
    return answer.why_not.empty() ? "refused" : plain_reason(answer.why_not);
  }

  void learn(const std::string& name, model::OptionPolicy policy, const std::string& reason) {
    auto& rule = x_report.flags[name];
    rule.policy = policy;
    rule.why = fmt::format("tried in partition {}{}{}", x_report.partition,
                           policy == model::OptionPolicy::required ? " without it: " : " with it: ", reason);
  }

private:
  const slurm::Commands& x_commands;
  DiscoveredSbatchRules& x_report;
};

/// The default partition if it has GPUs, else the first with GPUs, else the first; of those that are up and
/// have nodes.
const slurm::PartitionRecord* trial_partition(const ClusterFacts& facts, const std::vector<NodeKind>& kinds) {
  const slurm::PartitionRecord* best = nullptr;
  int best_score = -1;
  for (const auto& partition : facts.partitions) {
    if (!partition.up || partition.root_only || partition.nodes.empty()) continue;
    const bool gpus = std::any_of(kinds.begin(), kinds.end(), [&](const NodeKind& kind) {
      return kind.gpus > 0 && kind.in(partition.name);
    });
    const int score = (gpus ? 2 : 0) + (partition.is_default ? 1 : 0);
    if (score > best_score) best = &partition;
    best_score = std::max(best_score, score);
  }
  return best;
}

/// A request that is accepted: all options, or all but some of those that sites refuse. Nothing if none is.
std::optional<Options> find_accepted(Trials& trials, const Options& all, std::string& reason) {
  const char* const refusable[] = {"mem", "partition", "account"};
  for (unsigned dropped = 0; dropped < 8; ++dropped) {
    auto options = all;
    bool all_accepted = true;
    for (unsigned bit = 0; bit < 3; ++bit)
      if ((dropped & (1U << bit)) != 0) all_accepted = options.erase(refusable[bit]) > 0 && all_accepted;
    if (!all_accepted) continue;
    const auto refusal = trials.refusal(options);
    if (refusal.empty()) return options;
    if (reason.empty()) reason = refusal;
  }
  return std::nullopt;
}

/// The GPU type of the partition's nodes; nothing if Slurm lists no GPUs there, empty if it names no type.
std::optional<std::string> gpu_type_in(const slurm::PartitionRecord& partition,
                                       const std::vector<NodeKind>& kinds) {
  for (const auto& kind : kinds)
    if (kind.gpus > 0 && kind.in(partition.name)) return kind.gpu_type;
  return std::nullopt;
}

/// Each way to ask for one GPU, without and with its type. Where Slurm lists none, a rule of the site may
/// still say why.
void try_gpus(Trials& trials, DiscoveredSbatchRules& report, const Options& accepted,
              const std::optional<std::string>& type, const std::string& nodes) {
  report.gpu_style = GpuOptionStyle::none;
  for (const auto style : {GpuOptionStyle::gpus_per_node, GpuOptionStyle::gres, GpuOptionStyle::gpus,
                           GpuOptionStyle::gpus_per_task}) {
    const auto name = model::word_of(style);
    auto options = accepted;
    if (style == GpuOptionStyle::gpus_per_task) options["ntasks"] = nodes;
    const auto value = [&](const std::string& kind) {
      return std::string(style == GpuOptionStyle::gres ? "gpu:" : "") + (kind.empty() ? "" : kind + ":") +
             "1";
    };
    options[name] = value("");
    const auto refusal = trials.refusal(options);
    bool taken = refusal.empty();
    if (!taken && type && !type->empty()) {
      options[name] = value(*type);
      taken = trials.refusal(options).empty();
      if (taken && report.gpu_style == GpuOptionStyle::none) report.gpu_type_required = true;
    }
    if (!taken)
      trials.learn(name, model::OptionPolicy::forbidden, refusal);
    else if (report.gpu_style == GpuOptionStyle::none)
      report.gpu_style = style;
  }
}

} // namespace

DiscoveredSbatchRules run_trials(const slurm::Commands& commands, const ClusterFacts& facts,
                                 const std::vector<NodeKind>& kinds, const std::string& account) {
  DiscoveredSbatchRules report;
  Trials trials(commands, report);
  const auto* partition = trial_partition(facts, kinds);
  if (partition == nullptr) {
    report.why_not = "no partition is up and has nodes";
    return report;
  }
  report.partition = partition->name;
  const std::string nodes = std::to_string(std::max(1U, partition->min_nodes));
  Options all = {{"partition", partition->name},
                 {"time", "5"},
                 {"nodes", nodes},
                 {"ntasks-per-node", "1"},
                 {"mem", "1G"}};
  if (!account.empty()) all["account"] = account;
  std::string reason;
  const auto accepted = find_accepted(trials, all, reason);
  if (!accepted) {
    report.why_not = reason;
    return report;
  }
  for (const auto& [name, value] : all) {
    auto options = *accepted;
    const bool had = options.erase(name) > 0;
    if (!had) options[name] = value;
    if (const auto refusal = trials.refusal(options); !refusal.empty())
      trials.learn(name, had ? model::OptionPolicy::required : model::OptionPolicy::forbidden, refusal);
  }
  auto with_export = *accepted;
  with_export["export"] = "NONE";
  if (const auto refusal = trials.refusal(with_export); !refusal.empty())
    trials.learn("export", model::OptionPolicy::forbidden, refusal);
  try_gpus(trials, report, *accepted, gpu_type_in(*partition, kinds), nodes);
  return report;
}

} // namespace hpcml::discover
