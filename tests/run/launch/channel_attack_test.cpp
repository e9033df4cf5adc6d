// SPDX-License-Identifier: MIT
// Attacks on the ranks' channels on this machine: by a client without a key, with a wrong one, by a server
// that answers in the place of rank 0's, by a relay and by replay. With the right key the same client does
// change the run.
#include <catch2/catch.hpp>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "run/launch/rendezvous_helper.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/resolve/world.hpp"
#include "run/store/channel_key.hpp"
#include "run/store/client.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Words = std::vector<std::string>;

namespace {

const std::string k_print = "echo \"$MASTER_ADDR:$MASTER_PORT:$BASH_ENV:\"";

std::string at(unsigned port) { return "at=127.0.0.1:" + std::to_string(port); }
std::string job_word(unsigned job) {
  return "job=" + std::to_string(job) + ".0." + std::to_string(::getuid());
}

/// What the hostile client says came of an attack.
std::string attack(const Words& words) {
  Words all = {HPCML_HOSTILE_CLIENT};
  all.insert(all.end(), words.begin(), words.end());
  const auto output = util::run_process(all, bare_environment(), std::chrono::seconds(60));
  return output ? std::string(util::trim(output->out + output->err)) : output.error().what;
}

/// A hostile server that stays until the end of a test.
class Attacker {
public:
  explicit Attacker(const Words& words)
      : x_shell("exec " HPCML_HOSTILE_CLIENT " " + util::join(words, " "), bare_environment()) {
    REQUIRE(x_shell.read_line() == "listening");
  }

private:
  Shell x_shell;
};

/// A script that serves the store of a job.
class ScriptOfJob {
public:
  explicit ScriptOfJob(unsigned job)
      : x_shell("read -r where < <(exec " HPCML_BINARY
                " internal store-serve --with-parent --name 127.0.0.1 2>" +
                    errors() + "); echo \"$where\"; sleep 300 & wait",
                environment(job)),
        x_place(x_shell.read_line()) {
    REQUIRE(store::parse_place(x_place));
  }
  const std::string& place() const { return x_place; }
  std::string at() const { return "at=" + x_place; }
  std::string log() const { return util::read_file(errors()).value_or(""); }

private:
  static util::EnvSnapshot environment(unsigned job) {
    auto env = task(0, 1, job);
    for (const char* of_step :
         {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"})
      env.unset(of_step);
    return env;
  }
  std::string errors() const { return (x_directory / "errors").string(); }
  test::TempDirectory x_directory;
  Shell x_shell;
  std::string x_place;
};

std::vector<util::EnvSnapshot> without_key(std::vector<util::EnvSnapshot> tasks) {
  for (auto& task_env : tasks) {
    task_env.unset("HPCML_JOB_SECRET");
    task_env.set("HPCML_KEY_FILE", "/nowhere/key");
  }
  return tasks;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Waits up to 10 s until a relay's record contains `text`, and returns its content. On a loaded machine the
/// relay writes after the ranks have met at another port.
std::string wait_for_record(const std::string& path, const std::string& text) {
  std::string content;
  for (int i = 0; i < 1000; ++i, ::usleep(10'000)) {
    content = util::read_file(path).value_or("");
    if (content.find(text) != std::string::npos) break;
  }
  return content;
}

std::string expected_place(unsigned port) {
  return util::read_host_name() + ":" + std::to_string(port) + "::\n";
}

} // namespace

TEST_CASE("clients without the key change nothing at a script's store") {
  const auto job = new_job();
  const ScriptOfJob script(job);
  const Words who = {script.at(), job_word(job), "world=2"};
  const auto with = [&](const Words& more) {
    auto words = who;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto wrong = "key=" + store::SecretKey::make_random().to_hex();
  CHECK_THAT(attack(with({"rank=1", "file=/tmp/evil.sh", "old-decision"})), Contains("requires a key"));
  for (const char* name : {"decision", "failure", "size"}) {
    CHECK(attack(with({name})) == "refused: requires a key");
    CHECK(attack(with({name, wrong})) == "has another key");
  }
  CHECK_THAT(attack(with({"show"})), !Contains("answered") && !Contains("127.0.0.1"));
  CHECK(attack(with({"show", wrong})) == "has another key");
  CHECK_THAT(attack(with({"version"})), !Contains("welcome"));
  auto tasks = tasks_of(2, job);
  for (auto& task_env : tasks) task_env.set("HPCML_STORE_ADDR", script.place());
  const auto results = run_step(tasks, launch_words(k_print, {"--store", "own"}));
  for (const auto& result : results) {
    CHECK(result.out == script.place() + "::\n");
    CHECK_THAT(result.err, !Contains("rejected") && !Contains("stranger"));
  }
  CHECK(count(script.log(), "rejected a client at 127.0.0.1: ") == 1);
  CHECK_THAT(script.log(), !Contains("evil"));
}

TEST_CASE("with the key the same client decides for the ranks") {
  const auto job = new_job();
  const ScriptOfJob script(job);
  const Shell impostor("exec " HPCML_HOSTILE_CLIENT " " + script.at() + " " + job_word(job) +
                           " world=2 rank=0 address=127.0.0.9 port=12345 stay=yes key=" + secret_of(job) +
                           " decision",
                       bare_environment());
  CHECK(impostor.read_line() == "welcome: 127.0.0.9:12345");
  auto tasks = tasks_of(2, job);
  tasks[1].set("HPCML_STORE_ADDR", script.place());
  const auto results = run_step({tasks[1]}, launch_words(k_print, {"--store", "own"}));
  CHECK(results[0].out == "127.0.0.9:12345::\n");
}

TEST_CASE("ranks ignore a server that answers instead of rank 0's") {
  for (const bool has_key : {true, false}) {
    const auto job = new_job();
    const Attacker rogue({"port=" + std::to_string(port_of_job(job)), "file=/tmp/evil.sh", "answer"});
    auto tasks = has_key ? tasks_of(3, job) : without_key(tasks_of(3, job));
    const auto results =
        run_step(tasks, launch_words(k_print, {"--store", "own", "--rendezvous-timeout", "20"}));
    CAPTURE(has_key, results[0].err, results[1].err, results[2].err);
    if (has_key) {
      CHECK_THAT(results[0].out, Catch::StartsWith(util::read_host_name() + ":") &&
                                     !Contains(std::to_string(port_of_job(job))) && Catch::EndsWith("::\n"));
      CHECK(results[1].out == results[0].out);
      CHECK(results[2].out == results[0].out);
      continue;
    }
    // Rank 0 cannot tell the others another port, and says so; they take nothing from the rogue's answers.
    CHECK(results[0].code == 125);
    CHECK_THAT(results[0].err, Contains("is in use") && Contains("hpcml config key"));
    for (unsigned rank : {1U, 2U})
      CHECK((results[rank].out.empty() || results[rank].out == expected_place(port_of_job(job))));
  }
}

TEST_CASE("ranks skip a relay, and its record cannot be replayed") {
  const auto job = new_job();
  const test::TempDirectory directory;
  const auto ports = launch::rendezvous_ports(port_of_job(job));
  const auto record = (directory / "record").string();
  const Attacker relay({"port=" + std::to_string(ports[0]), at(ports[1]), "file=" + record, "relay"});
  std::vector<std::unique_ptr<Running>> ranks;
  for (const auto& task_env : tasks_of(2, job))
    ranks.push_back(std::make_unique<Running>(
        Words{"launch", "--bind", "none", "--store", "own", "--", "bash", "-c", k_print + "; exec sleep 30"},
        task_env));
  for (auto& rank : ranks) CHECK(rank->read_line() == util::trim(expected_place(ports[1])));
  CHECK_THAT(wait_for_record(record, "hpcml session request"), Contains("hpcml session request"));
  CHECK(attack({at(ports[1]), "file=" + record, "replay"}) == "not answered");
  // A proof would follow the request: after the replay it would be in the record.
  CHECK_THAT(util::read_file(record).value_or(""), !Contains("hpcml session proof"));
}

TEST_CASE("a recorded session is not accepted again") {
  const auto job = new_job();
  const test::TempDirectory directory;
  const auto record = (directory / "record").string();
  const ScriptOfJob script(job);
  // A user's own tunnel, which hpcml store show accepts.
  const auto tunnel = store::listen_at({"127.0.0.1"}, 0);
  REQUIRE(tunnel);
  const auto port = tunnel->port;
  for (const int fd : tunnel->sockets) ::close(fd);
  const Attacker relay({"port=" + std::to_string(port), script.at(), "file=" + record, "relay"});
  auto env = bare_environment();
  env.set("SLURM_JOB_ID", std::to_string(job));
  env.set("HPCML_JOB_SECRET", secret_of(job));
  const auto shown = run_hpcml({"store", "show", "127.0.0.1:" + std::to_string(port)}, env);
  CHECK(shown.exit_code == 0);
  CHECK_THAT(util::read_file(record).value_or(""), Contains("hpcml session proof"));
  CHECK(attack({script.at(), "file=" + record, "replay"}) == "not answered");
  CHECK_THAT(script.log(), Contains("it does not have the key of this job"));
}

TEST_CASE("ranks without a key compute the same place") {
  const auto job = new_job();
  const auto results = run_step(without_key(tasks_of(3, job)), launch_words(k_print, {"--store", "own"}));
  for (const auto& result : results) {
    CHECK(result.out == expected_place(port_of_job(job)));
    CHECK(result.code == 0);
  }
  const auto env_job = new_job();
  const auto env_results =
      run_step(without_key(tasks_of(3, env_job)), launch_words(k_print + "; echo $JAX_COORDINATOR_ADDRESS",
                                                               {"--store", "env", "--jax-coordinator"}));
  const auto coordinator =
      util::read_host_name() + ":" + std::to_string(launch::side_port(port_of_job(env_job)));
  for (const auto& result : env_results)
    CHECK(result.out == expected_place(port_of_job(env_job)) + coordinator + "\n");
}

TEST_CASE("messages to keyless ranks do not change the step") {
  const auto job = new_job();
  const auto tasks = without_key(tasks_of(2, job));
  Running first({"launch", "--bind", "none", "--store", "own", "--", "bash", "-c", k_print}, tasks[0], true);
  for (int i = 0; i < 6000 && !answers(port_of_job(job)); ++i) ::usleep(10'000);
  const Words who = {at(port_of_job(job)), job_word(job), "world=2"};
  const auto with = [&](Words more) {
    more.insert(more.end(), who.begin(), who.end());
    return attack(more);
  };
  CHECK(with({"rank=0", "address=192.0.2.1", "decision"}) == "refused: serves another run");
  CHECK(with({"rank=1", "failure"}) == "welcome: :0");
  CHECK(with({"rank=1", "size"}) == "refused: serves another run");
  CHECK_THAT(with({"show"}), !Contains("answered"));
  const auto second = run_step({tasks[1]}, launch_words(k_print, {"--store", "own"}));
  CHECK(second[0].out == expected_place(port_of_job(job)));
  std::string all;
  for (std::string line; !(line = first.read_line()).empty();) all += line + "\n";
  CHECK_THAT(all, Contains("rank 1/2 (node001, not authenticated) could not start: a "
                           "stranger's reason"));
  CHECK_THAT(all, Contains(util::trim(expected_place(port_of_job(job))).data()) && !Contains("192.0.2.1"));
  CHECK(first.wait() == 0);
}

TEST_CASE("a rank with another key is reported with the cause") {
  const auto job = new_job();
  auto tasks = tasks_of(2, job);
  tasks[1] = without_key({tasks[1]})[0];
  auto results =
      run_step(tasks, launch_words("echo started", {"--store", "own", "--rendezvous-timeout", "4"}));
  CHECK_THAT(results[0].err,
             Contains("rank 1 has no key: check that srun --export passes HPCML_JOB_SECRET to every rank"));
  CHECK_THAT(results[1].err, Contains("requires a key"));
  CHECK((results[0].code == 125 && results[1].code == 125));
  const auto other_job = new_job();
  tasks = tasks_of(2, other_job);
  tasks[0] = without_key({tasks[0]})[0];
  results = run_step(tasks, launch_words("echo started", {"--store", "own", "--rendezvous-timeout", "4"}));
  CHECK_THAT(results[1].err, Contains("has no key"));
  CHECK_THAT(results[0].err, Contains("rank 1 of step 0 has a key, but this store has none"));
  const auto third_job = new_job();
  tasks = tasks_of(2, third_job);
  tasks[1].set("HPCML_JOB_SECRET", secret_of(job));
  results = run_step(tasks, launch_words("echo started", {"--store", "own", "--rendezvous-timeout", "4"}));
  CHECK_THAT(results[1].err, Contains("has another key"));
  CHECK((results[0].out + results[1].out).empty());
}

TEST_CASE("programs and output do not contain the key") {
  const auto job = new_job();
  const auto secret = secret_of(job);
  const auto look = "env; tr '\\0' '\\n' < /proc/self/environ";
  for (const auto& result : run_step(tasks_of(2, job), launch_words(look, {"--report"}))) {
    CHECK(result.code == 0);
    CHECK_THAT(result.out + result.err, !Contains(secret) && !Contains("HPCML_JOB_SECRET="));
    CHECK_THAT(result.err, Contains("key from HPCML_JOB_SECRET"));
  }
  auto env = bare_environment();
  env.set("HPCML_JOB_SECRET", secret);
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  env.set("HPCML_LOG", "trace");
  for (const Words& flags :
       {Words{"--nproc-per-node", "2", "--report"}, Words{"--nproc-per-node", "2", "--max-restarts", "1"},
        Words{"--nproc-per-node", "2", "--dry-run"}}) {
    const auto result = run_step({env}, launch_words(look, flags)).front();
    CHECK(result.code == 0);
    CHECK_THAT(result.out + result.err, !Contains(secret) && !Contains("HPCML_JOB_SECRET="));
  }
}

TEST_CASE("one launch's ranks have a random key or the user's") {
  auto env = bare_environment();
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  auto results = run_step({env}, launch_words("true", {"--nproc-per-node", "2", "--report"})).front();
  CHECK(count(results.err, "key from this launch") == 2);
  const test::TempDirectory directory;
  env.set("HPCML_KEY_FILE", (directory / "key").string());
  REQUIRE(store::make_user_key((directory / "key").string()));
  results = run_step({env}, launch_words("true", {"--nproc-per-node", "2", "--report"})).front();
  CHECK(count(results.err, "key from key file " + (directory / "key").string()) == 2);
  REQUIRE(::chmod((directory / "key").c_str(), 0644) == 0);
  results = run_step({env}, launch_words("true", {"--nproc-per-node", "2"})).front();
  CHECK(results.code == 125);
  CHECK_THAT(results.err, Contains("(mode 0644)") && Contains("chmod 600"));
}

TEST_CASE("the key file protects a step without HPCML_JOB_SECRET") {
  const auto job = new_job();
  const test::TempDirectory directory;
  const auto path = (directory / "key").string();
  REQUIRE(store::make_user_key(path));
  auto tasks = without_key(tasks_of(2, job));
  for (auto& task_env : tasks) task_env.set("HPCML_KEY_FILE", path);
  const Attacker rogue({"port=" + std::to_string(port_of_job(job)), "file=/tmp/evil.sh", "answer"});
  const auto results = run_step(tasks, launch_words(k_print, {"--store", "own", "--report"}));
  CHECK(results[1].out == results[0].out);
  CHECK_THAT(results[0].out, !Contains(":" + std::to_string(port_of_job(job)) + ":"));
  CHECK_THAT(results[0].err, Contains("key from key file " + path));
  // A requeued job has another key, although its file is the same.
  const auto key = store::load_user_key(path);
  REQUIRE(key);
  const auto uid = std::to_string(::getuid()), id = std::to_string(job);
  CHECK_FALSE(store::derive_job_key(*key->key, id + ".0." + uid) ==
              store::derive_job_key(*key->key, id + ".1." + uid));
}

TEST_CASE("simultaneous steps of a job do not mix") {
  for (const bool has_key : {true, false})
    for (const bool has_script : {true, false}) {
      const auto job = new_job();
      const ScriptOfJob script(job);
      auto tasks = tasks_of(2, job);
      for (auto& task_env : tasks_of(2, job)) {
        task_env.set("SLURM_STEP_ID", "1");
        tasks.push_back(std::move(task_env));
      }
      if (has_script)
        for (auto& task_env : tasks) task_env.set("HPCML_STORE_ADDR", script.place());
      if (!has_key) tasks = without_key(std::move(tasks));
      const auto results = run_step(tasks, launch_words(k_print, {"--store", "own"}));
      CAPTURE(has_key, has_script, results[0].err, results[2].err);
      for (const auto& result : results) CHECK(result.code == 0);
      CHECK(results[0].out == results[1].out);
      CHECK(results[2].out == results[3].out);
      CHECK(results[0].out != results[2].out);
    }
}

TEST_CASE("agents of a step without a key report an error") {
  auto task_env = task(0, 2, new_job());
  task_env.unset("HPCML_JOB_SECRET");
  task_env.set("HPCML_KEY_FILE", "/proc/nowhere/key"); // cannot be created
  task_env.set("SLURM_STEP_NODELIST", "127.0.0.[1-2]");
  task_env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  task_env.set("SLURMD_NODENAME", "127.0.0.1");
  const auto result =
      run_step({task_env}, launch_words("echo started", {"--nproc-per-node", "1", "--max-restarts", "1"}))
          .front();
  CHECK(result.code == 125);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains("hpcml's agents on 2 nodes have no key") && Contains("/proc/nowhere/key") &&
                             Contains("hpcml config key"));
}
