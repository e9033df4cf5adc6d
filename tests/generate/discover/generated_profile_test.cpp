// SPDX-License-Identifier: MIT
// Profiles from recorded clusters.
#include <algorithm>
#include <catch2/catch.hpp>

#include "generate/discover/discover_helper.hpp"
#include "generate/discover/gpu_architecture.hpp"
#include "generate/discover/json_build.hpp"

using namespace hpcml;

namespace {

bool holds(const std::vector<std::string>& list, const std::string& part) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::string time(const model::Known<model::Walltime>& value) {
  return value ? value->value.to_slurm() : "none";
}

} // namespace

TEST_CASE("a cluster with several kinds of nodes becomes a valid profile") {
  const auto site = test::discovered("mixed");
  CHECK(site.id == "mixed");
  CHECK(site.slurm_version->value == "24.11.5");
  REQUIRE(site.sources.size() == 1);
  CHECK(site.sources[0].url.starts_with("discovered on 2026-11-02 "));
  CHECK(site.sources[0].checked == "2026-11-02");
  REQUIRE(site.node_types.size() == 4);
  const auto* small = site.find_node_type("cpu128-243g");
  REQUIRE(small);
  CHECK(small->node_count == 3u); // the one that is down, too
  CHECK(small->memory->value.mib() == 249000);
  CHECK(small->features == std::vector<std::string>{"rome"});
  CHECK(small->host_prefix == "c");
  CHECK(small->host_digits == 2);
  CHECK_FALSE(small->gpu);
  REQUIRE(site.find_node_type("cpu128-976g"));
  const auto* h100 = site.find_node_type("h100x4");
  REQUIRE(h100);
  CHECK(h100->cpu.sockets == 2);
  CHECK(h100->cpu.cores == 56);
  CHECK(h100->cpu.threads_per_core == 2);
  CHECK(h100->cpu.reserved.to_list() == "0-1,28-29,56-57,84-85");
  CHECK(h100->memory->value.mib() == 1000000);
  CHECK(h100->gpu->per_node == 4);
  CHECK(h100->gpu->slurm_type == "h100");
  CHECK(h100->gpu->vendor == model::GpuVendor::nvidia);
  CHECK(h100->gpu->arch == "sm_90");
  CHECK(h100->cpus_per_gpu == 14u); // 28 hardware threads
  CHECK(h100->mem_per_gpu->mib() == 250000);
  const auto* mi300 = site.find_node_type("mi300ax4");
  REQUIRE(mi300);
  CHECK(mi300->gpu->vendor == model::GpuVendor::amd);
  REQUIRE(mi300->gpu->slices.size() == 1);
  CHECK(mi300->gpu->slices[0].name == "a100_3g.20gb");
}

TEST_CASE("partitions get their own limits and those of their QoS") {
  const auto site = test::discovered("mixed");
  REQUIRE(site.partitions.size() == 3);
  const auto& batch = site.partitions[0];
  CHECK(batch.is_default);
  CHECK(batch.cpu_only);
  CHECK(time(batch.max_time) == "6-00:00:00");
  CHECK(time(batch.default_time) == "01:00:00");
  CHECK_FALSE(batch.max_nodes);
  CHECK(batch.node_types == std::vector<std::string>{"cpu128-243g", "cpu128-976g"});
  const auto& gpu = site.partitions[1];
  CHECK(time(gpu.max_time) == "2-00:00:00"); // of the QoS: the partition has none
  CHECK(gpu.max_nodes->value == 8);          // of the QoS: less than the partition's 16
  CHECK(gpu.note.find("QoS gpu_part") != std::string::npos);
  CHECK(gpu.node_types == std::vector<std::string>{"h100x4", "mi300ax4"});
  CHECK_FALSE(gpu.exclusive);
  const auto& whole = site.partitions[2];
  CHECK(whole.exclusive);
  CHECK(whole.min_nodes->value == 2);
  CHECK(whole.max_nodes->value == 2);
  CHECK(whole.note.find("only accounts big, huge") != std::string::npos);
  CHECK(whole.note.find("was not up") != std::string::npos);
  REQUIRE(site.qos.size() == 2); // those that somebody can name
  CHECK(site.qos[0].name == "long");
  CHECK(time(site.qos[0].max_time) == "10-00:00:00");
}

TEST_CASE("what the person has is asked, not written: no account of his is in the profile") {
  const auto facts = test::recorded_cluster("mixed");
  REQUIRE(facts.accounts);
  CHECK(facts.accounts->names() == std::vector<std::string>{"big", "small"});
  CHECK(discover::needs_account(facts));
  discover::ProfileGenerationInput request;
  request.date = "2026-11-02";
  const auto profile = discover::make_profile(facts, discover::make_node_kinds(facts.nodes), request);
  CHECK(profile.text.find("small") == std::string::npos);
  const auto site = test::read_profile(profile.text);
  CHECK(site.flags.at("account").policy == model::OptionPolicy::required);
  CHECK(site.flags.count("partition") == 0); // there is a default one
  CHECK(holds(profile.left_out, "CPU nodes (amd)"));
  CHECK(holds(profile.left_out, "admin: only root"));
}

TEST_CASE("what nobody answered is unknown, and named") {
  const auto site = test::discovered("plain");
  CHECK(holds(site.unknown, "JobSubmitPlugins=lua"));
  CHECK(holds(site.unknown, "gpu.vendor"));
  CHECK(holds(site.unknown, "cpu.numa"));
  CHECK(holds(site.unknown, "not queried: sacctmgr: this Slurm keeps no accounts"));
  CHECK(holds(site.unknown, "not queried: nvidia-smi"));
  CHECK(holds(site.unknown, "detect: "));
  CHECK(site.flags.at("partition").policy == model::OptionPolicy::required);
  CHECK(site.flags.count("account") == 0);
}

