// SPDX-License-Identifier: MIT
// The part of a script that asks the ranks to save: as text, and run by a real bash.
#include <catch2/catch.hpp>

#include "check/check_script.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
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

} // namespace

TEST_CASE(
    "a script that saves runs its step by the function that hears signals, and bash and shellcheck take it") {
  const auto script = render::render_script(make_saving_plan());
  CHECK(holds(script, "\nrun_step srun "));
  CHECK(holds(script, "\nexport HPCML_SAVE_SIGNAL=USR1\n"));
  CHECK(holds(script, "is not signalled, and runs on."));
  CHECK(test::script_faults(script) == "");
  CHECK_FALSE(holds(render::render_script(test::make_whole_node_plan()), "run_step"));
  auto plan = test::make_plan_for("torchrun");
  plan.saving = model::PlannedSaving{60, model::SaveSignal::of_agents(), "TERM", {}, {}};
  CHECK(holds(render::render_script(plan), "A program without a handler dies of it."));
  CHECK(test::script_faults(render::render_script(plan)) == "");
}

TEST_CASE("a job of a chain goes on in the folder of the first one, and counts those before it") {
  auto plan = test::make_whole_node_plan();
  plan.requeue = model::PlannedRequeue{};
  plan.requeue->checkpoint_dir = "/scratch/a b";
  const auto of_job = [&](const std::string& variables) {
    const auto script = render::render_script(plan);
    const auto begin = script.find(plan.requeue->chain ? "# This job goes on from" : "# This job as Slurm"),
               end = script.find("mkdir -p \"$HPCML_CHECKPOINT_DIR\"");
    REQUIRE(end != std::string::npos);
    const auto ran = util::run_process(
        {"bash", "-c",
         variables + script.substr(begin, end - begin) + "echo $HPCML_RESTART_COUNT $HPCML_CHECKPOINT_DIR"},
        util::EnvSnapshot::of_process(), std::chrono::seconds(60));
    REQUIRE(ran);
    CHECK(test::script_faults(script) == "");
    return ran->out;
  };
  CHECK(of_job("SLURM_JOB_ID=7\n") == "0 /scratch/a b/7\n");
  CHECK(of_job("SLURM_JOB_ID=7 SLURM_RESTART_COUNT=2\n") == "2 /scratch/a b/7\n");
  plan.requeue->chain = model::ChainLink{"7", 3};
  CHECK(of_job("SLURM_JOB_ID=9 SLURM_RESTART_COUNT=2\n") == "5 /scratch/a b/7\n");
  CHECK(of_job("SLURM_JOB_ID=9 SLURM_ARRAY_JOB_ID=8 SLURM_ARRAY_TASK_ID=4\n") == "3 /scratch/a b/7_4\n");
}

TEST_CASE("the step's exit code is the script's, also where a signal was heard meanwhile") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "bin");
  // The step signals the batch shell as Slurm does, sees it call scancel, and ends by itself.
  test::put_program(folder, "scancel", "echo \"scancel $*\" >> told\n");
  test::put_program(
      folder, "srun",
      "[[ $* == *train_ddp* ]] || exit 0\nbatch=$(ps -o ppid= $PPID)\nkill -USR1 $batch\n"
      "for i in {1..1000}; do [[ -s told ]] && break; sleep 0.02; done\nkill -TERM $batch\nexit 7\n");
  auto plan = make_saving_plan();
  plan.hpcml_path.value = test::stand_in_hpcml(folder);
  const auto ran = test::run_script(render::render_script(plan), folder);
  INFO(ran.err);
  CHECK(ran.exit_code == 7);
  CHECK(holds(ran.err, "hpcml: 00:05:00 to the time limit: the ranks are asked to save and to end\n"));
  const auto output = util::read_file((folder / "told").string());
  REQUIRE(output);
  CHECK(holds(*output, "scancel --signal=URG "));
  CHECK(output->find('\n') == output->size() - 1); // once
}

