// SPDX-License-Identifier: MIT
// What scripts and requests ask for, counted alike.
#include <catch2/catch.hpp>

#include <set>

#include "core/site_rules/policy_violation.hpp"
#include "core/site_rules/script_helper.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using site_rules::SiteRule;
using test::script_demand;
using test::shipped_site;
using test::sourced;

namespace {

std::set<SiteRule> rules_against(const model::Site& at, const site_rules::ResourceRequest& demand) {
  std::set<SiteRule> rules;
  for (const auto& violation : site_rules::evaluate_policy(at, site_rules::place(at, demand), demand))
    rules.insert(violation.rule);
  return rules;
}

model::JobSpec with_raw(const std::vector<std::string>& options) {
  model::JobSpec job;
  for (const auto& option : options) job.sbatch.push_back(sourced(option));
  return job;
}

} // namespace

TEST_CASE("GPUs of tasks are those of all tasks of a node, where it is known how many it has") {
  struct Case {
    const char* options;
    unsigned of_node;
    std::uint64_t in_all;
    bool spread;
  };
  const Case cases[] = {
      {"-N1 -n3 --gpus-per-task=1", 3, 3, false},
      {"-N2 --ntasks-per-node=4 --gpus-per-task=1", 4, 8, false},
      {"-N2 -n5 --gpus-per-task=2", 5, 10, false},
      {"-n4 --gpus-per-task=1", 1, 4, true},       // on one node or on four
      {"-N1-4 -n4 --gpus-per-task=1", 1, 4, true}, // the same
      {"--ntasks-per-node=4 --gpus-per-task=1 -n8", 4, 8, false},
      {"-n1 --ntasks-per-node=4 --gpus-per-task=1", 1, 1, false}, // there is one task
      {"-N2 --gpus-per-node=4", 4, 8, false},
      {"--gpus=8", 8, 8, true},
      {"-N2 --gpus=8", 4, 8, false},
  };
  for (const auto& [options, of_node, in_all, spread] : cases) {
    CAPTURE(options);
    const auto demand = script_demand(options);
    CHECK(demand.gpus_per_node == of_node);
    CHECK(demand.gpus_in_all == in_all);
    CHECK(demand.gpus_spread == spread);
  }
}

TEST_CASE("shares and limits hold GPUs of all tasks against the job") {
  const auto alpine = shipped_site("alpine");
  const auto three = rules_against(
      alpine, script_demand("-p aa100 -t 10 -N1 -n3 -c20 --gpus-per-task=a100-40gb:1 --mem=210G"));
  for (const auto rule :
       {SiteRule::cpu_share, SiteRule::cpus_many, SiteRule::memory_share, SiteRule::memory_many})
    CHECK(three.count(rule) == 0);
  const auto rules = rules_against(
      alpine, script_demand("-p aa100 -t 10 -N1 -n1 -c60 --gpus-per-task=a100-40gb:1 --mem=210G"));
  CHECK(rules.count(SiteRule::cpu_share) + rules.count(SiteRule::cpus_many) == 1);
  const auto mila = shipped_site("mila");
  CHECK(rules_against(mila, script_demand("-p main -n4 --gpus-per-task=1")).count(SiteRule::gpus_over) == 1);
  CHECK(rules_against(mila, script_demand("-p main -n2 --gpus-per-task=1")).count(SiteRule::gpus_over) == 0);
}

TEST_CASE("a request's raw options are in its demand as a script's are") {
  const std::vector<std::vector<std::string>> options = {{"--exclusive"},
                                                         {"--exclusive=user"},
                                                         {"--reservation=x"},
                                                         {"-M other"},
                                                         {"--clusters=other"},
                                                         {"--time-min=10"},
                                                         {"--mem-per-cpu 2G"},
                                                         {"-C a100&nvlink"},
                                                         {"--constraint=[a|b]"},
                                                         {"--overcommit"},
                                                         {"--licenses=gpu"},
                                                         {"--gres=nvme:1"},
                                                         {"--comment=--exclusive=yes"},
                                                         {"--oversubscribe"}};
  for (const auto& raw : options) {
    CAPTURE(raw);
    const auto requested = site_rules::demand_of(with_raw(raw));
    const auto script =
        script_demand(raw.front().find(' ') == std::string::npos && !raw.front().starts_with("-C")
                          ? raw.front()
                          : raw.front().substr(0, raw.front().find(' ')) + " '" +
                                raw.front().substr(raw.front().find(' ') + 1) + "'");
    CHECK(requested.exclusive == script.exclusive);
    CHECK(requested.reserved == script.reserved);
    CHECK(requested.elsewhere == script.elsewhere);
    CHECK(requested.least_time == script.least_time);
    CHECK(requested.mem_per_cpu_mib == script.mem_per_cpu_mib);
    CHECK(requested.mem_per_gpu_mib == script.mem_per_gpu_mib);
    CHECK(requested.constraint == script.constraint);
    CHECK(requested.features == script.features);
    CHECK(requested.overcommit == script.overcommit);
    CHECK(requested.gpus_by_other_name == script.gpus_by_other_name);
    CHECK(requested.options == script.options);
  }
}

