// SPDX-License-Identifier: MIT
// Where a job lands: the one decision that requests, scripts and submitted jobs share.
#include <catch2/catch.hpp>

#include "core/site_rules/placement.hpp"
#include "core/site_rules/script_helper.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::sourced;

namespace {

std::string names(const std::vector<const model::Partition*>& partitions) {
  std::string text;
  for (const auto* partition : partitions) text += (text.empty() ? "" : " ") + partition->name;
  return text;
}

std::string ids(const std::vector<const model::NodeType*>& nodes) {
  std::string text;
  for (const auto* node : nodes) text += (text.empty() ? "" : " ") + node->id;
  return text;
}

} // namespace

TEST_CASE("a script lands where Slurm or the profile puts it") {
  struct Case {
    const char* site;
    const char* options;
    const char* partitions;
    bool sure;
  };
  const Case cases[] = {
      {"lumi", "-p small-g,dev-g --gpus-per-node=1", "small-g dev-g", true},
      {"lumi", "-p small-g,mine --gpus-per-node=1", "", false}, // the unknown one may take it
      {"lumi", "-p small-g --gpus-per-node=1 --reservation=x", "small-g", false},
      {"lumi", "-p small-g --gpus-per-node=1 -M other", "", false},
      {"snellius", "--gpus=1", "", false}, // people choose, and this script has not
      {"leonardo", "-p boost_usr_prod --gres=gpu:4 --qos=not_in_the_profile", "boost_usr_prod", false},
      {"trillium", "--gpus-per-node=4", "compute", true}, // the site chooses
  };
  for (const auto& [id, options, partitions, sure] : cases) {
    CAPTURE(id, options);
    const auto at = test::shipped_site(id);
    const auto placement = site_rules::place(at, test::script_demand(options));
    CHECK(names(placement.partitions) == partitions);
    CHECK(placement.sure == sure);
    CHECK(placement.planned == nullptr);
  }
}

TEST_CASE("a request lands where a script with its options would, and a choice that nobody made is none") {
  const auto snellius = test::shipped_site("snellius");
  model::JobSpec job;
  auto placement = site_rules::place(snellius, site_rules::demand_of(job));
  CHECK(placement.chosen_by == site_rules::PartitionOriginKind::none);
  CHECK(placement.choices.size() > 1);
  job.gpu_type = sourced<std::string>("h100");
  placement = site_rules::place(snellius, site_rules::demand_of(job));
  CHECK(placement.chosen_by == site_rules::PartitionOriginKind::only_with_type);
  CHECK(names(placement.partitions) == "gpu_h100");
  job.partition = sourced<std::string>("gpu_a100");
  placement = site_rules::place(snellius, site_rules::demand_of(job));
  CHECK(names(placement.partitions) == "gpu_a100");
  CHECK_FALSE(placement.type_exists);
}

TEST_CASE("a request without GPUs is not planned for GPU nodes that the site would not give it") {
  const auto narval = test::shipped_site("narval"); // its profile knows GPU nodes only, and Slurm chooses
  model::JobSpec job;
  job.gpus_per_node = sourced(0u);
  job.cpus_per_task = sourced(64u);
  const auto placement = site_rules::place(narval, site_rules::demand_of(job));
  CHECK(placement.partitions.empty());
  CHECK(placement.node() == nullptr);
  const auto lumi = test::shipped_site("lumi"); // there the script names the partition
  CHECK(names(site_rules::place(lumi, site_rules::demand_of(job)).partitions) == "standard-g");
}

TEST_CASE("a type that is no GPU's name is none of a GPU whose name the profile does not know") {
  const auto mila = test::shipped_site("mila");
  model::JobSpec job;
  const auto is_there = [&](const std::string& type) {
    job.gpu_type = sourced(type);
    const bool by_request = site_rules::place(mila, site_rules::demand_of(job)).type_exists;
    CHECK(by_request ==
          site_rules::place(mila, test::script_demand("-p long --gres=gpu:" + type + ":1")).type_exists);
    return by_request;
  };
  CHECK(is_there("a100"));
  CHECK(is_there("v100")); // it may be called so
  CHECK(is_there("tesla"));
  CHECK_FALSE(is_there("nonsense"));
  CHECK_FALSE(is_there("p100"));
  const auto lucia = test::shipped_site("lucia"); // a name of one letter and one digit is one, too: T4
  job.gpu_type = sourced<std::string>("nonsense");
  CHECK(site_rules::place(lucia, site_rules::demand_of(job)).chosen_by !=
        site_rules::PartitionOriginKind::only_with_type);
  job.gpu_type = sourced<std::string>("t4");
  CHECK(names(site_rules::place(lucia, site_rules::demand_of(job)).partitions) == "visu");
}

TEST_CASE("features place a request as they place a script") {
  const auto at = test::shipped_site("mila");
  const auto by_script =
      site_rules::place(at, test::script_demand("-p long --gres=gpu:1 --constraint=ampere"));
  model::JobSpec job;
  job.partition = sourced<std::string>("long");
  job.gpus_per_node = sourced(1u);
  job.sbatch = {sourced<std::string>("--constraint=ampere")};
  const auto by_request = site_rules::place(at, site_rules::demand_of(job));
  REQUIRE_FALSE(by_script.nodes.empty());
  CHECK(by_script.nodes.size() < by_script.kinds.size());
  CHECK(ids(by_request.nodes) == ids(by_script.nodes));
  CHECK(by_request.planned == by_script.nodes.front());
}

TEST_CASE("tasks that need several nodes count as several, whoever counts the GPUs") {
  const auto demand = test::script_demand("-n 8 --ntasks-per-node=4 --gpus=8");
  CHECK(demand.nodes == 2);
  CHECK(demand.gpus_per_node == 4);
  CHECK(site_rules::feature_names("[a100*2&x-1]|h100") ==
        std::vector<std::string>{"a100", "2", "x-1", "h100"});
}

TEST_CASE("nodes are offline where no way out is known") {
  model::Site at;
  model::Partition open, closed, unspecified;
  open.internet = true;
  closed.internet = false;
  using Partitions = std::vector<const model::Partition*>;
  const auto offline = [&](const Partitions& partitions) { return site_rules::is_offline(at, partitions); };
  CHECK_FALSE(offline({})); // nobody tells
  CHECK_FALSE(offline({&closed}));
  at.network.internet_on_compute = false;
  CHECK(offline({}));
  CHECK(offline({&unspecified, &closed}));
  CHECK_FALSE(offline({&unspecified, &open}));
  at.network.internet_on_compute = true;
  CHECK_FALSE(offline({&unspecified}));
  CHECK(offline({&closed}));
  at.network.allowed_hosts = {"pypi.org"};
  CHECK_FALSE(offline({&closed}));
}
