// SPDX-License-Identifier: MIT
// One rank's environment and binding from live facts: the script's plan again, or the node's truth where they
// differ.
#include "plan/rank_plan.hpp"

#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

/// A LUMI node as its own sysfs shows it: no reserved cores; GPUs known by number only, as in a Slurm
/// variable.
plan::RankFacts lumi_facts(unsigned local_rank, unsigned ranks = 8, unsigned gpus = 8) {
  plan::RankFacts facts;
  facts.local_rank = facts.rank = local_rank;
  facts.local_world_size = facts.world_size = ranks;
  facts.partition = "standard-g";
  facts.live_cpus = model::make_regular_cpus(1, 64, 2, 4, 8);
  facts.allowed = facts.live_cpus.all();
  facts.owns_node = true;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    model::GpuPlace place;
    place.index = gpu;
    facts.live_gpus.push_back(place);
  }
  return facts;
}

const model::PlannedEnv* variable(const plan::RankPlan& plan, const std::string& name) {
  for (const auto& planned_variable : plan.env)
    if (planned_variable.name == name) return &planned_variable;
  return nullptr;
}

} // namespace

TEST_CASE("On a LUMI node each rank plans the mask that the script has for it") {
  const auto script = planned(lumi_job(), "lumi");
  for (unsigned rank = 0; rank < 8; ++rank) {
    const auto plan = plan::plan_rank(site("lumi"), lumi_facts(rank), {1, 7, ""});
    CHECK(plan.binding.cpus == script.binding.ranks[rank].cpus);
    CHECK(plan.binding.gpus == script.binding.ranks[rank].gpus);
    CHECK(plan.warnings.empty());
    CHECK(plan.gpu_visibility == "own");
    CHECK(plan.visible_variable == "ROCR_VISIBLE_DEVICES");
    REQUIRE(variable(plan, "OMP_NUM_THREADS"));
    CHECK(variable(plan, "OMP_NUM_THREADS")->value == "7");
    REQUIRE(variable(plan, "GLOO_SOCKET_IFNAME"));
    CHECK(plan.caches.size() == 1);
  }
}

TEST_CASE("A step with GPUs 2 to 5 of a LUMI node binds near those") {
  auto facts = lumi_facts(2, 4, 8);
  facts.live_gpus = {facts.live_gpus.begin() + 2, facts.live_gpus.begin() + 6};
  const auto plan = plan::plan_rank(site("lumi"), facts, {1, 7, ""});
  CHECK(plan.binding.gpus == std::vector<unsigned>{4});
  CHECK(plan.binding.cpus.to_list() == "1-7");
}

TEST_CASE("Where the job has few cores of a shared node, only those are used, and threads follow") {
  auto facts = lumi_facts(0, 1, 1);
  facts.partition = "small-g";
  facts.allowed = model::IdSet::range(48, 51); // core 48 is reserved
  const auto plan = plan::plan_rank(site("lumi"), facts, {1, 7, ""});
  CHECK(plan.binding.cpus.to_list() == "49-51");
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "3");
  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0] == "rank 0 gets 3 of the 7 cores asked for");
}

TEST_CASE("What the node shows of a GPU beats the profile, with a warning") {
  auto facts = lumi_facts(0);
  facts.live_gpus[0].numa = 1;
  const auto plan = plan::plan_rank(site("lumi"), facts, {1, 7, ""});
  REQUIRE_FALSE(plan.warnings.empty());
  CHECK(plan.warnings[0] == "GPU 0 is under NUMA 1 here, the profile says 3: the live value is used");
  // Three GPUs share NUMA 1's 14 cores then; what is missing of the seven comes from a free one.
  CHECK((plan.binding.cpus & model::IdSet::range(16, 31)).size() == 5);
  CHECK(plan.binding.cpus.size() == 7);
}

TEST_CASE("A node that is not what the profile describes is planned from what it shows alone") {
  auto facts = lumi_facts(1, 2, 2);
  facts.live_cpus = model::make_regular_cpus(1, 8, 1, 1, 0);
  facts.allowed = facts.live_cpus.all();
  const auto plan = plan::plan_rank(site("lumi"), facts, {1, 0, "all"});
  CHECK(plan.binding.cpus.to_list() == "4-7"); // core 0 is not reserved here
  CHECK(plan.gpu_visibility == "all");
  CHECK(plan.visible_variable.empty());
}

TEST_CASE("Ranks of a CPU job share the cores evenly and get no GPU variables") {
  plan::RankFacts facts;
  facts.local_rank = 1;
  facts.local_world_size = 2;
  facts.live_cpus = model::make_regular_cpus(1, 4, 1, 1, 1);
  facts.allowed = facts.live_cpus.all();
  const auto plan = plan::plan_rank(site("zurada"), facts, {0, 0, ""});
  CHECK(plan.binding.cpus.to_list() == "2-3");
  CHECK(plan.binding.gpus.empty());
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "2");
  CHECK_FALSE(variable(plan, "CUDA_DEVICE_ORDER"));
}

TEST_CASE("NVIDIA ranks count GPUs by PCI address") {
  auto facts = lumi_facts(0, 2, 2);
  facts.partition = "gpu2h100";
  facts.live_cpus = model::make_regular_cpus(2, 32, 1, 2, 0);
  facts.allowed = facts.live_cpus.all();
  const auto plan = plan::plan_rank(site("zurada"), facts, {1, 0, "own"});
  REQUIRE(variable(plan, "CUDA_DEVICE_ORDER"));
  CHECK(plan.visible_variable == "CUDA_VISIBLE_DEVICES");
  CHECK(plan.binding.cpus.to_list() == "0-15");
}
