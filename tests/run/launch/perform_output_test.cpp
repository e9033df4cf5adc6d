// SPDX-License-Identifier: MIT
// Where the output of started ranks goes, of ranks in memory: files, our own output, both; and what their
// observer knows of it.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "run/launch/launch_play.hpp"
#include "run/launch/supervisor.hpp"
#include "sorted_lines.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using test::sorted_lines;
using Lines = std::vector<std::string>;

namespace {

constexpr const char* k_two_words = "out out$RANK; err err$RANK; exit 0";

/// Ranks of one script whose output also goes into a directory.
struct OutputPlay : LaunchPlay {
  OutputPlay(unsigned count, const std::string& program, const std::filesystem::path& path)
      : LaunchPlay({program}) {
    request.processes_per_node = count;
    request.output.directory = path.string();
  }
};

/// The file's bytes; "none" where there is no such file.
std::string bytes_of(const std::filesystem::path& path) { return util::read_file(path).value_or("none"); }

/// Keeps what is known of the rank that failed first.
class FailureListener : public launch::RankObserver {
public:
  bool look(launch::Supervisor& ranks) override {
    stop_at.reset();
    if (kills) ranks.kill();
    return true;
  }
  std::optional<Time> due() const override { return stop_at; }
  void ended(const launch::RankProcess& process, const launch::Supervisor&) override {
    events.push_back("ended " + std::to_string(process.rank));
  }
  void failed(const launch::RankProcess& process, const launch::Supervisor& ranks) override {
    events.push_back("failed " + std::to_string(process.rank));
    text = ranks.output().last_written(process.local_rank) ? "it wrote\n" : "it wrote nothing\n";
    for (const auto& line : ranks.output().last_lines(process.local_rank)) text += line + "\n";
  }
  void on_stop_requested(int signal) override { events.push_back("signal " + std::to_string(signal)); }

  std::string text;
  std::vector<std::string> events;
  std::optional<Time> stop_at;
  bool kills = false;
};

/// Supervises ranks for an observer, as an agent does.
launch::LaunchOutcome run_observed(LaunchPlay& play, FailureListener& listener) {
  const auto decision = launch::resolve(play.request, play.context, play.node, play.queries);
  const auto& resolved = std::get<launch::ResolvedLaunch>(decision);
  const launch::SupervisionOptions oversight{&listener, {}, {}, {}};
  launch::LaunchOutcome outcome;
  play.system.run([&] {
    outcome = launch::Supervisor(play.request, play.context, resolved.node, &oversight).run();
    return outcome.code;
  });
  return outcome;
}

} // namespace

TEST_CASE("each rank's streams go into its files and are shown") {
  test::TempDirectory directory;
  OutputPlay play(2, k_two_words, directory / "new/logs");
  CHECK(play.run() == 0);
  CHECK(sorted_lines(play.out()) == Lines{"[0] out0", "[1] out1"});
  CHECK(sorted_lines(play.err()) == Lines{"[0] err0", "[1] err1"});
  for (const std::string rank : {"0", "1"}) {
    CHECK(bytes_of(directory / "new/logs" / rank / "stdout.log") == "out" + rank + "\n");
    CHECK(bytes_of(directory / "new/logs" / rank / "stderr.log") == "err" + rank + "\n");
  }
  OutputPlay again(1, "part more; exit 0", directory / "new/logs");
  CHECK(again.run() == 0);
  CHECK(bytes_of(directory / "new/logs/0/stdout.log") == "out0\nmore");
}

TEST_CASE("redirected streams are only in files and teed ones in both") {
  test::TempDirectory directory;
  OutputPlay play(2, k_two_words, directory.path());
  play.request.output.redirects.others = {true, false};
  play.request.output.tee.named[1] = {true, false};
  CHECK(play.run() == 0);
  CHECK(play.out() == "[1] out1\n");
  CHECK(sorted_lines(play.err()) == Lines{"[0] err0", "[1] err1"});
  CHECK(bytes_of(directory / "0/stdout.log") == "out0\n");
  CHECK(bytes_of(directory / "1/stdout.log") == "out1\n");
  CHECK(bytes_of(directory / "0/stderr.log") == "none");
  CHECK(bytes_of(directory / "1/stderr.log") == "none");
}

TEST_CASE("ranks that are not shown write only into their files") {
  test::TempDirectory directory;
  const bool has_files = GENERATE(true, false);
  OutputPlay play(3, k_two_words, has_files ? directory.path() : "");
  play.request.output.shown = {1};
  CHECK(play.run() == 0);
  CHECK(play.out() == "[1] out1\n");
  CHECK(play.err() == "[1] err1\n");
  if (has_files) CHECK(bytes_of(directory / "2/stdout.log") == "out2\n");
}

