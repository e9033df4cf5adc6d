// SPDX-License-Identifier: MIT
// What Slurm is asked to do for a requeue, and what follows from its answers.
#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "core/util/file.hpp"
#include "holds.hpp"
#include "run/batch/job_nodes.hpp"
#include "run/batch/job_requeue.hpp"
#include "run/batch/scripted_commands.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using hpcml::testing::ScriptedAnswer;
using hpcml::testing::ScriptedCommands;
using test::holds;

namespace {

using Words = std::vector<std::string>;
using Answers = std::vector<std::pair<std::string, ScriptedAnswer>>;

const std::string k_record =
    "JobId=70 JobName=a Partition=gpu NumNodes=2 ReqNodeList=(null) ExcNodeList=n9\n";
const std::string k_nodes = "n1 alloc\nn2 alloc\nn3 idle\nn4 idle\nn9 down\n";
const ScriptedAnswer k_done;

/// Job 70 with a file of faulty nodes, and a fake sbatch that writes its words into a file.
class Requeue {
public:
  explicit Requeue(Answers answers, const std::string& bad_nodes = {}) : x_commands(std::move(answers)) {
    x_job.name = x_job.first = "70";
    x_job.command = {"bash", script(), "a b", "-c"};
    x_job.bad_nodes_file = (x_directory / "bad-nodes").string();
    if (!bad_nodes.empty()) REQUIRE(util::write_file(x_job.bad_nodes_file, bad_nodes));
    set_sbatch("echo 71");
  }
  void set_sbatch(const std::string& body) {
    const auto place = (x_directory / "sbatch").string();
    x_request.submit_command = place;
    REQUIRE(util::write_file(place,
                             "#!/bin/bash\nprintf '%s\\n' \"$@\" > '" + place + ".words'\n" +
                                 "printf '%s' \"${HPCML_JOB_SECRET-}\" > '" + place + ".secret'\n" + body +
                                 "\n",
                             0755));
  }
  RequeueResult run(const std::string& copy) {
    const util::EnvSnapshot env({{"PATH", "/usr/bin:/bin"}, {"HPCML_JOB_SECRET", "key"}});
    return requeue_job(x_request, x_job, copy, x_commands, env);
  }
  RequeueResult run() { return run(script()); }
  BatchJob& job() { return x_job; }
  std::string script() const { return (x_directory / "copy.sh").string(); }
  std::string sbatch_words() const { return util::read_file(x_directory / "sbatch.words").value_or(""); }
  std::string sbatch_secret() const {
    return util::read_file(x_directory / "sbatch.secret").value_or("none");
  }
  const Words& commands() const { return x_commands.commands(); }

private:
  test::TempDirectory x_directory;
  ScriptedCommands x_commands;
  BatchRequest x_request;
  BatchJob x_job;
};

Answers with_nodes(const Answers& answers) {
  Answers all = {{"scontrol -o show job", {0, k_record, ""}}, {"sinfo", {0, k_nodes, ""}}};
  all.insert(all.end(), answers.begin(), answers.end());
  return all;
}

slurm::Answer failed(const std::string& err) { return {{"scontrol"}, true, {1, "", err}, err}; }

const Words k_questions = {"scontrol -o show job 70", "sinfo -h -N -p gpu -o %N %t", "scontrol requeue 70"};

Words after_questions(const Words& more) {
  auto words = k_questions;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

} // namespace

TEST_CASE("is_unreachable separates refusals from silence") {
  for (const char* text :
       {"scontrol: error: slurm_requeue: Unable to contact slurm controller (connect failure)",
        "scontrol: error: Connection refused",
        "slurm_load_jobs error: Socket timed out on send/recv operation",
        "Slurm backup controller in standby mode", "Zero Bytes were transmitted or received"}) {
    INFO(text);
    CHECK(is_unreachable(failed(text)));
  }
  for (const char* text : {"Requested operation is presently disabled", "Access/permission denied",
                           "Invalid job id specified", "Job/step already completing or completed", ""}) {
    INFO(text);
    CHECK_FALSE(is_unreachable(failed(text)));
  }
  CHECK(is_unreachable(
      {{"scontrol"}, false, {}, "scontrol exceeded its time limit of 10000 ms and was stopped"}));
  CHECK_FALSE(is_unreachable({{"scontrol"}, false, {}, "scontrol is not in PATH"}));
}

TEST_CASE("requeue_job asks Slurm once") {
  Requeue accepted({{"scontrol requeue", k_done}});
  CHECK(accepted.run().answer == RequeueAnswer::accepted);
  CHECK(accepted.commands() == Words{"scontrol requeue 70"});
  Requeue refused({{"scontrol requeue", {1, "", "Requested operation is presently disabled"}}});
  const auto result = refused.run();
  CHECK(result.answer == RequeueAnswer::refused);
  CHECK(result.why == "Requested operation is presently disabled");
  Requeue silent(Answers{});
  CHECK(silent.run().answer == RequeueAnswer::unreachable);
  Requeue down({{"scontrol requeue", {1, "", "Unable to contact slurm controller (connect failure)"}}});
  CHECK(down.run().answer == RequeueAnswer::unreachable);
  Requeue task({{"scontrol requeue", k_done}});
  task.job().name = "69_3";
  CHECK(task.run().answer == RequeueAnswer::accepted);
  CHECK(task.commands() == Words{"scontrol requeue 69_3"});
}

TEST_CASE("requeue_job excludes faulty nodes") {
  Requeue job(with_nodes({{"scontrol requeue", k_done}, {"scontrol update", k_done}}),
              "n2 its agent was lost\n");
  CHECK(job.run().answer == RequeueAnswer::accepted);
  CHECK(job.commands() == after_questions({"scontrol update jobid=70 ExcNodeList=n[9,2]"}));
  CHECK(job.sbatch_words().empty());
  CHECK(read_successor(job.job()).empty());
  Requeue excluded(with_nodes({{"scontrol requeue", k_done}}), "n9 its agent was lost\n");
  CHECK(excluded.run().answer == RequeueAnswer::accepted);
  CHECK(excluded.commands() == k_questions);
}

TEST_CASE("requeue_job requeues without the list if Slurm is silent") {
  Requeue job({{"scontrol requeue", k_done}}, "n2 its agent was lost\n");
  CHECK(job.run().answer == RequeueAnswer::accepted);
  CHECK(job.commands() == Words{"scontrol -o show job 70", "scontrol requeue 70"});
}

TEST_CASE("requeue_job changes nothing if the requeue is refused") {
  Requeue job(with_nodes({{"scontrol requeue", {1, "", "Access/permission denied"}}}),
              "n2 its agent was lost\n");
  CHECK(job.run().answer == RequeueAnswer::refused);
  CHECK(job.commands() == k_questions);
  CHECK(job.sbatch_words().empty());
}

TEST_CASE("requeue_job submits a successor if the list is fixed") {
  const Answers fixed = with_nodes({{"scontrol requeue", k_done},
                                    {"scontrol update", {1, "", "Access/permission denied"}},
                                    {"scancel", k_done}});
  Requeue job(fixed, "n2 its agent was lost\n");
  job.job().restarts = 4;
  job.job().starts_here = 1; // which the successor reads from the same file
  CHECK(job.run().answer == RequeueAnswer::accepted);
  CHECK(job.commands() == after_questions({"scontrol update jobid=70 ExcNodeList=n[9,2]", "scancel 70"}));
  CHECK(job.sbatch_words() == "--parsable\n--dependency=afterany:70\n--exclude=n[9,2]\n" + job.script() +
                                  "\n--hpcml-successor=70:4\na b\n-c\n");
  CHECK(job.sbatch_secret().empty());
  CHECK(read_successor(job.job()) == "71");
  Requeue task(fixed, "n2 its agent was lost\n");
  task.job().name = "69_3";
  task.job().first = "60_3";
  task.job().array_task = "3";
  CHECK(task.run().answer == RequeueAnswer::accepted);
  CHECK(task.sbatch_words() == "--parsable\n--dependency=afterany:69_3\n--exclude=n[9,2]\n--array=3\n" +
                                   task.script() + "\n--hpcml-successor=60_3:1\na b\n-c\n");
  CHECK(read_successor(task.job()) == "71_3");
}

TEST_CASE("requeue_job records the successor before it cancels") {
  // If scancel fails, the job starts again: the record keeps it from running next to its successor.
  Requeue job(with_nodes({{"scontrol requeue", k_done},
                          {"scontrol update", {1, "", "denied"}},
                          {"scancel", {1, "", "denied"}}}),
              "n2 its agent was lost\n");
  CHECK(job.run().answer == RequeueAnswer::accepted);
  CHECK(job.commands().back() == "scancel 70");
  CHECK(read_successor(job.job()) == "71");
}

TEST_CASE("requeue_job lets the job start again without a successor") {
  const Answers fixed = with_nodes({{"scontrol requeue", k_done}, {"scontrol update", {1, "", "denied"}}});
  Requeue refused(fixed, "n2 its agent was lost\n");
  refused.set_sbatch("echo 'sbatch: error: Batch job submission failed: Invalid qos' >&2; exit 1");
  CHECK(refused.run().answer == RequeueAnswer::accepted);
  CHECK(refused.commands().back() == "scontrol update jobid=70 ExcNodeList=n[9,2]"); // and is not cancelled
  CHECK(read_successor(refused.job()).empty());
  Requeue uncopied(fixed, "n2 its agent was lost\n");
  CHECK(uncopied.run("").answer == RequeueAnswer::accepted);
  CHECK(uncopied.sbatch_words().empty());
  CHECK(read_successor(uncopied.job()).empty());
}

TEST_CASE("files of another user next to a job are ignored") {
  if (::geteuid() != 0) return test::skip("only root may give files away");
  constexpr uid_t k_nobody = 65534;
  Requeue job(Answers{});
  REQUIRE(util::write_file(job.job().successor_file(), "71\n"));
  REQUIRE(util::write_file(job.job().bad_nodes_file, "n2 its agent was lost\n"));
  CHECK(read_successor(job.job()) == "71");
  CHECK(read_bad_nodes(job.job().bad_nodes_file).value_or({}).size() == 1);
  for (const auto& file : {job.job().successor_file(), job.job().bad_nodes_file})
    REQUIRE(::chown(file.c_str(), k_nobody, k_nobody) == 0);
  CHECK(read_successor(job.job()).empty());
  const auto bad = read_bad_nodes(job.job().bad_nodes_file);
  REQUIRE_FALSE(bad);
  CHECK(holds(bad.error().what, "belongs to another user (uid 65534)"));
}

TEST_CASE("read_successor accepts only numbers of jobs") {
  Requeue job(Answers{});
  CHECK(read_successor(job.job()).empty());
  for (const std::string text : {"71\n", "71_3\n", "71"}) {
    REQUIRE(util::write_file(job.job().successor_file(), text));
    CHECK(read_successor(job.job()) == text.substr(0, text.find('\n')));
  }
  for (const std::string text : {"", "\n", "x", "71 72", "../71", "71;reboot"}) {
    REQUIRE(util::write_file(job.job().successor_file(), text));
    CHECK(read_successor(job.job()).empty());
  }
  REQUIRE(util::write_file(job.job().successor_file(), "71\n"));
  job.job().bad_nodes_file.clear();
  CHECK(read_successor(job.job()).empty());
}
