// SPDX-License-Identifier: MIT
// hpcml's own agent in a plan: one task per node that starts the ranks, wherever a flag asks for what only an
// agent does.
#include "generate/plan/components.hpp"
#include "generate/plan/plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using Catch::Contains;

namespace {

model::JobSpec with(model::JobSpec job, const std::string& key, const std::string& value) {
  for (const auto& flag : model::k_rank_flags)
    if (flag.name == key) REQUIRE_FALSE(flag.read(job, value, {model::OriginKind::flag, "--" + key}));
  return job;
}

model::JobSpec vista_job() {
  auto job = job_of({"python", "train.py"});
  job.partition = text("gh");
  job.nodes = flag(2U, "--nodes");
  job.account = text("ABC123");
  return job;
}

/// Of the flag's value what is wrong with it; empty where nothing is.
std::string fault_of(const std::string& key, const std::string& value) {
  model::RankSettings job;
  for (const auto& flag : model::k_rank_flags)
    if (flag.name == key)
      if (const auto fault = flag.read(job, value, {})) return fault->what + "; " + fault->hint;
  return {};
}

} // namespace

TEST_CASE("each flag that only an agent obeys makes the launch an agent's, and its absence does not") {
  CHECK_FALSE(model::is_agent(lumi_job()));
  CHECK_FALSE(planned(lumi_job(), "lumi").launcher.spawns);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"agent", "true"},
                                                                                   {"log-dir", "logs"},
                                                                                   {"max-restarts", "3"},
                                                                                   {"stall-timeout", "60"},
                                                                                   {"nnodes", "2"}}) {
    CAPTURE(key);
    const auto plan = planned(with(lumi_job(), key, value), "lumi");
    CHECK(model::options_for_agent(plan.ranks) == "--" + key);
    CHECK(plan.launcher.has_own_agent());
  }
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"agent", "false"},
                                                        {"max-restarts", "0"},
                                                        {"stall-timeout", "0"},
                                                        {"heartbeat-interval", "2"},
                                                        {"heartbeat-timeout", "60"},
                                                        {"report", "true"}}) {
    CAPTURE(key);
    CHECK_FALSE(planned(with(lumi_job(), key, value), "lumi").launcher.spawns);
  }
}

TEST_CASE("heartbeat timeout has at least three intervals") {
  const auto seconds_of = [](const std::vector<std::pair<std::string, std::string>>& options) {
    model::RankSettings requested;
    for (const auto& [key, value] : options)
      for (const auto& flag : model::k_rank_flags)
        if (flag.name == key) CHECK_FALSE(flag.read(requested, value, {}));
    const auto seconds = model::heartbeat_seconds(requested);
    const auto fault = model::find_heartbeat_fault(requested);
    return std::tuple(seconds.interval, seconds.timeout, fault ? fault->what : "");
  };
  const std::string interval = "heartbeat-interval", timeout = "heartbeat-timeout";
  CHECK(seconds_of({}) == std::tuple(5U, 30U, ""));
  CHECK(seconds_of({{timeout, "12"}}) == std::tuple(2U, 12U, ""));
  CHECK(seconds_of({{timeout, "3"}}) == std::tuple(1U, 3U, ""));
  CHECK(seconds_of({{timeout, "600"}}) == std::tuple(5U, 600U, ""));
  CHECK(seconds_of({{timeout, "0"}}) == std::tuple(5U, 0U, ""));
  CHECK(seconds_of({{interval, "1"}}) == std::tuple(1U, 30U, ""));
  CHECK(seconds_of({{interval, "20"}}) == std::tuple(20U, 120U, ""));
  CHECK_THAT(std::get<2>(seconds_of({{timeout, "2"}})), Contains("at least 3 times --heartbeat-interval"));
  CHECK_THAT(std::get<2>(seconds_of({{timeout, "20"}, {interval, "10"}})),
             Contains("at least 3 times --heartbeat-interval"));
  CHECK_THAT(std::get<2>(seconds_of({{interval, "0"}})), Contains("at least 1 second"));
  CHECK(model::find_contradiction(with(with(lumi_job(), interval, "10"), timeout, "20")));
}