TEST_CASE("shown lines have the requested prefix and files none") {
  test::TempDirectory directory;
  OutputPlay play(2, "out a; part b; exit 0", directory.path());
  play.request.output.prefix = "[${role_name}${local_rank}]:";
  play.request.output.role = "trainer";
  CHECK(play.run() == 0);
  CHECK(sorted_lines(play.out()) == Lines{"[trainer0]:a", "[trainer0]:b", "[trainer1]:a", "[trainer1]:b"});
  CHECK(bytes_of(directory / "1/stdout.log") == "a\nb");
}

TEST_CASE("lines that match a filter go into a file of all ranks") {
  test::TempDirectory directory;
  OutputPlay play(2, "out loss=$RANK; out other; err Error; err fine; part the epoch; exit 0",
                  directory.path());
  play.request.output.out_filters = {"loss=", "epoch"};
  play.request.output.err_filters = {"Error"};
  play.request.output.redirects.others = {true, true};
  CHECK(play.run() == 0);
  CHECK(play.out().empty());
  CHECK(play.err().empty());
  CHECK(sorted_lines(bytes_of(directory / "filtered_stdout.log")) ==
        Lines{"[0] loss=0", "[0] the epoch", "[1] loss=1", "[1] the epoch"});
  CHECK(sorted_lines(bytes_of(directory / "filtered_stderr.log")) == Lines{"[0] Error", "[1] Error"});
  CHECK(bytes_of(directory / "1/stdout.log") == "loss=1\nother\nthe epoch");
}

TEST_CASE("log directory that cannot be made stops the start") {
  test::TempDirectory directory;
  REQUIRE(util::write_file(directory / "file", "x"));
  OutputPlay play(2, k_two_words, directory / "file/logs");
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.err(), Contains("cannot create directory " + (directory / "file/logs/0").string()));
  CHECK(play.system.executed().empty());
}

TEST_CASE("failure is reported as without files") {
  test::TempDirectory directory;
  OutputPlay play(2, "", directory.path());
  play.system.programs = {"60 s", "err last; exit 7"};
  CHECK(play.run() == 7);
  CHECK_THAT(play.err(), Contains("rank 1/2 (here, local 1) exited with code 7"));
  CHECK(bytes_of(directory / "1/stderr.log") == "last\n");
}

TEST_CASE("output continues in files when the reader goes away") {
  test::TempDirectory directory;
  OutputPlay play(2, "out one; 1 s; out two; 1 s; out three; exit 0", directory.path());
  play.system.after(0.5, [&] { play.system.out.error = EPIPE; });
  CHECK(play.run() == 0);
  CHECK_THAT(play.err(),
             Contains("cannot write to standard output any more (Broken pipe); the ranks continue"));
  for (const auto* rank : {"0", "1"}) CHECK(bytes_of(directory / rank / "stdout.log") == "one\ntwo\nthree\n");
}

TEST_CASE("observer knows the last lines of a rank that fails") {
  std::string expected = "it wrote\n", program;
  for (int i = 1; i <= 40; ++i) program += "err line" + std::to_string(i) + "; ";
  for (int i = 21; i <= 40; ++i) expected += "line" + std::to_string(i) + "\n";
  LaunchPlay play({"60 s", program + "exit 7"}); // it writes and exits at once
  FailureListener listener;
  const auto outcome = run_observed(play, listener);
  CHECK(outcome.code == 7);
  CHECK(listener.text == expected);
  CHECK(listener.events == Lines{"ended 1", "failed 1", "ended 0"});
}

TEST_CASE("observer is told that a rank wrote nothing") {
  LaunchPlay play({"exit 3"});
  FailureListener listener;
  CHECK(run_observed(play, listener).code == 3);
  CHECK(listener.text == "it wrote nothing\n");
  CHECK(play.err().empty()); // it reports the failure itself
}

TEST_CASE("observer stops the ranks") {
  LaunchPlay play({"| TERM: 2 s; exit 0", "| TERM: ignore"});
  FailureListener listener;
  listener.stop_at = play.system.now() + std::chrono::seconds(5);
  const auto outcome = run_observed(play, listener);
  CHECK(outcome == launch::LaunchOutcome{0, 0, true});
  CHECK(play.system.signals() == "5 s: TERM, CONT; 15 s: KILL");
  CHECK(listener.events == Lines{"ended 0", "ended 1"});
}

TEST_CASE("observer kills the ranks") {
  LaunchPlay play({"| TERM: ignore", "| TERM: ignore"});
  FailureListener listener;
  listener.stop_at = play.system.now() + std::chrono::seconds(5);
  listener.kills = true;
  CHECK(run_observed(play, listener).stopped);
  CHECK(play.system.signals().starts_with("5 s: KILL"));
  CHECK(play.system.left().empty());
}

TEST_CASE("observer is notified of a signal to end") {
  LaunchPlay play({"| TERM: 1 s; exit 0"});
  FailureListener listener;
  play.system.signal_after(1, "TERM");
  CHECK(run_observed(play, listener).code == 0);
  CHECK(listener.events == Lines{"signal 15", "ended 0"});
}
