// SPDX-License-Identifier: MIT
// One rank's environment and binding from live facts: the script's plan again, or the node's truth where they
// differ.
#include "generate/plan/rank_plan.hpp"

#include "generate/plan/profile_check.hpp"
#include "generate/plan/threads.hpp"

#include "plan_helper.hpp"
#include "seen_rank.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

/// A LUMI node as its own sysfs shows it: no reserved cores; GPUs known by number only, as in a Slurm
/// variable.
RankFacts lumi_facts(unsigned local_rank, unsigned ranks = 8, unsigned gpus = 8) {
  RankFacts facts;
  facts.local_rank = local_rank;
  facts.local_world_size = facts.world_size = ranks;
  facts.partition = "standard-g";
  facts.live_cpus = model::make_regular_cpus(1, 64, 2, 4, 8);
  facts.allowed = facts.live_cpus.all();
  facts.owns_node = true;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    model::GpuLocality place;
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
    const auto plan = seen_rank(test::site_named("lumi"), lumi_facts(rank), {1, 7, {}});
    CHECK(plan.binding.cpus == script.binding.ranks[rank].cpus);
    CHECK(plan.binding.gpus == script.binding.ranks[rank].gpus);
    CHECK(plan.warnings.empty());
    CHECK(plan.node_warnings.empty());
    const char* const nics[] = {"hsn0", "hsn0", "hsn1", "hsn1", "hsn2", "hsn2", "hsn3", "hsn3"};
    CHECK(plan.binding.nic == nics[rank]);
    CHECK_THAT(plan.binding.why, Catch::EndsWith("NIC " + plan.binding.nic + ": the profile states it"));
    CHECK(variable(plan, "HPCML_DATALOADER_WORKERS")->value == "6");
    CHECK(variable(plan, "HPCML_INTEROP_THREADS")->value == "1");
    CHECK(plan.gpu_visibility == model::GpuVisibilityMode::own);
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
  const auto plan = seen_rank(test::site_named("lumi"), facts, {1, 7, {}});
  CHECK(plan.binding.gpus == std::vector<unsigned>{4});
  CHECK(plan.binding.cpus.to_list() == "1-7");
}

TEST_CASE("Where the job has few cores of a shared node, only those are used, and threads follow") {
  auto facts = lumi_facts(0, 1, 1);
  facts.partition = "small-g";
  facts.allowed = model::IdSet::range(48, 51); // core 48 is reserved
  const auto plan = seen_rank(test::site_named("lumi"), facts, {1, 7, {}});
  CHECK(plan.binding.cpus.to_list() == "49-51");
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "3");
  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0] ==
        "rank 0 gets 3 of the 7 requested cores: no other is free; use fewer cores per rank");
}

TEST_CASE("What the node shows of a GPU beats the profile, with a warning") {
  auto facts = lumi_facts(0);
  facts.live_gpus[0].numa = 1;
  facts.node_gpus = facts.live_gpus;
  const auto plan = seen_rank(test::site_named("lumi"), facts, {1, 7, {}});
  REQUIRE(plan.node_warnings.size() == 1);
  CHECK(plan.node_warnings[0] ==
        "this node differs from node type lumi-g in the profile of lumi: GPU 0 is under NUMA "
        "1 here, but the profile states 3: the live value is used\n"
        "hint: check --site, or run hpcml sites diff lumi on a login node to find "
        "what to correct in the profile");
  // Three GPUs share NUMA 1's 14 cores then; what is missing of the seven comes from a free one.
  CHECK((plan.binding.cpus & model::IdSet::range(16, 31)).size() == 5);
  CHECK(plan.binding.cpus.size() == 7);
}

TEST_CASE("A node that is not what the profile describes is planned from what it shows alone") {
  auto facts = lumi_facts(1, 2, 2);
  facts.live_cpus = model::make_regular_cpus(1, 8, 1, 1, 0);
  facts.allowed = facts.live_cpus.all();
  const auto plan = seen_rank(test::site_named("lumi"), facts, {1, 0, model::GpuVisibilityMode::all});
  CHECK(plan.binding.cpus.to_list() == "4-7"); // core 0 is not reserved here
  REQUIRE(plan.node_warnings.size() == 1);
  CHECK_THAT(plan.node_warnings[0],
             Catch::Contains("it has 8 cores here, but the profile states 64") &&
                 Catch::Contains("hpcml ignores the profile's description of this node"));
  CHECK(plan.gpu_visibility == model::GpuVisibilityMode::all);
  CHECK(plan.visible_variable.empty());
}

TEST_CASE("Ranks of a CPU job share the cores evenly and get no GPU variables") {
  RankFacts facts;
  facts.local_rank = 1;
  facts.local_world_size = 2;
  facts.live_cpus = model::make_regular_cpus(1, 4, 1, 1, 1);
  facts.allowed = facts.live_cpus.all();
  const auto plan = seen_rank(test::site_named("zurada"), facts, {0, 0, {}});
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
  const auto plan = seen_rank(test::site_named("zurada"), facts, {1, 0, model::GpuVisibilityMode::own});
  REQUIRE(variable(plan, "CUDA_DEVICE_ORDER"));
  CHECK(plan.visible_variable == "CUDA_VISIBLE_DEVICES");
  CHECK(plan.binding.cpus.to_list() == "0-15");
}