namespace {

/// Runs a script whose step ends with `code`, after USR1 to the batch shell where it is `is_requested`;
/// Slurm's commands write what they were told into the file "told". `shown`: what the stand-in for `scontrol
/// show job` does.
std::string told_by(model::Plan plan, const std::map<std::string, std::string>& variables, bool is_requested,
                    int code, std::string* errors = nullptr, const std::string& shown = "") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "bin");
  test::put_program(folder, "scancel", "echo \"scancel $*\" >> told\n");
  test::put_program(folder, "scontrol",
                    "if [[ $1 == show ]]; then " + shown + " exit; fi\necho \"scontrol $*\" >> told\n");
  test::put_program(folder, "srun",
                    std::string("[[ $* == *train_ddp* ]] || exit 0\n") +
                        (is_requested
                             ? "kill -USR1 $(ps -o ppid= $PPID)\nfor i in {1..1000}; do [[ -s told ]] && "
                               "break; sleep 0.02; done\n"
                             : "") +
                        "exit " + std::to_string(code) + "\n");
  plan.hpcml_path.value = test::stand_in_hpcml(folder);
  const auto ran = test::run_script(render::render_script(plan), folder, variables);
  CHECK(ran.exit_code == code);
  if (errors != nullptr) *errors = ran.err;
  return util::read_file((folder / "told").string()).value_or("");
}

model::Plan make_requeueing_plan() {
  auto plan = make_saving_plan();
  plan.requeue = model::PlannedRequeue{true, 2, {}, "", {}, {}};
  return plan;
}

} // namespace

TEST_CASE("what saved is requeued by its own name, within the bound, whatever its code; what ended by itself "
          "is not") {
  const auto plan = make_requeueing_plan();
  CHECK(test::script_faults(render::render_script(plan)) == "");
  const std::map<std::string, std::string> job{{"SLURM_JOB_ID", "70"}};
  const std::map<std::string, std::string> task{
      {"SLURM_JOB_ID", "70"}, {"SLURM_ARRAY_JOB_ID", "70"}, {"SLURM_ARRAY_TASK_ID", "3"}};
  CHECK(told_by(plan, job, true, 0) == "scancel --signal=URG 70\nscontrol requeue 70\n");
  CHECK(told_by(plan, job, true, 1) == "scancel --signal=URG 70\nscontrol requeue 70\n");
  CHECK(told_by(plan, task, true, 0) == "scancel --signal=URG 70_3\nscontrol requeue 70_3\n");
  CHECK(told_by(plan, job, false, 3) == "");
  CHECK(told_by(plan, job, false, 0) == "");
  auto last = job;
  last["SLURM_RESTART_COUNT"] = "2";
  std::string output;
  CHECK(told_by(plan, last, true, 0, &output) == "scancel --signal=URG 70\n");
  CHECK(holds(output, "job 70 was requeued 2 times, and is not again (--max-requeues)\n"));
}

TEST_CASE("a job whose ranks have ended in the grace time of a preemption is not done: it is requeued") {
  auto plan = make_requeueing_plan();
  const std::map<std::string, std::string> job{{"SLURM_JOB_ID", "70"}};
  // Slurm ends the batch shell after the grace time, here after a second.
  const std::string taken =
      "echo ' Restarts=0 BatchFlag=1'; echo ' PreemptEligibleTime=2026-11-26T10:00:00 "
      "PreemptTime=2026-11-26T11:00:00';"
      " shell=$PPID above=$(ps -o ppid= $PPID);" // a substitution may be a process of its own
      " [[ $(ps -o args= $above) != \"$(ps -o args= $shell)\" ]] || shell=$above;"
      " (sleep 1; kill -TERM $shell) > /dev/null 2>&1 &";
  std::string output;
  CHECK(told_by(plan, job, false, 0, &output, taken) == ""); // Slurm requeues
  CHECK(holds(output, "its nodes are given to another job: job 70 waits for Slurm, which requeues it"));
  plan.requeue->requeue_on = model::RetryClasses::parse("preempted").value();
  CHECK(test::script_faults(render::render_script(plan)) == "");
  CHECK(told_by(plan, job, false, 0, &output, taken) == "scontrol requeue 70\n");
  CHECK(told_by(plan, job, false, 1, &output, taken) == "scontrol requeue 70\n");
  for (const std::string script :
       {"echo ' Restarts=0 B'; echo ' PreemptTime=None';",
        "echo ' Restarts=1 B'; echo ' PreemptTime=2026-11-26T11:00:00';", "false;"})
    CHECK(told_by(plan, job, false, 0, &output, script) == "");
}

