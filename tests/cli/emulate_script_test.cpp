// SPDX-License-Identifier: MIT
// hpcml emulate SCRIPT: the script as the job of an emulated cluster.
#include <catch2/catch.hpp>

#include <regex>

#include "cli/workspace_helper.hpp"
#include "emulate/script_requirements.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

const std::string k_head = "#!/bin/bash\n#SBATCH --time=5\n";

unsigned count_of(const std::string& text, const std::string& part) {
  unsigned count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

} // namespace

TEST_CASE("emulate explains what a script lacks") {
  const Workspace workspace;
  workspace.put("job.sh", k_head + "true\n");
  struct Case {
    std::vector<std::string> words;
    std::string message, hint;
  };
  const std::vector<Case> cases = {
      {{"job.sh"}, "--site is required: 'job.sh' does not name its site", "add --site SITE before job.sh"},
      {{"--site", "lumi", "jop.sh"}, "cannot read the script 'jop.sh'", "check its path"},
      {{"--site", "lumi", "sbatch", "-W", "job.sh"},
       "cannot read the script 'sbatch'",
       "hpcml emulate --site SITE -- sbatch -W job.sh"},
      {{"--site", "lumi", "."}, "cannot read the script '.'", "check its path"},
      {{"--site", "lumi", "--whole-site", "job.sh"},
       "--whole-site cannot run a script, because it starts no nodes",
       "--nodes"},
      {{"--", "true"}, "--site is required", "add --site SITE"},
      {{"--site", "lumi"}, "no script or command", "add a batch script"},
  };
  for (const auto& [words, message, hint] : cases) {
    auto line = words;
    line.insert(line.begin(), "emulate");
    const auto result = workspace.hpcml(line);
    CAPTURE(words, result.err);
    CHECK(result.exit_code == 2);
    CHECK(holds(result.err, message));
    CHECK(holds(result.err, "  hint: "));
    CHECK(holds(result.err, hint));
  }
}

TEST_CASE("scripts of gen name their site and request their nodes") {
  const Workspace workspace;
  for (const std::string launcher : {"hpcml", "srun", "torchrun"}) {
    const auto script =
        workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--nodes", "3", "--time", "10",
                         "--launcher", launcher, "--", "python3", "train.py"});
    CAPTURE(launcher, script.err);
    const auto request = emulate::read_script_requirements(script.out);
    CHECK(request.site == "lumi");
    CHECK(request.nodes == 3);
    CHECK(request.partition == "standard-g");
  }
}

TEST_CASE("emulate submits a script of gen and copies its output", "[slurm]") {
  const Workspace workspace;
  workspace.put("train.sh", "#!/bin/bash\necho rank $RANK of $WORLD_SIZE; [ $RANK != 3 ] || exit 7\n", 0755);
  REQUIRE(workspace
              .hpcml({"gen", "--site", "lumi", "--account", "project_1", "--nodes", "2", "--tasks-per-node",
                      "2", "--gpus-per-node", "2", "--time", "10", "-o", "job.sh", "--", "./train.sh"})
              .exit_code == 0);
  const auto result = workspace.hpcml({"emulate", "job.sh"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 7);
  for (const char* rank : {"rank 0 of 4\n", "rank 3 of 4\n"}) CHECK(holds(result.out, rank));
  CHECK(holds(result.err, "LUMI-G: 2 nodes of standard-g"));
  CHECK(holds(result.err, "job 1 failed: exit code 7\n"));
  CHECK(std::regex_search(workspace.read("train-1.out"), std::regex("rank 3 of 4")));
}

TEST_CASE("emulate hands a script the words after it", "[slurm]") {
  const Workspace workspace;
  // The script ends when its output has been copied to the caller, which is while it runs.
  workspace.put("job.out", "4: of an earlier rehearsal\n");
  workspace.put("job.sh",
                k_head +
                    "#SBATCH --nodes=2 --output=job.out --error=job.err --wait\n"
                    "echo \"$#: $*\" in $SLURM_JOB_NUM_NODES\nuntil grep -q '^4: ' copy; do sleep 0.1; done\n"
                    "printf 'no line end'; echo wrong >&2; kill -SEGV $$\n");
  const auto result = workspace.program(
      {"bash", "-c",
       "$H emulate -q --site generic job.sh --nodes 7 -- --site > copy 2> errors; echo code $?"});
  CAPTURE(result.out, workspace.read("copy"), workspace.read("errors"));
  CHECK(result.out == "code 139\n");
  CHECK(workspace.read("copy") == "4: --nodes 7 -- --site in 2\nno line end\n");
  CHECK(holds(workspace.read("errors"), "wrong\n"));
  CHECK(holds(workspace.read("errors"), "job 1 failed: killed by signal 11\n"));
  CHECK_FALSE(holds(workspace.read("errors"), "running"));
}

TEST_CASE("emulate waits for all tasks of an array", "[slurm]") {
  const Workspace workspace;
  workspace.put("job.sh", k_head + "#SBATCH --ntasks=1 --mem=1G --array=0-3%2 --output=out-%a\n"
                                   "echo task $SLURM_ARRAY_TASK_ID\nexit $((SLURM_ARRAY_TASK_ID % 3))\n");
  const auto result = workspace.hpcml({"emulate", "--site", "generic", "job.sh"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 2);
  for (const char* task : {"0", "1", "2", "3"})
    CHECK(count_of(result.out, std::string("task ") + task + "\n") == 1);
  CHECK(holds(result.err, "task 2 of job 1 failed: exit code 2"));
}

TEST_CASE("emulate follows a requeued job to its last end", "[slurm]") {
  const Workspace workspace;
  workspace.put(
      "job.sh",
      k_head + "#SBATCH --ntasks=1 --requeue --open-mode=append --output=job.out\n"
               "echo start ${SLURM_RESTART_COUNT:-0}\n"
               "if ((${SLURM_RESTART_COUNT:-0} == 0)); then scontrol requeue $SLURM_JOB_ID; sleep 60; fi\n"
               "scancel $SLURM_JOB_ID\nsleep 60\n");
  // With a fault, also one that never happens, Slurm starts requeued jobs after 10 s instead of 2 min.
  const auto result =
      workspace.hpcml({"emulate", "--site", "generic", "--fault", "slurmctld-restart@1000s", "job.sh"});
  CAPTURE(result.out, result.err);
  CHECK(holds(result.out, "start 0\n"));
  CHECK(holds(result.out, "start 1\n"));
  CHECK(result.exit_code == 143);
  CHECK(holds(result.err, "job 1 cancelled"));
}

TEST_CASE("emulate reports a script that Slurm refuses", "[slurm]") {
  const Workspace workspace;
  workspace.put("job.sh", k_head + "#SBATCH --nodes=3\ntrue\n");
  const auto result = workspace.hpcml({"emulate", "--site", "generic", "--nodes", "1", "job.sh"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 5);
  CHECK(holds(result.err, "sbatch: error: "));
  CHECK(holds(result.err, "sbatch did not submit 'job.sh'"));
  CHECK(holds(result.err, "hpcml check --site generic job.sh"));
}
