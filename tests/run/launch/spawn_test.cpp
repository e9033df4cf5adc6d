// SPDX-License-Identifier: MIT
// Starting and supervising ranks with real processes: output, signals, failures, orphans.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"
#include "serving_child.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using test::sorted_lines;

namespace {

util::ProcessOutput run_ranks(unsigned ranks, const std::string& script,
                              std::vector<std::string> flags = {}) {
  std::vector<std::string> words = {"launch", "--nproc-per-node", std::to_string(ranks)};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return run_hpcml(words, bare_environment());
}

} // namespace

TEST_CASE("long and binary lines of several ranks come through whole") {
  const auto output =
      run_ranks(4, "for i in 1 2 3; do head -c 1000000 /dev/zero | tr '\\0' $RANK; printf '\\000\\n'; done");
  CHECK(output.exit_code == 0);
  const auto lines = sorted_lines(output.out);
  REQUIRE(lines.size() == 12);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string rank = std::to_string(i / 3);
    if (lines[i] != "[" + rank + "] " + std::string(1000000, rank[0]) + std::string(1, '\0'))
      FAIL("line " << i << " is torn");
  }
}

TEST_CASE("no rank outlives a killed launch") {
  Running launch({"launch", "--nproc-per-node", "3", "--", "sh", "-c", "echo $$; exec sleep 120"},
                 bare_environment());
  std::vector<pid_t> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(std::stoi(launch.read_line().substr(4)));
  launch.signal(SIGKILL);
  CHECK(launch.wait() == 128 + SIGKILL);
  for (const pid_t rank : ranks) CHECK(is_lost(rank));
}

TEST_CASE("only rank 0 reads standard input") {
  const auto output = util::run_process(
      {HPCML_BINARY, "launch", "--nproc-per-node", "2", "--", "sh", "-c", "echo \"$RANK:$(cat)\""},
      bare_environment(), std::chrono::seconds(300), "hello");
  REQUIRE(output);
  CHECK(sorted_lines(output->out) == std::vector<std::string>{"[0] 0:hello", "[1] 1:"});
}

TEST_CASE("a reader that goes away ends the ranks as it ends any program") {
  const auto output = util::run_process(
      {"bash", "-c", std::string(HPCML_BINARY) + " launch --nproc-per-node 2 -- yes | head -n 3"},
      bare_environment(), std::chrono::seconds(300));
  REQUIRE(output);
  CHECK(util::split(output->out, '\n').size() == 4);
}

TEST_CASE("failures of launch itself have their own exit codes and a record") {
  const std::string directory = make_directory();
  auto env = bare_environment();
  env.set("HPCML_ERROR_DIR", directory);
  CHECK(run_hpcml({"launch", "--", "no such program;$(touch x)"}, env).exit_code == 127);
  CHECK(run_hpcml({"launch", "--", "/etc/passwd"}, env).exit_code == 126);
  CHECK(run_hpcml({"launch"}, env).exit_code == 125);
  CHECK(run_hpcml({"launch", "--site", "nowhere", "--", "true"}, env).exit_code == 125);
  CHECK(run_hpcml({"launch", "--address-of", "no0"}, env).exit_code == 125);
  std::size_t records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    records += entry.path().extension() == ".json" ? 1 : 0;
  CHECK(records >= 5);
  CHECK_FALSE(std::filesystem::exists("x"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("an executable file with a hostile name runs as it is") {
  const std::string directory = make_directory(), name = directory + "/a b;$(id)'\"\n*";
  REQUIRE(util::write_file(name, "#!/bin/sh\necho \"$1\"\n", 0755));
  const auto output =
      run_hpcml({"launch", "--nproc-per-node", "1", "--", name, "$HOME `id` \\ "}, bare_environment());
  CHECK(output.out == "[0] $HOME `id` \\ \n");
  std::filesystem::remove_all(directory);
}

TEST_CASE("a script runs under the active Python, and its flags are its own") {
  const std::string directory = make_directory();
  REQUIRE(util::write_file(
      directory + "/t.py",
      "import sys, os\nprint(sys.argv[1:], os.environ['RANK'], sys.stdout.write_through)\n"));
  const auto output = run_hpcml(
      {"launch", "--nproc-per-node", "1", directory + "/t.py", "--report", "--lr", "0.1", "--", "x"},
      bare_environment());
  CHECK(output.exit_code == 0);
  CHECK(output.out == "[0] ['--report', '--lr', '0.1', '--', 'x'] 0 True\n");
  CHECK_THAT(run_hpcml({"launch", HPCML_BINARY}, bare_environment()).err, Contains("add -- before it"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("ranks whose store's process is killed are ended, and launch says it") {
  auto env = bare_environment();
  env.unset("HPCML_RENDEZVOUS_TIMEOUT"); // where nobody meets there is no store
  Running launch({"launch", "--nproc-per-node", "2", "--", "sh", "-c", "echo up; exec sleep 300"}, env, true);
  std::string output;
  const auto read_until = [&](const std::string& words) {
    for (int lines = 0; output.find(words) == std::string::npos && lines < 20; ++lines)
      output += launch.read_line() + "\n";
    return output;
  };
  CHECK_THAT(read_until("[0] up"), Contains("[0] up"));
  CHECK_THAT(read_until("[1] up"), Contains("[1] up"));
  const auto store = test::find_serving_child(launch.pid());
  REQUIRE(store > 0);
  ::kill(store, SIGKILL);
  CHECK_THAT(read_until("SIGKILL"), Contains("the process of the rendezvous store was killed by SIGKILL"));
  CHECK(launch.wait() == 125);
}