TEST_CASE("What a rank's cores do is planned with a reason, and the site's own values stand beside it") {
  struct Row {
    plan::ThreadFacts facts;
    const char* threads; // OMP_NUM_THREADS, HPCML_INTEROP_THREADS, HPCML_DATALOADER_WORKERS
  };
  for (const auto& row :
       {Row{{7, true, {}}, "7 1 6"}, Row{{16, true, {}}, "16 1 15"}, Row{{72, true, {}}, "72 1 16"},
        Row{{1, true, {}}, "1 1 0"}, Row{{32, false, {}}, "32 2 0"}, Row{{1, false, {}}, "1 1 0"},
        Row{{7, true, 4U}, "3 1 -"}, Row{{7, true, 9U}, "1 1 -"}, Row{{7, true, 0U}, "7 1 -"},
        // both hardware threads of seven cores: loaders get the second ones first
        Row{{7, true, {}, 14}, "7 1 13"}, Row{{7, true, 7U, 14}, "7 1 -"}, Row{{7, true, 9U, 14}, "5 1 -"}}) {
    plan::RankPlan plan;
    plan.env = plan::thread_environment(test::site_named("zurada"), row.facts);
    std::string seen;
    for (const auto* name : {"OMP_NUM_THREADS", "HPCML_INTEROP_THREADS", "HPCML_DATALOADER_WORKERS"})
      seen += (seen.empty() ? "" : " ") + (variable(plan, name) ? variable(plan, name)->value : "-");
    CHECK(seen == row.threads);
    // The values of the site's documents.
    CHECK(variable(plan, "OMP_STACKSIZE")->value == "512m");
    // With these of the same page torch binds the program, and its data loaders, to one core.
    CHECK(variable(plan, "OMP_PLACES") == nullptr);
    CHECK(variable(plan, "OMP_PROC_BIND") == nullptr);
    for (const auto& planned : plan.env) CHECK_FALSE(planned.origin.by.empty());
  }
  CHECK(plan::thread_environment(test::site_named("zurada"), {0, true, {}}).empty());
}

TEST_CASE("Where the node shows its NICs, they beat the profile; a second fabric is kept out for NCCL") {
  auto facts = lumi_facts(1, 2, 2);
  facts.node_gpus = facts.live_gpus;
  facts.nics.interfaces = {{"hsn3", "same PCIe switch"}, {"hsn2", "same PCIe switch"}};
  facts.nics.devices = {{"mlx5_0", "same NUMA node"}, {"mlx5_1", "same NUMA node"}};
  facts.nics.fabric = "=mlx5_0,mlx5_1";
  const auto plan = seen_rank(test::site_named("lumi"), facts, {1, 7, {}});
  CHECK(plan.binding.nic == "hsn2");
  CHECK_THAT(plan.binding.why, Catch::EndsWith("NIC hsn2: same PCIe switch"));
  CHECK(variable(plan, "UCX_NET_DEVICES")->value == "mlx5_1:1");
  CHECK(variable(plan, "NCCL_IB_HCA")->value == "=mlx5_0,mlx5_1");
}

TEST_CASE("A profile is held against the node that is there; what either leaves open is no difference") {
  const auto& lumi = *test::site_named("lumi").find_node_type("lumi-g");
  struct Row {
    const char* change;
    const char* expected; // empty: nothing
  };
  for (const auto& row : {Row{"", ""}, Row{"no numa", ""}, Row{"no gpus", ""},
                          Row{"smt off", "its CPUs are 0-63 here, but the profile states 0-127"},
                          Row{"cores", "it has 48 cores here, but the profile states 64"},
                          Row{"numa", "it has 2 NUMA nodes here, but the profile states 4"},
                          Row{"other numa", "no NUMA node has the CPUs 0-15,64-79"},
                          Row{"l3", "it has 4 L3s here, but the profile states 8"},
                          Row{"gpus", "it has 4 GPUs here, but the profile states 8"},
                          Row{"vendor", "its GPUs are nvidia here, but the profile states amd"},
                          Row{"pci", "GPU 3 is at 0000:cc:00.0 here, but the profile states 0000:ce:00.0"}}) {
    const std::string change = row.change;
    CAPTURE(change);
    auto cpus = model::make_regular_cpus(1, change == "cores" ? 48 : 64, change == "smt off" ? 1 : 2,
                                         change == "numa" ? 2 : 4, change == "l3" ? 4 : 8);
    auto gpus = lumi.gpu->places;
    auto vendor = model::GpuVendor::amd;
    if (change == "no numa") cpus.numa.clear();
    if (change == "other numa") std::swap(cpus.numa[0].cpus, cpus.numa[1].cpus), cpus.numa[1].cpus.add(16);
    if (change == "no gpus") gpus.clear();
    if (change == "gpus") gpus.resize(4);
    if (change == "vendor") vendor = model::GpuVendor::nvidia;
    if (change == "pci") gpus[3].pci = "0000:cc:00.0";
    const auto found = plan::profile_differences(lumi, {cpus, gpus, vendor});
    if (*row.expected == '\0')
      CHECK(found.empty());
    else {
      REQUIRE_FALSE(found.empty());
      CHECK_THAT(found[0], Catch::Contains(row.expected));
    }
  }
}
