// SPDX-License-Identifier: MIT
// hpcml submit as a person runs it: mistakes without Slurm, jobs with a real one.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/run/log_follower.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "shared_directory.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

const std::string k_request =
    " --site lumi --account project_1 --time 10 --partition small-g --gpus-per-node 1 --launcher srun ";

/// What a part of a script printed, between the marks that `part` prints around it, with "code N" at its end.
std::string part(const std::string& name, const std::string& commands) {
  return "echo '<" + name + ">'; ( " + commands + " ) 2>&1; echo \"code $?\"; echo '</" + name + ">'; ";
}
std::string part_of(const std::string& text, const std::string& name) {
  const auto start = text.find("<" + name + ">\n"), end = text.find("</" + name + ">");
  if (start == std::string::npos || end == std::string::npos) return {};
  return text.substr(start + name.size() + 3, end - start - name.size() - 3);
}

} // namespace

TEST_CASE("submit refuses what gen refuses, with the same codes, and leaves nothing") {
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--site", "lumi", "--account", "project_1", "--time", "50h", "--", "x"},
       4,
       "exceeds the maximum of partition"},
      {{"--site", "lmui", "--", "x"}, 2, "lumi"},
      {{"--site", "lumi", "--time", "10", "--", "x"}, 2, "--account"},
      {{"--site", "lumi", "--chain", "0", "--", "x"}, 2, "--chain"},
      {{"--site", "lumi", "--chain-if", "ok", "--", "x"}, 2, "--chain"},
      {{"--test-only", "--watch", "--", "x"}, 2, "--watch"},
      {{"--site", "lonestar6", "--account", "a", "--partition", "gpu-a100-dev", "--time", "10", "--chain",
        "4", "--", "x"},
       4,
       "4 jobs exceed the maximum of one user"},
      {{"--site", "lonestar6", "--account", "a", "--partition", "gpu-a100-dev", "--time", "10", "--array",
        "0-1", "--chain", "2", "--", "x"},
       4,
       "4 jobs exceed the maximum of one user"},
      {{"--job", "no.json"}, 3, "no.json"},
  };
  for (const auto& example : cases) {
    const Workspace workspace;
    auto words = example.words;
    words.insert(words.begin(), {"submit"});
    const auto result = workspace.hpcml(words);
    CAPTURE(words, result.err);
    CHECK(result.exit_code == example.exit_code);
    CHECK(holds(result.err, example.message));
    CHECK(result.out == "");
    CHECK(workspace.files() == 0);
  }
}

TEST_CASE("submit on a machine without Slurm says where to go") {
  Workspace workspace;
  workspace.set("PATH", "/nowhere");
  const auto result =
      workspace.hpcml({"submit", "--site", "lumi", "--account", "project_1", "--time", "10", "--", "x"});
  CHECK(result.exit_code == 5);
  CHECK(holds(result.err, "sbatch is not in PATH"));
  CHECK(holds(result.err, "hpcml emulate"));
}

TEST_CASE("submit prints the job number although scontrol never answers") {
  Workspace workspace;
  workspace.put("sbatch", "#!/bin/sh\ncat > /dev/null\necho 7\n", 0755);
  // What has been printed when hpcml asks the controller.
  workspace.put("scontrol", "#!/bin/sh\ncat out err > seen\nexec sleep 1000\n", 0755);
  workspace.set("PATH", (workspace / "").string() + ":/usr/bin:/bin");
  const auto result =
      workspace.program({"bash", "-c", "$H submit" + k_request + "-- hostname > out 2> err; echo code $?"});
  CAPTURE(workspace.read("err"));
  CHECK(result.out == "code 0\n");
  CHECK(holds(workspace.read("seen"), "job 7"));
  CHECK(holds(workspace.read("seen"), "hpcml: job 7 is in the queue"));
  CHECK(workspace.read("out") == "job 7 log " + (workspace / "hostname-7.out").string() + "\n");
}

TEST_CASE("submit --where asks a controller that never answers once") {
  Workspace workspace;
  workspace.put("sbatch", "#!/bin/sh\necho asked >> asked\nexec sleep 1000\n", 0755);
  workspace.set("PATH", (workspace / "").string() + ":/usr/bin:/bin");
  const auto result =
      workspace.hpcml({"submit", "--where", "--site", "lumi", "--account", "project_1", "--time", "10"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "no Slurm answers on this machine"));
  CHECK(workspace.read("asked") == "asked\n");
}

