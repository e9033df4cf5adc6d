// SPDX-License-Identifier: MIT
// The round trip: a profile becomes a real Slurm, and asking that Slurm gives the profile's facts back.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "shipped_site.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// A folder of its own in which `hpcml emulate` runs.
class Emulated {
public:
  util::ProcessOutput hpcml(std::vector<std::string> words) const {
    words.insert(words.begin(), {"env", "-C", x_directory.path().string(), HPCML_BINARY});
    auto result = util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(900));
    REQUIRE(result);
    return *result;
  }
  util::ProcessOutput run(const std::string& site, const std::string& script) const {
    return hpcml({"emulate", "-q", "--site", site, "--nodes", "2", "--", "bash", "-c", script});
  }
  model::Site load(const std::string& file) const {
    const auto load = config::load_site_file((x_directory / file).string(), {});
    for (const auto& finding : load.diagnostics) FAIL(finding.message);
    REQUIRE(load.site);
    return *load.site;
  }

private:
  test::TempDirectory x_directory;
};

std::string time(const model::Known<model::Walltime>& value) {
  return value ? value->value.to_slurm() : "none";
}
unsigned count(const model::Known<unsigned>& value) { return value ? value->value : 0; }

bool requires_flag(const model::Site& site, const std::string& flag) {
  const auto rule = site.flags.find(flag);
  return rule != site.flags.end() && rule->second.policy == model::OptionPolicy::required;
}

const std::string k_hpcml = HPCML_BINARY;

struct Case {
  const char* site;
  const char* partition; ///< whose nodes are emulated
  const char* account;   ///< one that the site's rules take
  const char* required;  ///< what its rules require there, as trial requests find it
  const char* forbidden;
  const char* request; ///< what gen needs to plan a job on the discovered site
};

const Case k_cases[] = {
    {"lumi", "standard-g", "project_1", "account partition time", "",
     "--partition standard-g --gpus-per-node 8 --tasks-per-node 8 --account project_1"},
    {"zurada", "gpu2h100", "me", "mem partition time", "",
     "--partition gpu2h100 --gpus-per-node 2 --mem 64G"},
    {"vista", "gh", "me", "nodes ntasks-per-node partition time",
     "export gpus gpus-per-node gpus-per-task gres mem", "--partition gh --tasks-per-node 1"},
    {"narval", "gpu", "def-me", "time", "partition", "--gpus-per-node 4 --account def-me"},
};

} // namespace

TEST_CASE("asking an emulated cluster gives the profile's scheduling facts back", "[slurm]") {
  for (const auto& test_case : k_cases) {
    CAPTURE(test_case.site);
    const Emulated desk;
    const auto result =
        desk.run(test_case.site,
                 k_hpcml + " sites discover --id found -o found.json --try --account " + test_case.account);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto wanted = test::shipped_site(test_case.site);
    const auto found = desk.load("found.json");
    REQUIRE(found.partitions.size() == wanted.partitions.size());
    for (const auto& partition : wanted.partitions) {
      CAPTURE(partition.name);
      const auto* same = found.find_partition(partition.name);
      REQUIRE(same);
      CHECK(time(same->max_time) == time(partition.max_time));
      CHECK(time(same->default_time) == time(partition.default_time));
      // A job cannot have more nodes than the partition: where that is known, Slurm shows it as the limit.
      CHECK(count(same->max_nodes) ==
            count(partition.max_nodes ? partition.max_nodes : partition.node_count));
      CHECK(same->exclusive == partition.slurm_exclusive.value_or(partition.exclusive));
      CHECK(same->nameable == partition.nameable);
      CHECK(same->is_default == (partition.is_default && !requires_flag(wanted, "partition")));
    }
    const auto* type = wanted.find_node_type(wanted.find_partition(test_case.partition)->node_types.front());
    const bool cut = type->gpu && !type->gpu->slices.empty(); // nodes with parts of GPUs are another kind
    REQUIRE(found.find_partition(test_case.partition)->node_types.size() == (cut ? 2 : 1));
    const auto* same = found.find_node_type(found.find_partition(test_case.partition)->node_types.front());
    CHECK(same->cpu.sockets == type->cpu.sockets);
    CHECK(same->cpu.cores == type->cpu.cores);
    CHECK(same->cpu.threads_per_core == type->cpu.threads_per_core);
    CHECK(same->cpu.reserved.to_list() == type->cpu.reserved.to_list());
    CHECK(same->memory->value.mib() == type->memory->value.mib());
    CHECK(same->host_prefix == (type->host_prefix.empty() ? "node" : type->host_prefix));
    CHECK(same->node_count == 2u);
    const bool listed = wanted.gpu_request.style != model::GpuOptionStyle::none;
    REQUIRE(same->gpu.has_value() == listed);
    if (listed) {
      CHECK(same->gpu->per_node == type->gpu->per_node);
      CHECK(same->gpu->slurm_type == type->gpu->slurm_type);
    }
    CHECK(found.gpu_request.style == wanted.gpu_request.style);
    CHECK((found.gpu_request.type == model::OptionPolicy::required) ==
          (wanted.gpu_request.type == model::OptionPolicy::required && !wanted.gpu_request.accepts_untyped));
    std::string required, forbidden;
    for (const auto& [name, rule] : found.flags) {
      auto& list = rule.policy == model::OptionPolicy::required ? required : forbidden;
      list += (list.empty() ? "" : " ") + name;
    }
    CHECK(required == test_case.required);
    CHECK(forbidden == test_case.forbidden);
  }
}

