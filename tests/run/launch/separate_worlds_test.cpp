// SPDX-License-Identifier: MIT
// Ranks whose programs never connect to each other are reported once, and those that do are not.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/failures/log_messages.hpp"
#include "core/util/text.hpp"
#include "enter_group.hpp"
#include "hpcml/exit_code.hpp"
#include "run/launch/process_helper.hpp"
#include "run/launch/separate_worlds_evidence.hpp"
#include "run/resolve/inner_launcher.hpp"

using namespace hpcml;
using namespace hpcml::launch;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

std::size_t warnings_in(const std::string& text) {
  std::size_t found = 0;
  for (const auto& line : util::split(text, '\n'))
    found += line.find("those that train do so alone") != std::string::npos ? 1 : 0;
  return found;
}

/// Greets the store and adds to a key, as torch's clients do when they join a process group.
constexpr const char* k_connect = R"(
import os, socket, struct, time
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
with socket.create_connection(place) as store:
    store.sendall(struct.pack("<BI", 0, 0x3C85F7CE) + struct.pack("<BQ5sq", 4, 5, b"init/", 1))
    store.recv(8)
)";

constexpr const char* k_lightning =
    "print('Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1', flush=True)\n";

util::EnvSnapshot rendezvous(util::EnvSnapshot env) {
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "60");
  return env;
}

std::vector<std::string> words(const std::vector<std::string>& flags, const std::string& program) {
  std::vector<std::string> all = {"launch", "--store", "own"};
  all.insert(all.end(), flags.begin(), flags.end());
  all.insert(all.end(), {"--", "python3", "-c", program});
  return all;
}

/// The lines of an error about worlds of 1.
std::size_t errors_in(const std::string& text) {
  std::size_t found = 0;
  for (const auto& line : util::split(text, '\n')) found += failures::reports_separate_worlds(line) ? 1 : 0;
  return found;
}

std::string alone(const std::string& program) { return "import sys; sys.argv.append('alone')\n" + program; }

/// Two tasks of a step on this machine; what both printed on standard error.
std::string run_tasks(const std::string& program, const std::string& job) {
  std::vector<std::unique_ptr<Running>> tasks;
  for (unsigned rank = 0; rank < 2; ++rank) {
    auto env = rendezvous(step_environment(rank, 2));
    env.set("SLURM_JOB_ID", job);
    env.set("SLURM_STEP_NODELIST", "localhost");
    tasks.push_back(std::make_unique<Running>(words({}, program), env, true));
  }
  std::string text;
  for (const auto& task : tasks) {
    for (std::string line; !(line = task->read_line()).empty();) text += line + "\n";
    CHECK(task->wait() == 0);
  }
  return text;
}

} // namespace

TEST_CASE("supervised ranks that never connect are reported once") {
  const auto mode = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--agent"});
  auto flags = mode;
  flags.insert(flags.end(), {"--nproc-per-node", "3"});
  const auto separate = run_hpcml(words(flags, "pass"), rendezvous(bare_environment()));
  INFO(separate.err);
  CHECK(separate.exit_code == 0);
  CHECK(warnings_in(separate.err) == 1);
  CHECK_THAT(separate.err,
             Contains("no program of the 3 ranks connected") && Contains("--rendezvous-timeout 0"));
  const auto together = run_hpcml(words(flags, k_connect), rendezvous(bare_environment()));
  INFO(together.err);
  CHECK(together.exit_code == 0);
  CHECK(warnings_in(together.err) == 0);
}

TEST_CASE("launch reports an error when programs set up separate worlds") {
  const auto mode = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--agent"});
  auto flags = mode;
  flags.insert(flags.end(), {"--nproc-per-node", "3"});
  const auto separate = run_hpcml(words(flags, alone(test::k_enter_group)), rendezvous(bare_environment()));
  INFO(separate.err);
  CHECK(separate.exit_code == k_cannot_set_up);
  CHECK(errors_in(separate.err) == 1);
  CHECK(warnings_in(separate.err) == 0);
  CHECK_THAT(separate.err,
             Contains("hpcml: error: 3 programs each set up a world of 1 although WORLD_SIZE is 3") &&
                 Contains("hint: ") && Contains("the run exited with code 125: program"));
  const auto together = run_hpcml(words(flags, test::k_enter_group), rendezvous(bare_environment()));
  INFO(together.err);
  CHECK(together.exit_code == 0);
  CHECK(errors_in(together.err) == 0);
}

TEST_CASE("launch reports an error when ranks print separate worlds") {
  const auto mode = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--agent"});
  auto flags = mode;
  flags.insert(flags.end(), {"--nproc-per-node", "2"});
  const auto separate = run_hpcml(words(flags, k_lightning), rendezvous(bare_environment()));
  INFO(separate.err);
  CHECK(separate.exit_code == k_cannot_set_up);
  CHECK(errors_in(separate.err) == 1);
  CHECK_THAT(separate.err,
             Contains("hpcml: error: ranks 0-1 each report a world of 1 although WORLD_SIZE is 2"));
  const auto partial =
      run_hpcml(words(flags, "import os\nif os.environ['RANK'] == '1':\n  " + std::string(k_lightning)),
                rendezvous(bare_environment()));
  CHECK(partial.exit_code == k_cannot_set_up);
  CHECK_THAT(partial.err, Contains("hpcml: error: rank 1 reports a world of 1 although WORLD_SIZE is 2"));
  // What joined one world trained together, whatever one of its processes prints.
  const auto together =
      run_hpcml(words(flags, std::string(test::k_enter_group) + k_lightning), rendezvous(bare_environment()));
  CHECK(together.exit_code == 0);
  flags.insert(flags.end(), {"--rendezvous-timeout", "0"});
  CHECK(run_hpcml(words(flags, k_lightning), rendezvous(bare_environment())).exit_code == 0);
}