TEST_CASE(
    "jobs that only the accounting remembers are told of task by task, with what is not known left out") {
  Workspace workspace;
  workspace.put("scontrol", "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n",
                0755);
  // What Slurm 22.05 printed of an array with slurmdbd, one task after another failing with its number.
  workspace.put("said", util::read_file(std::string(HPCML_SOURCE_DIR) +
                                        "/tests/core/slurm/recorded/sacct-array-22.05.txt")
                            .value());
  workspace.put("sacct",
                "#!/bin/sh\ncase \"$*\" in *--jobs=14) cat said;; *) echo '16|16|FAILED|1:0|n1';; esac\n",
                0755);
  workspace.set("PATH", (workspace / "").string() + ":/usr/bin:/bin");
  const auto array = workspace.hpcml({"watch", "14"});
  CHECK(array.exit_code == 3);
  for (const char* task : {"1", "2", "3"})
    CHECK(holds(array.err,
                std::string("task ") + task + " of job 14 failed: exit code " + task + " (program)\n"));
  const auto job = workspace.hpcml({"watch", "16"});
  CHECK(job.exit_code == 1);
  CHECK(holds(job.err, "job 16 failed: exit code 1\n"));
  CHECK(holds(job.err, "the location of the log is unknown"));
}

TEST_CASE("watch --rank follows the log files of a rank") {
  Workspace workspace;
  workspace.put("job.sh",
                "#!/bin/bash\n#SBATCH --time=10\nsrun hpcml launch --log-dir 'my logs' -- ./train\n");
  workspace.put("scontrol", R"(#!/bin/bash
if [[ $1 == write ]]; then cat job.sh; exit; fi
echo >> asked
state=RUNNING
count=$(wc -l < asked)
((count != 3)) || echo restarted > 'run/my logs/7.0/attempt_1/3/stdout.log'
((count < 4)) || state=COMPLETED
echo "JobId=7 JobName=x"
echo "   JobState=$state Reason=None ExitCode=0:0"
echo "   StdOut=$PWD/job.out"
echo "   WorkDir=$PWD/run"
)",
                0755);
  workspace.set("PATH", (workspace / "").string() + ":/usr/bin:/bin");
  const auto logs = workspace / "run/my logs";
  for (const char* file : {"7.0/attempt_0/3/stdout.log", "7.0/attempt_0/2/stdout.log",
                           "7.0/attempt_0/3/stderr.log", "70.0/attempt_0/3/stdout.log"}) {
    std::filesystem::create_directories((logs / file).parent_path());
    REQUIRE(util::write_file(logs / file, std::string(file) + "\n"));
  }
  std::filesystem::create_directories(logs / "7.0/attempt_1/3");
  workspace.put("job.out", "of all ranks\n");
  const auto result = workspace.hpcml({"watch", "7", "--rank", "3"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "job 7 log " + (workspace / "job.out").string() + "\n7.0/attempt_0/3/stdout.log\nrestarted\n");
  CHECK(holds(result.err, "7.0/attempt_0/3/stderr.log\n"));
  const auto none = workspace.hpcml({"watch", "7", "--rank", "9"});
  CHECK(none.exit_code == 0);
  CHECK(holds(none.err, "no log of rank 9 was found in " + logs.string() + "\n"));
  workspace.put("job.sh", "#!/bin/bash\nsrun ./train\n");
  const auto unknown = workspace.hpcml({"watch", "7", "--rank", "3"});
  CHECK(unknown.exit_code == 5);
  CHECK(holds(unknown.err, "error: cannot find the log directory of the ranks of job 7\n"));
}

TEST_CASE(
    "a log is read as it grows, from the start again when it was begun anew, and not before it is there") {
  const Workspace workspace;
  cli::LogFollower log((workspace / "log").string());
  CHECK(log.read_more() == "");
  CHECK_FALSE(log.found());
  workspace.put("log", "one\ntw");
  CHECK(log.read_more() == "one\ntw");
  CHECK(log.read_more() == "");
  workspace.put("log", "one\ntwo\n");
  CHECK(log.read_more() == "o\n");
  workspace.put("log", "new\n");
  CHECK(log.read_more() == "new\n");
  cli::LogFollower directory((workspace / "").string());
  CHECK(directory.read_more() == "");
}

