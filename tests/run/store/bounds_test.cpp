// SPDX-License-Identifier: MIT
// What hostile clients can cost a store: memory, lines, and the time of others.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/store/client.hpp"
#include "samples.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using Catch::Contains;

namespace {

/// A program with its standard input and output as pipes.
class Child {
public:
  Child(std::vector<std::string> words, const std::string& errors) {
    int in[2], out[2];
    REQUIRE((::pipe(in) == 0 && ::pipe(out) == 0));
    x_pid = ::fork();
    if (x_pid == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      if (::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(98);
      ::execv(words.front().c_str(), util::exec_pointers(words).data());
      ::_exit(99);
    }
    ::close(in[0]);
    ::close(out[1]);
    x_in = in[1];
    x_out = out[0];
  }
  ~Child() {
    ::close(x_in);
    ::close(x_out);
    ::kill(x_pid, SIGKILL);
    ::waitpid(x_pid, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  std::string read_line() const {
    std::string line;
    for (char c; ::read(x_out, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  /// Maximum memory so far, in MB.
  long peak() const { return memory_in_status("VmHWM:"); }
  /// Memory now, in MB.
  long resident() const { return memory_in_status("VmRSS:"); }

private:
  long memory_in_status(const std::string& name) const {
    std::ifstream status("/proc/" + std::to_string(x_pid) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(name)) return std::atol(line.c_str() + name.size()) / 1024;
    return -1;
  }

  pid_t x_pid;
  int x_in, x_out;
};

bool is_served(std::uint16_t port) {
  store::Client client("127.0.0.1", port);
  client.put_set("good", "yes");
  client.put_get("good");
  const auto value = client.wait_for_value(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  return value && *value == "yes";
}

} // namespace

TEST_CASE("a store frees the memory of a long message", "[time]") {
  const test::TempDirectory directory;
  const Child server({HPCML_BINARY, "internal", "store-serve", "--listen", "127.0.0.1"},
                     (directory / "errors").string());
  const auto port = util::parse_unsigned(server.read_line());
  REQUIRE(port);
  store::Client client("127.0.0.1", static_cast<std::uint16_t>(*port));
  client.put_set("long", std::string(std::size_t{60} << 20, 'x'));
  client.put_set("long", "short");
  client.put_get("long");
  const auto value = client.wait_for_value(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  CHECK((value && *value == "short"));
  if (!test::k_sanitized) CHECK(server.resident() <= 40);
}

TEST_CASE("5,000 hostile connections cost a store at most 64 MB", "[time]") {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const auto most =
      files.rlim_max == RLIM_INFINITY ? rlim_t{5000} : std::min<rlim_t>(5000, files.rlim_max - 100);
  if (most < 5000)
    test::skip("only " + std::to_string(most) + " connections: the limit of open files allows no more");
  for (const char* kind : {"silent", "half", "long", "own", "wait", "list", "ping"}) {
    CAPTURE(kind);
    const test::TempDirectory directory;
    const auto errors = (directory / "errors").string();
    const Child server({HPCML_BINARY, "internal", "store-serve", "--listen", "127.0.0.1"}, errors);
    const auto port = util::parse_unsigned(server.read_line());
    REQUIRE(port);
    const Child attacker({HPCML_HOSTILE_CLIENT, "at=127.0.0.1:" + std::to_string(*port),
                          "count=" + std::to_string(most), std::string("kind=") + kind, "seconds=4", "flood"},
                         (directory / "attacker").string());
    const auto report = attacker.read_line();
    CAPTURE(report);
    CHECK_THAT(report, Contains("flooded: " + std::to_string(most) + " connections"));
    CHECK(is_served(static_cast<std::uint16_t>(*port)));
    if (!test::k_sanitized) CHECK(server.peak() <= 64);
    const auto lines = util::read_file(errors).value_or("");
    CHECK(util::split(lines, '\n').size() <= 12);
  }
}
