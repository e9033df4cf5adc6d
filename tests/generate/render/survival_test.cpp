// SPDX-License-Identifier: MIT
// The line by which a script has hpcml run it, for jobs that save, are requeued, or have spare nodes.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/util/text.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "holds.hpp"

using namespace hpcml;
using test::holds;

namespace {

model::Plan make_saving_plan() {
  auto plan = test::make_whole_node_plan();
  plan.saving = model::PlannedSaving{300, model::SaveSignal::of_gpus(model::GpuVendor::amd), "URG", {}, {}};
  plan.directives.push_back({"--signal", "B:USR1@300", {}});
  return plan;
}

model::Plan make_requeueing_plan() {
  auto plan = make_saving_plan();
  plan.requeue = model::PlannedRequeue{true, 2, {}, "", {}, {}};
  return plan;
}

/// The options of `hpcml internal batch` in the plan's script, on one line; empty if it has no such line.
std::string batch_options(const model::Plan& plan) {
  const auto script = render::render_script(plan);
  CHECK(test::script_faults(script) == "");
  const std::string begin =
                        "[[ ${HPCML_BATCH-0} == \"$SLURM_JOB_ID\" ]] ||\n  exec \"$HPCML\" internal batch",
                    end = " -- bash \"$0\" \"$@\"\n";
  const auto line = util::replace_all(script, " \\\n   ", "");
  const auto at = line.find(begin);
  if (at == std::string::npos) return {};
  CHECK(line.find("internal batch", at + begin.size()) == std::string::npos);
  const auto last = line.find(end, at);
  REQUIRE(last != std::string::npos);
  const auto options = line.substr(at + begin.size(), last - at - begin.size());
  return options.empty() ? "none" : options.substr(1);
}

} // namespace

TEST_CASE("a script that saves names its lead time and signal") {
  CHECK(batch_options(make_saving_plan()) == "--save-before 5m --save-signal USR1");
  CHECK(batch_options(test::make_whole_node_plan()) == "none");
  auto plan = test::make_plan_for("torchrun");
  CHECK(batch_options(plan).empty());
  plan.saving = model::PlannedSaving{60, model::SaveSignal::of_agents(), "TERM", {}, {}};
  CHECK(batch_options(plan) == "--launcher torchrun --save-before 1m --save-signal TERM");
}

TEST_CASE("a script that saves has no shell functions or traps") {
  auto plan = make_requeueing_plan();
  plan.layout.spare_nodes = 1;
  plan.requeue->requeue_on = model::RetryClasses::parse("node,preempted").value();
  plan.requeue->checkpoint_dir = "/scratch/x";
  plan.requeue->slurm = model::Sourced<std::string>{"expedite", {}};
  plan.ranks.preflight = model::Sourced<bool>{true, {}};
  const auto script = render::render_script(plan);
  for (const char* word : {"trap ", "() {", "scontrol", "scancel", "wait "}) {
    INFO(word);
    CHECK_FALSE(holds(script, word));
  }
  CHECK(std::count(script.begin(), script.end(), '\n') <= 45);
}

TEST_CASE("a script's requeue has its limit and its causes") {
  auto plan = make_requeueing_plan();
  plan.saving.reset();
  CHECK(batch_options(plan) == "--max-requeues 2");
  plan.requeue->requeue_on = model::RetryClasses::parse("node,launcher").value();
  plan.submit_command.value = "my sbatch";
  plan.ranks.log_dir =
      model::Sourced<model::LogDirectory>{model::LogDirectory::parse("/my logs").value(), {}};
  CHECK(
      holds(batch_options(plan),
            "--max-requeues 2 --requeue-on node,launcher --submit-command 'my sbatch' --log-dir '/my logs'"));
  plan.requeue->requeues = false;
  plan.requeue->checkpoint_dir = "/scratch/a b";
  CHECK(holds(batch_options(plan), "--checkpoint-dir '/scratch/a b'"));
  CHECK_FALSE(holds(batch_options(plan), "--log-dir"));
  CHECK_FALSE(holds(batch_options(plan), "requeue"));
}

TEST_CASE("a script of a chain names the first job") {
  auto plan = test::make_whole_node_plan();
  plan.requeue = model::PlannedRequeue{};
  plan.requeue->checkpoint_dir = "/scratch/x";
  CHECK_FALSE(holds(batch_options(plan), "--chain"));
  plan.requeue->chain = model::JobChainPosition{"7", 3};
  CHECK(batch_options(plan) == "--checkpoint-dir /scratch/x --chain 7:3");
}

TEST_CASE("a script that Slurm expedites ends its failed job") {
  auto plan = make_requeueing_plan();
  CHECK_FALSE(holds(batch_options(plan), "--expedited"));
  plan.requeue->slurm = model::Sourced<std::string>{"expedite", {}};
  CHECK(holds(batch_options(plan), "--max-requeues 2 --expedited"));
}