TEST_CASE("jobs are submitted, watched, chained, left and found again on a real Slurm", "[slurm]") {
  const Workspace workspace;
  const test::SharedDirectory shared;
  workspace.put("steps.sh", "#!/bin/bash\nfor i in 1 2 3; do echo step $i; sleep 2; done\nexit 3\n", 0755);
  workspace.put("true.sh",
                "#!/bin/bash\n[ $RANK != 0 ] || echo $HPCML_RESTART_COUNT $HPCML_CHECKPOINT_DIR >> starts\n",
                0755);
  // Goes on when it has been found again.
  workspace.put("held.sh",
                "#!/bin/bash\necho step 1\nuntil [[ -e go ]]; do sleep 0.1; done\necho step 3\nexit 3\n",
                0755);
  const std::string submit = "$H submit" + k_request;
  const auto result = workspace.emulate(
      "lumi", 1,
      part("test-only", "SLURM_TIME_FORMAT='%H of %A' " + submit + "--test-only -- hostname") +
          part("watch", "SBATCH_TIMELIMIT=7 " + submit + "--output logs/%x-%j.out --watch -- ./steps.sh") +
          part("record",
               "scontrol show job 2 | grep -o 'TimeLimit=[^ ]*'; scontrol show job 2 | grep StdOut") +
          part("chain", submit + "--chain 2 --checkpoint-dir " + shared.path() +
                            " --format json -- ./true.sh "
                            "2>err.txt; grep -c 'after 3' err.txt; "
                            "scontrol show job 4 | grep -o 'Dependency=.*'") +
          part("hopeless", submit + "--chain 2 --chain-if ok --watch -- false") +
          part("array", submit + "--array 0-2%2 --output log-%A_%a.out --watch -- false") +
          part("detach",
               submit +
                   "--output detach.out --watch -- ./held.sh > said 2>&1 & "
                   "until grep -q 'step 1' said; do sleep 0.1; done; "
                   "kill -INT $(pgrep -f '^'$H' submit.*detach'); wait $!; code=$?; cat said; exit $code") +
          part(
              "attach",
              "id=$(squeue -h -o %i -n held); (until grep -q 'step 1' again; do sleep 0.1; done; touch go) & "
              "$H watch $id > again 2>&1; code=$?; cat again; exit $code") +
          part("refused", "$H submit --site lumi --account project_1 --time 10 --nodes 2 --partition small-g "
                          "--gpus-per-node 1 --launcher srun -- true"));
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  const auto part_named = [&](const std::string& name) { return part_of(result.out, name); };
  CHECK(std::regex_search(
      part_named("test-only"),
      std::regex("hostname: would start at 20[0-9]{2}-[0-9-]+T"))); // not the person's own form of time
  CHECK(holds(part_named("test-only"), " in partition small-g on nid000001\n"));
  CHECK(holds(part_named("test-only"), "code 0"));
  // Slurm's own record is the oracle for the log's path, and for the time limit that a variable would have
  // changed.
  const auto watch = part_named("watch");
  CHECK(holds(watch, "SBATCH_TIMELIMIT=7"));
  CHECK(holds(watch, "running on nid000001"));
  // What the watch itself reports comes between these lines when it likes.
  CHECK(std::regex_search(watch, std::regex("\nstep 1\n(hpcml: .*\n)*step 2\n(hpcml: .*\n)*step 3\n")));
  CHECK(holds(watch, "job 2 failed: exit code 3\n"));
  CHECK(holds(watch, "job 2 ended with exit code 3: program\n"));
  CHECK(holds(watch, "code 3"));
  CHECK(watch.find('\r') == std::string::npos);
  CHECK(holds(part_named("record"), "TimeLimit=00:10:00"));
  CHECK(holds(part_named("record"), "StdOut=" + (workspace / "logs/steps-2.out").string()));
  CHECK(holds(watch, "job 2 log " + (workspace / "logs/steps-2.out").string() + "\n"));
  const auto chain = part_named("chain");
  const auto jobs = nlohmann::json::parse(chain.substr(0, chain.rfind("]\n") + 1), nullptr, false);
  REQUIRE(jobs.is_array());
  CHECK(jobs[1]["log"] == (workspace / "true-4.out").string());
  CHECK(holds(chain, "\"after\":[\"3\"]"));
  CHECK(holds(chain, "Dependency=afterany:3"));
  const auto directory = shared.path() + "/3";
  CHECK(workspace.read("starts") ==
        "0 " + directory + "\n1 " + directory + "\n"); // the second goes on from the first
  CHECK(holds(part_named("hopeless"), "can never start"));
  CHECK(holds(part_named("hopeless"), "code 5"));
  const auto array = part_named("array");
  for (const char* task : {"task 0 ", "task 1 ", "task 2 "}) CHECK(holds(array, task));
  CHECK(holds(array, "log-7_2.out"));
  CHECK(holds(array, "exit code 1 (program); log "));
  CHECK(holds(array, "code 1"));
  CHECK(holds(part_named("detach"), "detached: job "));
  CHECK(holds(part_named("detach"), "code 130"));
  CHECK(holds(part_named("attach"), "step 3\n"));
  CHECK(holds(part_named("attach"), "code 3"));
  CHECK(holds(part_named("refused"), "hpcml emulate --site lumi --nodes 2"));
  CHECK(holds(part_named("refused"), "code 5"));
}

