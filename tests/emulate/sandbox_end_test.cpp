// SPDX-License-Identifier: MIT
// However a sandbox ends, nothing of it stays: no process, no folder, no mount, no interface.
#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <pty.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/sandbox.hpp"

using namespace hpcml;

namespace {

constexpr int k_no_answer_ms = 60000;

/// A program with a sandbox of one node, a service and a command, as a child of the test.
class Running {
public:
  explicit Running(std::vector<std::string> command, bool on_terminal = false) {
    x_cookie = "hpcml-test-" + std::to_string(::getpid()) + "-" + std::to_string(x_count++);
    REQUIRE(::pipe2(x_life, 0) == 0);
    REQUIRE(::pipe2(x_news, O_CLOEXEC) == 0);
    x_pid = on_terminal ? ::forkpty(&x_terminal, nullptr, nullptr, nullptr) : ::fork();
    if (x_pid == 0) {
      if (!on_terminal) ::setpgid(0, 0);
      ::signal(SIGTERM, SIG_DFL);
      ::signal(SIGINT, SIG_DFL);
      ::close(x_life[0]);
      be_program(command);
    }
    ::close(x_life[1]);
    ::close(x_news[1]);
    char path[256] = {};
    REQUIRE(wait_readable(x_news[0]));
    REQUIRE(::read(x_news[0], path, sizeof path - 1) > 0);
    x_state_dir = path;
    ::usleep(1000000); // the command starts after the news
  }
  ~Running() {
    if (!x_over) ::kill(-x_pid, SIGKILL);
    for (int fd : {x_life[0], x_news[0], x_terminal})
      if (fd >= 0) ::close(fd);
  }

  pid_t pid() const { return x_pid; }
  void press(char key) { REQUIRE(::write(x_terminal, &key, 1) == 1); }
  /// Exit code, or 128 + signal.
  int wait() {
    int status = 0;
    REQUIRE(::waitpid(x_pid, &status, 0) == x_pid);
    x_over = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  /// Everything that was started held an end of this pipe.
  bool all_processes_end() { return wait_readable(x_life[0]); }
  bool directory_is_removed() const {
    for (int left = k_no_answer_ms; left > 0; left -= 20) {
      if (!std::filesystem::exists(x_state_dir)) return true;
      ::usleep(20000);
    }
    return false;
  }
  /// Processes with the cookie in their environment.
  std::vector<std::string> survivors() const {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
      const auto name = entry.path().filename().string();
      if (!util::parse_unsigned(name) || name == std::to_string(::getpid())) continue;
      const auto env = util::read_file(entry.path() / "environ");
      if (env && env->find(x_cookie) != std::string::npos) found.push_back(name);
    }
    return found;
  }

private:
  static bool wait_readable(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, k_no_answer_ms) == 1;
  }
  [[noreturn]] void be_program(const std::vector<std::string>& command) {
    const auto result =
        emulate::run_in_sandbox({true, "login1", {{"hsn0", "10.66.0.1"}}}, [&](emulate::Sandbox& sandbox) {
          util::EnvSnapshot env = util::EnvSnapshot::of_process();
          env.set("HPCML_TEST_COOKIE", x_cookie);
          emulate::SandboxNode node;
          node.name = "nid000001";
          node.cpu = model::make_regular_cpus(1, 8, 1, 1, 1);
          node.env = env;
          if (sandbox.has_networks()) node.interfaces = {{"hsn0", "10.66.1.1"}};
          // Daemons that leave their group, session and parent, and hear no signal.
          node.argv = {
              "/bin/bash", "-c",
              "trap '' TERM INT HUP; (setsid bash -c 'sleep 300; true' &); while true; do sleep 300; done"};
          if (!sandbox.start_node(node)) return 9;
          if (!sandbox.start_service(node.argv, env, "")) return 9;
          const auto& path = sandbox.state_dir();
          if (::write(x_news[1], path.data(), path.size()) < 0) return 9;
          return sandbox.run_command(command, env);
        });
    ::_exit(result.ok() ? *result : 99);
  }

  static inline int x_count = 0;
  std::string x_cookie;
  std::string x_state_dir;
  int x_life[2] = {-1, -1};
  int x_news[2] = {-1, -1};
  int x_terminal = -1;
  pid_t x_pid = -1;
  bool x_over = false;
};

std::set<std::string> interfaces() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net"))
    names.insert(entry.path().filename());
  return names;
}

std::string mounts() { return util::read_file("/proc/self/mounts").value_or(""); }

struct Ending {
  const char* name;
  std::vector<std::string> command;
  bool on_terminal;
  std::function<void(Running&)> end;
  int code;
};

} // namespace

TEST_CASE("nothing stays behind, however the sandbox ends") {
  const std::vector<std::string> sleep{"/bin/sleep", "300"};
  const std::vector<Ending> endings{
      {"the command ends", {"/bin/sh", "-c", "exit 7"}, false, [](Running&) {}, 7},
      {"the command crashes", {"/bin/sh", "-c", "kill -SEGV $$"}, false, [](Running&) {}, 128 + SIGSEGV},
      {"the command is not there", {"no-such-program"}, false, [](Running&) {}, 127},
      {"SIGKILL", sleep, false, [](Running& it) { ::kill(it.pid(), SIGKILL); }, 128 + SIGKILL},
      {"SIGKILL to the whole group", sleep, false, [](Running& it) { ::kill(-it.pid(), SIGKILL); },
       128 + SIGKILL},
      {"SIGTERM", sleep, false, [](Running& it) { ::kill(it.pid(), SIGTERM); }, 128 + SIGTERM},
      {"SIGINT from another process", sleep, false, [](Running& it) { ::kill(it.pid(), SIGINT); },
       128 + SIGINT},
      {"Ctrl-C", sleep, true, [](Running& it) { it.press('\3'); }, 128 + SIGINT},
      {"Ctrl-C that the command catches",
       {"/bin/bash", "-c", "trap 'exit 5' INT; while true; do sleep 0.05; done"},
       true,
       [](Running& it) { it.press('\3'); },
       5},
  };
  for (const auto& ending : endings) {
    DYNAMIC_SECTION(ending.name) {
      const auto interfaces_before = interfaces();
      const auto mounts_before = mounts();
      Running it(ending.command, ending.on_terminal);
      ending.end(it);
      CHECK(it.wait() == ending.code);
      CHECK(it.all_processes_end());
      CHECK(it.directory_is_removed());
      CHECK(it.survivors().empty());
      CHECK(mounts() == mounts_before);
      CHECK(interfaces() == interfaces_before);
    }
  }
}
