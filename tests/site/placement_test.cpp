// SPDX-License-Identifier: MIT
// Where a job lands: the one decision that requests, scripts and submitted jobs share.
#include <catch2/catch.hpp>

#include "site/placement.hpp"
#include "slurm/script_header.hpp"
#include "spec/site_store.hpp"

using namespace hpcml;

namespace {

model::Site shipped(const std::string& id) {
  auto load = spec::load_site(id, {});
  REQUIRE(load.site);
  return std::move(*load.site);
}

site::Demand script(const std::string& options) {
  const auto text = "#!/bin/bash\n#SBATCH " + options + "\n";
  slurm::Findings findings("", text);
  const auto header = slurm::read_header(text, slurm::k_newest_version, findings);
  const auto settings = slurm::read_settings(header, {}, slurm::k_newest_version, findings);
  const auto request = slurm::make_request(settings.at(0), slurm::k_newest_version, findings);
  REQUIRE(findings.list().empty());
  return site::demand_of(request, slurm::size_job(request, slurm::k_newest_version, 0));
}

template <class T> model::Sourced<T> said(T value) { return {std::move(value), {}}; }

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
    const auto at = shipped(id);
    const auto placement = site::place(at, script(options));
    CHECK(names(placement.partitions) == partitions);
    CHECK(placement.sure == sure);
    CHECK(placement.planned == nullptr);
  }
}

TEST_CASE("a request lands where a script with its options would, and a choice that nobody made is none") {
  const auto snellius = shipped("snellius");
  model::JobSpec job;
  auto placement = site::place(snellius, site::demand_of(job));
  CHECK(placement.chosen_by == site::ChosenBy::nobody);
  CHECK(placement.choices.size() > 1);
  job.gpu_type = said<std::string>("h100");
  placement = site::place(snellius, site::demand_of(job));
  CHECK(placement.chosen_by == site::ChosenBy::only_with_type);
  CHECK(names(placement.partitions) == "gpu_h100");
  job.partition = said<std::string>("gpu_a100");
  placement = site::place(snellius, site::demand_of(job));
  CHECK(names(placement.partitions) == "gpu_a100");
  CHECK_FALSE(placement.type_is_there);
}

TEST_CASE("features place a request as they place a script") {
  const auto at = shipped("mila");
  const auto by_script = site::place(at, script("-p long --gres=gpu:1 --constraint=ampere"));
  model::JobSpec job;
  job.partition = said<std::string>("long");
  job.gpus_per_node = said(1u);
  job.sbatch = {said<std::string>("--constraint=ampere")};
  const auto by_request = site::place(at, site::demand_of(job));
  REQUIRE_FALSE(by_script.nodes.empty());
  CHECK(by_script.nodes.size() < by_script.kinds.size());
  CHECK(ids(by_request.nodes) == ids(by_script.nodes));
  CHECK(by_request.planned == by_script.nodes.front());
}

TEST_CASE("tasks that need several nodes count as several, whoever counts the GPUs") {
  const auto demand = script("-n 8 --ntasks-per-node=4 --gpus=8");
  CHECK(demand.nodes == 2);
  CHECK(demand.gpus_per_node == 4);
  CHECK(site::feature_names("[a100*2&x-1]|h100") == std::vector<std::string>{"a100", "2", "x-1", "h100"});
}

TEST_CASE("nodes are offline where no way out is known") {
  model::Site at;
  model::Partition open, closed, unsaid;
  open.internet = true;
  closed.internet = false;
  using Partitions = std::vector<const model::Partition*>;
  const auto offline = [&](const Partitions& partitions) { return site::is_offline(at, partitions); };
  CHECK_FALSE(offline({})); // nobody tells
  CHECK_FALSE(offline({&closed}));
  at.network.internet_on_compute = false;
  CHECK(offline({}));
  CHECK(offline({&unsaid, &closed}));
  CHECK_FALSE(offline({&unsaid, &open}));
  at.network.internet_on_compute = true;
  CHECK_FALSE(offline({&unsaid}));
  CHECK(offline({&closed}));
  at.network.allowed_hosts = {"pypi.org"};
  CHECK_FALSE(offline({&closed}));
}
