// SPDX-License-Identifier: MIT
// The names, restarts and files of the job that a batch process belongs to.
#include <catch2/catch.hpp>

#include "holds.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/script_environment.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using test::holds;

namespace {

using Variables = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

BatchRequest make_request() {
  BatchRequest request;
  request.command = {"bash", "-l", "job.sh"};
  request.requeues = true;
  request.max_requeues = 3;
  request.checkpoint_dir = "/scratch/run";
  return request;
}

util::EnvSnapshot environment(Variables variables) {
  variables.insert({{"SLURM_JOB_ID", "4711"}, {"PWD", "/shared"}});
  return util::EnvSnapshot(std::move(variables));
}

BatchJob make(const BatchRequest& request, Variables variables = {}, const Words& arguments = {}) {
  auto with_arguments = request;
  with_arguments.command.insert(with_arguments.command.end(), arguments.begin(), arguments.end());
  return make_batch_job(with_arguments, environment(std::move(variables))).value();
}

const Variables k_task = {
    {"SLURM_JOB_ID", "4714"}, {"SLURM_ARRAY_JOB_ID", "4711"}, {"SLURM_ARRAY_TASK_ID", "3"}};

} // namespace

TEST_CASE("make_batch_job names the job as Slurm's commands do") {
  const auto job = make(make_request());
  CHECK(job.name == "4711");
  CHECK(job.first == "4711");
  CHECK(job.array_task.empty());
  CHECK(job.command == make_request().command);
  const auto task = make(make_request(), k_task);
  CHECK(task.name == "4711_3");
  CHECK(task.first == "4711_3");
  CHECK(task.array_task == "3");
  CHECK(task.checkpoint_directory == "/scratch/run/4711_3");
  const auto outside = make_batch_job(make_request(), util::EnvSnapshot());
  REQUIRE_FALSE(outside);
  CHECK(outside.error().what == "this is not a Slurm job: SLURM_JOB_ID is not set");
}

TEST_CASE("make_batch_job counts restarts") {
  auto request = make_request();
  CHECK(make(request).restarts == 0);
  CHECK(make(request, {{"SLURM_RESTART_COUNT", "2"}}).restarts == 2);
  CHECK(make(request, {{"SLURM_RESTART_COUNT", "2"}}).max_restarts == 3);
  CHECK(make(request, {{"SLURM_RESTART_COUNT", "many"}}).restarts == 0);
  request.requeues = false;
  request.max_requeues = 0;
  CHECK(make(request).max_restarts == 0);
}

TEST_CASE("make_batch_job continues the jobs before it in a chain") {
  auto request = make_request();
  request.chain_first = "4700";
  request.chain_position = 2;
  const auto job = make(request, {{"SLURM_RESTART_COUNT", "1"}});
  CHECK(job.name == "4711");
  CHECK(job.first == "4700");
  CHECK(job.restarts == 3);
  CHECK(job.max_restarts == 5); // each job of a chain may be requeued as often
  CHECK(job.checkpoint_directory == "/scratch/run/4700");
  CHECK(job.bad_nodes_file == "/scratch/run/4700/bad-nodes");
  CHECK(make(request, k_task).first == "4700_3");
}

TEST_CASE("make_batch_job continues the job that it succeeds") {
  const auto request = make_request();
  const auto successor =
      make(request, {{"SLURM_RESTART_COUNT", "1"}}, {"a", "--hpcml-successor=4700_3:2", "b"});
  CHECK(successor.first == "4700_3");
  CHECK(successor.restarts == 3);
  CHECK(successor.max_restarts == 3);
  CHECK(successor.command == Words{"bash", "-l", "job.sh", "a", "b"});
  CHECK(successor.checkpoint_directory == "/scratch/run/4700_3");
  const auto continued = make(request, {{"SLURM_RESTART_COUNT", "1"}}, {"--hpcml-continue=4700:2"});
  CHECK(continued.first == "4700");
  CHECK(continued.restarts == 3);
  CHECK(continued.max_restarts == 5); // the user allows as many again
  CHECK(continued.command == Words{"bash", "-l", "job.sh"});
  auto chained = request;
  chained.chain_first = "4600";
  chained.chain_position = 1;
  CHECK(make(chained, {}, {"--hpcml-successor=4600:2"}).restarts == 2);
}

TEST_CASE("make_batch_job rejects an unreadable continuation") {
  for (const std::string text :
       {"", "4700", ":2", "4700:", "4700:x", "4700:-1", "4700:99999999999999999999", "4700:2000000"})
    for (const std::string argument : {k_successor_argument, k_continue_argument}) {
      INFO(argument << text);
      auto request = make_request();
      request.command.push_back(argument + text);
      const auto job = make_batch_job(request, environment({}));
      REQUIRE_FALSE(job);
      CHECK(holds(job.error().what, "the script's argument " + argument + text + " is not valid"));
    }
}