TEST_CASE("the machine is recognised by variables with the cluster's name and by full host names") {
  discover::ProfileGenerationInput request;
  for (const auto& [name, value] : std::map<std::string, std::string>{{"CC_CLUSTER", "mixed"},
                                                                      {"USER", "mixed"},
                                                                      {"LMOD_SYSTEM_NAME", "Mixed"},
                                                                      {"OTHER", "mixed2"},
                                                                      {"SLURM_CLUSTER_NAME", "mixed"}})
    request.env.set(name, value);
  request.host_names = {"login01", "login01.mixed.example.org"};
  const auto site = test::discovered("mixed", request);
  CHECK(site.detect.env ==
        std::map<std::string, std::string>{{"CC_CLUSTER", "^mixed$"}, {"LMOD_SYSTEM_NAME", "^Mixed$"}});
  CHECK(site.detect.hostnames == std::vector<std::string>{R"(login[0-9]+\.mixed\.example\.org)"});
}

TEST_CASE("containers come from PATH or from a module of exactly that name") {
  auto site = test::discovered("mixed");
  REQUIRE(site.containers.size() == 1);
  CHECK(site.containers[0].engine == model::ContainerEngine::apptainer);
  CHECK(site.containers[0].modules == std::vector<std::string>{"apptainer/1.3.6"});
  auto facts = test::recorded_cluster("mixed");
  facts.programs = {"apptainer"};
  site = test::read_profile(discover::make_profile(facts, discover::make_node_kinds(facts.nodes),
                                                   {"x", "2026-11-02", {}, {}, {}, {}, {}})
                                .text);
  CHECK(site.containers[0].modules.empty());
}

TEST_CASE("hostile names from the cluster stay out of the profile") {
  auto facts = test::recorded_cluster("plain");
  facts.config.cluster = "x\"; rm -rf ~ #";
  facts.config.version = "24.11 $(reboot)";
  facts.nodes[0].features = {"a;b", "good"};
  facts.nodes[0].gres[0].type = "h100;reboot";
  facts.partitions[0].name = "$(reboot)";
  facts.partitions[1].allow_accounts = {"a\nb"};
  facts.modules = {"apptainer/$(reboot)"};
  facts.unanswered.push_back({"x", "\033[31mred\n"});
  const auto profile = discover::make_profile(facts, discover::make_node_kinds(facts.nodes),
                                              {"", "2026-11-02", {}, {}, {}, {}, {}});
  CHECK(profile.id == "xrm-rf");
  CHECK(profile.text.find("$(reboot)") == std::string::npos);
  CHECK(profile.text.find('\033') == std::string::npos);
  CHECK(holds(profile.left_out, "$(reboot)"));
}

TEST_CASE("a GPU's type tells its maker") {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"a100", "nvidia", "sm_80"},
      {"A100fat", "nvidia", "sm_80"},
      {"nvidia_h100_80gb_hbm3", "nvidia", "sm_90"},
      {"gh200", "nvidia", "sm_90"},
      {"mi250x", "amd", "gfx90a"},
      {"amd_mi300a", "amd", "gfx942"},
      {"l40s", "nvidia", "sm_89"},
      {"l4", "nvidia", "sm_89"},
      {"h100_3g.40gb", "nvidia", "sm_90"},
      {"rtx_2080ti", "nvidia", ""},
      {"a1000", "", ""},
      {"volta", "", ""},
      {"", "", ""},
      {"gfx", "", ""},
  };
  for (const auto& [type, vendor, arch] : cases) {
    CAPTURE(type);
    CHECK(discover::find_gpu_architecture(type).vendor ==
          model::find_word<model::GpuVendor>(vendor).value_or(model::GpuVendor::unknown));
    CHECK(discover::find_gpu_architecture(type).arch == arch);
  }
  CHECK(discover::is_gpu_slice("a100_3g.20gb"));
  CHECK_FALSE(discover::is_gpu_slice("a100"));
}

TEST_CASE("host names have a common form or none") {
  const auto form = [](const std::vector<std::string>& names) {
    const auto found = discover::find_host_form(names);
    return found.prefix + "/" + std::to_string(found.digits);
  };
  CHECK(form({"nid000001", "nid000122"}) == "nid/6");
  CHECK(form({"c123-001"}) == "c123-/3");
  CHECK(form({"r1n01", "r2n01"}) == "/0");
  CHECK(form({"g1", "g10"}) == "/0");
  CHECK(form({"login"}) == "/0");
  CHECK(form({"123"}) == "/0");
  CHECK(form({}) == "/0");
}

TEST_CASE("modules are read from the lists of both module systems") {
  CHECK(discover::read_modules("/opt/modules/all:\nGCC/\nGCC/12.3.0\npython/3.11(default)\ncuda/12.2 "
                               "(D)\n\n------ /x ------\npython/3.11\n") ==
        std::vector<std::string>{"GCC/12.3.0", "python/3.11", "cuda/12.2"});
}

TEST_CASE("readable JSON is JSON, whatever is in it") {
  discover::JsonObjectBuilder object;
  object.put("text", "a\"b\\c\n")
      .put("list", discover::json_texts(std::vector<std::string>(40, "long enough to break")))
      .put("none", discover::json_texts({}));
  const auto text = discover::render_readable(object.node());
  const auto parsed = config::parse_json(text, "x", "site");
  REQUIRE(parsed.root);
  CHECK(config::render_canonical(*parsed.root) == config::render_canonical(object.node()));
  CHECK(text.find("\"none\": []") != std::string::npos);
}
