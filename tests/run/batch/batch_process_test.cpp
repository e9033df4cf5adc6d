// SPDX-License-Identifier: MIT
// `hpcml internal batch` as a process outside of Slurm, with commands of Slurm that the test writes.
#include <catch2/catch.hpp>

#include <csignal>
#include <ctime>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "run/batch/batch_helper.hpp"
#include "run/batch/step_processes.hpp"

using namespace hpcml;
using hpcml::testing::BatchRun;
using hpcml::testing::has_ended;
using hpcml::testing::read_pid;
using test::holds;

namespace {

using Words = std::vector<std::string>;

const Words k_saving = {"--save-before", "1m"};
const Words k_requeueing = {"--save-before", "1m", "--max-requeues", "2"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// As `scontrol -o show job` prints it, with a time limit that many seconds from now.
std::string record_with_limit(int seconds) {
  const std::time_t end = std::time(nullptr) + seconds;
  std::tm time{};
  ::localtime_r(&end, &time);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &time);
  return "JobId=70 JobName=a b JobState=RUNNING Restarts=0 EndTime=" + std::string(text) +
         " PreemptTime=None";
}

/// Runs a script and sends the batch process USR1 when `line` is in the log.
int run_to_limit(BatchRun& job, const Words& options, const std::string& script, const std::string& line) {
  job.start(options, script);
  job.wait_for(line);
  job.signal(SIGUSR1);
  return job.wait();
}

/// The steps that have started, of the lines in a log.
std::string steps_of(const std::string& log) {
  std::string steps;
  for (const auto& line : util::split(log, '\n'))
    if (line.starts_with("srun ") && !holds(line, ": ")) steps += line + "\n";
  return steps;
}

} // namespace

TEST_CASE("batch ends with the exit code of the script", "[program]") {
  for (const int code : {0, 3, 143}) {
    BatchRun job;
    CHECK(job.run({}, "srun exit " + std::to_string(code)) == code);
    CHECK(job.log() == "srun exit " + std::to_string(code) + "\n");
    CHECK(job.output().empty());
    CHECK_FALSE(job.has_leftovers());
  }
  BatchRun killed;
  CHECK(killed.run({}, "kill -SEGV $$") == 139);
  BatchRun wrong;
  wrong.set("PATH", wrong.path("bin").string());
  CHECK(wrong.run({}, "") == 127);
  CHECK(holds(wrong.output(),
              "hpcml: error: cannot start the script of the job: cannot run bash: not found in PATH\n"));
}

TEST_CASE("batch passes arguments and its environment to the script", "[program]") {
  BatchRun job;
  job.set("SLURM_RESTART_COUNT", "1");
  CHECK(job.run(with(k_requeueing, {"--save-signal", "USR2", "--checkpoint-dir", "checkpoints"}),
                "printf '<%s>' \"$@\" $HPCML_BATCH $HPCML_RESTART_COUNT $HPCML_SAVE_SIGNAL\n"
                "[[ -d $HPCML_CHECKPOINT_DIR ]] && echo \" $HPCML_CHECKPOINT_DIR\"",
                {"a", "b c", "--hpcml-successor=60:4", "*"}) == 0);
  CHECK(job.output() == "<a><b c><*><70><5><USR2> " + job.path("checkpoints/60").string() + "\n");
}

TEST_CASE("batch and its store use at most 12 MB", "[program]") {
  BatchRun job;
  CHECK(job.run(with(k_requeueing, {"--checkpoint-dir", "checkpoints"}),
                "for pid in $PPID $(pgrep -P $PPID -x hpcml-store); do\n"
                "  sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$pid/status\n"
                "done") == 0);
  unsigned long long kilobytes = 0;
  unsigned processes = 0;
  for (const auto& line : util::split(job.output(), '\n')) {
    if (line.empty()) continue;
    kilobytes += util::parse_unsigned(line).value_or(1U << 30U);
    ++processes;
  }
  CAPTURE(job.output());
  CHECK(processes == 2);
  CHECK(kilobytes > 1000);
  CHECK(kilobytes <= 12 * 1024);
}

TEST_CASE("batch asks the ranks to save at USR1", "[program]") {
  BatchRun job;
  CHECK(run_to_limit(job, k_saving, "srun -n2 save 7\necho next >> $LOG", "srun -n2 save 7") == 7);
  CHECK(
      holds(job.output(), "hpcml: 00:01:00 left until the time limit: asking the ranks to save and exit\n"));
  CHECK(holds(job.actions(), "srun -n2 save 7\nsrun -n2 save 7: "));
  CHECK_FALSE(holds(job.actions(), "next"));
  if (!batch::is_tracked_by_cgroup(batch::read_cgroups()))
    CHECK(holds(job.log(), "scancel --signal=URG 70\n"));
  CHECK_FALSE(job.has_leftovers());
}