TEST_CASE("a discovered profile is valid, and scripts can be made for it", "[slurm]") {
  for (const auto& test_case : k_cases) {
    CAPTURE(test_case.site);
    const Emulated desk;
    const auto result = desk.run(
        test_case.site, k_hpcml + " sites discover --id found -o found.json --try --account " +
                            test_case.account + " && " + k_hpcml +
                            " --sites-dir . gen --site found --nodes 2 --time 10 " + test_case.request +
                            " -o job.sh -- hostname && bash -n job.sh && sbatch --test-only job.sh");
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find(" to start at ") != std::string::npos);
    const auto valid = desk.hpcml({"sites", "validate", "found.json"});
    CHECK(valid.exit_code == 0);
    CHECK(valid.out.find("found.json: ok, site found") != std::string::npos);
  }
}

TEST_CASE("a cluster that no profile describes is discovered, too", "[slurm]") {
  const Emulated desk;
  const auto result = desk.run(
      "generic",
      k_hpcml + " sites discover --id found -o found.json && " + k_hpcml +
          " --sites-dir . gen --site found --time 10 -o job.sh -- hostname && sbatch --test-only job.sh");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  const auto found = desk.load("found.json");
  REQUIRE(found.partitions.size() == 1);
  CHECK(found.partitions.front().is_default);
  CHECK(found.node_types.size() == 1);
  CHECK(found.slurm_version);
}

TEST_CASE("a node that is asked in a job tells its NUMA nodes and caches, too", "[slurm]") {
  const Emulated desk;
  const auto result = desk.run("lumi", "srun -A project_1 -p standard-g -t 5 -N1 -n1 " + k_hpcml +
                                           " sites discover -o found.json");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto wanted = test::shipped_site("lumi");
  const auto found = desk.load("found.json");
  const auto& cpu = found.node_types.front().cpu;
  const auto& same = wanted.node_types.front().cpu;
  REQUIRE(cpu.numa.size() == same.numa.size());
  for (std::size_t i = 0; i < cpu.numa.size(); ++i) CHECK(cpu.numa[i].cpus == same.numa[i].cpus);
  REQUIRE(cpu.l3.size() == same.l3.size());
  for (std::size_t i = 0; i < cpu.l3.size(); ++i) CHECK(cpu.l3[i].cpus == same.l3[i].cpus);
}

TEST_CASE("GPUs that Slurm does not list are found on the node", "[slurm]") {
  const Emulated desk;
  const auto result = desk.run("vista", "srun -p gh -t 5 -N1 -n1 --ntasks-per-node=1 " + k_hpcml +
                                            " sites discover -o found.json");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto found = desk.load("found.json");
  const auto& type = found.node_types.front();
  REQUIRE(type.gpu);
  CHECK(type.gpu->per_node == 1);
  CHECK(type.gpu->vendor == model::GpuVendor::nvidia);
}

TEST_CASE("a profile agrees with the cluster that was made of it, and not with one that was changed",
          "[slurm]") {
  const Emulated desk;
  const auto result = desk.run(
      "lumi", k_hpcml +
                  " sites diff lumi; echo code=$?; scontrol update PartitionName=small-g MaxNodes=2; "
                  "scontrol update PartitionName=dev-g OverSubscribe=EXCLUSIVE MaxTime=2:00:00; " +
                  k_hpcml + " sites diff lumi; echo code=$?");
  INFO(result.err + result.out);
  const auto second = result.out.find("code=0\n");
  REQUIRE(second != std::string::npos);
  CHECK(result.out.substr(0, second).find("lumi and cluster lumi: 0 errors, 0 warnings") !=
        std::string::npos);
  const auto after = result.out.substr(second);
  CHECK(after.find("partition small-g: max_nodes: 4 in the profile, but 2 on the cluster") !=
        std::string::npos);
  CHECK(after.find("partition dev-g: max_time: 03:00:00 in the profile, but 02:00:00 on the cluster") !=
        std::string::npos);
  CHECK(
      after.find("partition dev-g: jobs get parts of nodes in the profile, but whole nodes on the cluster") !=
      std::string::npos);
  CHECK(after.find("code=1\n") != std::string::npos);
}
