// SPDX-License-Identifier: MIT
// Many sources, one reader and many files: every byte arrives, in order, whatever the pieces.
#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "random_numbers.hpp"
#include "run/launch/output_multiplexer.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace launch;
using Catch::Contains;

namespace {

/// A stream whose sources are pipes of this process, and its reader.
class Pipes {
public:
  Pipes(const OutputOptions& output_options, unsigned count, bool errors)
      : x_writing(count, -1), x_target(make_target()),
        stream(System::native(), x_target[1], plan_routes(output_options, {0, count, false}, errors),
               [this](const std::string& text) { printed.push_back(text); }) {
    x_handler = ::signal(SIGPIPE, SIG_IGN);
    REQUIRE(stream.open_files(output_options, 0));
    for (unsigned i = 0; i < count; ++i) {
      int ends[2];
      REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
      REQUIRE(stream.add_source(i, ends[0]));
      x_writing[i] = ends[1];
    }
  }
  ~Pipes() {
    for (unsigned i = 0; i < x_writing.size(); ++i) end(i);
    close_reader();
    ::close(x_target[1]);
    ::signal(SIGPIPE, x_handler);
  }
  /// What the pipe takes of it.
  std::size_t write(unsigned source, std::string_view bytes) {
    const ssize_t count = ::write(x_writing[source], bytes.data(), bytes.size());
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  void end(unsigned source) {
    if (x_writing[source] >= 0) ::close(x_writing[source]);
    x_writing[source] = -1;
  }
  void close_reader() {
    if (x_target[0] >= 0) ::close(x_target[0]);
    x_target[0] = -1;
  }
  /// Reads what has been shown.
  void read_shown() {
    char buffer[65536];
    for (ssize_t count; (count = ::read(x_target[0], buffer, sizeof buffer)) > 0;)
      shown.append(buffer, static_cast<std::size_t>(count));
  }
  void finish() {
    while (stream.queue().full() || stream.take_rest()) pump();
    stream.close_sources();
    while (!stream.queue().empty()) pump();
    read_shown();
  }
  void pump() {
    stream.write_some();
    read_shown();
  }

private:
  static std::array<int, 2> make_target() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    return ends;
  }
  std::vector<int> x_writing;
  std::array<int, 2> x_target;
  sighandler_t x_handler = SIG_DFL;

public:
  std::vector<std::string> printed;
  std::string shown;
  OutputMultiplexer stream;
};

std::string random_bytes(std::mt19937& random, std::size_t size, unsigned newlines) {
  std::string bytes(size, '\0');
  for (auto& c : bytes) c = test::chance(random, newlines) ? '\n' : static_cast<char>(random());
  return bytes;
}

/// What stands behind "[INDEX] " in the lines of `shown`.
std::string lines_of(const std::string& shown, unsigned index) {
  const std::string prefix = "[" + std::to_string(index) + "] ";
  std::string text;
  for (std::size_t at = 0; at < shown.size();) {
    const auto end = shown.find('\n', at) + 1;
    if (shown.compare(at, prefix.size(), prefix) == 0)
      text += shown.substr(at + prefix.size(), end - at - prefix.size());
    at = end;
  }
  return text;
}

std::string with_end(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

} // namespace

TEST_CASE("random binary pieces of many ranks arrive whole, in their files and in whole lines") {
  std::mt19937 random(4711);
  for (int round = 0; round < 40; ++round) {
    test::TempDirectory directory;
    const unsigned count = test::pick(random, 1, 6), newlines = test::pick(random, 0, 5);
    OutputOptions output_options;
    output_options.directory = directory.path().string();
    for (unsigned i = 0; i < count; ++i) {
      if (test::chance(random, 50)) output_options.tee.named[i] = {true, true};
      if (test::chance(random, 30)) output_options.redirects.named[i] = {true, true};
    }
    const auto routes = plan_routes(output_options, {0, count, false}, true);
    Pipes pipes(output_options, count, true);
    std::vector<std::string> sent(count);
    for (auto steps = test::pick(random, 0, 300); steps > 0; --steps) {
      const unsigned source = test::pick(random, 0, count - 1);
      const auto piece = random_bytes(random, test::pick(random, 1, 20000), newlines);
      sent[source] += piece.substr(0, pipes.write(source, piece));
      if (test::chance(random, 60)) pipes.stream.read_some();
      if (test::chance(random, 60)) pipes.stream.write_some();
      if (test::chance(random, 40)) pipes.read_shown();
    }
    for (unsigned i = 0; i < count; ++i)
      if (test::chance(random, 50)) pipes.end(i);
    pipes.finish();
    CHECK(pipes.printed.empty());
    for (unsigned i = 0; i < count; ++i) {
      const auto file = util::read_file(directory / log_name(routes[i].rank, routes[i].is_error));
      if (routes[i].in_file != static_cast<bool>(file)) FAIL("round " << round << ": file of " << i);
      if (file && *file != sent[i]) FAIL("round " << round << ": bytes of " << i << " in its file");
      if (lines_of(pipes.shown, i) != (routes[i].shown ? with_end(sent[i]) : ""))
        FAIL("round " << round << ": lines of " << i);
      LastLines words;
      words.add(sent[i]);
      if (pipes.stream.last_lines(i) != words.lines()) FAIL("round " << round << ": last lines of " << i);
    }
  }
}

TEST_CASE("a rank that is not shown does not wait for the reader of the others") {
  test::TempDirectory directory;
  OutputOptions output_options;
  output_options.directory = directory.path().string();
  output_options.redirects.named[1] = {true, true};
  Pipes pipes(output_options, 2, false);
  std::size_t taken = 0;
  const std::string line(1000, 'x');
  while (!pipes.stream.queue().full()) { // nobody reads
    taken += pipes.write(0, line);
    pipes.stream.read_some();
    pipes.stream.write_some();
  }
  const auto before = pipes.stream.last_written(1);
  CHECK_FALSE(before);
  CHECK(pipes.write(1, "a line") == 6);
  const auto writing = std::chrono::steady_clock::now();
  pipes.stream.read_some();
  CHECK(util::read_file(directory / "1/stdout.log").value_or("") == "a line");
  CHECK(pipes.stream.last_written(1).value_or(OutputMultiplexer::Clock::time_point{}) >= writing);
  // It may have much to say: it is us that it waits for.
  const auto now = std::chrono::steady_clock::now();
  CHECK(pipes.stream.last_written(0).value_or(OutputMultiplexer::Clock::time_point{}) >= now);
  pipes.finish();
  CHECK(static_cast<std::size_t>(std::count(pipes.shown.begin(), pipes.shown.end(), 'x')) == taken);
}

TEST_CASE("what is in the pipes goes into the files also where the reader has been given up") {
  test::TempDirectory directory;
  OutputOptions output_options;
  output_options.directory = directory.path().string();
  Pipes pipes(output_options, 1, false);
  std::string sent;
  const std::string line = std::string(999, 'x') + "\n";
  while (!pipes.stream.queue().full()) {
    sent += line.substr(0, pipes.write(0, line));
    pipes.stream.read_some();
  }
  for (std::size_t taken = 1; taken > 0;) {
    taken = pipes.write(0, line);
    sent += line.substr(0, taken);
  }
  pipes.stream.close_sources();
  CHECK((util::read_file(directory / "0/stdout.log").value_or("") == sent));
}

TEST_CASE("a reader that goes away ends the ranks without files, and not those with one") {
  test::TempDirectory directory;
  OutputOptions output_options;
  output_options.directory = directory.path().string();
  output_options.tee.named[1] = {true, true};
  Pipes pipes(output_options, 2, false);
  pipes.close_reader();
  pipes.write(0, "a\n");
  pipes.write(1, "b\n");
  pipes.stream.read_some();
  pipes.stream.write_some();
  CHECK(pipes.stream.fault() == EPIPE);
  REQUIRE(pipes.printed.size() == 1);
  CHECK_THAT(pipes.printed[0], Contains("any more ("));
  pipes.write(0, "c\n");
  pipes.write(1, "d\n");
  pipes.stream.read_some();
  pipes.stream.write_some();
  CHECK(pipes.write(0, "e\n") == 0); // as it would be without us
  CHECK(pipes.write(1, "f") == 1);
  pipes.stream.close_sources();
  CHECK(util::read_file(directory / "1/stdout.log").value_or("") == "b\nd\nf");
  CHECK(pipes.printed.size() == 1);
}

TEST_CASE("a stream of which everything is in files has no fault when its reader goes away") {
  test::TempDirectory directory;
  OutputOptions output_options;
  output_options.directory = directory.path().string();
  Pipes pipes(output_options, 1, false);
  pipes.close_reader();
  pipes.write(0, "a\n");
  pipes.stream.read_some();
  pipes.stream.write_some();
  CHECK(pipes.stream.queue().error() == EPIPE);
  CHECK(pipes.stream.fault() == 0);
}