TEST_CASE("with an agent a node has one task with all of its GPUs and cores, and the ranks are bound by it") {
  const auto plan = planned(with(lumi_job(), "agent", "true"), "lumi");
  CHECK(plan.layout.tasks_per_node == 1);
  CHECK(plan.layout.ranks_per_node == 8);
  CHECK(plan.layout.cpus_per_rank == 7);
  CHECK(plan.binding.binder == model::Binder::launch);
  CHECK(plan.binding.ranks.empty());
  CHECK(directive(plan, "--ntasks-per-node") == "1");
  CHECK(directive(plan, "--gpus-per-node") == "8");
  CHECK_FALSE(directive(plan, "--cpus-per-task")); // the node is the job's own
  CHECK_FALSE(directive(plan, "--no-kill"));
  // Where nodes are shared the one task has the cores of all ranks.
  auto shared = lumi_job();
  shared.partition = text("small-g");
  shared.nodes = flag(1U, "--nodes");
  shared.gpus_per_node = flag(2U, "--gpus-per-node");
  CHECK(directive(planned(with(shared, "agent", "true"), "lumi"), "--cpus-per-task") == "14");
  CHECK(directive(planned(shared, "lumi"), "--cpus-per-task") == "7");
}

TEST_CASE("a site that knows nothing of cores gives each rank one, whoever starts the ranks") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2U, "--nodes");
  job.gpus_per_node = flag(4U, "--gpus-per-node");
  CHECK_FALSE(
      directive(planned(job, "generic"), "--cpus-per-task")); // Slurm's default for each of four tasks
  CHECK(directive(planned(with(job, "agent", "true"), "generic"), "--cpus-per-task") == "4");
  auto torchrun = job;
  torchrun.launcher = launcher("torchrun");
  CHECK(directive(planned(torchrun, "generic"), "--cpus-per-task") == "4");
  job.cpus_per_task = flag(3U, "--cpus-per-task");
  CHECK(directive(planned(with(job, "agent", "true"), "generic"), "--cpus-per-task") == "12");
}

TEST_CASE("where GPUs are asked for by the task the one task of a node has all of them") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2U, "--nodes");
  job.gpus_per_node = flag(4U, "--gpus-per-node");
  auto by_task = small_site();
  by_task.gpu_request.style = model::GpuOptionStyle::gpus_per_task;
  const auto of_ranks = plan::make_plan(job, by_task);
  const auto of_agents = plan::make_plan(with(job, "agent", "true"), by_task);
  REQUIRE(of_ranks.plan);
  REQUIRE(of_agents.plan);
  CHECK(directive(*of_ranks.plan, "--gpus-per-task") == "1");
  CHECK(directive(*of_agents.plan, "--gpus-per-task") == "4");
  CHECK(of_ranks.plan->gpu_visibility.value == model::GpuVisibilityMode::own); // Slurm's doing
  CHECK(of_agents.plan->gpu_visibility.value == by_task.gpu_visibility.mode);
}

TEST_CASE("where fewer nodes may go on the job outlives a node, and the larger number is its nodes'") {
  auto job = lumi_job();
  const auto plan = planned(with(job, "nnodes", "1:2"), "lumi");
  CHECK(plan.launcher.least_nodes == 1);
  CHECK(directive(plan, "--no-kill") == "");
  const auto same = planned(with(job, "nnodes", "2:2"), "lumi");
  CHECK(same.launcher.least_nodes == 0);
  CHECK_FALSE(directive(same, "--no-kill"));
  const auto fault = error_of(with(job, "nnodes", "2:4"), "lumi", "request/nnodes");
  CHECK_THAT(fault.message, Contains("--nnodes 2:4 differs from the size of the job: 2 nodes (--nodes)"));
  CHECK_THAT(fault.hint, Contains("--nnodes 2, or"));
  CHECK_THAT(error_of(with(job, "nnodes", "1:4"), "lumi", "request/nnodes").hint,
             Contains("--nnodes 1:2, or"));
  job.nodes.reset();
  const auto counted = planned(with(job, "nnodes", "3:4"), "lumi");
  CHECK(counted.layout.nodes == 4);
  CHECK(counted.launcher.least_nodes == 3);
}

