// SPDX-License-Identifier: MIT
// Steps that cannot begin: all ranks are told because of whom, and the next run does not hear of it.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "run/launch/rendezvous_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Catch::StartsWith;
using std::chrono::seconds;

namespace {

const std::string k_print_place = "echo $MASTER_ADDR:$MASTER_PORT:$HPCML_STORE_ADDR:";

/// Tasks that each have a GPU, but for one of them.
std::vector<util::EnvSnapshot> one_broken(std::vector<util::EnvSnapshot> tasks, unsigned broken) {
  for (auto& task : tasks) task.set("CUDA_VISIBLE_DEVICES", "0,1,2");
  tasks[broken].set("CUDA_VISIBLE_DEVICES", "");
  return tasks;
}

/// How many processes have this variable.
std::size_t processes_with(const std::string& variable) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto variables = util::read_file((entry.path() / "environ").string());
    if (variables && util::contains(util::split(*variables, '\0'), variable)) ++count;
  }
  return count;
}

/// What MPICH's mpirun gives its ranks: nothing that tells two of its runs in a job apart.
std::vector<util::EnvSnapshot> mpi_tasks(unsigned ranks, unsigned job, bool has_key = true) {
  std::vector<util::EnvSnapshot> tasks;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    auto env = bare_environment();
    env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
    if (has_key) env.set("HPCML_JOB_SECRET", secret_of(job));
    env.set("SLURM_JOB_ID", std::to_string(job));
    env.set("SLURM_JOB_NODELIST", util::read_host_name());
    env.set("SLURM_JOB_NUM_NODES", "1");
    env.set("SLURM_TASKS_PER_NODE", std::to_string(ranks));
    env.set("PMI_RANK", std::to_string(rank));
    env.set("PMI_SIZE", std::to_string(ranks));
    env.set("MPI_LOCALRANKID", std::to_string(rank));
    env.set("MPI_LOCALNRANKS", std::to_string(ranks));
    tasks.push_back(std::move(env));
  }
  return tasks;
}

