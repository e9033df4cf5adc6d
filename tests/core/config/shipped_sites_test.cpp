// SPDX-License-Identifier: MIT
// The profiles that come with hpcml: right in form, with a source for every fact, and true to the documents.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <limits>
#include <set>

#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"
#include "core/util/embedded.hpp"
#include "core/util/file.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::shipped_site;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> k_nowhere;

const model::EnvRule& env_rule(const model::Site& site, const std::string& name) {
  const auto found =
      std::find_if(site.env.begin(), site.env.end(), [&](const auto& rule) { return rule.name == name; });
  REQUIRE(found != site.env.end());
  return *found;
}

} // namespace

TEST_CASE("Every shipped profile loads without a finding", "[spec]") {
  std::size_t count = 0;
  for (const auto& file : embedded::site_files()) {
    INFO(file.name);
    ++count;
    const auto path = fs::path(HPCML_SOURCE_DIR) / "sites" / file.name;
    const auto load = config::load_site_file(path.string(), {path.parent_path().string()});
    for (const auto& finding : load.diagnostics) FAIL_CHECK(diag::render_text(finding, load.source, false));
    CHECK(load.site.has_value());
    CHECK(load.site->id + ".json" == file.name);
  }
  CHECK(count >= 9);
}

TEST_CASE("Every fact about a real cluster has a dated source", "[spec]") {
  for (const auto& id : config::list_sites(k_nowhere)) {
    if (id == "local" || id == "generic") continue; // they state no facts about a cluster
    std::set<std::string> known;
    for (const auto& source : shipped_site(id).sources) known.insert(source.id);
    const auto facts = config::load_facts(id, k_nowhere);
    REQUIRE_FALSE(facts.facts.empty());
    for (const auto& fact : facts.facts) {
      if (fact.path == "name") continue;
      INFO(id << ": " << fact.path << " = " << fact.value << " from " << fact.source);
      CHECK(known.contains(fact.source));
    }
  }
}

TEST_CASE("The shipped sites are the profiles of the folder, without the layers", "[spec]") {
  std::vector<std::string> sites;
  for (const auto& entry : fs::directory_iterator(fs::path(HPCML_SOURCE_DIR) / "sites")) {
    const auto id = entry.path().stem().string();
    const auto text = util::read_file(entry.path());
    REQUIRE(text.ok());
    if (id != "schema" && text->find("\"abstract\": true") == std::string::npos) sites.push_back(id);
  }
  std::sort(sites.begin(), sites.end());
  CHECK(config::list_sites(k_nowhere) == sites);
  for (const auto* id : {"cedar", "generic", "graham", "local", "lumi", "narval", "vista", "zurada"})
    CHECK(std::count(sites.begin(), sites.end(), id) == 1);
  const auto layer = config::load_site("alliance", k_nowhere);
  CHECK(layer.not_found);
  REQUIRE(layer.diagnostics.size() == 1);
  CHECK_THAT(layer.diagnostics[0].message, Catch::Contains("not a site"));
}

TEST_CASE("LUMI's node is the documented one", "[spec]") {
  const auto site = shipped_site("lumi");
  const auto* node = site.find_node_type("lumi-g");
  REQUIRE(node);
  CHECK(node->cpu.cores == 64);
  CHECK(node->cpu.threads_per_core == 2);
  CHECK(node->cpu.reserved.to_list() == "0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120");
  REQUIRE(node->gpu);
  REQUIRE(node->gpu->places.size() == 8);
  // GPU -> NUMA as LUMI's guide prints it, and L3 -> the CCD it names for each GCD.
  const std::vector<unsigned> numa = {3, 3, 1, 1, 0, 0, 2, 2};
  const std::vector<unsigned> l3 = {6, 7, 2, 3, 0, 1, 4, 5};
  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    CHECK(node->gpu->places[gpu].index == gpu);
    CHECK(node->gpu->places[gpu].numa == numa[gpu]);
    CHECK(node->gpu->places[gpu].l3 == l3[gpu]);
    CHECK(node->cpu.l3[l3[gpu]].cpus.is_subset_of(node->cpu.numa[numa[gpu]].cpus));
  }
  CHECK(node->memory->value.to_slurm() == "480G");
  CHECK(node->host_prefix == "nid");
  CHECK(node->host_digits == 6);
  CHECK(site.binding.value == model::WholeNodeBinder::masks);
  CHECK(site.gpu_visibility.mode == model::GpuVisibilityMode::own);
  CHECK(site.find_partition("standard-g")->exclusive);
  CHECK_FALSE(site.find_partition("small-g")->exclusive);
  CHECK(site.find_partition("standard-g")->max_time->value.to_slurm() == "2-00:00:00");
}

TEST_CASE("Where LUMI's pages disagree the later value is taken and the earlier one is kept beside it",
          "[spec]") {
  const auto site = shipped_site("lumi");
  const auto& level = env_rule(site, "NCCL_NET_GDR_LEVEL");
  CHECK(level.value == "PHB");
  REQUIRE(level.origin.superseded.size() == 1);
  CHECK(level.origin.superseded[0].value == "3");
  CHECK_THAT(level.origin.superseded[0].source,
             Catch::StartsWith("pytorch-page: https://docs.lumi-supercomputer.eu"));
  CHECK_FALSE(level.origin.superseded[0].why.empty());
  REQUIRE(site.caches.size() == 1);
  CHECK(site.caches[0].variables.contains("MIOPEN_USER_DB"));
  CHECK(site.caches[0].variables.contains("MIOPEN_USER_DB_PATH"));
  CHECK(site.caches[0].origin.superseded.size() == 1);
  REQUIRE(site.containers.size() == 2);
  CHECK(site.containers[0].gpu_flag == model::ContainerGpuOption::none);
  CHECK(site.containers[0].enter == "$WITH_CONDA");
  CHECK(site.containers[0].origin.superseded.size() == 1);
}

