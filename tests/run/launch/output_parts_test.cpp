// SPDX-License-Identifier: MIT
// The parts that a rank's output goes through: where to, which lines, the last ones, a file that fills a
// disk.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstring>
#include <sys/resource.h>

#include "core/util/file.hpp"
#include "random_numbers.hpp"
#include "run/launch/last_lines.hpp"
#include "run/launch/log_file.hpp"
#include "run/launch/matching_line_filter.hpp"
#include "run/launch/output_lines.hpp"
#include "run/launch/output_routes.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace launch;
using Catch::Contains;
using Lines = std::vector<std::string>;

namespace {

/// "file+shown", "file", "shown" or "dropped".
std::string way(const OutputOptions& output_options, unsigned local_rank, bool is_error) {
  const auto route = plan_routes(output_options, {10, 4, false}, is_error)[local_rank];
  if (route.in_file) return route.shown ? "file+shown" : "file";
  return route.shown ? "shown" : "dropped";
}

} // namespace

TEST_CASE("where a stream goes follows from the folder, what is redirected, what is teed and who is shown") {
  OutputOptions output_options;
  CHECK(way(output_options, 0, false) == "shown");
  output_options.directory = "logs";
  CHECK(way(output_options, 0, false) == "file+shown");
  CHECK(way(output_options, 3, true) == "file+shown");
  output_options.shown = {0};
  CHECK(way(output_options, 0, true) == "file+shown");
  CHECK(way(output_options, 1, true) == "file");
  output_options.shown = {};
  output_options.redirects.others = {true, false};
  CHECK(way(output_options, 0, false) == "file");
  CHECK(way(output_options, 0, true) == "shown");
  output_options.tee.named[2] = {true, true};
  CHECK(way(output_options, 1, false) == "file");
  CHECK(way(output_options, 2, false) == "file+shown");
  CHECK(way(output_options, 2, true) == "file+shown");
  output_options.shown = {1, 2};
  CHECK(way(output_options, 0, true) == "dropped");
  CHECK(way(output_options, 1, true) == "shown");
  CHECK(way(output_options, 3, false) == "file");
  output_options.directory.clear();
  CHECK(way(output_options, 1, false) == "dropped");
  CHECK(way(output_options, 2, false) == "shown");
}

TEST_CASE("files are named by the rank, filtered ones by the node unless it is the first") {
  const auto routes = plan_routes({}, {10, 2, false}, true);
  CHECK(log_name(routes[1].rank, routes[1].is_error) == "11/stderr.log");
  const auto first = plan_routes({}, {10, 2, false}, false)[0];
  CHECK(log_name(first.rank, first.is_error) == "10/stdout.log");
  CHECK(filtered_name(false, 0) == "filtered_stdout.log");
  CHECK(filtered_name(true, 0) == "filtered_stderr.log");
  CHECK(filtered_name(true, 3) == "filtered_stderr.node3.log");
}

TEST_CASE("a prefix is filled in as Python fills in a template") {
  struct Row {
    const char* text;
    const char* filled;
  };
  const Row rows[] = {{"[${role_name}${local_rank}]:", "[trainer3]:"},
                      {"$rank ${rank}|", "11 11|"},
                      {"$ranks ${ rank} ${rank ${", "$ranks ${ rank} ${rank ${"},
                      {"$$rank $", "$rank $"},
                      {"$local_rank-$role_name", "3-trainer"},
                      {"plain ", "plain "}};
  for (const auto& row : rows) {
    OutputOptions output_options;
    output_options.role = "trainer";
    output_options.prefix = row.text;
    CHECK(fill_prefix(output_options, 11, 3) == row.filled);
  }
  CHECK(plan_routes({}, {7, 1, false}, false)[0].prefix == "[7] ");
  CHECK(plan_routes({}, {7, 1, true}, false)[0].prefix == "\033[32m[7]\033[0m ");
  CHECK(plan_routes({}, {7, 1, true}, false)[0].plain_prefix == "[7] ");
}

TEST_CASE("the last lines are at most 20, of bounded bytes, and the unfinished one is among them") {
  LastLines words;
  CHECK(words.lines().empty());
  words.add("a\nb");
  words.add("c");
  CHECK(words.lines() == Lines{"a", "bc"});
  words.add("\n\n");
  CHECK(words.lines() == Lines{"a", "bc", ""});
  for (int i = 0; i < 30; ++i) words.add("line " + std::to_string(i) + "\r\n");
  CHECK(words.lines().size() == 20);
  CHECK(words.lines().front() == "line 10");
  CHECK(words.lines().back() == "line 29");
  words.add("\r 10%|#\r 20%|##\r");
  CHECK(words.lines().back() == " 20%|##");
  LastLines large;
  large.add(std::string(100000, 'x') + "\n" + std::string(3, '\0'));
  CHECK(large.lines().size() == 2);
  CHECK(large.lines().front().starts_with("…x"));
  CHECK(large.lines().front().size() <= LastLines::k_bytes + 3);
  CHECK(large.lines().back() == std::string(3, '\0'));
}

