// SPDX-License-Identifier: MIT
// A profile against its cluster: each fact changed on one side is found, nothing else.
#include <catch2/catch.hpp>
#include <functional>

#include "generate/discover/compare.hpp"
#include "generate/discover/discover_helper.hpp"

using namespace hpcml;

namespace {

/// Findings but notes, one a line.
std::string findings(const model::Site& site, const discover::ClusterFacts& facts) {
  std::string text;
  for (const auto& finding : discover::compare_site(site, facts, discover::make_node_kinds(facts.nodes)))
    if (finding.severity != diag::Severity::note)
      text += (finding.severity == diag::Severity::error ? "E " : "W ") + finding.message + "\n";
  return text;
}

model::Known<model::Walltime> hours(int count) {
  return model::Sourced<model::Walltime>{model::Walltime::of(std::chrono::hours(count)), {}};
}

} // namespace

TEST_CASE("a discovered profile agrees with its cluster") {
  for (const char* name : {"plain", "mixed"}) {
    CAPTURE(name);
    CHECK(findings(test::discovered(name), test::recorded_cluster(name)) == "");
  }
}

TEST_CASE("each fact of the profile that the cluster denies is found") {
  struct Case {
    std::function<void(model::Site&)> change;
    const char* found;
  };
  const auto type = [](model::Site& site, const char* id) -> model::NodeType& {
    for (auto& test_case : site.node_types)
      if (test_case.id == id) return test_case;
    throw std::runtime_error(id);
  };
  const Case cases[] = {
      {[](model::Site& s) { s.partitions[0].max_time = hours(200); },
       "E partition batch: max_time: 8-08:00:00 in the profile, but 6-00:00:00 on the cluster\n"},
      {[](model::Site& s) { s.partitions[0].max_time = hours(2); },
       "W partition batch: max_time: 02:00:00 in the profile, but 6-00:00:00 on the cluster\n"},
      {[](model::Site& s) { s.partitions[0].max_time.reset(); }, ""}, // it merely does not know
      {[](model::Site& s) {
         s.partitions[0].max_nodes = model::Sourced<unsigned>{4, {}};
       },
       "W partition batch: max_nodes: 4 in the profile, but without limit on the cluster\n"},
      {[](model::Site& s) { s.partitions[1].max_nodes->value = 16; },
       "E partition gpu: max_nodes: 16 in the profile, but 8 on the cluster\n"},
      {[](model::Site& s) { s.partitions[0].default_time = hours(12); },
       "E partition batch: default_time: 12:00:00 in the profile, but 01:00:00 on the cluster\n"},
      {[](model::Site& s) { s.partitions[2].exclusive = false; },
       "E partition whole: jobs get parts of nodes in the profile, but whole nodes on the cluster\n"},
      {[](model::Site& s) { s.partitions[2].slurm_exclusive = true, s.partitions[2].exclusive = false; }, ""},
      {[](model::Site& s) { s.partitions[0].name = "bacth"; },
       "E partition bacth: the cluster has no partition of this name\nW partition batch: not in the profile, "
       "but on the cluster\n"},
      {[](model::Site& s) { s.slurm_version->value = "23.11.1"; },
       "W slurm_version: 23.11.1 in the profile, but 24.11.5 on the cluster\n"},
      {[](model::Site& s) { s.slurm_version->value = "24.11.7"; }, ""},
      {[](model::Site& s) { s.flags.erase("account"); },
       "W flags.account: the cluster starts no job without an account and has no default one, but the "
       "profile does not require it\n"},
      {[&](model::Site& s) { type(s, "h100x4").gpu->per_node = 8; },
       "E node type h100x4 (g1, …): gpu.per_node: 8 in the profile, but 4 on the cluster\n"},
      {[&](model::Site& s) { type(s, "h100x4").gpu->slurm_type = "a100"; },
       "E node type h100x4 (g1, …): gpu.slurm_type: a100 in the profile, but the cluster has h100\n"},
      {[&](model::Site& s) { type(s, "h100x4").gpu->slurm_type.clear(); }, ""},
      {[&](model::Site& s) { type(s, "h100x4").cpu.threads_per_core = 1; },
       "E node type h100x4 (g1, …): cpu.threads_per_core: 1 in the profile, but 2 on the cluster\n"},
      {[&](model::Site& s) { type(s, "h100x4").cpu.reserved = {}; },
       "E node type h100x4 (g1, …): cpu.reserved: 0 cores in the profile, but 4 on the cluster\n"},
      {[&](model::Site& s) { type(s, "h100x4").memory->value = model::MemSize::of_mib(1031000); },
       "E node type h100x4 (g1, …): memory: 1031000M in the profile, but 1000000M for jobs on the cluster\n"},
      {[&](model::Site& s) { type(s, "h100x4").memory->value = model::MemSize::of_mib(950000); }, ""},
      {[&](model::Site& s) { type(s, "h100x4").cpu_arch = model::CpuArch::aarch64; },
       "E node type h100x4 (g1, …): cpu_arch: aarch64 in the profile, but x86_64 on the cluster\n"},
      {[&](model::Site& s) {
         type(s, "cpu128-976g").memory->value = model::MemSize::of_mib(1);
         s.partitions[0].node_types = {"cpu128-243g"};
       },
       "W node type cpu128-243g (c03): memory: 249000M in the profile, but 1000000M for jobs on the "
       "cluster\n"},
      {[&](model::Site& s) { // two kinds that differ in a feature only
         auto twin = type(s, "h100x4");
         twin.id = "twin";
         twin.features = {"more"};
         s.node_types.push_back(twin);
         s.partitions[1].node_types.push_back("twin");
       },
       ""},
      {[](model::Site& s) { s.partitions[1].node_types.push_back("cpu128-243g"); },
       "W partition gpu: no nodes on the cluster like cpu128-243g of the profile\n"},
  };
  const auto facts = test::recorded_cluster("mixed");
  for (const auto& test_case : cases) {
    auto site = test::discovered("mixed");
    test_case.change(site);
    CHECK(findings(site, facts) == test_case.found);
  }
}

