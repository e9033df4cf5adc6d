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

TEST_CASE("a run that no number tells from the one before does not meet that one's store") {
  const auto tasks = tasks_of(2, new_job());
  const auto words = launch_words(k_say_place, {"--store", "own"});
  const auto first = run_step(tasks, words),
             second = run_step(tasks, words); // the first's store is still there
  CHECK_THAT(second[0].out, StartsWith(util::read_host_name()));
  CHECK(second[0].out == second[1].out);
  CHECK(second[0].out != first[0].out);
}
