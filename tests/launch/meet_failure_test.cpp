// SPDX-License-Identifier: MIT
// Steps that cannot begin: all ranks are told because of whom, and the next run does not hear of it.
#include <catch2/catch.hpp>

#include <filesystem>

#include "launch/meet_helper.hpp"
#include "util/file.hpp"
#include "util/host_names.hpp"
#include "util/text.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Catch::StartsWith;
using std::chrono::seconds;

namespace {

const std::string k_say_place = "echo $MASTER_ADDR:$MASTER_PORT:$HPCML_STORE_ADDR:";

/// Tasks that each have a GPU, but for one of them.
std::vector<util::EnvSnapshot> one_broken(std::vector<util::EnvSnapshot> tasks, unsigned broken) {
  for (auto& one : tasks) one.set("CUDA_VISIBLE_DEVICES", "0,1,2");
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

} // namespace

TEST_CASE("a rank that cannot be set up ends the step at once, with its name, also where it is the first") {
  for (const unsigned broken : {0U, 1U}) {
    const auto tasks = one_broken(tasks_of(3, new_job()), broken);
    const auto start = std::chrono::steady_clock::now();
    const auto said = run_step(tasks, launch_words("sleep 1; echo started", {"--gpus-per-task", "1"}));
    CHECK(std::chrono::steady_clock::now() - start < seconds(10));
    const auto rank = std::to_string(broken);
    for (unsigned other : {0U, 1U, 2U}) {
      CAPTURE(broken, other, said[other].err, said[other].out);
      if (other == broken) CHECK(said[other].code == 125);
      if (other == broken || (broken == 1 && other == 2)) continue; // 2 may have begun before 1 failed
      CHECK_THAT(said[other].err,
                 Contains("the step cannot begin: rank " + rank + " of 3 (" + util::read_host_name() +
                          ", local rank " + rank + ") could not be set up: "));
      CHECK(said[other].out.empty());
      CHECK(said[other].code == 125);
    }
  }
}

TEST_CASE(
    "a first rank that cannot be set up is heard of where the store that all are told of is not for it") {
  const auto job = new_job();
  auto script = task(0, 1, job);
  for (const char* of_step : {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"})
    script.unset(of_step);
  const Shell store("read -r where < <(exec " HPCML_BINARY " store serve --with-parent --name " +
                        util::read_host_name() + "); echo \"$where\"; sleep 100 & wait",
                    script);
  const auto used = store.read_line();
  auto before = tasks_of(2, job);
  for (auto& one : before) one.set("HPCML_STORE_ADDR", used);
  for (const auto& one : run_step(before, launch_words("true"))) REQUIRE(one.code == 0);
  for (const auto& address : {used, std::string("127.0.0.1:9")}) {
    auto tasks = one_broken(tasks_of(3, job), 0);
    for (auto& one : tasks) {
      one.set("SLURM_STEP_ID", "1");
      one.set("HPCML_STORE_ADDR", address);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto said = run_step(tasks, launch_words("echo started", {"--gpus-per-task", "1"}));
    CHECK(std::chrono::steady_clock::now() - start < seconds(10));
    for (const unsigned other : {1U, 2U}) {
      CAPTURE(address, other);
      CHECK_THAT(said[other].err, Contains("the step cannot begin: rank 0 of 3 (" + util::read_host_name() +
                                           ", local rank 0) could not be set up: "));
      CHECK(said[other].code == 125);
    }
  }
}

TEST_CASE("a launcher of several ranks that cannot set them up tells those of the other nodes") {
  const auto folder = make_folder();
  REQUIRE(util::write_file(folder + "/cached.json",
                           R"({"schema": 1, "id": "cached", "name": "a site with a cache",
    "sources": {"here": {"url": "https://example.org", "checked": "2026-11-21"}},
    "state": {"is": "production", "source": "here"},
    "caches": [{"name": "kernels", "base": "$CACHES", "variables": {"KERNEL_CACHE": ""}, "source": "here"}]})"));
  std::vector<std::string> words = {
      HPCML_BINARY, "--sites-dir",      folder, "launch", "--site", "cached", "--bind",
      "none",       "--nproc-per-node", "2",    "--",     "bash",   "-c",     "echo started; sleep 1"};
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
        env.set("CACHES", node == broken ? caches : folder);
        tasks.push_back(std::move(env));
      }
      const auto start = std::chrono::steady_clock::now();
      const auto said = run_step(tasks, words);
      CAPTURE(caches, broken, said[0].out, said[0].err, said[1].out, said[1].err);
      CHECK(std::chrono::steady_clock::now() - start < seconds(15));
      CHECK(said[broken].code == 125);
      CHECK(said[broken].out.empty());
      CHECK_THAT(said[broken].err, StartsWith("hpcml launch: 127.0.0." + std::to_string(broken + 1) + ": "));
      CHECK(said[1 - broken].code == 125);
      CHECK_THAT(said[1 - broken].err,
                 Contains("the step cannot begin: rank " + std::to_string(broken * 2) + " of 4 (127.0.0." +
                          std::to_string(broken + 1) + ", local rank 0) could not be set up: "));
    }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a launch that starts all ranks itself and cannot leaves nobody behind to tell of it") {
  auto env = bare_environment();
  const auto mark = "alone-" + std::to_string(new_job());
  env.set("HPCML_MEET_TIMEOUT", "20");
  env.set("TEST_MARK", mark);
  env.set("CUDA_VISIBLE_DEVICES", "");
  const auto output = run_hpcml(
      {"launch", "--bind", "none", "--nproc-per-node", "2", "--gpus-per-task", "1", "--", "true"}, env);
  CHECK(output.exit_code == 125);
  CHECK(processes_with("TEST_MARK=" + mark) == 0);
}

TEST_CASE("a run that no number tells from the one before does not meet that one's store") {
  const auto tasks = tasks_of(2, new_job());
  const auto words = launch_words(k_say_place, {"--store", "own"});
  const auto first = run_step(tasks, words),
             second = run_step(tasks, words); // the first's store is still there
  CHECK_THAT(second[0].out, StartsWith(util::read_host_name()));
  CHECK(second[0].out == second[1].out);
  CHECK(second[0].out != first[0].out);
}