TEST_CASE("what a site has in sbatch's place submits, where it is there", "[slurm]") {
  const Workspace workspace;
  workspace.put("ghbatch", "#!/bin/sh\nexec sbatch --comment=by-ghbatch \"$@\"\n", 0755);
  const std::string submit = "$H submit --site bede --account bdx --partition gh --time 10 --launcher srun ";
  const auto result = workspace.emulate("bede", 1,
                                        part("without", submit + "--test-only -- hostname") +
                                            "PATH=$PWD:$PATH; " + part("with", submit + "-- hostname") +
                                            part("comment", "scontrol show job | grep -o 'Comment=.*'"),
                                        "gh");
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(part_of(result.out, "without"),
              "ghbatch, the site's submit command, is not in PATH: using sbatch; add its directory"));
  CHECK(holds(part_of(result.out, "without"), "code 0"));
  CHECK_FALSE(holds(part_of(result.out, "with"), "ghbatch"));
  CHECK(holds(part_of(result.out, "with"), "code 0"));
  CHECK(holds(part_of(result.out, "comment"), "Comment=by-ghbatch"));
}

TEST_CASE("the steps of a job are one script that bash and shellcheck accept") {
  const Workspace workspace;
  workspace.put("hpcml.json", R"({"site": "lumi", "account": "project_1", "time": "10",
    "steps": [{"command": ["bash", "stage it.sh"], "once": true}, {"command": ["python", "train.py"]}, {"command": ["python", "test.py"]}]})");
  for (const std::string launcher : {"hpcml", "srun", "torchrun"}) {
    const auto result = workspace.hpcml({"gen", "--launcher", launcher, "-o", "job.sh"});
    CAPTURE(launcher, result.err);
    REQUIRE(result.exit_code == 0);
    const auto script = workspace.read("job.sh");
    CAPTURE(script);
    CHECK(script.find("stage it.sh") < script.find("train.py"));
    CHECK(script.find("train.py") < script.find("test.py"));
    CHECK(holds(script, "srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --cpu-bind=none"));
    for (const std::vector<std::string>& checker :
         {std::vector<std::string>{"bash", "-n"}, {"shellcheck", "--exclude=SC2016"}}) {
      auto words = checker;
      words.push_back((workspace / "job.sh").string());
      const auto checked =
          util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(300));
      REQUIRE(checked);
      CAPTURE(checked->out, checked->err);
      CHECK(checked->exit_code == 0);
    }
  }
}