TEST_CASE(
    "a launcher of its own, an MPI program, components and a site without srun have no agent, and say so") {
  auto torchrun = with(lumi_job(), "max-restarts", "3");
  torchrun.launcher = launcher("torchrun");
  const auto error = error_of(torchrun, "lumi", "request/agent");
  CHECK_THAT(error.message, Contains("torchrun starts the ranks") && Contains("--max-restarts"));
  CHECK_THAT(error.hint, Contains("--launcher hpcml"));
  auto in_command = with(lumi_job(), "log-dir", "logs");
  in_command.command = {"torchrun", "--nproc_per_node=8", "x.py"};
  CHECK_THAT(error_of(in_command, "lumi", "request/agent").message, Contains("--log-dir"));

  auto mpi = with(lumi_job(), "agent", "true");
  mpi.srun = {text("--mpi=pmix")};
  CHECK_THAT(error_of(mpi, "lumi", "request/agent").message, Contains("--mpi=pmix"));
  mpi.srun = {text("--mpi=none")};
  CHECK(planned(mpi, "lumi").launcher.spawns);

  const auto agent = with(lumi_job(), "agent", "true");
  const auto together = plan::make_plan({agent, agent}, site_named("lumi"));
  CHECK_FALSE(together.plan);
  REQUIRE_FALSE(together.diagnostics.empty());
  CHECK_THAT(together.diagnostics.front().message, Contains("an agent per node"));

  const auto fewer = error_of(with(vista_job(), "nnodes", "1:2"), "vista", "request/nnodes");
  CHECK_THAT(fewer.message, Contains("ibrun"));
  CHECK(planned(with(vista_job(), "agent", "true"), "vista").layout.tasks_per_node == 1);
}

TEST_CASE("each job of an array has agents of its own") {
  auto job = with(lumi_job(), "log-dir", "logs");
  job.array = text("0-3");
  const auto plan = planned(job, "lumi");
  CHECK(plan.launcher.has_own_agent());
  CHECK(directive(plan, "--array") == "0-3");
}

TEST_CASE("that there is no agent contradicts what only an agent does") {
  const auto job = with(with(lumi_job(), "log-dir", "logs"), "agent", "false");
  const auto fault = model::find_contradiction(job);
  REQUIRE(fault);
  CHECK_THAT(fault->what, Contains("--log-dir"));
  CHECK_FALSE(model::find_contradiction(with(lumi_job(), "agent", "false")));
}

TEST_CASE("a number of nodes and a folder are read with what is wrong with them") {
  for (const char* good : {"1", "4", "1:4", "4:4"}) CHECK(fault_of("nnodes", good).empty());
  for (const char* bad : {"", "0", "0:2", "2:", ":2", "two", "1:2:3", "-1", "1-4"}) {
    CAPTURE(bad);
    CHECK_THAT(fault_of("nnodes", bad), Contains("MIN:MAX") && Contains("3:4"));
  }
  CHECK_THAT(fault_of("nnodes", "4:2"), Contains("2:4"));
  for (const char* good : {"logs", "/scratch/my logs", "50%", "100%/x", "a%%b"}) {
    CAPTURE(good);
    CHECK(fault_of("log-dir", good).empty());
  }
  for (const char* bad : {"logs/%j", "%x-logs", "l/%3a", "%%j%A"}) {
    CAPTURE(bad);
    CHECK_THAT(fault_of("log-dir", bad), Contains("Slurm's patterns") && Contains("a separate directory"));
  }
  CHECK_THAT(fault_of("log-dir", ""), Contains("the path of the log directory is empty"));
  CHECK_THAT(fault_of("max-restarts", "-1"), Contains("whole number"));
  CHECK_THAT(fault_of("stall-timeout", "10s"), Contains("whole number"));
}
