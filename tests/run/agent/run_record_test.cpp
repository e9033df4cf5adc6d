// SPDX-License-Identifier: MIT
// The record of a run says what its page says, and is whole whatever is killed.
#include "run/agent/run_record.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "random_numbers.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using namespace hpcml::agent;
using nlohmann::json;

namespace {

using Members = std::map<std::string, std::set<std::string>>; // of each event

/// "## `event`" and the rows "| `member` | …" below it; those of every event under "".
Members members_of_page() {
  Members members;
  std::string event;
  const auto page = util::read_file(fs::path(HPCML_SOURCE_DIR) / "docs/reference/run-record.md");
  REQUIRE(page);
  for (const auto& line : util::split(*page, '\n')) {
    const auto name = [&] { return util::split(line, '`').at(1); };
    if (line.starts_with("## `")) members[event = name()];
    if (line.starts_with("| `")) CHECK(members[event].insert(name()).second);
  }
  return members;
}

template <std::size_t... I> std::vector<RecordEvent> one_of_each(std::index_sequence<I...>) {
  return {RecordEvent(std::in_place_index<I>)...};
}

std::vector<RecordEvent> all_events() {
  return one_of_each(std::make_index_sequence<std::variant_size_v<RecordEvent>>());
}

RunRecord opened(const fs::path& path) {
  auto record = RunRecord::open(path.string());
  REQUIRE(record);
  return std::move(record).value();
}

/// The whole lines of a file, and whether there is half a one behind them.
std::vector<json> whole_lines(const fs::path& path) {
  const auto text = util::read_file(path);
  REQUIRE(text);
  auto lines = util::split(*text, '\n');
  lines.pop_back(); // half a line, or the empty text behind the last newline
  std::vector<json> list;
  for (const auto& line : lines) {
    list.push_back(json::parse(line, nullptr, false));
    CHECK_FALSE(list.back().is_discarded());
  }
  return list;
}

/// Writes numbered events until it is killed.
[[noreturn]] void write_for_ever(const fs::path& path, unsigned writer) {
  auto record = RunRecord::open(path.string());
  if (!record) ::_exit(1);
  for (unsigned number = 0;; ++number) {
    StallSeen stall{.attempt = number, .why = std::string(number % 50 * 100, 'x')};
    stall.stacks = std::to_string(writer);
    if (!record->add(stall)) ::_exit(2);
  }
}

} // namespace

TEST_CASE("every event that is written is on the page with all of its members, and the other way round") {
  auto page = members_of_page();
  const auto common = page[""];
  page.erase("");
  CHECK(common == std::set<std::string>{"event", "time", "seconds"});
  Members written;
  for (const auto& event : all_events()) {
    const auto line = json::parse(render_event(event, {}));
    auto& members = written[line["event"].get<std::string>()];
    CHECK(members.empty());
    for (const auto& [name, value] : line.items())
      if (common.count(name) == 0) members.insert(name);
    CHECK(members.size() + common.size() == line.size());
  }
  CHECK(written == page);
}

TEST_CASE("an event says when it was, in UTC and since the start") {
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(1764104584567)};
  CHECK(render_time(time) == "2025-11-25T21:03:04.567Z");
  CHECK(render_time(std::chrono::system_clock::time_point{}) == "1970-01-01T00:00:00.000Z");
  CHECK(render_event(RunEnded{.code = 143, .restarts = 2}, {time, 1234567.8914}) ==
        "{\"event\":\"end\",\"time\":\"2025-11-25T21:03:04.567Z\",\"seconds\":1234567.891,\"code\":143,"
        "\"restarts\":2,\"class\":null}\n");
}

TEST_CASE("a record whose folder is removed goes on in a new one, with the run's facts, which is said once") {
  const test::TempDirectory directory;
  const auto path = directory / "run" / "record-0.jsonl";
  fs::create_directory(path.parent_path());
  auto record = opened(path);
  REQUIRE(record.add(RunStarted{.run_id = "7.0"}));
  REQUIRE(record.add(AttemptStarted{}));
  fs::remove_all(path.parent_path());
  const auto added = record.add(RunEnded{.code = 1});
  REQUIRE_FALSE(added);
  CHECK(added.error().what.find("was removed during the run; it continues in a new file") !=
        std::string::npos);
  REQUIRE(record.add(RunEnded{.code = 2}));
  const auto lines = whole_lines(path);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["event"] == "run"); // who reads it knows whose record it is
  CHECK(lines[0]["run_id"] == "7.0");
  CHECK(lines[1]["code"] == 1);
  CHECK(lines[2]["code"] == 2);
}

