// SPDX-License-Identifier: MIT
#include "generate/import_script/source_site.hpp"

#include <algorithm>

#include "core/model/launcher_rows.hpp"
#include "core/model/pattern.hpp"
#include "core/site_rules/gpu_names.hpp"
#include "core/slurm/gres.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_modules.hpp"

namespace hpcml::import_script {
namespace {

using GresItems = std::vector<slurm::GresItem>;

/// For and against a site: each point is a name that it has.
struct Score {
  int points = 0;
  bool excluded = false;
  void add(bool has, int value, bool excludes) {
    if (has) points += value;
    if (!has && excludes) excluded = true;
  }
};

bool reads_variable(std::string_view text, std::string_view expression) {
  if (!expression.starts_with("$")) return false;
  const auto name = expression.substr(0, expression.find('/'));
  return name.size() > 5 && text.find(name) != std::string_view::npos;
}

/// The type of GPU that a request names: "a100" of "gpu:a100:4"; empty if it names none.
std::string gpu_type_of(const slurm::JobOptions& request) {
  auto items = slurm::parse_gres(request.text("gres"), slurm::k_newest_version).value_or(GresItems());
  for (const char* option : {"gpus-per-node", "gpus", "gpus-per-task"})
    for (auto& item : slurm::parse_gpus(request.text(option), slurm::k_newest_version).value_or(GresItems()))
      items.push_back(std::move(item));
  const auto typed = std::find_if(items.begin(), items.end(),
                                  [](const auto& item) { return item.name == "gpu" && !item.type.empty(); });
  return typed == items.end() ? std::string() : typed->type;
}

void score_partition(const SiteEvidence& evidence, const model::Site& site, Score& score) {
  const auto partition = evidence.request.text("partition");
  if (partition.empty()) {
    score.excluded = score.excluded || site.flag("partition").policy == model::OptionPolicy::required;
    return;
  }
  for (const auto& name : util::split(partition, ','))
    score.add(site.find_partition(name) || util::contains(site.other_partitions, name), 2,
              !site.partitions.empty());
}

void score_account(const SiteEvidence& evidence, const model::Site& site, Score& score) {
  const auto account = evidence.request.text("account");
  const auto& rule = site.flag("account");
  if (account.empty() || account.find_first_of("<[{") != std::string::npos || rule.pattern.empty()) return;
  score.add(model::matches_pattern(account, rule.pattern), 1, true);
}

void score_gpus(const SiteEvidence& evidence, const model::Site& site, Score& score) {
  const auto type = gpu_type_of(evidence.request);
  if (type.empty() || type.find_first_of("._<") != std::string::npos || site.node_types.empty()) return;
  const bool has = std::any_of(site.node_types.begin(), site.node_types.end(), [&](const auto& node) {
    return node.gpu && (site_rules::has_gpu_type(*node.gpu, type) || node.id == type);
  });
  score.add(has, 1, true);
}

void score_launchers(const SiteEvidence& evidence, const model::Site& site, Score& score) {
  for (const auto& row : model::k_launchers) {
    if (!row.of_some_sites) continue;
    const auto word = "\n" + std::string(row.words.name) + " ";
    if (evidence.text.find(word) == std::string_view::npos) continue;
    score.add(std::any_of(site.launchers.begin(), site.launchers.end(),
                          [&](const auto& rule) { return rule.name == row.words.name; }),
              1, true);
  }
}

void score_modules(const SiteEvidence& evidence, const model::Site& site, Score& score) {
  const auto known = usual_modules(site);
  for (const auto& module : evidence.modules) score.add(util::contains(known, module), 1, false);
}

Score score_of(const SiteEvidence& evidence, const model::Site& site) {
  Score score;
  if (site.scheduler == model::Scheduler::none) score.excluded = true;
  score_partition(evidence, site, score);
  score_account(evidence, site, score);
  score_gpus(evidence, site, score);
  score_launchers(evidence, site, score);
  score_modules(evidence, site, score);
  const auto qos = evidence.request.text("qos");
  if (!qos.empty()) score.add(site.find_qos(qos) || util::contains(site.other_qos, qos), 1, false);
  const auto constraint = evidence.request.text("constraint");
  if (!constraint.empty()) score.add(util::contains(site.constraints, constraint), 1, false);
  for (const auto& node : site.node_types)
    if (node.local_disk && reads_variable(evidence.text, *node.local_disk)) {
      score.add(true, 1, false);
      break;
    }
  return score;
}

} // namespace

bool contradicts(const SiteEvidence& evidence, const model::Site& site) {
  return score_of(evidence, site).excluded;
}

std::vector<const model::Site*> find_source_sites(const SiteEvidence& evidence, const model::Site& to,
                                                  const std::vector<model::Site>& catalogue) {
  const auto own = score_of(evidence, to);
  std::vector<const model::Site*> best;
  int most = 1;
  const auto add = [&](const model::Site& site, const Score& score) {
    if (score.excluded || score.points < most) return;
    if (score.points > most) best.clear();
    most = score.points;
    best.push_back(&site);
  };
  add(to, own);
  for (const auto& site : catalogue)
    if (site.id != to.id) add(site, score_of(evidence, site));
  if (!best.empty() && best.front() == &to) return {&to};
  return best;
}

unsigned gpus_without_request(const model::Site& site, const slurm::JobOptions& request) {
  if (site.gpu_request.style != model::GpuOptionStyle::none) return 0;
  const auto named = request.text("partition");
  const auto* partition = named.empty() ? site.default_partition([](const auto& p) { return !p.cpu_only; })
                                        : site.find_partition(named);
  if (partition && partition->cpu_only) return 0;
  unsigned most = 0;
  for (const auto& node : site.node_types) {
    const bool reachable = !partition || util::contains(partition->node_types, node.id);
    if (reachable && node.gpu) most = std::max(most, node.gpu->per_node);
  }
  return most;
}

} // namespace hpcml::import_script
