// SPDX-License-Identifier: MIT
// Why a run ended, as one word.
#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>

#include "hpcml/exit_code.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using model::FailureClass;

namespace {

std::string class_of(const launch::RunResult& end, const util::EnvSnapshot& env = {}) {
  const std::chrono::system_clock::time_point now{std::chrono::seconds(1000)};
  const auto why = launch::classify_end(end, env, now);
  return why ? model::word_of(*why) : "none";
}

} // namespace

TEST_CASE("a run's end has one class, and a good end has none") {
  CHECK(class_of({}) == "none");
  CHECK(class_of({.code = 3, .failure = FailureClass::program}) == "program");
  CHECK(class_of({.code = 137, .failure = FailureClass::out_of_memory}) == "out-of-memory");
  CHECK(class_of({.code = 125, .failure = FailureClass::launcher}) == "launcher");
  CHECK(class_of({.code = k_cannot_set_up}) == "launcher");
  CHECK(class_of({.code = 1, .nodes_missing = true}) == "node");
  CHECK(class_of({.code = 1, .failure = FailureClass::node}) == "node");
  CHECK(class_of({.code = 1, .signal = SIGTERM, .failure = FailureClass::node}) == "node");
  CHECK(class_of({.code = 124}) == "program"); // stalled
  CHECK(class_of({.code = 0, .save_requested = true}) == "time-limit");
  CHECK(class_of({.code = 1, .save_requested = true, .failure = FailureClass::program}) == "time-limit");
}

TEST_CASE("TERM is preemption only if Slurm reports it") {
  const launch::RunResult ended{.code = 143, .signal = SIGTERM};
  util::EnvSnapshot env;
  CHECK(class_of(ended, env) == "user");
  env.set("SLURM_JOB_ID", "7");
  CHECK(class_of(ended, env) == "terminated");
  env.set("SLURM_JOB_END_TIME", "1001");
  CHECK(class_of(ended, env) == "terminated");
  env.set("SLURM_JOB_END_TIME", "1000");
  CHECK(class_of(ended, env) == "time-limit");
  CHECK(class_of({.code = 130, .signal = SIGINT}, env) == "user");
}

TEST_CASE("Slurm is asked why it ends a job before its time, and only then") {
  const std::chrono::system_clock::time_point now{std::chrono::seconds(1000)};
  const launch::RunResult ended{.code = 143, .signal = SIGTERM};
  int stop_requests = 0;
  std::optional<model::FailureClass> answer = model::FailureClass::user;
  const auto ask = [&] { return ++stop_requests, answer; };
  util::EnvSnapshot env;
  CHECK(launch::classify_end(ended, env, now, ask) == model::FailureClass::user); // no job: nobody to ask
  CHECK(stop_requests == 0);
  env.set("SLURM_JOB_ID", "7");
  CHECK(launch::classify_end(ended, env, now, ask) == model::FailureClass::user);
  CHECK(stop_requests == 1);
  answer.reset(); // the job runs on: srun ended the step, or a user did
  CHECK(launch::classify_end(ended, env, now, ask) == model::FailureClass::terminated);
  CHECK(stop_requests == 2);
  answer = model::FailureClass::preempted;
  CHECK(launch::classify_end(ended, env, now, ask) == model::FailureClass::preempted);
  CHECK(stop_requests == 3);
  env.set("SLURM_JOB_END_TIME", "1000");
  CHECK(launch::classify_end(ended, env, now, ask) == model::FailureClass::time_limit);
  CHECK(launch::classify_end({.code = 3, .failure = FailureClass::program}, env, now, ask) ==
        model::FailureClass::program);
  CHECK(stop_requests == 3);
}

TEST_CASE("launch's last word is its exit code, which is the program's, and why") {
  for (const std::string flag : {"", "--agent"}) {
    std::vector<std::string> words = {"launch", "--nproc-per-node", "2"};
    if (!flag.empty()) words.push_back(flag);
    words.insert(words.end(), {"--", "sh", "-c", "[ $RANK = 0 ] || exit 3; sleep 20"});
    const auto output = run_hpcml(words, bare_environment());
    INFO(output.err);
    CHECK(output.exit_code == 3);
    CHECK(output.err.ends_with("hpcml: the run exited with code 3: program\n"));
  }
}

TEST_CASE("a rank that Slurm ends before its launch has not failed") {
  for (const std::string flag : {"", "--agent"}) {
    CAPTURE(flag);
    std::vector<std::string> words = {"launch", "--nproc-per-node", "2"};
    if (!flag.empty()) words.push_back(flag);
    words.insert(words.end(),
                 {"--", "sh", "-c", "[ $RANK = 0 ] && exec sleep 60; echo up >&2; sleep 0.2; kill -TERM $$"});
    Running task(words, step_environment(0, 1), true);
    std::string line, text;
    do line = task.read_line();
    while (!line.empty() && line.find("up") == std::string::npos);
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // the rank has ended
    task.signal(SIGTERM);
    while (!(line = task.read_line()).empty()) text += line + "\n";
    CHECK(task.wait() == 128 + SIGTERM);
    CHECK_THAT(text,
               Contains("the run exited with code 143: terminated") && !Contains("because rank 1 failed"));
  }
}

TEST_CASE("a task of Slurm's that ends badly waits until its last words are read") {
  const auto is_there = [](pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  };
  Running task({"launch", "--", "/nowhere/a-program"}, step_environment(0, 1), true);
  std::this_thread::sleep_for(std::chrono::milliseconds(600)); // half of what it waits for a reader
  CHECK(is_there(task.pid()));
  std::string line;
  do line = task.read_line();
  while (!line.empty() && line.find("/nowhere/a-program") == std::string::npos);
  CHECK_THAT(line, Contains("/nowhere/a-program"));
  CHECK(task.wait() == 127);
}
