// SPDX-License-Identifier: MIT
// `hpcml internal batch` as a process outside of Slurm: what it does when the script has ended.
#include <catch2/catch.hpp>

#include <csignal>
#include <map>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "run/batch/batch_helper.hpp"

using namespace hpcml;
using hpcml::testing::BatchRun;
using test::holds;

namespace {

using Words = std::vector<std::string>;

const Words k_requeueing = {"--save-before", "1m", "--max-requeues", "2"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::string k_running = "JobId=70 JobState=RUNNING Partition=p Restarts=0 NumNodes=2 PreemptTime=None";
const std::string k_preempted =
    "JobId=70 JobName=train me\n   JobState=RUNNING Reason=None\n   Restarts=0 BatchFlag=1\n"
    "   PreemptEligibleTime=2026-11-26T10:00:00 PreemptTime=2026-11-26T11:00:00\n";

/// scontrol prints `record`, and fails for words that match the pattern `failing`.
std::string scontrol_with(const std::string& record, const std::string& failing) {
  return "[[ $* != *'show job'* ]] || echo '" + record + "'\n[[ $* != " + failing +
         " ]] || { echo 'scontrol: error: " + "Access/permission denied' >&2; exit 1; }";
}

/// A job whose partition has three nodes, and whose script finds the second one faulty.
void lose_node(BatchRun& job, const std::string& failing = "''") {
  job.set_command("scontrol", scontrol_with(k_running, failing));
  job.set_command("sinfo", "printf 'n%s idle\\n' 1 2 3");
  job.set_command("sbatch", "echo 71");
}
const std::string k_losing_script = "echo \"n2 its agent was lost\" >> \"$HPCML_BAD_NODES\"\nsrun exit 1";

std::filesystem::path record_of(const BatchRun& job, const std::string& name = "70") {
  return job.path(".local/state/hpcml/jobs/" + name + ".json");
}

} // namespace

TEST_CASE("batch requeues a job that has saved", "[program]") {
  const auto run = [](BatchRun& job, int code) {
    job.start(k_requeueing, "srun save " + std::to_string(code));
    job.wait_for("srun save");
    job.signal(SIGUSR1);
    CHECK(job.wait() == code);
  };
  for (const int code : {0, 1}) {
    BatchRun job;
    run(job, code);
    CHECK(holds(job.log(), "\nscontrol requeue 70\n"));
    CHECK(holds(job.output(), "hpcml: saved before the time limit: requeuing job 70, which starts again "
                              "(restart 1 of at most 2)\n"));
    CHECK(std::filesystem::exists(record_of(job)));
  }
  BatchRun task;
  task.set("SLURM_ARRAY_JOB_ID", "69");
  task.set("SLURM_ARRAY_TASK_ID", "3");
  run(task, 0);
  CHECK(holds(task.log(), "\nscontrol requeue 69_3\n"));
  BatchRun last;
  last.set("SLURM_RESTART_COUNT", "2");
  run(last, 0);
  CHECK_FALSE(holds(last.log(), "requeue"));
  CHECK(holds(last.output(), "hpcml: saved before the time limit: job 70 reached its limit of 2 restarts"));
  CHECK(std::filesystem::exists(record_of(last)));
}

TEST_CASE("batch keeps a job's record until it succeeds", "[program]") {
  BatchRun failing;
  CHECK(failing.run(k_requeueing, "srun exit 3") == 3);
  CHECK(std::filesystem::exists(record_of(failing)));
  CHECK_FALSE(holds(failing.actions(), "requeue"));
  BatchRun job;
  CHECK(job.run(k_requeueing, "[[ -e .local/state/hpcml/jobs/70.json ]]") == 0);
  CHECK_FALSE(std::filesystem::exists(record_of(job)));
  BatchRun unrecorded;
  CHECK(unrecorded.run({}, "[[ ! -e .local/state ]]") == 0);
}

TEST_CASE("batch waits for Slurm after a preemption", "[program]") {
  BatchRun job;
  job.set_record(k_preempted);
  job.start(k_requeueing, "srun exit 0");
  job.wait_for("hpcml: preempted by another job: job 70 waits for Slurm");
  job.signal(SIGTERM);
  CHECK(job.wait() == 0);
  CHECK_FALSE(holds(job.log(), "requeue"));
  CHECK(std::filesystem::exists(record_of(job))); // the site may cancel what it preempts
}

TEST_CASE("batch requeues a preempted job if asked to", "[program]") {
  for (const int code : {0, 1}) {
    BatchRun job;
    job.set_record(k_preempted);
    CHECK(job.run(with(k_requeueing, {"--requeue-on", "preempted"}), "srun exit " + std::to_string(code)) ==
          code);
    CHECK(holds(job.actions(), "scontrol requeue 70\n"));
  }
  for (const std::string record :
       {"JobId=70 Restarts=0 PreemptTime=None", "JobId=70 Restarts=1 PreemptTime=2026-11-26T11:00:00", ""}) {
    BatchRun job;
    job.set_record(record);
    CHECK(job.run(with(k_requeueing, {"--requeue-on", "preempted"}), "srun exit 0") == 0);
    CHECK(job.actions() == "srun exit 0\n");
  }
  BatchRun at_signal;
  at_signal.set_record(k_preempted);
  at_signal.start(with(k_requeueing, {"--requeue-on", "preempted"}), "srun save 0");
  at_signal.wait_for("srun save 0");
  at_signal.signal(SIGTERM);
  CHECK(at_signal.wait() == 0);
  CHECK(holds(at_signal.log(), "\nscontrol requeue 70\n"));
}

TEST_CASE("batch requeues a run by the class in its record", "[program]") {
  const auto run = [](const std::string& failure) {
    BatchRun job;
    std::filesystem::create_directories(job.path("logs/70.0"));
    if (!failure.empty())
      REQUIRE(util::write_file(
          job.path("logs/70.0/record-0.jsonl"),
          "{\"event\":\"run\",\"class\":\"launcher\"}\n{\"event\":\"end\",\"code\":1,\"class\":\"" + failure +
              "\"}\n"));
    CHECK(job.run({"--max-requeues", "2", "--log-dir", "logs", "--requeue-on", "node,launcher"},
                  "srun exit 1") == 1);
    return job.actions();
  };
  CHECK(run("node") == "srun exit 1\nscontrol requeue 70\n");
  CHECK(run("launcher") == "srun exit 1\nscontrol requeue 70\n");
  CHECK(run("program") == "srun exit 1\n");
  CHECK(run("") == "srun exit 1\n");
}

TEST_CASE("batch requeues after a node loss without a record", "[program]") {
  // srun kills the agents of the other nodes before they can write the end of the run.
  const auto run = [](const std::string& states, const std::string& record = "") {
    BatchRun job;
    job.set_command("sinfo", "echo \"$*\" >> sinfo-words; printf 'n%s %s\\n' " + states);
    std::filesystem::create_directories(job.path("logs/70.0"));
    REQUIRE(util::write_file(job.path("logs/70.0/record-0.jsonl"), record));
    CHECK(job.run({"--max-requeues", "2", "--log-dir", "logs", "--requeue-on", "node"}, "srun exit 137") ==
          137);
    const auto words = util::read_file(job.path("sinfo-words")).value_or("");
    if (!words.empty()) CHECK(holds(words, "-h -N -n n[1-2] -o %N %t\n"));
    return job.actions();
  };
  const std::string requeued = "srun exit 137\nscontrol requeue 70\n", ended = "srun exit 137\n";
  const auto end_of = [](const std::string& failure) {
    return "{\"event\":\"end\",\"code\":137,\"class\":\"" + failure + "\"}\n";
  };
  for (const std::string lost : {"down", "down*", "fail", "drng*", "alloc*"}) {
    INFO(lost);
    CHECK(run("1 alloc 2 " + lost + " 3 idle") == requeued);
    CHECK(run("1 alloc 2 " + lost + " 3 idle", end_of("program")) == requeued);
    CHECK(run("1 alloc 2 " + lost + " 3 idle", end_of("user")) == ended);
  }
  CHECK(run("1 alloc 2 mix 3 drng") == ended);
  CHECK(run("1 alloc; exit 1") == ended); // slurmctld does not answer
}

TEST_CASE("batch excludes faulty nodes from the next start", "[program]") {
  BatchRun job;
  lose_node(job);
  CHECK(job.run({"--max-requeues", "2", "--requeue-on", "node"}, k_losing_script) == 1);
  CHECK(job.actions() == "srun exit 1\nscontrol requeue 70\nscontrol update jobid=70 ExcNodeList=n2\n");
  CHECK(holds(job.output(), "hpcml: node n2 is excluded from the next start: its agent was lost\n"));
}

TEST_CASE("batch requeues a job that starts on a faulty node", "[program]") {
  const auto run = [](BatchRun& job) {
    REQUIRE(util::write_file(job.path("bad-nodes-70"), "n2 its agent was lost\n"));
    CHECK(job.run({"--max-requeues", "2", "--requeue-on", "node"}, "srun exit 0") == 0);
    return job.actions();
  };
  BatchRun job;
  lose_node(job);
  CHECK(run(job) == "scontrol requeue 70\nscontrol update jobid=70 ExcNodeList=n2\n");
  BatchRun last;
  lose_node(last);
  last.set("SLURM_RESTART_COUNT", "2");
  CHECK(run(last) == "srun exit 0\n");
  BatchRun elsewhere;
  lose_node(elsewhere);
  elsewhere.set("SLURM_JOB_NODELIST", "n[1,3]");
  CHECK(run(elsewhere) == "srun exit 0\n");
  BatchRun refused;
  lose_node(refused, "requeue*");
  CHECK(run(refused) == "scontrol requeue 70\nsrun exit 0\n");
  CHECK(holds(refused.output(), "hpcml: Slurm does not requeue job 70: Access/permission denied; it starts "
                                "on its present nodes, of which one was found faulty\n"));
}

TEST_CASE("batch never runs a job that another one continues", "[program]") {
  BatchRun job;
  lose_node(job, "update*");
  job.set_command("scancel", "exit 1");
  job.set("SLURM_ARRAY_JOB_ID", "70");
  job.set("SLURM_ARRAY_TASK_ID", "3");
  const Words options = {"--max-requeues", "2", "--requeue-on", "node"};
  CHECK(job.run(options, k_losing_script, {"a b"}) == 1);
  const auto copy = job.path(".local/state/hpcml/jobs/70_3.sh").string();
  CHECK(holds(job.actions(), "sbatch --parsable --dependency=afterany:70_3 --exclude=n2 --array=3 " + copy +
                                 " --hpcml-successor=70_3:1 a b\nscancel 70_3\n"));
  CHECK(util::read_file(copy).value_or("") == k_losing_script);
  CHECK(holds(job.output(), "hpcml: cannot change the exclude list of job 70_3, which exits as soon as it "
                            "starts; submitted job 71_3 as its replacement\n"));
  const auto before = job.actions();
  job.set("SLURM_RESTART_COUNT", "1");
  CHECK(job.run(options, k_losing_script) == 0);
  CHECK(job.actions() == before);
  CHECK(holds(
      job.output(),
      "hpcml: job 71_3 has replaced this job (70_3), which therefore starts nothing and exits with 0\n"));
}

TEST_CASE("batch runs the program on healthy nodes", "[program]") {
  BatchRun job;
  job.set("SLURM_JOB_NODELIST", "n[1-3]");
  lose_node(job);
  REQUIRE(util::write_file(job.path("health"), "n1 ok\nn2 no GPU\nn3 ok\n"));
  const Words options = {"--max-requeues", "2", "--requeue-on", "node", "--program-nodes", "2"};
  CHECK(job.run(options, "echo \"on $HPCML_RUN_NODES\" >> $LOG") == 0);
  CHECK(job.actions() == "srun health\non n[1,3]\n");
  CHECK(util::read_file(job.path("bad-nodes-70")).value_or("") == "n2 no GPU\n");
  BatchRun poor;
  poor.set("SLURM_JOB_NODELIST", "n[1-3]");
  lose_node(poor);
  REQUIRE(util::write_file(poor.path("health"), "n1 ok\nn2 no GPU\nn3 no GPU\n"));
  CHECK(poor.run(options, "srun exit 0") == 1);
  CHECK(holds(poor.actions(), "srun health\nscontrol requeue 70\n"));
}

TEST_CASE("batch starts a script again on spare nodes", "[program]") {
  BatchRun job;
  job.set("SLURM_JOB_NODELIST", "n[1-3]");
  lose_node(job);
  REQUIRE(util::write_file(job.path("health"), "n1 ok\nn2 ok\nn3 ok\n"));
  const Words options = {"--max-requeues", "2", "--requeue-on", "node", "--program-nodes", "2"};
  const std::string script = "echo \"on $HPCML_RUN_NODES, $HPCML_RESTART_COUNT, ${SLURM_OVERLAP-}\" >> $LOG\n"
                             "[[ $HPCML_RESTART_COUNT == 0 ]] || exit 4\n" +
                             k_losing_script;
  CHECK(job.run(options, script) == 4);
  CHECK(job.actions() == "srun health\non n[1-2], 0, \nsrun exit 1\nsrun health\non n[1,3], 1, 1\n");
  CHECK(holds(job.output(), "hpcml: the run failed (cause: node): restarting it on healthy nodes of this job "
                            "(restart 1 of at most 2)\n"));
  CHECK(util::read_file(job.path("bad-nodes-70-starts")).value_or("") == "n[1,3]\n");
  // The next start of the job counts it.
  job.set("SLURM_RESTART_COUNT", "1");
  CHECK(job.run(options, "echo \"count $HPCML_RESTART_COUNT\" >> $LOG") == 0);
  CHECK(holds(job.log(), "count 2\n"));
}

TEST_CASE("batch does not start a job that Slurm ends", "[program]") {
  BatchRun job;
  lose_node(job);
  REQUIRE(util::write_file(job.path("health"), ""));
  // SIGTERM comes while the nodes are checked.
  job.set("ENDS_IN_CHECK", "1");
  CHECK(job.run({"--program-nodes", "1"}, "srun exit 0") == 143);
  CHECK(job.actions() == "srun health\n");
}

TEST_CASE("batch ends an expedited job that fails", "[program]") {
  const auto run = [](BatchRun& job, const std::string& record, int code) {
    job.set_record(record);
    CHECK(job.run(with(k_requeueing, {"--expedited"}), "srun exit " + std::to_string(code)) == code);
    return job.actions();
  };
  BatchRun job, task, success, waiting;
  CHECK(run(job, k_running, 3) == "srun exit 3\nscontrol update jobid=70 Requeue=0\n");
  task.set("SLURM_ARRAY_JOB_ID", "69");
  task.set("SLURM_ARRAY_TASK_ID", "3");
  CHECK(run(task, k_running, 3) == "srun exit 3\nscontrol update jobid=69_3 Requeue=0\n");
  CHECK(run(success, k_running, 0) == "srun exit 0\n");
  CHECK(run(waiting, "JobId=70 JobState=PENDING Restarts=0", 3) == "srun exit 3\n");
  BatchRun saved;
  saved.set_record(k_running);
  saved.start(with(k_requeueing, {"--expedited"}), "srun save 1");
  saved.wait_for("srun save 1");
  saved.signal(SIGUSR1);
  CHECK(saved.wait() == 1);
  CHECK_FALSE(holds(saved.log(), "Requeue=0"));
}

TEST_CASE("batch serves the key and the store of the job", "[program]") {
  BatchRun job;
  CHECK(job.run({"--secret", "--store", "--host", "127.0.0.1"},
                "echo \"$HPCML_STORE_ADDR ${#HPCML_JOB_SECRET} ${HPCML_MASTER_ADDR-}\"\n"
                "pgrep -P $PPID -x hpcml-store > store\n"
                "exec 3<> /dev/tcp/127.0.0.1/${HPCML_STORE_ADDR##*:}") == 0);
  CHECK(holds(job.output(), "127.0.0.1:"));
  CHECK(hpcml::testing::has_ended(hpcml::testing::read_pid(job.path("store"))));
}

TEST_CASE("batch serves no store that others serve", "[program]") {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--store", "agents"},
                                                  {"--store", "rank0"},
                                                  {"--store", "none"},
                                                  {"--no-store"},
                                                  {"--secret"}}) {
    CAPTURE(options.front());
    BatchRun job;
    CHECK(job.run(options, "echo \"<${HPCML_STORE_ADDR-unset} ${#HPCML_JOB_SECRET}>\"") == 0);
    CHECK(holds(job.output(), "<unset "));
    CHECK_FALSE(holds(job.output(), " 0>"));
  }
  BatchRun unknown;
  CHECK(unknown.run({"--store", "rank1"}, "srun exit 0") == 2);
}

TEST_CASE("batch rejects an unknown launcher", "[program]") {
  BatchRun job;
  CHECK(job.run({"--launcher", "torchrum"}, "srun exit 0") == 2);
  CHECK(holds(job.output(), "error: --launcher: unknown launcher 'torchrum'\n"));
  CHECK_FALSE(holds(job.log(), "srun exit"));
  BatchRun prefixed;
  CHECK(prefixed.run({"--launcher", "bede-mpirun"}, "srun exit 0") == 0);
}

TEST_CASE("batch names the host that a site's variable gives", "[program]") {
  // The node is n1: a host that starts with its name is another name.
  for (const std::string host : {"n1-ib0", "head.cluster"}) {
    BatchRun job;
    CHECK(job.run({"--host", host}, "echo \"<$HPCML_MASTER_ADDR $HPCML_MASTER_NODE>\"") == 0);
    CHECK(holds(job.output(), "<" + host + " n1>"));
  }
  BatchRun plain;
  CHECK(plain.run({}, "echo \"<${HPCML_MASTER_ADDR-unset}>\"") == 0);
  CHECK(holds(plain.output(), "<unset>"));
}
