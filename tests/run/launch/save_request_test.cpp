// SPDX-License-Identifier: MIT
// A request to save on its way to the programs: through launch alone, through launch with several ranks, and
// through shells between.
#include <catch2/catch.hpp>

#include <csignal>

#include "run/launch/process_helper.hpp"
#include "run/launch/save_request.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// A program that says which signals it got, and ends with 3 at the first TERM or USR2, after it has saved.
constexpr const char* k_program = R"(
import os, signal, sys, time
heard = []
for name in ("TERM", "USR2", "URG"):
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: heard.append(number))
print("ready", flush=True)
while not set(heard) & {signal.SIGTERM, signal.SIGUSR2}: time.sleep(0.02)
time.sleep(0.3)
print("saved", *heard, flush=True)
sys.exit(3)
)";

util::EnvSnapshot saving_environment(util::EnvSnapshot env) {
  env.set("HPCML_SAVE_SIGNAL", "USR2");
  return env;
}

std::vector<std::string> through_shell(std::vector<std::string> words) {
  // The shell stays: it has something to do behind the program.
  words.insert(words.end(), {"--", "bash", "-c", "python3 -c \"$0\"; exit $?", k_program});
  return words;
}

} // namespace

TEST_CASE(
    "a rank's program hears the request once behind a shell that has no trap, and its code is launch's") {
  Running task(through_shell({"launch"}), saving_environment(step_environment(0, 1)));
  CHECK(task.read_line() == "ready");
  task.signal(SIGURG); // to the first process of the task alone, as Slurm with cgroups does
  CHECK(task.read_line() == "saved " + std::to_string(SIGUSR2));
  CHECK(task.wait() == 3);
}

TEST_CASE("without a request that anybody hears launch becomes its program, and URG is nothing") {
  Running task({"launch", "--", "sh", "-c", "echo $$; kill -URG $$; echo on"}, step_environment(0, 1));
  CHECK(task.read_line() == std::to_string(task.pid()));
  CHECK(task.read_line() == "on");
  CHECK(task.wait() == 0);
}

TEST_CASE("USR2 asks to save if srun does not forward the signal") {
  for (const int save_signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGHUP}) {
    CAPTURE(save_signal);
    CHECK(launch::is_save_request(SIGURG, save_signal));
    CHECK(launch::is_save_request(SIGUSR2, save_signal) == (save_signal != SIGUSR1));
    CHECK(launch::is_save_request(SIGUSR1, save_signal) == (save_signal == SIGUSR1));
    CHECK_FALSE(launch::is_save_request(SIGTERM, save_signal));
  }
  CHECK_FALSE(launch::is_save_request(SIGUSR2, 0));
}
