// SPDX-License-Identifier: MIT
// A requeue is repeated until Slurm's controller answers.
#include <catch2/catch.hpp>

#include "run/batch/requeue_attempts.hpp"
#include "run/batch/scripted_commands.hpp"
#include "run/batch/step_control.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using hpcml::testing::ScriptedAnswer;
using hpcml::testing::ScriptedCommands;

namespace {

const ScriptedAnswer k_silent{1, "", "Unable to contact slurm controller (connect failure)"};

Event attempt(RequeueAttempts& attempts, std::vector<std::pair<std::string, ScriptedAnswer>> answers) {
  BatchJob job;
  job.name = job.first = "70";
  return attempts.attempt({}, job, ScriptedCommands(std::move(answers)), {});
}

} // namespace

TEST_CASE("a requeue without an answer is repeated after a pause") {
  RequeueAttempts attempts;
  CHECK_FALSE(attempts.is_waiting());
  const auto now = RequeueAttempts::Clock::now();
  CHECK(attempt(attempts, {{"scontrol", k_silent}}).kind == EventKind::requeue_delayed);
  CHECK(attempts.is_waiting());
  CHECK_FALSE(attempts.is_due(now));
  CHECK(attempts.is_due(now + 2 * k_retry_interval));
  CHECK(attempt(attempts, {{"scontrol requeue", {}}}).kind == EventKind::requeue_accepted);
  CHECK_FALSE(attempts.is_waiting());
}

TEST_CASE("a job that was cancelled meanwhile is not requeued") {
  RequeueAttempts attempts;
  const ScriptedAnswer cancelled{0, "JobId=70 JobState=CANCELLED Reason=None \n", ""};
  CHECK(attempt(attempts, {{"scontrol show job 70", cancelled}, {"scontrol requeue", k_silent}}).kind ==
        EventKind::requeue_delayed); // the first attempt does not ask
  const auto event = attempt(attempts, {{"scontrol show job 70", cancelled}, {"scontrol requeue", {}}});
  CHECK(event.kind == EventKind::requeue_refused);
  CHECK(event.text == "it was cancelled");
}
