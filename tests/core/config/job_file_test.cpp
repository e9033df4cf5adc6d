// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/config/job_file.hpp"
#include "core/config/load_text.hpp"
#include "core/config/temp_dir.hpp"

using namespace hpcml;
using testing::all_text;
using testing::TempDir;

TEST_CASE("A job file gives the flags' values with their origin", "[spec]") {
  const TempDir directory;
  const auto path = directory.write("hpcml.json", R"({
  "site": "lumi",
  "nodes": 2, "gpus-per-node": 8, "cpus-per-task": 7,
  "time": 10, "mem": "480G",
  "account": "project_1", "job-name": "it's $(a) \"job\"",
  "launcher": "torchrun",
  "env": {"A": "1"}, "bind": ["/data:/data"], "module": ["gcc"],
  "requeue": true, "nccl-debug": true,
  "command": ["python", "train.py", "--x=$HOME"]
})");
  const auto load = config::load_job_file(path);
  INFO(all_text(load));
  REQUIRE(load.job.has_value());
  CHECK(load.site == "lumi");
  CHECK(load.job->nodes->value == 2);
  CHECK(load.job->time->value.to_slurm() == "00:10:00");
  CHECK(load.job->mem->value.to_slurm() == "480G");
  CHECK(load.job->job_name->value == "it's $(a) \"job\"");
  CHECK(load.job->launcher->value.name() == "torchrun");
  CHECK(load.job->env.at(0).first == "A");
  CHECK(load.job->binds.at(0).value == "/data:/data");
  CHECK(load.job->requeue->value);
  CHECK(load.job->nccl_debug);
  CHECK(load.job->command == std::vector<std::string>{"python", "train.py", "--x=$HOME"});
  CHECK(load.job->nodes->origin.kind == model::OriginKind::job_file);
  CHECK(load.job->nodes->origin.by == "nodes");
  CHECK(load.job->nodes->origin.source == path);
}

TEST_CASE("A job file may name every launcher and backend that a flag may", "[spec]") {
  const TempDir directory;
  for (const std::string launcher : {"hpcml", "torchrun", "accelerate", "deepspeed", "srun", "ibrun",
                                     "mpirun", "mpiexec", "bede-mpirun"}) {
    const auto load = config::load_job_file(
        directory.write("hpcml.json", R"({"launcher": ")" + launcher + R"(", "backend": "auto"})"));
    INFO(all_text(load));
    REQUIRE(load.job.has_value());
    CHECK(load.job->launcher->value.name() == launcher);
    CHECK(load.job->backend->value == model::Backend::automatic);
  }
}

TEST_CASE("All mistakes of a job file are said at once with their places", "[spec]") {
  const TempDir directory;
  const auto path = directory.write("hpcml.json", R"({
  "node": 2,
  "gpus-per-node": "eight",
  "time": "soon",
  "launcher": "torchrunn",
  "env": {"1A": "x"},
  "command": "python train.py"
})");
  const auto load = config::load_job_file(path);
  CHECK_FALSE(load.job.has_value());
  const auto text = all_text(load);
  for (const auto* wanted :
       {":2:3: error: the key \"node\" is unknown in the file [job/unknown-key]",
        "use \"nodes\" if that is meant", ":3:20: error: gpus-per-node must be a whole number, not a text",
        ":4:11: error: ", ":5:15: error: unknown launcher 'torchrunn'",
        "use 'torchrun', or run hpcml gen --help",
        ":6:11: error: the name \"1A\" in env is not a valid name of a variable",
        ":7:14: error: command must be a list, not a text"}) {
    CHECK_THAT(text, Catch::Contains(wanted));
  }
}

TEST_CASE("A component has the job's values under its own", "[spec]") {
  const TempDir directory;
  const auto load = config::load_job_file(directory.write("hpcml.json", R"({
  "time": 10, "nodes": 4, "sbatch": ["--comment=all"], "command": ["train"],
  "components": [
    {"partition": "a", "nodes": 1, "gpus-per-node": 0, "command": ["serve", "--port=1"]},
    {"partition": "b", "sbatch": ["--constraint=x"]}]
})"));
  INFO(all_text(load));
  REQUIRE(load.job.has_value());
  const auto jobs = config::component_jobs(*load.job);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].partition->value == "a");
  CHECK(jobs[0].nodes->value == 1);
  CHECK(jobs[0].time->value.to_slurm() == "00:10:00");
  CHECK(jobs[0].command == std::vector<std::string>{"serve", "--port=1"});
  CHECK(jobs[0].sbatch.size() == 1);
  CHECK(jobs[1].nodes->value == 4);
  CHECK_FALSE(jobs[1].gpus_per_node.has_value());
  CHECK(jobs[1].command == std::vector<std::string>{"train"});
  CHECK(jobs[1].sbatch.size() == 2);
  CHECK(jobs[1].components.empty());
}

