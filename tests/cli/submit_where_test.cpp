// SPDX-License-Identifier: MIT
// hpcml submit --where: which places a request fits into, in which order, at what price.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "cli/run/submit_where.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

TEST_CASE("places are in order of start, then of cost, those that do not fit last") {
  std::vector<cli::PartitionCandidate> places = {{"a", "no", false, "", {}, "", "why"},
                                                 {"a", "late", true, "2026-11-22T00:00:00", 1.0, "", ""},
                                                 {"a", "unknown", true, "", 0.5, "", ""},
                                                 {"a", "dear", true, "2026-11-21T00:00:00", 9.0, "", ""},
                                                 {"a", "cheap", true, "2026-11-21T00:00:00", 2.0, "", ""}};
  cli::sort_places(places);
  std::vector<std::string> order;
  for (const auto& place : places) order.push_back(place.partition);
  CHECK(order == std::vector<std::string>{"cheap", "dear", "late", "unknown", "no"});
}

TEST_CASE("by the profiles alone: each partition that fits with its GPU-hours, the others with what speaks "
          "against them") {
  Workspace workspace;
  workspace.set("PATH", "/nowhere");
  const auto result = workspace.hpcml({"submit", "--where", "--format", "json", "--site", "lumi", "--account",
                                       "project_1", "--nodes", "2", "--gpus-per-node", "8", "--time", "5h"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto places = nlohmann::json::parse(result.out);
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& place : places) by_name[place["partition"]] = place;
  CHECK(by_name["standard-g"]["fits"] == true);
  CHECK(by_name["standard-g"]["gpu_hours"] == 80.0); // 2 nodes, 8 GPUs, 5 hours
  CHECK(by_name["standard-g"]["start"].is_null());
  CHECK(holds(by_name["standard-g"]["hardware"], "16 x AMD MI250X"));
  CHECK(by_name["dev-g"]["fits"] == false); // its limit is 3 hours
  CHECK(holds(by_name["dev-g"]["note"], "03:00:00"));
  CHECK(workspace
            .hpcml({"submit", "--where", "--site", "lumi", "--account", "project_1", "--gpus-per-node", "9",
                    "--time", "1h"})
            .exit_code == 4);
  CHECK(workspace.hpcml({"submit", "--all-sites", "--", "x"}).exit_code == 2);
}

TEST_CASE("all sites are compared by their profiles, whoever pays there") {
  Workspace workspace;
  const auto result = workspace.hpcml(
      {"submit", "--where", "--all-sites", "--account", "project_1", "--nodes", "1", "--time", "1h"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  std::string row;
  for (const auto& line : util::split(result.out, '\n'))
    if (line.starts_with("lumi ") && holds(line, " standard-g ")) row = line;
  CHECK(holds(row, " yes "));
  CHECK(holds(result.out, "requires --account project_<number>"));
  CHECK(holds(result.out, "narval"));
  CHECK_FALSE(holds(result.out, "cedar")); // retired
  // The account of these nodes, not that of the first rule.
  for (const auto& line : util::split(result.out, '\n'))
    if (line.starts_with("jean_zay ") && holds(line, " gpu_p13 "))
      CHECK(holds(line, "requires --account <project>@v100"));
}

TEST_CASE("where QoS choose the partition, each is a place") {
  Workspace workspace;
  workspace.set("PATH", "/nowhere");
  const std::vector<std::string> words = {"submit",  "--where", "--site", "perlmutter",
                                          "--nodes", "2",       "--time", "1h"};
  const auto result = workspace.hpcml(words);
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  const auto line_of = [&](const std::string& part) {
    for (const auto& line : util::split(result.out, '\n'))
      if (holds(line, part)) return line;
    return std::string();
  };
  CHECK(holds(line_of(" --qos regular "), " yes "));
  CHECK(holds(line_of(" --qos debug "), "00:30:00"));
  CHECK(holds(line_of(" --qos shared "), " no "));
  const auto part = workspace.hpcml({"submit", "--where", "--format", "json", "--site", "perlmutter",
                                     "--gpus-per-node", "1", "--time", "1h"});
  for (const auto& place : nlohmann::json::parse(part.out)) { // who has a whole node holds all of its GPUs
    if (place["qos"] == "regular") CHECK(place["gpu_hours"] == 4.0);
    if (place["qos"] == "shared") CHECK(place["gpu_hours"] == 1.0);
  }
  auto named = words;
  named.insert(named.end(), {"--qos", "regular"});
  CHECK(holds(workspace.hpcml(named).out, "(Slurm's choice)"));
}

TEST_CASE("where no Slurm answers, the profile does, and it is said") {
  Workspace workspace;
  workspace.put(
      "sbatch",
      "#!/bin/sh\necho 'sbatch: error: fetch_config: DNS SRV lookup failed' >&2\necho 'sbatch: fatal: "
      "Could not establish a configuration source' >&2\nexit 1\n",
      0755);
  workspace.set("PATH", (workspace / "sbatch").parent_path().string() + ":/usr/bin:/bin");
  const auto result = workspace.hpcml(
      {"submit", "--where", "--site", "lumi", "--account", "project_1", "--nodes", "2", "--time", "4h"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.out, " standard-g  yes "));
  CHECK(holds(result.out, " dev-g       no "));
  CHECK_FALSE(holds(result.out, "DNS"));
  CHECK(holds(result.err, "no Slurm answers on this machine: the table uses only the site profile"));
}

TEST_CASE("a real Slurm is asked where the request would start", "[slurm]") {
  const Workspace workspace;
  const auto result = workspace.emulate(
      "lumi", 1,
      "$H submit --where --site lumi --account project_1 --gpus-per-node 1 --time 4h --launcher srun -- "
      "hostname; echo code $?; squeue -h | wc -l; $H config detect --site lumi; $H config");
  CAPTURE(result.out, result.err);
  std::map<std::string, std::string> rows;
  for (const auto& line : util::split(result.out, '\n'))
    for (const char* name : {"standard-g", "small-g", "dev-g"})
      if (holds(line, " " + std::string(name) + " ")) rows[name] = line;
  CHECK(holds(rows["small-g"], "yes   20"));
  CHECK(holds(rows["small-g"], "4.0"));
  CHECK(holds(rows["dev-g"], "no "));
  CHECK(holds(result.out, "code 0\n0\n"));
  // This Slurm keeps no accounts: what is left to learn is the site.
  CHECK(holds(result.err, "found no account to save: "));
  CHECK(holds(result.out, "site lumi\nsite lumi\n"));
}