TEST_CASE("a script with spare nodes runs on the healthy ones") {
  auto plan = make_requeueing_plan();
  plan.layout.spare_nodes = 1;
  plan.layout.gpus_held = 8;
  CHECK(holds(batch_options(plan), "--max-requeues 2 --program-nodes 2 --gpus-per-node 8"));
  CHECK(holds(render::render_script(plan), "\nsrun --nodes=2 --nodelist=\"$HPCML_RUN_NODES\" "));
  CHECK_FALSE(holds(render::render_script(make_requeueing_plan()), "HPCML_RUN_NODES"));
  plan.requeue.reset();
  plan.saving.reset();
  CHECK(batch_options(plan) == "--program-nodes 2 --gpus-per-node 8");
  plan.directives.push_back({"--gpus", "24", {}});   // of all nodes: the step has fewer
  CHECK(batch_options(plan) == "--program-nodes 2"); // AMD's driver shows the check of the nodes no GPUs then
  CHECK(holds(render::render_script(plan), " --nodelist=\"$HPCML_RUN_NODES\" --gpus=16 "));
}

TEST_CASE("the explanation lists what happens at which event") {
  const std::string heading = "\nhpcml internal batch does at these events:\n";
  auto plan = make_requeueing_plan();
  plan.layout.spare_nodes = 1;
  plan.requeue->requeue_on = model::RetryClasses::parse("node,launcher").value();
  const auto text = render::render_explain(plan);
  for (const auto& line :
       {heading + "5m before the time limit: asks the ranks to save (SIGUSR1) and waits for them, then "
                  "requeues the job\n",
        std::string("the run ended by node: starts again on other nodes of this job, or requeues the job\n"),
        std::string("the run ended by launcher: requeues the job\n"),
        std::string("the job was restarted 2 times: does not requeue it again"),
        std::string("the script ends: ends with its exit code\n")}) {
    INFO(line);
    CHECK(holds(text, line));
  }
  CHECK_FALSE(holds(render::render_explain(test::make_whole_node_plan()), "requeues the job"));
  CHECK_FALSE(holds(render::render_explain(test::make_plan_for("torchrun")), heading));
}

TEST_CASE("the explanation names each option of internal batch") {
  auto plan = make_requeueing_plan();
  plan.layout.spare_nodes = 1;
  plan.requeue->requeue_on = model::RetryClasses::parse("node").value();
  plan.requeue->checkpoint_dir = "/scratch/x";
  plan.ranks.log_dir = model::Sourced<model::LogDirectory>{model::LogDirectory::parse("/logs").value(), {}};
  const auto text = render::render_explain(plan);
  CAPTURE(text);
  for (const auto* option : {"--max-requeues", "--requeue-on", "--checkpoint-dir", "--log-dir",
                             "--program-nodes", "\"$0\" \"$@\""})
    CHECK(holds(text, "    <- " + std::string(option)));
}

TEST_CASE("comments of a script name the events of internal batch") {
  auto plan = make_requeueing_plan();
  const auto comments = [&] {
    std::string text;
    for (const auto& line : util::split(render::render_script(plan), '\n'))
      if (line.starts_with("# ")) text += line.substr(2) + " ";
    return text;
  };
  CHECK(holds(comments(),
              "5m before the time limit it sends SIGUSR1 to ranks with a handler, to save and exit. "
              "Then it requeues the job up to 2 times."));
  plan.requeue->checkpoint_dir = "/scratch/x";
  plan.requeue->requeue_on = model::RetryClasses::parse("node,preempted").value();
  plan.layout.spare_nodes = 1;
  CHECK(holds(comments(),
              "hpcml runs the lines below in a child, on 2 healthy nodes of 3 (HPCML_RUN_NODES). 5m "
              "before the time limit it sends SIGUSR1 to ranks with a handler, to save in "
              "$HPCML_CHECKPOINT_DIR and exit. Then, or "
              "after a lost node or preemption, it restarts on spare nodes or requeues the job up to "
              "2 times."));
  plan.saving.reset();
  plan.requeue->requeue_on = model::RetryClasses::parse("launcher").value();
  CHECK(holds(comments(),
              "It requeues the job up to 2 times after an error of hpcml. $HPCML_CHECKPOINT_DIR is the"));
}

TEST_CASE("the plan as JSON has the save request and the requeue") {
  const auto json = render::render_json(make_requeueing_plan());
  for (const char* part : {"\"seconds\": 300", "\"signal\": \"USR1\"", "\"most\": 2", "\"by_script\": true"})
    CHECK(holds(json, part));
  CHECK_FALSE(holds(render::render_json(test::make_whole_node_plan()), "save_before"));
}