TEST_CASE(
    "a job that Slurm would hold in the queue where its script fails ends there, unless it was requeued") {
  auto plan = make_requeueing_plan();
  plan.requeue->slurm = model::Sourced<std::string>{"expedite", {}};
  CHECK(test::script_faults(render::render_script(plan)) == "");
  const std::map<std::string, std::string> job{{"SLURM_JOB_ID", "70"}};
  const std::map<std::string, std::string> task{
      {"SLURM_JOB_ID", "70"}, {"SLURM_ARRAY_JOB_ID", "70"}, {"SLURM_ARRAY_TASK_ID", "3"}};
  const std::string runs = "echo '   JobState=RUNNING Reason=None';",
                    waits = "echo '   JobState=PENDING Reason=None';";
  CHECK(told_by(plan, job, false, 3, nullptr, runs) == "scontrol update jobid=70 Requeue=0\n");
  CHECK(told_by(plan, task, false, 3, nullptr, runs) == "scontrol update jobid=70_3 Requeue=0\n");
  CHECK(told_by(plan, job, false, 0, nullptr, runs) == "");
  CHECK(told_by(plan, job, true, 1, nullptr, waits) == "scancel --signal=URG 70\nscontrol requeue 70\n");
  plan.requeue->slurm.reset();
  CHECK(told_by(plan, job, false, 3, nullptr, runs) == "");
}

TEST_CASE(
    "the folder of checkpoints is the job's, or the task's, and programs hear how often it was started") {
  auto plan = make_requeueing_plan();
  plan.requeue->checkpoint_dir = "/shared/my files";
  const auto script = render::render_script(plan);
  CHECK(holds(script, "\nexport HPCML_CHECKPOINT_DIR='/shared/my files'/$first_job\n"));
  CHECK(holds(script, "\nexport HPCML_RESTART_COUNT=\"$((starts_before + ${SLURM_RESTART_COUNT:-0}))\"\n"));
  CHECK(test::script_faults(script) == "");
}

TEST_CASE("a run is tried again where its record says one of the classes, and not where it says another") {
  auto plan = make_requeueing_plan();
  plan.saving.reset();
  const test::TempFolder logs;
  plan.ranks.log_dir =
      model::Sourced<model::LogFolder>{model::LogFolder::parse(logs.path().string()).value(), {}};
  plan.requeue->requeue_on = model::RetryClasses::parse("node,launcher").value();
  CHECK(test::script_faults(render::render_script(plan)) == "");
  const auto told_after = [&](const std::string& why) {
    std::filesystem::create_directories(logs / "70.0");
    REQUIRE(util::write_file(
        (logs / "70.0/record-0.jsonl").string(),
        "{\"event\":\"run\",\"class\":\"no\"}\n{\"event\":\"end\",\"code\":1,\"class\":\"" + why + "\"}\n"));
    return told_by(plan, {{"SLURM_JOB_ID", "70"}}, false, 1);
  };
  CHECK(told_after("node") == "scontrol requeue 70\n");
  CHECK(told_after("program") == "");
  std::filesystem::remove_all(logs / "70.0");
  CHECK(told_by(plan, {{"SLURM_JOB_ID", "70"}}, false, 1) == "");
}

TEST_CASE("the plan as JSON says when ranks save, by what, and how often the job is requeued") {
  const auto json = render::render_json(make_requeueing_plan());
  for (const char* part : {"\"seconds\": 300", "\"signal\": \"USR1\"", "\"most\": 2", "\"by_script\": true"})
    CHECK(holds(json, part));
  CHECK_FALSE(holds(render::render_json(test::make_whole_node_plan()), "save_before"));
}