TEST_CASE("a record tells of a run from its beginning to its end") {
  const test::TempDirectory directory;
  const auto path = directory / record_name(3);
  CHECK(path.filename() == "record-3.jsonl");
  {
    auto record = opened(path);
    RunStarted run{.run_id = "7.0", .hpcml = "1", .command = {"a b", "\n\xff"}, .host = "n3"};
    REQUIRE(record.add(run));
    REQUIRE(record.add(AttemptStarted{.world_size = 4, .nodes = {{0, "n0", 2}, {3, "n3", 2}}}));
    FailureSeen failure;
    failure.note.status = SIGSEGV;
    failure.note.last_lines = {"\x1b[31mx", ""};
    REQUIRE(record.add(failure));
    REQUIRE(record.add(RankEnded{.rank = 1, .status = 3 << 8, .cause_rank = 9}));
  }
  const auto lines = whole_lines(path);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["version"] == 1);
  CHECK(lines[0]["job"].is_null());
  CHECK(lines[0]["command"] == json({"a b", "\n\ufffd"}));
  CHECK(lines[1]["nodes"][1] == json({{"node", 3}, {"host", "n3"}, {"ranks", 2}}));
  CHECK(lines[2]["signal"] == "SIGSEGV");
  CHECK(lines[2]["exit_code"].is_null());
  CHECK(lines[2]["last_lines"][0] == "\x1b[31mx");
  CHECK(lines[3]["exit_code"] == 3);
  CHECK(lines[3]["cause_rank"] == 9);
  CHECK(lines[3]["seconds"] >= lines[0]["seconds"]);
}

TEST_CASE("a writer that is killed at any time leaves all lines but the last one whole") {
  std::mt19937 random(17);
  for (int round = 0; round < 12; ++round) {
    const test::TempDirectory directory;
    const auto path = directory / "record";
    const auto most = test::pick(random, 1000, 400'000);
    const pid_t writer = ::fork();
    if (writer == 0) write_for_ever(path, 0);
    std::error_code none;
    while (!fs::exists(path, none) || fs::file_size(path, none) < most) ::usleep(100);
    ::kill(writer, SIGKILL);
    int status = 0;
    ::waitpid(writer, &status, 0);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    std::map<std::string, unsigned> next;
    for (const auto& line : whole_lines(path)) CHECK(line["attempt"] == next[line["stacks"]]++);
    CHECK_FALSE(next.empty());
  }
}

TEST_CASE("a record that ends in the midst of a line goes on with a new one") {
  const test::TempDirectory directory;
  const auto path = directory / "record";
  REQUIRE(util::write_file(path, "{\"event\":\"run\",\"ver"));
  REQUIRE(opened(path).add(RunEnded{}));
  REQUIRE(opened(path).add(RunEnded{}));
  const auto lines = util::split(*util::read_file(path), '\n');
  REQUIRE(lines.size() == 4);
  CHECK(json::parse(lines[1])["event"] == "end");
  CHECK(json::parse(lines[2])["event"] == "end");
}

TEST_CASE("a full disk is said once, and the lines after it are whole again") {
  const test::TempDirectory directory;
  const auto path = directory / "record";
  const pid_t child = ::fork(); // the limit is of a process
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto record = RunRecord::open(path.string());
    const auto limit = [](rlim_t bytes) {
      const rlimit both{bytes, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &both);
    };
    bool right = record && record->add(RunEnded{.code = 1});
    limit(fs::file_size(path) + 10);
    const auto fault = record->add(RunEnded{.code = 2});
    right = right && !fault && test::holds(fault.error().what, path.string());
    right = right && record->add(RunEnded{.code = 3}); // lost, and not said again
    limit(RLIM_INFINITY);
    right = right && record->add(RunEnded{.code = 4});
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  const auto lines = util::split(*util::read_file(path), '\n');
  REQUIRE(lines.size() == 4);
  CHECK(json::parse(lines[0])["code"] == 1);
  CHECK(lines[1].size() == 10);
  CHECK(json::parse(lines[2])["code"] == 4);
}

TEST_CASE("a record that cannot be is said by its name, and nothing waits for a reader") {
  const test::TempDirectory directory;
  const auto record = RunRecord::open((directory / "none" / "record").string());
  REQUIRE_FALSE(record);
  CHECK(test::holds(record.error().what, "none/record', so that the run continues without it: No such file"));
  CHECK_FALSE(RunRecord::open("/dev/full").value().add(RunEnded{}));
}

TEST_CASE("the slowest rank of a phase is named beside the middle one") {
  const auto slowest =
      find_slowest({{1, 0, "store", 0.5}, {1, 1, "store", 9}, {1, 2, "store", 0.7}}, {"a", "b", "c"});
  CHECK(slowest.slowest == 1);
  CHECK(slowest.host == "b");
  CHECK(slowest.ranks == 3);
  CHECK(slowest.median == Approx(0.7));
  CHECK(slowest.took == Approx(9));
  CHECK(find_slowest({{0, 5, "store", 0.5}}, {}).host.empty());
}