TEST_CASE("the last lines of random pieces are those of the whole text") {
  std::mt19937 random(20);
  for (int round = 0; round < 300; ++round) {
    LastLines words;
    std::string all;
    for (auto pieces = test::pick(random, 0, 60); pieces > 0; --pieces) {
      std::string piece(test::pick(random, 0, test::chance(random, 5) ? 40000 : 300), '\0');
      for (auto& c : piece) c = test::chance(random, 2) ? '\n' : static_cast<char>('a' + random() % 26);
      words.add(piece);
      all += piece;
    }
    LastLines whole;
    whole.add(all);
    if (words.lines() != whole.lines()) FAIL("round " << round);
  }
}

TEST_CASE("lines that hold one of the strings are let through whole, however they come in pieces") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MatchingLineFilter filter({"loss", "err"}, "[3] ");
    std::string all, filtered, expected;
    for (auto lines = test::pick(random, 0, 40); lines > 0; --lines) {
      std::string line;
      for (auto words = test::pick(random, 0, 9); words > 0; --words)
        line += std::vector<std::string>{"lo", "ss", "er", "r", " ", std::string(1, '\0')}[random() % 6];
      if (line.find("loss") != std::string::npos || line.find("err") != std::string::npos)
        expected += "[3] " + line + "\n";
      all += line + (lines == 1 ? "" : "\n");
    }
    for (std::size_t at = 0, size = 0; at < all.size(); at += size) {
      size = test::pick(random, 1, 12);
      filtered += filter.add(std::string_view(all).substr(at, size));
    }
    filtered += filter.finish();
    if (filtered != expected) FAIL("round " << round << ": " << filtered << " for " << expected);
  }
}

TEST_CASE("a line that is too long to be kept is let through from where it holds a string") {
  MatchingLineFilter filter({"needle"}, "> ");
  const std::string large(300000, 'x');
  std::string filtered = filter.add(large);
  filtered += filter.add(large + "nee");
  filtered += filter.add("dle" + large);
  filtered += filter.add(large);
  filtered += filter.add("end\nother\n");
  CHECK(filtered.starts_with("> "));
  CHECK(filtered.ends_with("end\n"));
  CHECK(filtered.find("needle") != std::string::npos);
  CHECK(filtered.size() >= 600000);
}

TEST_CASE("unfinished lines of many ranks are held in bounded memory, and nothing of them is lost") {
  const std::size_t count = 64, size = 1U << 20;
  LineInterleaver lines(Lines(count, "> "));
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += lines.add(i, std::string(size, 'x'));
  CHECK(out.size() > (count - 17) * size);
  for (std::size_t i = 0; i < count; ++i) out += lines.finish(i);
  CHECK(static_cast<std::size_t>(std::count(out.begin(), out.end(), 'x')) == count * size);
}

TEST_CASE("a file that could not be written goes on at the beginning of a line, and says what is missing") {
  test::TempDirectory directory;
  const auto path = (directory / "a" / "b" / "stdout.log").string();
  REQUIRE(util::write_file(directory / "before", "x"));
  LogFile file;
  REQUIRE(file.open(path));
  CHECK(file.write("first\n").empty());
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 10;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto status = file.write("second\nthird");
  const auto again = file.write(" and more");
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, old_handler);
  CHECK_THAT(status, Contains(path) && Contains(std::strerror(EFBIG)));
  CHECK(again.empty());
  CHECK(file.write(" of it").empty());
  CHECK(file.write(" until here\nfourth\n").empty());
  CHECK_THAT(file.close(), Contains("the log file " + path + " lacks 35 bytes of output"));
  CHECK(util::read_file(path).value_or("") ==
        "first\nseco\n[hpcml: output is missing here: " + std::string(std::strerror(EFBIG)) + "]\nfourth\n");
}

TEST_CASE("a log file that is removed while it is written is said at its end") {
  test::TempDirectory directory;
  const auto path = (directory / "logs" / "stdout.log").string();
  LogFile file;
  REQUIRE(file.open(path));
  CHECK(file.write("one\n").empty());
  std::filesystem::remove_all(directory / "logs");
  CHECK(file.write("two\n").empty());
  CHECK_THAT(file.close(), Contains(path) && Contains("was removed"));
}

TEST_CASE("a log file is appended to, and one that cannot be made is named with its reason") {
  test::TempDirectory directory;
  const auto path = (directory / "stdout.log").string();
  for (const auto* text : {"one\n", "two"}) {
    LogFile file;
    REQUIRE(file.open(path));
    CHECK(file.write(text).empty());
    CHECK(file.close().empty());
  }
  CHECK(util::read_file(path).value_or("") == "one\ntwo");
  LogFile file;
  const auto opened = file.open(path + "/0/stdout.log");
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.error().what, Contains(path + "/0") && Contains("Not a directory"));
  CHECK_FALSE(file.is_open());
}