TEST_CASE("bad nodes are left out once the job waits; where its list may not change one job goes on for it, "
          "and it is "
          "not started again") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "bin");
  test::put_program(
      folder, "scontrol",
      "[[ $1 != show ]] || exit 0\necho \"scontrol $*\" >> told\n[[ $* != update*70_3* ]] || exit 1\n");
  test::put_program(folder, "scancel", "echo \"scancel $*\" >> told\n");
  test::put_program(folder, "sbatch", "echo \"sbatch $*\" >> told\necho 71\n");
  test::put_program(folder, "srun",
                    "[[ $* == *train_ddp* ]] || exit 0\necho \"n2 died\" >> \"$HPCML_BAD_NODES\"\nexit 1\n");
  auto plan = make_requeueing_plan();
  plan.saving.reset();
  plan.ranks.preflight = model::Sourced<bool>{true, {}};
  plan.requeue->requeue_on = model::RetryClasses::parse("node").value();
  plan.hpcml_path.value = test::stand_in_hpcml(folder);
  const auto stand_in = util::read_file(plan.hpcml_path.value).value();
  REQUIRE(util::write_file(
      plan.hpcml_path.value,
      util::replace_all(stand_in, "#!/bin/bash\n",
                        "#!/bin/bash\nif [[ $2 == bad-nodes ]]; then [[ $* == *--on* ]] || echo "
                        "n[1-2]; exit; fi\n"),
      0755));
  const auto script = render::render_script(plan);
  CHECK(test::script_faults(script) == "");
  const auto told_by_job = [&](std::map<std::string, std::string> variables) {
    for (const char* name : {"told", "bad-nodes-70", "bad-nodes-70_3"})
      std::filesystem::remove(folder / name);
    variables["SLURM_JOB_ID"] = "70";
    const auto ran = test::run_script(script, folder, variables);
    INFO(ran.err);
    CHECK(ran.exit_code == 1);
    return util::read_file((folder / "told").string()).value_or("");
  };
  CHECK(told_by_job({}) == "scontrol requeue 70\nscontrol update jobid=70 ExcNodeList=n[1-2]\n");
  const auto output = told_by_job({{"SLURM_ARRAY_JOB_ID", "70"}, {"SLURM_ARRAY_TASK_ID", "3"}});
  INFO(output);
  CHECK(holds(output, "sbatch --parsable --dependency=afterany:70_3 --exclude=n[1-2] --array=3 "));
  CHECK(holds(output, " goes-on-for 70_3 1\nscancel 70_3\n"));
}

TEST_CASE("a job with spare nodes looks at all of them, and its step runs on those that were chosen") {
  auto plan = make_requeueing_plan();
  plan.layout.spare_nodes = 1;
  const auto script = render::render_script(plan);
  CHECK(test::script_faults(script) == "");
  CHECK(holds(script, "run_step srun --nodes=2 --nodelist=\"$run_nodes\" "));
  CHECK_FALSE(holds(script, "restart_here"));
  plan.requeue->requeue_on = model::RetryClasses::parse("node").value();
  plan.ranks.preflight = model::Sourced<bool>{true, {}};
  const auto again = render::render_script(plan);
  CHECK(test::script_faults(again) == "");
  CHECK(holds(again, "&& restart_here; then"));
  plan.requeue->most = 2;
  plan.requeue->chain = model::ChainLink{"7", 4}; // whose starts count already
  for (const char* bound : {"((HPCML_RESTART_COUNT < 6)) || return 1", "of at most 6 times"})
    CHECK(holds(render::render_script(plan), bound));
  plan.requeue.reset();
  CHECK(test::script_faults(render::render_script(plan)) == "");
  plan.directives.push_back({"--gpus", "24", {}}); // of all nodes: the steps have fewer
  const auto counted = render::render_script(plan);
  CHECK(holds(counted, " --nodelist=\"$run_nodes\" --gpus=16 "));
  CHECK(holds(counted, " --gpus=0 --cpu-bind=none --overlap "));
}