TEST_CASE("make_batch_job places the file of faulty nodes") {
  auto request = make_request();
  CHECK(make(request).bad_nodes_file == "/scratch/run/4711/bad-nodes");
  request.checkpoint_dir = "run";
  CHECK(make(request).checkpoint_directory == "/shared/run/4711");
  request.checkpoint_dir.clear();
  CHECK(make(request).bad_nodes_file == "/shared/./bad-nodes-4711");
  CHECK(make(request).checkpoint_directory.empty());
  request.log_dir = "/logs";
  CHECK(make(request).bad_nodes_file == "/logs/bad-nodes-4711");
  request.log_dir = "logs";
  const auto task = make(request, k_task);
  CHECK(task.bad_nodes_file == "/shared/logs/bad-nodes-4711_3");
  CHECK(task.starts_file() == "/shared/logs/bad-nodes-4711_3-starts");
  CHECK(task.successor_file() == "/shared/logs/bad-nodes-4711_3-successor-4711_3");
  request.requeues = false;
  CHECK(make(request).bad_nodes_file.empty());
  request.program_nodes = 2;
  CHECK(make(request).bad_nodes_file == "/shared/logs/bad-nodes-4711");
}

TEST_CASE("make_script_environment sets what the script needs") {
  auto request = make_request();
  request.save_before = std::chrono::minutes(5);
  request.save_signal = model::SaveSignal::parse("USR2").value();
  const auto env = environment({{"SLURM_RESTART_COUNT", "2"}});
  const auto all = make_script_environment(request, make_batch_job(request, env).value(), env);
  CHECK(all.get("HPCML_BATCH") == "4711");
  CHECK(all.get("HPCML_RUN_ID") == "4711");
  CHECK(all.get("HPCML_RESTART_COUNT") == "2");
  CHECK(all.get("HPCML_CHECKPOINT_DIR") == "/scratch/run/4711");
  CHECK(all.get("HPCML_BAD_NODES") == "/scratch/run/4711/bad-nodes");
  CHECK(all.get("HPCML_SAVE_SIGNAL") == "USR2");
  BatchRequest least;
  least.command = {"bash", "job.sh"};
  const auto none = make_script_environment(least, make_batch_job(least, env).value(), env);
  CHECK(none.get("HPCML_BATCH") == "4711");
  for (const char* name :
       {"HPCML_RESTART_COUNT", "HPCML_CHECKPOINT_DIR", "HPCML_BAD_NODES", "HPCML_SAVE_SIGNAL"})
    CHECK_FALSE(none.get(name));
}

TEST_CASE("make_script_environment keeps the run ID over all starts") {
  auto request = make_request();
  const auto id_of = [&](const util::EnvSnapshot& env) {
    return make_script_environment(request, make_batch_job(request, env).value(), env).get("HPCML_RUN_ID");
  };
  CHECK(id_of(environment({{"SLURM_CLUSTER_NAME", "lumi"}})) == "lumi-4711");
  CHECK(id_of(environment({{"SLURM_CLUSTER_NAME", "lumi"}, {"SLURM_RESTART_COUNT", "2"}})) == "lumi-4711");
  CHECK(id_of(environment({{"SLURM_ARRAY_JOB_ID", "4700"}, {"SLURM_ARRAY_TASK_ID", "3"}})) == "4700_3");
  CHECK(id_of(environment({{"HPCML_RUN_ID", "mine"}})) == "mine");
  CHECK(id_of(environment({{"HPCML_RUN_ID", "of-4600"}, {"HPCML_BATCH", "4600"}})) == "4711");
  request.command.push_back(std::string(k_successor_argument) + "4690:1");
  CHECK(id_of(environment({{"SLURM_CLUSTER_NAME", "lumi"}})) == "lumi-4690");
}

TEST_CASE("script_of skips the shell's options") {
  CHECK(script_of({"bash", "-l", "--norc", "job.sh", "-a"}) == "job.sh");
  CHECK(script_arguments({"bash", "-l", "job.sh", "-a", "b c"}) == Words{"-a", "b c"});
  CHECK(script_of({"bash", "job.sh"}) == "job.sh");
  CHECK(script_arguments({"bash", "job.sh"}).empty());
  CHECK(script_of({"bash"}).empty());
  CHECK(script_arguments({"bash", "-l"}).empty());
}