TEST_CASE("Origins name the profile's path, the source and the day", "[spec]") {
  const auto site = shipped_site("lumi");
  const auto& origin = site.partitions[0].max_time->origin;
  CHECK(origin.kind == model::OriginKind::site);
  CHECK(origin.by == "partitions[0].max_time");
  CHECK_THAT(origin.source, Catch::StartsWith("partitions-page: github:Lumi-supercomputer/lumi-userguide:"));
  CHECK(origin.checked.text().size() == 10);
  CHECK(site.flags.at("account").origin.by == "flags.account");
  // The layer's own source stays with what the layer says.
  const auto narval = shipped_site("narval");
  CHECK_THAT(narval.flags.at("partition").origin.source, Catch::StartsWith("running-jobs: "));
  CHECK_THAT(narval.node_types[0].origin.source, Catch::StartsWith("narval: "));
}

TEST_CASE("Narval asks for no partition, wants the GPU's type and builds its environment offline", "[spec]") {
  const auto site = shipped_site("narval");
  CHECK(site.flags.at("partition").policy == model::OptionPolicy::discouraged);
  CHECK_FALSE(site.partitions.at(0).nameable);
  CHECK(site.gpu_request.type == model::OptionPolicy::required);
  CHECK(site.node_types.at(0).gpu->slurm_type == "a100");
  CHECK(site.python.at(0).kind == model::PythonPackageSource::wheelhouse);
  CHECK(site.network.internet_on_compute == false);
  CHECK(site.libtorch_modules.size() == 10);
  CHECK(site.partitions[0].max_time->value.to_slurm() == "7-00:00:00");
}

TEST_CASE("Vista refuses memory and GPU options and starts ranks with ibrun", "[spec]") {
  const auto site = shipped_site("vista");
  for (const auto* option : {"mem", "gres", "gpus-per-task", "nodelist"}) {
    INFO(option);
    CHECK(site.flags.at(option).policy == model::OptionPolicy::forbidden);
  }
  CHECK(site.gpu_request.style == model::GpuOptionStyle::none);
  CHECK(site.node_types.at(0).cpu_arch == model::CpuArch::aarch64);
  CHECK(site.launchers.at(0).name == "ibrun");
  CHECK(site.launchers.at(0).rank_variable == "OMPI_COMM_WORLD_RANK");
  CHECK(site.interactive.program == "idev");
  CHECK(site.find_partition("gg")->cpu_only);
}

TEST_CASE("Zurada wants memory on GPU partitions and whole nodes on the others", "[spec]") {
  const auto site = shipped_site("zurada");
  CHECK(site.gpu_visibility.mode == model::GpuVisibilityMode::all);
  CHECK(site.network.master.interface == "bond0");
  CHECK(site.slurm_version->value == "24.11.5");
  CHECK(site.binding.value == model::WholeNodeBinder::launch);
  CHECK(site.openmp == std::map<std::string, std::string>{
                           {"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}, {"OMP_STACKSIZE", "512m"}});
  CHECK(site.flags.at("mem").when.partitions.size() == 4);
  CHECK(site.flags.at("exclusive").when.partitions ==
        std::vector<std::string>{"cpu384g", "cpu1500g", "cpu6000g"});
  CHECK(site.find_node_type("h200x8")->gpu->per_node == 8);
}

TEST_CASE("Retired clusters name their successors", "[spec]") {
  for (const auto& [id, successor, day] : std::vector<std::array<std::string, 3>>{
           {"cedar", "fir", "2025-09-12"}, {"graham", "nibi", "2025-09-01"}}) {
    const auto site = shipped_site(id);
    CHECK(site.state == model::SiteState::retired);
    CHECK(site.successor == successor);
    CHECK(site.retired_on == day);
  }
}

TEST_CASE("Plain Slurm and this machine claim nothing", "[spec]") {
  for (const auto* id : {"generic", "local"}) {
    const auto site = shipped_site(id);
    CHECK(site.partitions.empty());
    CHECK(site.node_types.empty());
    CHECK_FALSE(site.slurm_version.has_value());
    CHECK(site.env.empty());
    CHECK_FALSE(site.unknown.empty());
  }
}

TEST_CASE("A compiled-in site costs less than its texts, which are checked", "[spec]") {
  // Processor time, the least of a few rounds each: other programs change it little.
  const auto cost = [](const std::vector<std::string>& directories) {
    auto least = std::numeric_limits<std::clock_t>::max();
    for (int round = 0; round < 5; ++round) {
      const auto start = std::clock();
      for (int i = 0; i < 4; ++i) REQUIRE(config::load_site("lumi", directories).site.has_value());
      least = std::min(least, std::clock() - start);
    }
    return least;
  };
  const auto compiled_in = cost(k_nowhere), texts = cost({HPCML_SOURCE_DIR "/sites"});
  CAPTURE(compiled_in, texts);
  CHECK(compiled_in < texts);
}
