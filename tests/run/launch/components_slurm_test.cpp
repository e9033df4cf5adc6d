// SPDX-License-Identifier: MIT
// A job file's components on emulated nodes: what Slurm got of each, and which ranks ran where.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Lines = std::vector<std::string>;

namespace {

const char* const k_job = R"({
  "site": "lumi", "account": "project_462000001", "time": 5, "output": "log", "cpus-per-task": 7,
  "env": {"HPCML_STORE": "env"}, // who serves the store is no matter here
  "command": ["sh", "-c",
    "[ $RANK != 0 ] || scontrol show job > shown; echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $SLURMD_NODENAME $MASTER_ADDR"],
  "components": [
    {"partition": "small-g", "nodes": 1, "gpus-per-node": 2, "mem": "60G"},
    {"partition": "small-g", "nodes": 1, "gpus-per-node": 0, "tasks-per-node": 3, "mem": "60G"},
    {"partition": "standard-g", "nodes": 2, "mem": "480G"}]
})";

/// "Partition=… NumNodes=… …" of each job that scontrol shows. Asked by a rank: a job that ends gives its
/// nodes back one by one, and Slurm tells of those that are left.
Lines shown_jobs(const std::string& text) {
  Lines jobs;
  for (const auto& line : util::split(text, '\n'))
    for (const auto& word : util::split(line, ' ')) {
      if (word.starts_with("JobId=")) jobs.emplace_back();
      for (const char* name : {"Partition=", "NumNodes=", "NumTasks=", "MinMemoryNode=", "TresPerNode="})
        if (word.starts_with(name)) jobs.back() += (jobs.back().empty() ? "" : " ") + word;
    }
  return jobs;
}

} // namespace

TEST_CASE("three components of a job file are one job with one world of ranks", "[slurm]") {
  const std::string directory = make_directory();
  REQUIRE(util::write_file(directory + "/hpcml.json", k_job));
  const auto env = util::EnvSnapshot::of_process();
  const auto script = util::run_process(
      {"env", "-C", directory, HPCML_BINARY, "gen", "--hpcml-path", HPCML_BINARY, "-o", "job.sh"}, env);
  REQUIRE(script);
  INFO(script->err);
  REQUIRE(script->exit_code == 0);
  auto outside = env;
  outside.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  const auto run = util::run_process({"env", "-C", directory, HPCML_BINARY, "emulate", "--site", "lumi",
                                      "--nodes", "4", "--", "sbatch", "-W", "job.sh"},
                                     outside, std::chrono::seconds(900));
  REQUIRE(run);
  const auto log = util::read_file(directory + "/log");
  INFO(run->out << run->err << (log ? *log : log.error().what));
  CHECK(run->exit_code == 0);
  CHECK(shown_jobs(util::read_file(directory + "/shown").value_or("")) ==
        Lines{"Partition=small-g NumNodes=1 NumTasks=2 MinMemoryNode=60G TresPerNode=gres:gpu:2",
              "Partition=small-g NumNodes=1 NumTasks=3 MinMemoryNode=60G",
              "Partition=standard-g NumNodes=2 NumTasks=16 MinMemoryNode=480G TresPerNode=gres:gpu:8"});
  Lines expected;
  unsigned rank = 0, node = 0;
  for (const unsigned local_size : {2U, 3U, 8U, 8U}) {
    for (unsigned local = 0; local < local_size; ++local)
      expected.push_back(std::to_string(rank++) + " 21 " + std::to_string(local) + " " +
                         std::to_string(local_size) + " " + std::to_string(node) + " nid00000" +
                         std::to_string(node + 1) + " nid000001");
    ++node;
  }
  Lines ranks;
  for (const auto& line : util::split(log ? *log : "", '\n'))
    if (line.ends_with(" nid000001")) ranks.push_back(line);
  std::sort(ranks.begin(), ranks.end());
  std::sort(expected.begin(), expected.end());
  CHECK(ranks == expected);
  std::filesystem::remove_all(directory);
}