TEST_CASE("What a component may not say is placed, and said with what to do", "[spec]") {
  const TempDir directory;
  const auto load = config::load_job_file(directory.write("hpcml.json", R"({
  "steps": [{"command": ["a"]}],
  "components": [
    {"nodes": 1, "job-name": "x"},
    {"node": 1, "command": ["b"]},
    {"nodes": "two", "container": "x.sif"}]
})"));
  CHECK_FALSE(load.job.has_value());
  const auto text = all_text(load);
  for (const auto* wanted :
       {":4:30: error: a component sets \"job-name\", which only the whole job can set",
        "set \"job-name\" next to \"components\"", ":5:6: error: ", "use \"nodes\" if that is meant",
        ":5:28: error: a component sets \"command\", but the programs of \"steps\" run on all components",
        ":6:15: error: components[2].nodes must be a whole number, not a text",
        ":6:35: error: a component sets \"container\", which only the whole job can set"})
    CHECK_THAT(text, Catch::Contains(wanted));
  CHECK(load.diagnostics.size() == 5); // each once
  const auto loaded =
      config::load_job_file(directory.write("hpcml.json", R"({"components": [{"nodes": 2}]})"));
  CHECK_THAT(all_text(loaded), Catch::Contains("\"components\" has one component, but needs two or more"));
}

TEST_CASE("A job file that is missing, no file, or no JSON is refused", "[spec]") {
  const TempDir directory;
  for (const auto& path : {directory.path() + "/none.json", directory.path(), std::string("/dev/zero"),
                           directory.write("broken.json", "{\"nodes\": 2")}) {
    const auto load = config::load_job_file(path);
    INFO(path << all_text(load));
    CHECK_FALSE(load.job.has_value());
    CHECK(diag::has_errors(load.diagnostics));
  }
}

TEST_CASE("Variables give values and are named in their errors", "[spec]") {
  const auto good = config::job_from_environment(util::EnvSnapshot({{"HPCML_ACCOUNT", "project_1"},
                                                                    {"HPCML_GPUS_PER_NODE", "4"},
                                                                    {"HPCML_TIME", "1:00:00"},
                                                                    {"HPCML_SITE", "lumi"},
                                                                    {"HPCML_NODES", ""}}));
  REQUIRE(good.job.has_value());
  CHECK(good.site == "lumi");
  CHECK(good.job->account->value == "project_1");
  CHECK(good.job->account->origin.kind == model::OriginKind::environment);
  CHECK(good.job->account->origin.by == "HPCML_ACCOUNT");
  CHECK(good.job->gpus_per_node->value == 4);
  CHECK_FALSE(good.job->nodes.has_value());

  for (const auto* yes : {"1", "true", "yes"}) {
    CAPTURE(yes);
    const auto switches =
        config::job_from_environment(util::EnvSnapshot({{"HPCML_REPORT", yes}, {"HPCML_REQUEUE", yes}}));
    REQUIRE(switches.job.has_value());
    CHECK(switches.job->report);
    CHECK(switches.job->requeue->value);
  }

  const auto bad = config::job_from_environment(util::EnvSnapshot({{"HPCML_NODES", "0"},
                                                                   {"HPCML_TIME", "soon"},
                                                                   {"HPCML_REQUEUE", "maybe"},
                                                                   {"HPCML_JOB_NAME", "a\nb"}}));
  CHECK_FALSE(bad.job.has_value());
  CHECK(bad.diagnostics.size() == 4);
  CHECK_THAT(all_text(bad),
             Catch::Contains("HPCML_NODES is invalid: the value \"0\" is not a whole number from 1") &&
                 Catch::Contains("HPCML_TIME") && Catch::Contains("HPCML_REQUEUE") &&
                 Catch::Contains("HPCML_JOB_NAME"));
}

TEST_CASE("The stronger job wins value by value, lists are appended", "[spec]") {
  const auto sourced = [](auto value) { return model::Sourced<decltype(value)>{value, {}}; };
  model::JobSpec under;
  under.nodes = sourced(1U);
  under.account = sourced(std::string("weak"));
  under.modules = {sourced(std::string("gcc"))};
  under.env = {{"A", sourced(std::string("1"))}};
  under.command = {"a"};
  under.report = sourced(true);
  model::JobSpec over;
  over.nodes = sourced(2U);
  over.qos = sourced(std::string("q"));
  over.modules = {sourced(std::string("cuda"))};
  over.env = {{"A", sourced(std::string("2"))}};
  const auto merged = config::merge_jobs(under, over);
  CHECK(merged.nodes->value == 2);
  CHECK(merged.account->value == "weak");
  CHECK(merged.qos->value == "q");
  REQUIRE(merged.modules.size() == 2);
  CHECK(merged.modules[1].value == "cuda");
  REQUIRE(merged.env.size() == 2);
  CHECK(merged.env[1].second.value == "2"); // the last one counts
  CHECK(merged.command == std::vector<std::string>{"a"});
  CHECK(model::is_on(merged.report));
}