TEST_CASE("threads that are asked for count as the cores that they are of") {
  const auto at = shipped_site("alpine");
  const std::string two = "-p aa100 -t 10 -N1 -n3 --gpus-per-node=a100-40gb:3 -c42";
  CHECK(rules_against(at, script_demand(two + " --threads-per-core=2")).count(SiteRule::cpu_share) == 0);
  const auto rules = rules_against(at, script_demand(two + " --threads-per-core=1"));
  CHECK(rules.count(SiteRule::cpu_share) + rules.count(SiteRule::cpus_many) == 1);
}

TEST_CASE("nothing is said to a job for another cluster") {
  const auto at = shipped_site("alpine");
  const std::string wrong = "-p nowhere --qos=none -N 9999 -t 90-0";
  CHECK(rules_against(at, script_demand(wrong)).size() >= 2);
  CHECK(rules_against(at, script_demand(wrong + " -M other")).empty());
}

TEST_CASE("all memory of a node is too much for a part of its GPUs where others share it") {
  const auto all = [](const std::string& site, const std::string& options) {
    const auto at = shipped_site(site);
    const auto demand = script_demand(options);
    return site_rules::takes_all_memory(site_rules::place(at, demand), demand);
  };
  CHECK(all("lumi", "-p small-g --gpus-per-node=1 --mem=0"));
  CHECK_FALSE(all("lumi", "-p small-g --gpus-per-node=8 --mem=0"));
  CHECK_FALSE(all("lumi", "-p small-g --gpus-per-node=1 --mem=0 --exclusive"));
  CHECK_FALSE(all("lumi", "-p standard-g --gpus-per-node=1 --mem=0"));
  CHECK_FALSE(all("lumi", "-p small-g --gpus-per-node=1"));
}

TEST_CASE("memory that is asked for by the GPU is in a request's demand") {
  CHECK(site_rules::demand_of(with_raw({"--mem-per-gpu=4G"})).mem_per_gpu_mib == 4096);
  CHECK(script_demand("--gpus-per-node=2 --mem-per-gpu=4G").memory_of_node() == 8192);
}

TEST_CASE("memory of a node is counted by whatever it is asked for") {
  site_rules::ResourceRequest demand;
  demand.mem_per_gpu_mib = 1000;
  demand.gpus_per_node = 4;
  CHECK(demand.memory_of_node() == 4000);
  demand.mem_per_cpu_mib = 600;
  demand.cpus_per_node = 8;
  CHECK(demand.memory_of_node() == 4800);
  demand.memory_mib = 5000;
  CHECK(demand.memory_of_node() == 5000);
}

TEST_CASE("who has the nodes alone is held to no GPU's share of the cores") {
  const auto at = shipped_site("snellius");
  const std::string requested = "-p gpu_h100 -t 10 -N1 -n1 --gpus-per-node=1 -c64 --threads-per-core=1";
  const auto shared = rules_against(at, script_demand(requested));
  CHECK(shared.count(SiteRule::cpu_share) + shared.count(SiteRule::cpus_many) == 1);
  const auto alone = rules_against(at, script_demand(requested + " --exclusive"));
  CHECK(alone.count(SiteRule::cpu_share) + alone.count(SiteRule::cpus_many) == 0);
  // A QoS that wants the nodes alone: the request's script gets the option.
  const auto archer2 = shipped_site("archer2_gpu");
  model::JobSpec job;
  job.qos = sourced<std::string>("gpu-exc");
  CHECK(site_rules::place(archer2, site_rules::demand_of(job)).owner);
  job.qos = sourced<std::string>("gpu-shd");
  CHECK_FALSE(site_rules::place(archer2, site_rules::demand_of(job)).owner);
}
