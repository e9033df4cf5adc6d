// SPDX-License-Identifier: MIT
// docs/examples/site.json shows every key that a profile may have, and schema and reader agree about all of
// them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/config/site_reader.hpp"
#include "core/config/site_schema.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "samples.hpp"

using namespace hpcml;
using nlohmann::json;

namespace {

const std::string k_example = std::string(HPCML_SOURCE_DIR) + "/docs/examples/site.json";

/// Walks schema and value together and notes which of the schema's keys the value has.
class Walk {
public:
  explicit Walk(const json& root) : x_root(root) {}

  void visit(const json& schema, const json& value, const json::json_pointer& place = json::json_pointer()) {
    if (const auto ref = schema.find("$ref"); ref != schema.end())
      return visit(x_root.at(json::json_pointer(ref->get<std::string>().substr(1))), value, place);
    for (const auto* several : {"allOf", "anyOf"})
      if (const auto list = schema.find(several); list != schema.end())
        for (const auto& element : *list) visit(element, value, place);
    if (const auto words = schema.find("enum"); words != schema.end() && value.is_string())
      closed_sets[place] = words->get<std::set<std::string>>();
    if (const auto items = schema.find("items"); items != schema.end() && value.is_array())
      for (std::size_t i = 0; i < value.size(); ++i) visit(*items, value[i], place / i);
    if (!value.is_object()) return;
    const auto properties = schema.find("properties");
    if (properties != schema.end())
      for (const auto& [key, below] : properties->items()) {
        if (!value.contains(key)) continue;
        seen.insert(&below);
        visit(below, value[key], place / key);
      }
    if (const auto others = schema.find("additionalProperties");
        others != schema.end() && others->is_object())
      for (const auto& [key, below] : value.items())
        if (properties == schema.end() || !properties->contains(key)) visit(*others, below, place / key);
  }

  std::set<const json*> seen;
  std::map<json::json_pointer, std::set<std::string>>
      closed_sets; ///< where the value has a word of one, and its words

private:
  const json& x_root;
};

/// The keys that may stand in any object.
bool is_about(const std::string& key) {
  return key == "source" || key == "checked" || key == "note" || key == "alternatives" || key == "$schema";
}

/// Calls `report` for each key of the schema that was not seen.
template <class Report>
void each_unseen(const json& schema, const std::string& path, const std::set<const json*>& seen,
                 const Report& report) {
  if (!schema.is_object() && !schema.is_array()) return;
  const bool wrapper = path == "/definitions/wrapper" || path == "/definitions/alternatives";
  for (const auto& [key, below] : schema.items()) {
    const auto key_path = path + "/" + key;
    if (key == "properties" && !wrapper)
      for (const auto& [name, property] : below.items())
        if (!is_about(name) && name != "value" && name != "retired_on" && !seen.contains(&property))
          report(key_path + "/" + name);
    each_unseen(below, key_path, seen, report);
  }
}

} // namespace

TEST_CASE("The example profile has every key that the schema knows, and loads without a finding", "[spec]") {
  const auto schema = json::parse(config::render_site_schema());
  const auto example = json::parse(util::read_file(k_example).value());
  Walk walk(schema);
  walk.visit(schema, example);
  CHECK(walk.seen.size() > 150);
  each_unseen(schema, "", walk.seen,
              [](const std::string& path) { FAIL_CHECK(path << " is not in docs/examples/site.json"); });

  const auto load = config::load_site_file(k_example, {});
  for (const auto& finding : load.diagnostics) FAIL_CHECK(diag::render_text(finding, load.source, false));
  REQUIRE(load.site.has_value());
}

