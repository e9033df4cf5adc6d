// SPDX-License-Identifier: MIT
// One judge: what the planner refuses as a request, check finds in a script that asks for the same, by the
// same rule; and what check calls a certain refusal no request gets through.
#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <random>

#include "check/check_script.hpp"
#include "core/config/site_store.hpp"
#include "core/site_rules/placement.hpp"
#include "core/site_rules/resource_request.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "plain_script.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::any_of;
using test::flag;
using test::k_rules;
using test::script_of;

namespace {

class Dice {
public:
  explicit Dice(unsigned seed) : x_engine(seed) {}
  unsigned below(unsigned end) { return std::uniform_int_distribution<unsigned>(0, end - 1)(x_engine); }
  bool once_in(unsigned times) { return below(times) == 0; }
  template <class T> const T& one_of(const std::vector<T>& list) {
    return list[below(unsigned(list.size()))];
  }

private:
  std::mt19937 x_engine;
};

bool all_have_names(const model::Site& at) {
  return std::all_of(at.node_types.begin(), at.node_types.end(),
                     [](const auto& node) { return !node.gpu || !node.gpu->slurm_type.empty(); });
}

/// A request that counts everything of which a script would leave a default to Slurm.
model::JobSpec draw(Dice& dice, const model::Site& at) {
  model::JobSpec job;
  job.command = {"true"};
  std::vector<std::string> names;
  for (const auto& partition : at.partitions)
    if (partition.nameable) names.push_back(partition.name);
  if (!names.empty()) job.partition = flag(dice.once_in(20) ? "nowhere" : dice.one_of(names));
  const auto* partition = job.partition ? at.find_partition(job.partition->value) : nullptr;
  const auto* node = partition && !partition->node_types.empty() ? at.find_node_type(partition->node_types[0])
                     : at.node_types.empty()                     ? nullptr
                                                                 : &at.node_types.front();
  const unsigned gpu_count = node && node->gpu ? node->gpu->per_node : 0;
  job.nodes = flag(dice.one_of<unsigned>({1, 1, 1, 2, 2, 3, 8, 40, 300, 20000}));
  const bool by_node = at.gpu_request.style == model::GpuOptionStyle::none;
  job.gpus_per_node = flag(
      by_node ? gpu_count : dice.one_of<unsigned>({0, 1, 1, 2, 3, 4, 8, gpu_count, gpu_count, gpu_count}));
  // Where the profile has no partition for jobs without GPUs, a script may go to one that it leaves out.
  const bool cpu_jobs =
      job.partition || std::any_of(at.partitions.begin(), at.partitions.end(),
                                   [](const auto& candidate) { return candidate.cpu_only; });
  if (job.gpus_per_node->value == 0 && !cpu_jobs) job.gpus_per_node = flag(std::max(1u, gpu_count));
  job.tasks_per_node = flag(std::max(1u, dice.one_of<unsigned>({1, job.gpus_per_node->value})));
  job.cpus_per_task = flag(dice.one_of<unsigned>({1, 1, 4, 8, 12, 16, 32, 300}));
  if (dice.once_in(2))
    job.mem =
        flag(model::MemSize::of_mib(dice.one_of<unsigned long long>({4096, 60000, 120000, 500000, 9000000})));
  job.time = flag(
      model::Walltime::of(std::chrono::minutes(dice.one_of<int>({1, 10, 60, 60, 600, 3000, 9000, 50000}))));
  if (!at.qos.empty() && dice.once_in(4)) job.qos = flag(dice.one_of(at.qos).name);
  if (dice.once_in(10)) job.qos = flag<std::string>("normal");
  if (dice.once_in(10)) job.array = flag<std::string>(dice.one_of<std::string>({"0-3", "0-40", "1-6000"}));
  if (node && node->gpu && job.gpus_per_node->value > 0 && !node->gpu->slurm_type.empty() && dice.once_in(3))
    job.gpu_type = flag(dice.once_in(8) && all_have_names(at) ? "z900" : node->gpu->slurm_type);
  if (dice.once_in(4)) {
    std::vector<std::string> raw = {"--exclusive", "--reservation=ours", "--time-min=1", "--clusters=other"};
    if (!job.mem && job.gpus_per_node->value > 0 && !by_node)
      raw.insert(raw.end(), {"--mem-per-gpu=30G", "--mem-per-gpu=900G"});
    if (!job.mem) raw.push_back("--mem-per-cpu=20G");
    job.sbatch = {flag(dice.one_of(raw))};
  }
  return job;
}

struct Answers {
  std::set<std::string> refused;          ///< codes of the planner's errors that are the site's
  std::set<std::string> errors, findings; ///< rules of check, of those above
};

Answers ask(const model::JobSpec& job, const model::Site& at) {
  Answers answers;
  for (const auto& finding : plan::make_plan(job, at).diagnostics)
    if (finding.severity == diag::Severity::error && k_rules.count(finding.code) > 0)
      answers.refused.insert(finding.code);
  const auto script = script_of(job, at);
  for (const auto& [what, place, fix] : check::check_script("x.sh", script, {std::nullopt, &at}))
    for (const auto& [code, rules] : k_rules)
      if (rules.count(what.code) > 0) {
        answers.findings.insert(what.code);
        if (what.severity == diag::Severity::error) answers.errors.insert(what.code);
      }
  return answers;
}

} // namespace

TEST_CASE("plan and check refuse the same requests by the same rules") {
  constexpr int k_of_each = 170; // at 60 sites more than 10,000
  int requested = 0, refused = 0;
  std::set<std::string> met;
  for (const auto& id : config::list_sites({})) {
    const auto at = test::shipped_site(id);
    if (at.state == model::SiteState::retired || at.scheduler == model::Scheduler::none) continue;
    Dice dice(20261123);
    for (int i = 0; i < k_of_each; ++i, ++requested) {
      const auto job = draw(dice, at);
      const auto answers = ask(job, at);
      refused += answers.refused.empty() ? 0 : 1;
      INFO(id << "\n" << script_of(job, at));
      // Of a name that the site does not have only that is said by both.
      const bool unknown =
          answers.refused.count("request/partition") > 0 || answers.refused.count("request/gpu-type") > 0;
      // Of several kinds of node a request is planned for one; a script may get any.
      const bool several = site_rules::place(at, site_rules::demand_of(job)).nodes.size() > 1;
      for (const auto& code : answers.refused) {
        if (several && (code == "request/cpus-per-task" || code == "request/mem" || code == "request/nodes"))
          continue;
        if (unknown && code != "request/partition" && code != "request/gpu-type") continue;

        INFO("plan: " << code
                      << ", check: " << util::join({answers.findings.begin(), answers.findings.end()}, " "));
        CHECK(any_of(k_rules.at(code), answers.findings));
        met.insert(code);
      }
      for (const auto& rule : answers.errors) {
        INFO("check: " << rule
                       << ", plan: " << util::join({answers.refused.begin(), answers.refused.end()}, " "));
        CHECK(std::any_of(answers.refused.begin(), answers.refused.end(),
                          [&](const auto& code) { return k_rules.at(code).count(rule) > 0; }));
      }
    }
  }
  CHECK(requested >= 10000);
  CHECK(refused >= 1000);
  CHECK(met.size() + 2 == k_rules.size()); // none is only asserted; the two options are not drawn here
}