TEST_CASE("batch lets Slurm signal the tasks if asked to", "[program]") {
  BatchRun job;
  CHECK(run_to_limit(job, with(k_saving, {"--save-by", "step", "--save-signal", "USR2"}), "srun save 0",
                     "srun save") == 0);
  CHECK(job.actions() == "srun save 0\nsrun save 0: USR2\n");
  BatchRun unforwarded;
  CHECK(run_to_limit(unforwarded, with(k_saving, {"--save-by", "step", "--save-signal", "TERM"}),
                     "srun save 0", "srun save") == 0);
  CHECK(holds(unforwarded.log(), "scancel --signal=TERM 70\n"));
  CHECK(unforwarded.actions() == "srun save 0\nsrun save 0: TERM\n");
}

TEST_CASE("batch counts the time to the limit by itself", "[program]") {
  BatchRun job;
  job.set_record(record_with_limit(60), "srun save");
  CHECK(job.run(k_requeueing, "srun save 4") == 4);
  CHECK(holds(job.actions(), "scontrol requeue 70\n"));
  BatchRun by_variable;
  by_variable.set("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 60));
  by_variable.run(k_requeueing, "srun save 4"); // the script may be asked to end before its step has started
  CHECK(holds(by_variable.actions(), "scontrol requeue 70\n"));
}

TEST_CASE("batch requeues the job when saving takes too long", "[program]") {
  const auto check = [](BatchRun& job, const std::string& lead, bool is_signalled) {
    job.start({"--save-before", lead, "--max-requeues", "2"}, "srun ignore 0");
    job.wait_for("srun ignore");
    if (is_signalled) job.signal(SIGUSR1);
    job.wait_for("scontrol requeue 70\n");
    CHECK(holds(job.output(), "hpcml: the ranks did not exit in time: requeuing job 70, which starts again "
                              "(restart 1 of at most 2)\n"));
    job.signal(SIGTERM); // as Slurm does then
    REQUIRE(util::write_file(job.path("release"), ""));
    CHECK(job.wait() == 0);
  };
  BatchRun job;
  job.set_record(record_with_limit(7), "srun ignore"); // 6 of them are for the requeue
  check(job, "1m", false);
  BatchRun unknown; // Slurm does not answer, and only its signal has come
  unknown.set_command("scontrol", "[[ $1 == requeue ]] || exec sleep 100");
  check(unknown, "2s", true);
}

TEST_CASE("batch saves and repeats the requeue while slurmctld is down", "[program]") {
  BatchRun job;
  job.set_command("scontrol",
                  "[[ ! -e answers ]] || exit 0\n[[ $1 == requeue ]] || exec sleep 100\ntouch answers\n"
                  "echo 'scontrol: error: Unable to contact slurm controller (connect failure)' >&2\nexit 1");
  job.set_command("scancel", "exit 1");
  CHECK(run_to_limit(job, k_requeueing, "srun save 0", "srun save 0") == 0);
  CHECK(holds(job.log(), "srun save 0: USR"));
  CHECK(holds(job.actions(), "scontrol requeue 70\nscontrol requeue 70\n"));
  CHECK_FALSE(job.has_leftovers());
}

TEST_CASE("batch does not requeue a job that was cancelled meanwhile", "[program]") {
  BatchRun job;
  job.set_command("scontrol",
                  "if [[ -e answers ]]; then echo 'JobId=70 JobName=a'; echo '   JobState=CANCELLED "
                  "Reason=None'; exit 0; "
                  "fi\n[[ $1 == requeue ]] || exit 0\ntouch answers\n"
                  "echo 'scontrol: error: Unable to contact slurm controller (connect failure)' >&2\nexit 1");
  job.start(k_requeueing, "srun save 0");
  job.wait_for("srun save");
  job.signal(SIGUSR1);
  CHECK(job.wait() == 0);
  CHECK(holds(
      job.output(),
      "hpcml: Slurm does not requeue job 70: it was cancelled\nhpcml: hint: run hpcml submit --continue "));
  CHECK_FALSE(holds(job.actions(), "scontrol requeue 70\nscontrol requeue 70\n"));
}

TEST_CASE("batch starts no further step after a request to save", "[program]") {
  struct {
    const char *script, *step;
    int code;
  } const cases[] = {
      {"set -euo pipefail\nsrun save 7 2>&1 | tee out\nsrun save 1", "srun save 7", 7},
      {"for i in 2 3 4; do srun save $i; done", "srun save 2", 2},
      {"for i in 2 3; do srun save $i; done | tee out", "srun save 2", 2},
      {"if srun save 0; then srun save 1; fi", "srun save 0", 0},
      {"(srun save 5; srun save 6) &\nwait\nsrun save 1", "srun save 5", 5},
      {"srun save 3 &\nwait\nsrun save 1", "srun save 3", 3},
      {"code=$(srun save 3; srun save 1)", "srun save 3", 3},
      {"timeout --foreground 600 srun save 8\nsrun save 1", "srun save 8", 8},
  };
  for (const auto& [script, step, code] : cases) {
    INFO(script);
    BatchRun job;
    CHECK(run_to_limit(job, k_saving, script, step) == code);
    CHECK(steps_of(job.log()) == std::string(step) + "\n");
    CHECK(holds(job.log(), std::string(step) + ": "));
    CHECK_FALSE(job.has_leftovers());
  }
}

TEST_CASE("batch asks all steps to save", "[program]") {
  BatchRun job;
  job.start(k_saving, "srun -a save 3 &\nsrun -b save 4 &\nwait");
  job.wait_for("srun -a save");
  job.wait_for("srun -b save");
  job.signal(SIGUSR1);
  CHECK(job.wait() == 4);
  CHECK(holds(job.log(), "srun -a save 3: "));
  CHECK(holds(job.log(), "srun -b save 4: "));
}

TEST_CASE("batch signals a step that starts after the request", "[program]") {
  BatchRun job;
  // The subshell has no step at the request, so it is not stopped.
  job.start(k_saving,
            "(while [[ ! -e late ]]; do sleep 0.01; done; srun -b save 4) &\nsrun -a ignore 3\nsrun save 1");
  job.wait_for("srun -a ignore");
  job.signal(SIGUSR1);
  job.wait_for("srun -a ignore 3: ");
  REQUIRE(util::write_file(job.path("late"), ""));
  job.wait_for("srun -b save 4: ");
  REQUIRE(util::write_file(job.path("release"), ""));
  CHECK(job.wait() == 4);
  CHECK(steps_of(job.log()) == "srun -a ignore 3\nsrun -b save 4\n");
}

TEST_CASE("batch runs EXIT traps of the script and its subshells", "[program]") {
  BatchRun job;
  CHECK(run_to_limit(job, k_requeueing,
                     "trap 'echo main >> $LOG' EXIT\n"
                     "(trap 'echo subshell >> $LOG' EXIT; srun save 5; srun save 6) &\nwait",
                     "srun save 5") == 5);
  CHECK(holds(job.log(), "main\n"));
  job.wait_for("subshell\n");
  CHECK(holds(job.log(), "scontrol requeue 70\n"));
  CHECK(steps_of(job.log()) == "srun save 5\n");
  CHECK_FALSE(job.has_leftovers());
}

TEST_CASE("batch ends a script without a step", "[program]") {
  BatchRun job;
  CHECK(run_to_limit(job, k_saving, "echo ready >> $LOG\nread -t 600 < <(sleep 600)\nsrun save 1", "ready") ==
        143);
  CHECK(steps_of(job.log()).empty());
}

TEST_CASE("batch asks the ranks to save at SIGTERM", "[program]") {
  BatchRun job;
  job.start(k_requeueing, "srun save 6\nsrun save 1");
  job.wait_for("srun save 6");
  job.signal(SIGTERM);
  CHECK(job.wait() == 6);
  CHECK(holds(job.output(), "hpcml: Slurm ends the job: asking the ranks to save and exit\n"));
  CHECK(steps_of(job.log()) == "srun save 6\n");
  CHECK_FALSE(holds(job.log(), "requeue"));
  BatchRun twice;
  twice.start(k_requeueing, "srun ignore 6");
  twice.wait_for("srun ignore 6");
  twice.signal(SIGUSR1);
  twice.wait_for("srun ignore 6: ");
  twice.signal(SIGTERM);
  twice.signal(SIGTERM);
  REQUIRE(util::write_file(twice.path("release"), ""));
  CHECK(twice.wait() == 6);
  CHECK_FALSE(holds(twice.log(), "requeue"));
}

TEST_CASE("batch waits for the steps at SIGTERM", "[program]") {
  for (const Words& options : {Words{}, k_saving}) {
    BatchRun job;
    job.set_command("scancel", "");
    job.start(options, "echo $$ > shell\nsrun ignore 6\nsrun save 1");
    job.wait_for("srun ignore 6");
    const auto shell = read_pid(job.path("shell"));
    // Slurm without cgroups signals all processes of the job.
    job.signal(SIGTERM);
    ::kill(shell, SIGTERM);
    if (options.empty()) CHECK(has_ended(shell)); // the other is stopped by then, or has ended
    job.signal_steps(SIGTERM);
    job.wait_for("srun ignore 6: ");
    REQUIRE(util::write_file(job.path("release"), ""));
    CHECK(job.wait() == 6);
    CHECK(steps_of(job.log()) == "srun ignore 6\n");
  }
}

TEST_CASE("batch passes signals on to the script", "[program]") {
  const std::string script =
      "trap 'echo USR1 >> $LOG; exit 31' USR1\ntrap 'echo USR2 >> $LOG; exit 32' USR2\n"
      "trap 'echo HUP >> $LOG; exit 33' HUP\ntrap 'echo INT >> $LOG; exit 34' INT\n"
      "sleep 600 & echo $! > child; echo ready >> $LOG; wait";
  struct {
    Words options;
    int signal;
    std::string name;
    int code;
  } const cases[] = {{{}, SIGUSR1, "USR1", 31},
                     {{}, SIGUSR2, "USR2", 32},
                     {{}, SIGHUP, "HUP", 33},
                     {{}, SIGINT, "INT", 34},
                     {k_saving, SIGUSR2, "USR2", 32}};
  for (const auto& [options, signal, name, code] : cases) {
    INFO(name);
    BatchRun job;
    job.start(options, script);
    job.wait_for("ready");
    job.signal(signal);
    CHECK(job.wait() == code);
    CHECK(job.actions() == "ready\n" + name + "\n");
  }
}

TEST_CASE("the script's shell ends with a killed batch process", "[program]") {
  BatchRun job;
  job.start(k_saving, "echo $$ > shell\nsrun save 0");
  job.wait_for("srun save 0");
  const auto shell = read_pid(job.path("shell"));
  job.signal(SIGKILL);
  CHECK(job.wait() == 137);
  CHECK(has_ended(shell));
}

TEST_CASE("batch names the version of a script with unknown options", "[program]") {
  BatchRun job;
  CHECK(job.run({"--teleport"}, "# Written by hpcml 9.8.7 for site lumi.\n") == 2);
  CHECK(holds(
      job.output(),
      "hpcml internal batch has no option '--teleport': the script was written by hpcml 9.8.7, but this is "
      "hpcml "));
  CHECK(holds(job.output(), "hint: run hpcml gen again to update the script"));
  BatchRun unwritten;
  CHECK(unwritten.run({"--teleport"}, "") == 2);
  CHECK(holds(unwritten.output(), "hpcml internal batch has no option '--teleport'\n"));
}

TEST_CASE("batch reports requests that it cannot carry out", "[program]") {
  struct {
    Words options, arguments;
    std::string message;
    int code;
  } const cases[] = {
      {{"--save-before", "never"}, {}, "--save-before: ", 2},
      {{"--save-before", "1m", "--save-signal", "KILL"}, {}, "--save-signal: ", 2},
      {{"--max-requeues", "1", "--requeue-on", "program"}, {}, "--requeue-on: ", 2},
      {{"--chain", "4711"}, {}, "--chain must be FIRST_JOB:JOBS_BEFORE_THIS, such as 4711:2, not '4711'", 2},
      {{}, {"--hpcml-successor=60"}, "the script's argument --hpcml-successor=60 is not valid", 2},
      {{"--checkpoint-dir", "/proc/1/none"},
       {},
       "cannot create the checkpoint directory '/proc/1/none/70",
       5},
  };
  for (const auto& [options, arguments, message, code] : cases) {
    INFO(message);
    BatchRun job;
    CHECK(job.run(options, "srun exit 0", arguments) == code);
    CHECK(holds(job.output(), message));
    CHECK(job.log().empty());
  }
  BatchRun outside;
  outside.set("SLURM_JOB_ID", "");
  CHECK(outside.run({}, "srun exit 0") == 2);
  CHECK(holds(outside.output(), "this is not a Slurm job: SLURM_JOB_ID is not set"));
}
