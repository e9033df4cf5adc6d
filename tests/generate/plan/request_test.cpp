// SPDX-License-Identifier: MIT
// The planner's first step alone: what is asked for, however it was said.
#include "generate/plan/plan_request.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

std::vector<std::string> codes_of(const plan::PlanStepDiagnostics& remarks) {
  std::vector<std::string> codes;
  for (const auto& finding : remarks.findings) codes.push_back(finding.code);
  return codes;
}

} // namespace

TEST_CASE("A request is the same whether its options are the program's own, raw, or those of an agent") {
  model::Site anywhere;
  anywhere.name = "Anywhere";
  auto flags = job_of({"python", "train.py"});
  flags.nodes = flag(2U, "--nodes");
  flags.tasks_per_node = flag(4U, "--tasks-per-node");
  flags.launcher = launcher("torchrun");
  auto raw = job_of({"python", "train.py"});
  raw.sbatch = {text("--nodes=2"), text("--ntasks-per-node=4")};
  raw.launcher = launcher("torchrun");
  const auto agent = job_of({"torchrun", "--nnodes=2", "--nproc_per_node=4", "--tee=3", "train.py"});
  for (const auto& job : {flags, raw, agent}) {
    const auto [request, diagnostics] = plan::read_request(job, anywhere);
    CHECK(!diagnostics.refuse());
    CHECK(request.job.nodes->value == 2);
    CHECK(request.job.tasks_per_node->value == 4);
    CHECK(request.job.sbatch.empty());
    CHECK(request.job.command == std::vector<std::string>{"python", "train.py"});
    CHECK(request.launcher.name() == "torchrun");
  }
  CHECK(plan::read_request(agent, anywhere).value.agent_options == std::vector<std::string>{"--tee=3"});
}

TEST_CASE("What is wrong with a request is said all at once, and nothing of its place") {
  auto job = job_of({});
  job.gpu_type = text("");
  job.sbatch = {text("--nodes=2-4"), text("--nonsense"), text("--wrap=x")};
  job.partition = text("there_is_none");
  const auto [request, diagnostics] = plan::read_request(job, test::site_named("lumi"));
  CHECK(codes_of(diagnostics) == std::vector<std::string>{"usage/command", "usage/gpu-type", "usage/sbatch",
                                                          "usage/sbatch", "usage/sbatch"});
  // A plugin of the site may have the one that Slurm does not know: only a warning, as check's.
  CHECK(request.job.sbatch.size() == 1);
}

TEST_CASE("Who counts cores and memory and no GPUs asks for none, where the site has jobs without GPUs") {
  auto job = job_of({"./serial"});
  job.cpus_per_task = flag(4U);
  job.mem = flag(mem_of("8G"));
  const auto [request, diagnostics] = plan::read_request(job, test::site_named("narval"));
  REQUIRE(request.job.gpus_per_node);
  CHECK(request.job.gpus_per_node->value == 0);
  CHECK(codes_of(diagnostics) == std::vector<std::string>{"request/gpus-per-node"});
  job.partition = text("gpubase_bynode_b1");
  CHECK(!plan::read_request(job, test::site_named("narval")).value.job.gpus_per_node);
}

TEST_CASE("An option that a site refuses in the named partition is refused before it becomes a request") {
  model::Site picky;
  picky.name = "Picky";
  picky.partitions.resize(2);
  picky.partitions[0].name = "open";
  picky.partitions[1].name = "strict";
  auto& rule = picky.flags["gres"];
  rule.policy = model::OptionPolicy::forbidden;
  rule.when.partitions = {"strict"};
  auto job = job_of({"./train"});
  job.sbatch = {text("--gres=gpu:1")};
  job.partition = text("open");
  const auto folded = plan::read_request(job, picky);
  CHECK(codes_of(folded.remarks).empty());
  CHECK(folded.value.job.gpus_per_node->value == 1);
  job.partition = text("strict");
  CHECK(codes_of(plan::read_request(job, picky).remarks) == std::vector<std::string>{"request/gres"});
}