TEST_CASE("launch keeps a failed rank's code despite separate worlds") {
  const auto failed =
      run_hpcml(words({"--nproc-per-node", "2"}, std::string(k_lightning) + "raise SystemExit(3)"),
                rendezvous(bare_environment()));
  CHECK(failed.exit_code == 3);
}

TEST_CASE("single ranks, failed ranks and missing rendezvous are not reported") {
  const auto env = rendezvous(bare_environment());
  CHECK(warnings_in(run_hpcml(words({"--nproc-per-node", "1"}, "pass"), env).err) == 0);
  CHECK(warnings_in(run_hpcml(words({"--nproc-per-node", "2"}, "raise SystemExit(3)"), env).err) == 0);
  CHECK(warnings_in(
            run_hpcml(words({"--nproc-per-node", "2", "--rendezvous-timeout", "0"}, "pass"), env).err) == 0);
  CHECK(warnings_in(
            run_hpcml({"launch", "--store", "env", "--nproc-per-node", "2", "--", "true"}, env).err) == 0);
}

TEST_CASE("tasks that never connect are reported once") {
  const auto separate = run_tasks("import time; time.sleep(0.3)", "88001");
  INFO(separate);
  CHECK(warnings_in(separate) == 1);
  const auto together = run_tasks(std::string(k_connect) + "time.sleep(1.5)", "88002");
  INFO(together);
  CHECK(warnings_in(together) == 0);
}

TEST_CASE("rank 0's watcher reports separate worlds of tasks") {
  const auto separate = run_tasks(alone(std::string(test::k_enter_group) + "time.sleep(2)"), "88003");
  INFO(separate);
  CHECK(errors_in(separate) == 1);
  CHECK(warnings_in(separate) == 0);
  CHECK_THAT(separate,
             Contains("hpcml: error: 2 programs each set up a world of 1 although WORLD_SIZE is 2"));
  const auto together = run_tasks(std::string(test::k_enter_group) + "time.sleep(2)", "88004");
  INFO(together);
  CHECK(errors_in(together) == 0);
  CHECK(warnings_in(together) == 0);
}

TEST_CASE("world check uses the strongest evidence first") {
  SeparateWorldsEvidence evidence;
  evidence.world_size = 4;
  evidence.local_ranks = 2;
  CHECK(check_worlds(evidence) == SeparateWorldsResult::none); // nothing is known on this node
  evidence.reporting = {2};
  CHECK(check_worlds(evidence) ==
        SeparateWorldsResult::none); // and half a node proves nothing without the store
  evidence.reporting = {2, 3};
  CHECK(check_worlds(evidence) == SeparateWorldsResult::separate);
  evidence.serves_store = true;
  evidence.seen = {1, true};
  CHECK(check_worlds(evidence) == SeparateWorldsResult::none);
  evidence.seen = {2, false};
  evidence.reporting.clear();
  CHECK(check_worlds(evidence) == SeparateWorldsResult::separate);
  evidence.seen = {1, false}; // of a world whose other members use NCCL alone
  evidence.connected = true;
  CHECK(check_worlds(evidence) == SeparateWorldsResult::none);
  evidence.connected = false;
  CHECK(check_worlds(evidence) == SeparateWorldsResult::not_connected);
  evidence.world_size = 1;
  CHECK(check_worlds(evidence) == SeparateWorldsResult::none);
}

TEST_CASE("launch rejects accelerate on CPUs with several ranks") {
  const auto output = run_hpcml({"launch", "--", "accelerate", "launch", "--cpu", "train.py"}, [] {
    auto env = step_environment(0, 2);
    env.set("SLURM_STEP_NODELIST", "nid[001-002]");
    env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
    return env;
  }());
  CHECK(output.exit_code == 125);
  CHECK_THAT(output.err, Contains("accelerate launch --cpu starts one process per node"));
}

TEST_CASE("ranks without GPUs get the variable that Accelerate needs") {
  const auto dry =
      run_hpcml({"launch", "--dry-run", "--gpus-per-task", "0", "--", "true"}, step_environment(0, 2));
  CHECK_THAT(dry.out, Contains("ACCELERATE_USE_CPU=true"));
  auto env = step_environment(0, 2);
  env.set("ACCELERATE_USE_CPU", "false");
  CHECK_THAT(run_hpcml({"launch", "--dry-run", "--gpus-per-task", "0", "--", "true"}, env).out,
             !Contains("ACCELERATE_USE_CPU=true"));
}