TEST_CASE("nodes that no job gets to, and GPUs that are cut into parts, are no difference") {
  auto facts = test::recorded_cluster("mixed");
  auto site = test::discovered("mixed");
  // As slurm.conf's CPUs=256 without a shape is shown: 256 sockets.
  auto spare = facts.nodes.front();
  spare.name = "spare1";
  spare.partitions.clear();
  spare.sockets = 256;
  spare.cores_per_socket = 1;
  facts.nodes.push_back(spare);
  for (const auto& kind : discover::make_node_kinds(facts.nodes)) CHECK(kind.sockets < 256);
  CHECK(findings(site, facts) == "");
  for (auto& type : site.node_types)
    if (type.gpu && type.gpu->slurm_type == "h100")
      type.gpu->slices.push_back({"h100_1g.10gb", {}, {}, {}, {}});
  for (auto& node : facts.nodes)
    for (auto& gres : node.gres)
      if (node.name == "g1" && gres.type == "h100") gres = {"gpu", "h100_1g.10gb", 28};
  CHECK(findings(site, facts) == "");
}

TEST_CASE("a cluster without a default partition needs one to be named") {
  auto site = test::discovered("plain");
  const auto facts = test::recorded_cluster("plain");
  site.flags.erase("partition");
  CHECK(findings(site, facts).starts_with("E flags.partition: the cluster has no default partition"));
  site.partitions[0].is_default = true; // then scripts name it, and others do not
  CHECK(findings(site, facts).starts_with("W default partition: "));
  site.partitions[0].slurm_default = false;
  CHECK(findings(site, facts) == "");
  site.partitions[0].nameable = false;
  CHECK(findings(site, facts).starts_with("E flags.partition"));
}

TEST_CASE("compare reports a default partition that is not Slurm's") {
  auto site = test::discovered("mixed");
  const auto facts = test::recorded_cluster("mixed");
  for (auto& partition : site.partitions) partition.is_default = !partition.is_default;
  CHECK(findings(site, facts).starts_with("W default partition: "));
  for (auto& partition : site.partitions) partition.slurm_default = false;
  CHECK(findings(site, facts) == "");
}

TEST_CASE("GPUs that the profile does not let people ask for are no difference while Slurm lists none") {
  auto site = test::discovered("plain");
  auto facts = test::recorded_cluster("plain");
  site.gpu_request.style = model::GpuOptionStyle::none;
  CHECK(findings(site, facts).find("W node type gpux8 (nid000001): the profile has no GPU option") == 0);
  for (auto& node : facts.nodes) node.gres.clear();
  CHECK(findings(site, facts) == "");
}