TEST_CASE("a file with several jobs is one request: gen wants one chosen, and mistakes name their job") {
  const Workspace workspace;
  workspace.put(
      "hpcml.json",
      R"({"site": "lumi", "account": "project_1", "time": "10", "jobs": [{"name": "a", "command": ["x"]}, {"name": "b", "after": "a", "command": ["y"], "nodes": 2}]})");
  CHECK(holds(workspace.hpcml({"gen"}).err, "use --only a or --only b"));
  CHECK(workspace.hpcml({"gen"}).exit_code == 2);
  CHECK(holds(workspace.hpcml({"gen", "--only", "b"}).out, "#SBATCH --nodes=2\n"));
  CHECK(holds(workspace.hpcml({"gen", "--only", "b"}).out, "#SBATCH --job-name=b\n"));
  CHECK(holds(workspace.hpcml({"gen", "--only", "c"}).err,
              "--only selects job 'c', but the request has no job of this name"));
  CHECK(holds(workspace.hpcml({"gen", "--", "z"}).err, "--only"));
  CHECK(holds(workspace.hpcml({"submit", "--chain", "2"}).err, "--only"));
  const auto wrong = workspace.hpcml({"submit", "--gpus-per-node", "9"});
  CHECK(wrong.exit_code == 4);
  CHECK(holds(wrong.err, "job a: 9 GPUs"));
  CHECK(holds(wrong.err, "job b: 9 GPUs"));
}

TEST_CASE("Ctrl-C on a terminal leaves the job and gives the terminal back", "[slurm]") {
  const Workspace workspace;
  workspace.put("steps.sh", "#!/bin/bash\nfor i in {1..500}; do echo step $i; sleep 1; done\n", 0755);
  // A terminal as people have it: its driver makes the signal of the key, for all of the foreground.
  workspace.put("terminal.py", R"(
import os, pty, sys, termios, time
master, slave = pty.openpty()
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    os.close(os.open(os.ttyname(slave), os.O_RDWR))  # the first terminal that a session opens is its own
    for number in range(3): os.dup2(slave, number)
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while b"step 1" not in text: text += os.read(master, 4096)
os.write(master, b"\x03")
status = os.waitpid(pid, 0)[1]
os.set_blocking(master, False)
try:
    while True: text += os.read(master, 4096)
except OSError: pass
print(text.decode().replace("\r", "<CR>").replace("\x1b[K", "<K>"))
print("status", os.WIFEXITED(status) and os.WEXITSTATUS(status), "same", termios.tcgetattr(slave) == before)
)");
  const auto result = workspace.emulate("lumi", 1,
                                        "timeout 600 python3 terminal.py $H submit" + k_request +
                                            "--watch -- ./steps.sh; squeue -h -o 'job %i %T'; scancel 1");
  CAPTURE(result.out, result.err);
  CHECK(holds(result.out, "job 1 RUNNING"));
  CHECK(holds(result.out, "hpcml watch 1"));
  CHECK(holds(result.out, "status 130 same True"));
}

TEST_CASE("jobs that wait for each other, arrays, chains and steps run in their order on a real Slurm",
          "[slurm]") {
  const Workspace workspace;
  workspace.put("hpcml.json", R"(// three jobs
    {"site": "lumi", "account": "project_1", "time": "10", "partition": "small-g", "gpus-per-node": 2, "launcher": "srun", "jobs": [
      {"name": "test", "after": "train", "command": ["cat", "trained"]},
      {"name": "train", "after": "prepare", "chain": 2, "steps": [
        {"command": ["bash", "-c", "cat prepared-* > staged; echo staged"], "once": true},
        {"command": ["bash", "-c", "cat staged >> trained; echo trained"]}]},
      {"name": "prepare", "array": "0-1", "tasks-per-node": 1, "command": ["bash", "-c", "sleep 1; echo part > prepared-$SLURM_ARRAY_TASK_ID"]}]})");
  const auto result = workspace.emulate("lumi", 1, "$H submit --test-only; $H submit --watch; echo code $?");
  CAPTURE(result.out, result.err);
  CHECK(holds(result.out, "prepare: would start at"));
  CHECK(holds(result.out, "test: would start at"));
  CHECK(holds(result.out, "code 0\n"));
  // Each of two ranks of two chained jobs appends what one process has staged from both parts.
  const auto log = workspace.read("trained");
  CHECK(log == "part\npart\npart\npart\npart\npart\npart\npart\n");
  for (const char* word : {"staged\n", "trained\ntrained\n", "part\npart\n"}) CHECK(holds(result.out, word));
}
