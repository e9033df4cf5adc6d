// SPDX-License-Identifier: MIT
#include "core/util/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace hpcml::util {

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  ~Pipe() {
    close_read();
    close_write();
  }
};

/// Reads one ready end; returns false at the end of the file.
bool drain(int fd, std::string& text) {
  char buffer[16384];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// The longest answer of Slurm, about all nodes of the largest clusters, is a tenth of it.
constexpr std::size_t k_most_output = 128U << 20U;

using Clock = std::chrono::steady_clock;

constexpr auto k_no_end = Clock::time_point::max();

/// Milliseconds until the end, not below 0; -1, as poll has it, where there is none.
int left_ms(Clock::time_point end) {
  if (end == k_no_end) return -1;
  return std::max(
      0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count()));
}

/// "10 s", "1500 ms".
std::string describe_limit(std::chrono::milliseconds limit) {
  const auto count = limit.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : fmt::format("{} ms", count);
}

/// Waits for the child; one that still exists at the end is killed. Returns whether it was.
bool reap(ChildProcess& child, Clock::time_point end, int& status) {
  if (end == k_no_end) {
    status = child.wait();
    return false;
  }
  const auto ended = child.wait_for(std::chrono::milliseconds(left_ms(end)));
  status = ended ? *ended : child.kill(); // with what it has started: a wrapper's sbatch as well
  return !ended;
}

} // namespace

int exit_code_of_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent; // it may have ended before the kernel knew what we want
}

void close_descriptors(unsigned first, unsigned last) {
  // Not the C library's function: that is newer than the C library of many clusters, and so is the kernel's.
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  for (unsigned fd = first; fd <= std::min(last, 4095U); ++fd) ::close(static_cast<int>(fd));
}

std::vector<char*> exec_pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::optional<std::string> find_program(const std::string& name, const EnvSnapshot& env) {
  return find_program(name, env, [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; });
}

std::optional<std::string> find_program(const std::string& name, const EnvSnapshot& env,
                                        const std::function<bool(const std::string&)>& is_executable) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? std::optional(name) : std::nullopt;
  for (const auto& directory : split(env.get_or("PATH", "/usr/local/bin:/usr/bin:/bin"), ':')) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable(candidate)) return candidate;
  }
  return std::nullopt;
}

Result<ProcessOutput> run_process(const std::vector<std::string>& argv, const EnvSnapshot& env,
                                  std::optional<std::chrono::milliseconds> limit, const std::string& input) {
  if (argv.empty()) return ChildProcess::run(argv, env).error();
  log_debug(fmt::format("runs {}", join(argv, " ")));
  Pipe in, out, err;
  if (!in.open() || !out.open() || !err.open())
    return Error{fmt::format("cannot create a pipe for {}: {}", argv[0], std::strerror(errno)),
                 "check the number of open files (ulimit -n)"};
  ChildOptions options;
  options.group = ChildOptions::Group::own;
  options.death_signal = SIGINT; // a terminal's Ctrl-C does not reach its process group
  options.mask = no_signals();   // it would never receive the signals that this process blocks
  options.descriptors = {
      {STDIN_FILENO, in.read_end}, {STDOUT_FILENO, out.write_end}, {STDERR_FILENO, err.write_end}};
  TRY(auto child, ChildProcess::run(argv, env, options));
  in.close_read();
  out.close_write();
  err.close_write();
  ProcessOutput result;
  std::size_t sent = 0;
  bool too_much = false;
  // a blocking write of a long input would wait for a child that waits for us to read
  ::fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  const auto old_pipe_action =
      ::signal(SIGPIPE, SIG_IGN); // a child that does not read its input must not end us
  if (input.empty()) in.close_write();
  const auto end = limit ? Clock::now() + *limit : k_no_end;
  while ((out.read_end >= 0 || err.read_end >= 0) && left_ms(end) != 0) {
    pollfd ends[3] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}, {in.write_end, POLLOUT, 0}};
    if (::poll(ends, 3, left_ms(end)) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0 && !drain(out.read_end, result.out)) out.close_read();
    if (ends[1].revents != 0 && !drain(err.read_end, result.err)) err.close_read();
    if (result.out.size() + result.err.size() > k_most_output) {
      too_much = true;
      break;
    }
    if (ends[2].revents != 0) {
      const ssize_t count = ::write(in.write_end, input.data() + sent, input.size() - sent);
      if (count > 0) sent += static_cast<std::size_t>(count);
      if ((count < 0 && errno != EAGAIN && errno != EINTR) || sent == input.size()) in.close_write();
    }
  }
  ::signal(SIGPIPE, old_pipe_action);
  int status = 0;
  const bool stopped = reap(child, too_much ? Clock::now() : end, status);
  if (too_much)
    return Error{fmt::format("{} was stopped, because its output exceeds {} MiB (limit)", argv[0],
                             k_most_output >> 20U),
                 "run the program in a terminal to see its output"};
  if (stopped)
    return Error{
        fmt::format("{}{}{} and was stopped", argv[0], k_time_limit_exceeded, describe_limit(*limit)),
        "run the program in a terminal to see why it takes longer"};
  result.exit_code = exit_code_of_status(status);
  log_trace(fmt::format("{} exited with code {}", argv[0], result.exit_code));
  return result;
}

} // namespace hpcml::util