TEST_CASE("What the example profile says arrives in the site", "[spec]") {
  const auto load = config::load_site_file(k_example, {});
  REQUIRE(load.site.has_value());
  const auto& site = *load.site;
  CHECK(site.until == "2031-12-31");
  CHECK(site.python.at(0).list_wheels == "avail_wheels");
  CHECK(site.python.at(2).image.tool == "cotainr");
  CHECK(site.python.at(2).image.base_image == "/appl/images/base.sif");
  CHECK(site.libtorch_link_directories == std::vector<std::string>{"$EBROOTCUDA/extras/CUPTI/lib64"});
  CHECK(site.submit.commands.at(0).value == "ghbatch");
  CHECK(site.submit.commands.at(0).when.partitions == std::vector<std::string>{"gh"});
  const auto& account = site.flags.at("account");
  CHECK(account.suffix == "@h100");
  REQUIRE(account.more.size() == 1);
  CHECK(account.more[0].pattern == "^[a-z0-9]+$");
  CHECK(site.flags.at("cpus-per-task").policy == model::OptionPolicy::srun_only);
  REQUIRE(site.common_options.size() == 2);
  CHECK_FALSE(site.common_options[0].on_srun);
  CHECK(site.common_options[1].on_srun);
  CHECK(site.common_options[1].when.min_nodes == 2U);
  CHECK(site.gpu_request.style == model::GpuOptionStyle::gres);
  REQUIRE(site.gpu_request.more.size() == 1);
  CHECK(site.gpu_request.more[0].multiple_of == 4);
  CHECK(site.gpu_request.more[0].whole_nodes_if_several);
  CHECK(site.gpu_request.more[0].must_request);
  CHECK(site.launchers.at(1).per_node_args ==
        std::vector<std::string>{"-np", "{nodes}", "--map-by", "ppr:1:node"});
  const auto& gpu = *site.find_node_type("h100")->gpu;
  CHECK(gpu.cuda_max == "12.9");
  REQUIRE(gpu.slices.size() == 1);
  CHECK(gpu.slices[0].aliases.size() == 2);
  CHECK(gpu.slices[0].memory->to_slurm() == "15G");
  CHECK(site.find_node_type("h100")->local_disk_option == "--tmp={gib}G");
  CHECK_FALSE(site.find_node_type("mi300a")->multi_node);
  CHECK(site.find_node_type("mi300a")->cpu.sockets == 0); // not said, so not known
  CHECK(site.find_node_type("b200")->cpu.cores == 0);
  const auto& partition = *site.find_partition("gpu");
  CHECK(partition.max_gpus->value == 128);
  CHECK(partition.max_gpus->origin.source.starts_with("guide:"));
  CHECK(partition.max_node_minutes->value == 46080);
  CHECK(partition.max_time_by_gpus.at(0).max_gpus == 4);
  CHECK(site.find_partition("gh")->on_request);
  REQUIRE(site.find_qos("long"));
  CHECK(site.find_qos("long")->needs == std::vector<std::string>{"--exclusive"});
  CHECK(site.find_qos("long")->max_nodes->value == 2);
  CHECK(site.find_qos("nothing") == nullptr);
  CHECK(site.network.proxy.size() == 2);
  CHECK(site.network.master.from_env == "SITE_HEAD_NODE");
  CHECK(site.network.master.port == 29500U);
  CHECK(site.conflicts.at(0).settings.size() == 2);
  CHECK(site.modules_reset.value == model::ModulesReset::purge);
  CHECK(site.interactive.program == "getnodes");
  CHECK(site.interactive.options ==
        std::map<std::string, std::string>{{"nodes", "--nodes"}, {"time", "--minutes"}});
  CHECK(site.interactive.implied == std::vector<std::string>{"exclusive"});
  CHECK(site.modules.at(0).load == std::vector<std::string>{"arch/h100"});
  CHECK(site.containers.at(1).bind_option == "--container-mounts={binds}");
  CHECK(site.containers.at(1).options_on_srun);
  CHECK(site.containers.at(0).squashfs.at == "/user-software");
  CHECK(site.containers.at(0).squashfs.options == std::vector<std::string>{"-processors", "1", "-no-xattrs"});
  CHECK(site.containers.at(0).shows_scratch);
  CHECK_FALSE(site.containers.at(1).squashfs.known);
  CHECK(site.containers.at(3).images == "PyTorch/.+");
  CHECK(site.containers.at(3).image_variable == "SIF");
  CHECK(site.containers.at(3).env.at("MPICH_GPU_SUPPORT_ENABLED") == "0");
  CHECK(site.storage.scratch_days == 30U);
  CHECK(site.policies.idle_gpu_minutes->value == 60);
}

TEST_CASE("Schema and reader take the same words of every closed set", "[spec]") {
  const auto schema = json::parse(config::render_site_schema());
  const auto example = json::parse(util::read_file(k_example).value());
  Walk walk(schema);
  walk.visit(schema, example);
  CHECK(walk.closed_sets.size() > 20);
  std::set<std::string> all = {"other"};
  std::size_t number = 0;
  for (const auto& [place, words] : walk.closed_sets) all.insert(words.begin(), words.end());
  for (const auto& [place, words] : walk.closed_sets)
    for (const auto& word : all) {
      if (!words.contains(word) && !test::is_sample(number++, 8)) continue;
      auto changed = example;
      changed[place] = word;
      const auto parsed = config::parse_json(changed.dump(), "example.json", "site");
      REQUIRE(parsed.root);
      const auto read = config::read_site(*parsed.root, "example");
      // An engine has other faults, too, where its options do not fit.
      const bool refused =
          std::any_of(read.diagnostics.begin(), read.diagnostics.end(), [&](const auto& finding) {
            return finding.code == "site/value" &&
                   (place.back() != "engine" ||
                    finding.message.find("cannot be \"" + word + "\"") != std::string::npos);
          });
      INFO(place << " = \"" << word << "\"");
      CHECK(refused != words.contains(word));
    }
}
