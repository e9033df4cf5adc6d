// SPDX-License-Identifier: MIT
#include "run/agent/agent_liveness_watchdog.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/process_stat.hpp"
#include "core/util/text.hpp"
#include "run/agent/agent_watchdog_timer.hpp"
#include "run/agent/process_states.hpp"
#include "run/launch/launcher_failure.hpp"

namespace hpcml::agent {

namespace {

/// The file of the descriptor that is the first argument of the system call which a process is in; empty: it
/// cannot be known.
std::string file_in_use(pid_t pid, const std::string& proc) {
  const auto directory = proc + "/" + std::to_string(pid);
  const auto words = util::split(util::read_file(directory + "/syscall").value_or(""), ' ');
  if (words.size() < 2 || !words[1].starts_with("0x")) return {};
  const auto descriptor = std::strtoul(words[1].c_str(), nullptr, 16);
  char target[512];
  const auto link = directory + "/fd/" + std::to_string(descriptor);
  const auto length = ::readlink(link.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

/// Reads what the agent has sent; false if that is the end.
bool read_line(int line, AgentWatchdogTimer& timer, AgentWatchdogTimer::Time now) {
  char words[64];
  const auto count = ::read(line, words, sizeof words);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  if (words[count - 1] == 'p')
    timer.pause();
  else
    timer.on_heartbeat(now);
  return true;
}

int watch(pid_t agent, int line, const HeartbeatOptions& options, const std::string& host) {
  // What blocks the agent must not block this process.
  const auto report = [](const std::string& text) {
    launch::log_without_waiting(util::LogLevel::error, text);
  };
  AgentWatchdogTimer timer(options, util::now_with_suspend());
  for (;;) {
    pollfd end{line, POLLIN, 0};
    const int ready = ::poll(&end, 1, static_cast<int>(timer.turn().count()));
    const auto now = util::now_with_suspend();
    if (ready == 1 && !read_line(line, timer, now)) return 0;
    const auto action = timer.on_turn(now);
    if (action == AgentWatchdogTimer::Action::none) continue;
    const auto state = describe_process(agent);
    const auto idle_time = whole_seconds(timer.idle_time(now));
    if (action == AgentWatchdogTimer::Action::report) {
      report(fmt::format("the agent of {0} (process {1}) has not responded for {2}{3}\n"
                         "hint: check {0} for a hung file system, swapping or a stopped process",
                         host, agent, idle_time, state.empty() ? "" : fmt::format(": it {}", state)));
      continue;
    }
    report(fmt::format("the agent of {0} (process {1}) and its ranks are killed: no heartbeat for {2}\n"
                       "hint: check {0} for a hung file system, swapping or a stopped process",
                       host, agent, idle_time));
    ::kill(agent, SIGKILL);
    return 0;
  }
}

} // namespace

std::string describe_process(pid_t pid, const std::string& proc) {
  // Only what the kernel gives without waiting for the process: not its maps or its command line.
  const auto directory = proc + "/" + std::to_string(pid);
  const auto read = [&](const char* name) { return util::read_file(directory + name).value_or(""); };
  const auto stat = util::parse_process_stat(read("/stat"));
  if (!stat) return {};
  ThreadState main;
  main.state = stat->state;
  main.syscall = parse_syscall(read("/syscall"));
  if (const auto channel = util::trim(read("/wchan")); channel != "0") main.wait_channel = channel;
  auto text = render_state(main);
  if (main.state == 'T' || main.state == 't') return text;
  if (const auto file = file_in_use(pid, proc); !file.empty()) text += ", file " + file;
  return text;
}

util::Result<std::unique_ptr<AgentLivenessWatchdog>>
AgentLivenessWatchdog::start(const HeartbeatOptions& options, const std::string& host) {
  const auto failed = [] {
    return util::Error{
        fmt::format(
            "cannot start the process that kills a hung agent, so that the run continues without it: {}",
            std::strerror(errno)),
        "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failed();
  const pid_t agent = ::getpid();
  util::ChildOptions child_options;
  child_options.death_signal = SIGKILL;
  // Ctrl-Z and Slurm's suspend stop it with the agent.
  child_options.ignored_signals = util::signals_except({SIGTSTP, SIGCONT});
  child_options.default_signals = {SIGTSTP};
  child_options.mask = util::no_signals();
  child_options.directory = "/";
  child_options.descriptors = {{STDIN_FILENO, ends[0]}, {STDOUT_FILENO, util::ChildOptions::k_null_device}};
  auto watchdog = util::ChildProcess::fork(child_options, [&] {
    util::close_descriptors(STDERR_FILENO + 1);
    return watch(agent, STDIN_FILENO, options, host);
  });
  ::close(ends[0]);
  if (watchdog)
    return std::unique_ptr<AgentLivenessWatchdog>(new AgentLivenessWatchdog(*std::move(watchdog), ends[1]));
  ::close(ends[1]);
  return failed();
}

/// If the pipe is full the other side has enough to read.
void AgentLivenessWatchdog::send(char word) const {
  while (::write(x_line, &word, 1) < 0 && errno == EINTR) {
  }
}

AgentLivenessWatchdog::~AgentLivenessWatchdog() {
  ::close(x_line);
  x_child.kill();
}

} // namespace hpcml::agent
