// SPDX-License-Identifier: MIT
// The step of hpcml's own agent: one task per node, the ranks' number in its line, and the rest as without
// it.
#include <catch2/catch.hpp>

#include <set>

#include "check/check_script.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/interactive.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "holds.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::holds;

namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

model::JobSpec lumi_job(const Options& options) {
  model::JobSpec job;
  job.command = {"./train", "--lr", "1"};
  job.nodes = test::number(2);
  job.account = test::text("project_1");
  job.time = test::flag(model::Walltime::parse("10").value());
  job.hpcml_path = test::text("/opt/hpcml");
  for (const auto& [key, value] : options)
    for (const auto& flag : model::k_rank_flags)
      if (flag.name == key) REQUIRE_FALSE(flag.read(job, value, test::flag(0, "--" + key).origin));
  return job;
}

model::Plan plan_of(const model::JobSpec& job, const std::string& site = "lumi") {
  auto result = plan::make_plan(job, test::shipped_site(site));
  for (const auto& finding : result.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
  REQUIRE(result.plan);
  result.plan->site_hash = "HASH";
  return std::move(*result.plan);
}

std::string step_of(const model::Plan& plan) {
  const auto script = render::render_script(plan);
  CHECK(test::script_faults(script) == "");
  return script.substr(script.rfind("\nsrun") + 1);
}

} // namespace

TEST_CASE("the step of an agent is one task per node that is told how many ranks to start") {
  CHECK(step_of(plan_of(lumi_job({{"agent", "true"}}))) ==
        R"(srun --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1 \
  "$HPCML" launch --site lumi --profile-hash HASH --partition standard-g --node-type lumi-g \
  --gpus-per-node 8 --nproc-per-node 8 --bind apply --cpus-per-task 7 --gpus-per-task 1 --gpu-visibility own \
  --agent -- \
  ./train --lr 1
)");
  CHECK(step_of(plan_of(lumi_job({{"nnodes", "1:2"}, {"log-dir", "my logs"}, {"max-restarts", "3"}}))) ==
        R"(srun --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=0 --no-kill \
  "$HPCML" launch --site lumi --profile-hash HASH --partition standard-g --node-type lumi-g \
  --gpus-per-node 8 --nproc-per-node 8 --bind apply --cpus-per-task 7 --gpus-per-task 1 --gpu-visibility own \
  --log-dir 'my logs' --max-restarts 3 --nnodes 1:2 -- \
  ./train --lr 1
)");
}

TEST_CASE("scripts of agents follow sbatch's number of nodes") {
  auto job = lumi_job({});
  job.launcher = test::flag(model::Launcher::parse("torchrun").value());
  CHECK(holds(step_of(plan_of(job)), "srun --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1 \\\n"
                                     "  torchrun --nnodes=\"$SLURM_NNODES\" --nproc_per_node=8 "));
  job.launcher = test::flag(model::Launcher::parse("accelerate").value());
  CHECK(holds(step_of(plan_of(job)),
              " --num_machines=\"$SLURM_NNODES\" --num_processes=$((SLURM_NNODES * 8)) "));
}

TEST_CASE("a script of agents serves no store: each start of the ranks has its own") {
  CHECK(holds(render::render_script(plan_of(lumi_job({}))), " internal batch -- bash"));
  CHECK(holds(render::render_script(plan_of(lumi_job({{"agent", "true"}}))),
              " internal batch --store agents --"));
}

TEST_CASE("behind the agent each rank enters the container as it does without one") {
  auto job = lumi_job({{"log-dir", "logs"}});
  const auto behind = [](const std::string& step) { return step.substr(step.find(" -- \\\n")); };
  job.container = test::text("/images/torch.sif");
  job.command = {"python", "train.py"};
  const auto with = step_of(plan_of(job));
  job.log_dir.reset();
  const auto without = step_of(plan_of(job));
  CHECK(holds(with, "--nproc-per-node 8 "));
  CHECK(holds(with, " --container --log-dir logs -- \\\n  singularity exec "));
  CHECK(behind(with) == behind(without));
}

TEST_CASE("in an interactive job the agents' step is counted again, and overlaps the shell's") {
  auto plan = plan_of(lumi_job({{"agent", "true"}}));
  plan.interactive.program = "srun";
  CHECK(holds(render::make_interactive(plan).text, "--ntasks-per-node=1 "));
  const auto lines = render::render_interactive_lines(plan, true);
  CHECK(holds(lines, "srun --ntasks=2 --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1 --overlap "));
}

TEST_CASE("what only an agent does stands with its reason in the explanation, and in the plan's JSON") {
  const auto plan = plan_of(lumi_job({{"stall-timeout", "600"}, {"nnodes", "1:2"}}));
  const auto text = render::render_explain(plan);
  CHECK(holds(text, "#SBATCH --ntasks-per-node=1\n    <- rule one hpcml per node; it starts the ranks\n"));
  CHECK(holds(text, "#SBATCH --no-kill\n    <- flag --nnodes\n"));
  CHECK(holds(text, "--stall-timeout 600: ranks without output for this time are stopped"));
  CHECK(holds(text, "--nnodes 1:2: after a node failure, the other nodes continue"));
  const auto json = render::render_json(plan);
  CHECK(holds(json, "\"tasks_per_node\": 1"));
  CHECK(holds(json, "\"nnodes\": {\n    \"value\": \"1:2\""));
}

TEST_CASE("with an option of srun in the request's place the step has it once") {
  auto job = lumi_job({{"nnodes", "1:2"}});
  job.srun = {test::text("--kill-on-bad-exit=1"), test::text("--no-kill")};
  const auto step = step_of(plan_of(job));
  CHECK(holds(step, "--cpu-bind=none --kill-on-bad-exit=1 --no-kill \\\n"));
}

namespace {

/// The rules that find something, notes included.
std::set<std::string> rules_against(const model::Plan& plan, const model::Site& site) {
  std::set<std::string> rules;
  for (const auto& [finding, place, fix] :
       check::check_script("job.sh", render::render_script(plan), {{}, &site}))
    rules.insert(finding.code);
  return rules;
}

} // namespace

TEST_CASE("check has nothing against an agent's script that it has not against the one with a task for each "
          "rank, at "
          "every site") {
  unsigned written = 0, of_several = 0;
  for (const auto& id : config::list_sites({})) {
    const auto site = test::shipped_site(id);
    auto job = test::request_for(site);
    job.command = {"python", "train.py"};
    job.hpcml_path = test::text("/opt/hpcml");
    test::choose_partition(job, site);
    const auto plain = plan::make_plan(job, site);
    if (!plain.plan) continue; // retired, or without Slurm
    job.max_restarts = test::number(3);
    const auto agents = plan::make_plan(job, site);
    CAPTURE(id);
    for (const auto& finding : agents.diagnostics) UNSCOPED_INFO(finding.message);
    REQUIRE(agents.plan);
    CHECK(agents.plan->layout.tasks_per_node == 1);
    CHECK(agents.plan->layout.world_size() == plain.plan->layout.world_size());
    CHECK(agents.plan->layout.cpus_per_rank == plain.plan->layout.cpus_per_rank);
    CAPTURE(render::render_script(*agents.plan));
    auto more = rules_against(*agents.plan, site);
    for (const auto& rule : rules_against(*plain.plan, site)) more.erase(rule);
    CHECK(more == std::set<std::string>{});
    ++written;
    of_several += agents.plan->layout.ranks_per_node > 1 ? 1 : 0;
  }
  CHECK(written >= 40);
  CHECK(of_several >= 35);
}