/// The words, begun after the seconds of $LATE, ended by force after those of $DIES.
std::vector<std::string> late(const std::vector<std::string>& words) {
  std::vector<std::string> all = {
      "bash", "-c",
      "sleep ${LATE:-0}; if [[ ${DIES:-} ]]; then exec timeout -s KILL $DIES \"$@\"; fi; exec \"$@\"",
      "task"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// All have begun, and at one place.
void check_connected(const std::vector<Said>& outputs) {
  for (const auto& output : outputs) {
    CAPTURE(output.err);
    CHECK_THAT(output.out, StartsWith(util::read_host_name()));
    CHECK(output.out == outputs.front().out);
  }
}

} // namespace

TEST_CASE("a rank that cannot be set up ends the step at once, with its name, also where it is the first") {
  for (const unsigned broken : {0U, 1U}) {
    const auto tasks = one_broken(tasks_of(3, new_job()), broken);
    const auto start = std::chrono::steady_clock::now();
    const auto outputs = run_step(tasks, launch_words("sleep 1; echo started", {"--gpus-per-task", "1"}));
    CHECK(std::chrono::steady_clock::now() - start < seconds(60));
    const auto rank = std::to_string(broken);
    for (unsigned number : {0U, 1U, 2U}) {
      CAPTURE(broken, number, outputs[number].err, outputs[number].out);
      if (number == broken) CHECK(outputs[number].code == 125);
      if (number == broken || (broken == 1 && number == 2)) continue; // 2 may have begun before 1 failed
      CHECK_THAT(outputs[number].err,
                 Contains("the step cannot start: rank " + rank + "/3 (" + util::read_host_name() +
                          ", local " + rank + ") could not start: "));
      CHECK(outputs[number].out.empty());
      CHECK(outputs[number].code == 125);
    }
  }
}

TEST_CASE(
    "a first rank that cannot be set up is heard of where the store that all are told of is not for it") {
  const auto job = new_job();
  auto script = task(0, 1, job);
  for (const char* of_step : {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"})
    script.unset(of_step);
  const Shell store("read -r where < <(exec " HPCML_BINARY " internal store-serve --with-parent --name " +
                        util::read_host_name() + "); echo \"$where\"; sleep 100 & wait",
                    script);
  const auto used = store.read_line();
  auto before = tasks_of(2, job);
  for (auto& environment : before) environment.set("HPCML_STORE_ADDR", used);
  for (const auto& environment : run_step(before, launch_words("true"))) REQUIRE(environment.code == 0);
  for (const auto& address : {used, std::string("127.0.0.1:9")}) {
    auto tasks = one_broken(tasks_of(3, job), 0);
    for (auto& environment : tasks) {
      environment.set("SLURM_STEP_ID", "1");
      environment.set("HPCML_STORE_ADDR", address);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto outputs = run_step(tasks, launch_words("echo started", {"--gpus-per-task", "1"}));
    CHECK(std::chrono::steady_clock::now() - start < seconds(60));
    for (const unsigned number : {1U, 2U}) {
      CAPTURE(address, number);
      CHECK_THAT(outputs[number].err, Contains("the step cannot start: rank 0/3 (" + util::read_host_name() +
                                               ", local 0) could not start: "));
      CHECK(outputs[number].code == 125);
    }
  }
}

TEST_CASE("a launcher of several ranks that cannot set them up tells those of the other nodes") {
  const auto directory = make_directory();
  REQUIRE(util::write_file(directory + "/cached.json",
                           R"({"schema": 1, "id": "cached", "name": "a site with a cache",
    "sources": {"here": {"url": "https://example.org", "checked": "2026-11-21"}},
    "state": {"is": "production", "source": "here"},
    "caches": [{"name": "kernels", "base": "$CACHES", "variables": {"KERNEL_CACHE": ""}, "source": "here"}]})"));
  std::vector<std::string> words = {
      HPCML_BINARY, "--sites-dir",      directory, "launch", "--site", "cached", "--bind",
      "none",       "--nproc-per-node", "2",       "--",     "bash",   "-c",     "echo started; sleep 1"};
  // No such variable, and a place where nothing can be made.
  for (const char* caches : {"", "/proc/nowhere"})
    for (const unsigned broken : {0U, 1U}) {
      const auto job = new_job();
      std::vector<util::EnvSnapshot> tasks;
      for (unsigned node = 0; node < 2; ++node) {
        auto env = task(node, 2, job);
        env.set("SLURM_LOCALID", "0");
        env.set("SLURM_NODEID", std::to_string(node));
        env.set("SLURM_STEP_NODELIST", "127.0.0.[1-2]");
        env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
        env.set("SLURMD_NODENAME", "127.0.0." + std::to_string(node + 1));
        env.set("CACHES", node == broken ? caches : directory);
        tasks.push_back(std::move(env));
      }
      const auto start = std::chrono::steady_clock::now();
      const auto outputs = run_step(tasks, words);
      CAPTURE(caches, broken, outputs[0].out, outputs[0].err, outputs[1].out, outputs[1].err);
      CHECK(std::chrono::steady_clock::now() - start < seconds(60));
      CHECK(outputs[broken].code == 125);
      CHECK(outputs[broken].out.empty());
      CHECK_THAT(outputs[broken].err,
                 StartsWith("hpcml: error: 127.0.0." + std::to_string(broken + 1) + ": "));
      CHECK(outputs[1 - broken].code == 125);
      CHECK_THAT(outputs[1 - broken].err,
                 Contains("the step cannot start: rank " + std::to_string(broken * 2) + "/4 (127.0.0." +
                          std::to_string(broken + 1) + ", local 0) could not start: "));
    }
  std::filesystem::remove_all(directory);
}

TEST_CASE("a launch that starts all ranks itself and cannot leaves nobody behind to tell of it") {
  auto env = bare_environment();
  const auto mark = "alone-" + std::to_string(new_job());
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  env.set("TEST_MARK", mark);
  env.set("CUDA_VISIBLE_DEVICES", "");
  const auto output = run_hpcml(
      {"launch", "--bind", "none", "--nproc-per-node", "2", "--gpus-per-task", "1", "--", "true"}, env);
  CHECK(output.exit_code == 125);
  CHECK(processes_with("TEST_MARK=" + mark) == 0);
}

TEST_CASE("a run that no number tells from the one before does not meet that one's store") {
  const auto tasks = tasks_of(2, new_job());
  const auto words = launch_words(k_print_place, {"--store", "own"});
  const auto first = run_step(tasks, words),
             second = run_step(tasks, words); // the first's store is still there
  CHECK_THAT(second[0].out, StartsWith(util::read_host_name()));
  CHECK(second[0].out == second[1].out);
  CHECK(second[0].out != first[0].out);
}

TEST_CASE("a run of mpirun does not hear of the run before, whose first rank failed or was killed") {
  const auto words = launch_words(k_print_place, {"--store", "own", "--gpus-per-task", "1"});
  const bool has_key = GENERATE(true, false);
  for (const bool killed : {false, true})
    for (const char* first_comes : {"0", "0.7"}) {
      auto tasks = mpi_tasks(2, new_job(), has_key);
      auto first = one_broken(tasks, 0);
      first.pop_back(); // mpirun has ended it before it was heard
      if (killed) {
        first[0].set("CUDA_VISIBLE_DEVICES", "0,1");
        first[0].set("DIES", "0.3");
      }
      CHECK(run_step(first, late(words))[0].code == (killed ? 137 : 125));
      for (auto& environment : tasks) environment.set("CUDA_VISIBLE_DEVICES", "0,1");
      tasks[0].set("LATE", first_comes);
      CAPTURE(killed, first_comes, has_key);
      check_connected(run_step(tasks, late(words)));
    }
}

TEST_CASE("a run of mpirun does not hear of one before it that failed at the script's store") {
  const auto job = new_job();
  auto script = mpi_tasks(1, job).front();
  for (const char* of_task : {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"})
    script.unset(of_task);
  const Shell store("read -r where < <(exec " HPCML_BINARY " internal store-serve --with-parent --name " +
                        util::read_host_name() + "); echo \"$where\"; sleep 100 & wait",
                    script);
  const auto where = store.read_line();
  auto tasks = mpi_tasks(2, job);
  for (auto& environment : tasks) environment.set("HPCML_STORE_ADDR", where);
  const auto words = launch_words(k_print_place, {"--store", "own", "--gpus-per-task", "1"});
  const auto first = one_broken(tasks, 1);
  CHECK(run_step({first[1]}, words)[0].code == 125); // rank 0 was never there
  for (auto& environment : tasks) environment.set("CUDA_VISIBLE_DEVICES", "0,1");
  check_connected(run_step(tasks, words));
}

TEST_CASE("a rank that comes when rank 0 has been killed is told that at once") {
  auto tasks = tasks_of(3, new_job());
  tasks.pop_back();          // rank 0 waits for it
  tasks[0].set("DIES", "3"); // it is heard of by then
  tasks[1].set("LATE", "5");
  const auto start = std::chrono::steady_clock::now();
  const auto outputs = run_step(tasks, late(launch_words("echo started")));
  CHECK(std::chrono::steady_clock::now() - start < seconds(60));
  CHECK_THAT(outputs[1].err, Contains("the step cannot start: rank 0/3 (" + util::read_host_name() +
                                      ", local 0) exited before all ranks connected"));
  CHECK(outputs[1].out.empty());
  CHECK(outputs[1].code == 125);
}
