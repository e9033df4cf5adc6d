// SPDX-License-Identifier: MIT
// What a script serves: hpcml internal store-serve, and the steps that find it by HPCML_STORE_ADDR.
#include <catch2/catch.hpp>

#include <csignal>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "run/launch/rendezvous_helper.hpp"
#include "run/store/client.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("what a script serves is used by its first step, and ends with the script however that does") {
  const auto job = new_job();
  auto env = task(0, 1, job);
  for (const char* of_step : {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"})
    env.unset(of_step);
  // As in a generated script: the server belongs to the shell.
  const Shell script("read -r where < <(exec " HPCML_BINARY " internal store-serve --with-parent --name " +
                         util::read_host_name() + "); echo \"$where\"; sleep 100 & wait",
                     env);
  const auto where = script.read_line();
  const auto place = store::parse_place(where);
  REQUIRE(place);
  CHECK(place->first == util::read_host_name());
  for (unsigned step = 0; step < 2; ++step) {
    auto tasks = tasks_of(2, job);
    for (auto& environment : tasks) {
      environment.set("HPCML_STORE_ADDR", where);
      environment.set("SLURM_STEP_ID", std::to_string(step));
    }
    const auto outputs = run_step(tasks, launch_words("echo $MASTER_ADDR:$MASTER_PORT", {"--store", "own"}));
    CHECK(outputs[0].out == outputs[1].out);
    CHECK((outputs[1].out == where + "\n") == (step == 0)); // the second has its own
    CHECK_THAT(outputs[1].out, StartsWith(util::read_host_name()));
    CHECK(answers(place->second)); // both ranks have ended
  }
  script.signal(SIGTERM);
  ::usleep(300'000);
  script.signal(SIGKILL);
  CHECK(falls_silent(place->second));
}

TEST_CASE("a script's store ends by a signal from a process") {
  const auto env = task(0, 1, new_job());
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    const Shell store("exec " HPCML_BINARY " internal store-serve --with-parent --name localhost", env);
    const auto place = store::parse_place(store.read_line());
    REQUIRE(place);
    CHECK(answers(place->second));
    store.signal(SIGUSR1); // not a request to end
    ::usleep(100'000);
    CHECK(answers(place->second));
    store.signal(signal);
    CHECK(falls_silent(place->second));
  }
}

TEST_CASE("a internal store-serves with a parent that is the first process of its namespace") {
  // As a container's entry point is.
  if (run_line("unshare -Upf --map-root-user true").exit_code != 0)
    return test::skip("this machine allows no user namespaces");
  const auto outputs = run_line("unshare -Upf --map-root-user bash -c 'read -r where < <(exec " HPCML_BINARY
                                " internal store-serve --with-parent --name localhost); echo \"[$where]\"'");
  CHECK_THAT(outputs.out, StartsWith("[localhost:"));
}

TEST_CASE("a store address that is not there is named, and the ranks meet elsewhere") {
  const auto job = new_job();
  auto tasks = tasks_of(2, job);
  for (auto& environment : tasks) environment.set("HPCML_STORE_ADDR", "127.0.0.1:9");
  const auto outputs = run_step(tasks, launch_words("echo $MASTER_ADDR:$MASTER_PORT:", {"--store", "own"}));
  CHECK_THAT(outputs[0].err, Contains("127.0.0.1:9") && Contains("refused"));
  CHECK_THAT(outputs[1].out, Contains(":" + std::to_string(port_of_job(job)) + ":"));
}
