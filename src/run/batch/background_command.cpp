// SPDX-License-Identifier: MIT
#include "run/batch/background_command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/process.hpp"

namespace hpcml::batch {

namespace {

constexpr std::size_t k_most_output = 1 << 20;

} // namespace

bool BackgroundCommand::start(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                              std::chrono::seconds limit) {
  const auto program = util::find_program(words.front(), env);
  int ends[2];
  if (is_running() || !program || ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  auto arguments = words, variables = env.to_envp();
  const auto argument_list = util::exec_pointers(arguments), variable_list = util::exec_pointers(variables);
  x_pid = ::fork();
  if (x_pid == 0) {
    ::setpgid(0, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, 0);
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], 1);
    ::dup2(nothing, 2);
    ::execve(program->c_str(), argument_list.data(), variable_list.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (x_pid < 0) {
    ::close(ends[0]);
    return false;
  }
  ::setpgid(x_pid, x_pid);
  x_fd = ends[0];
  x_output.clear();
  x_deadline = Clock::now() + limit;
  return true;
}

std::optional<std::string> BackgroundCommand::take() {
  if (!is_running()) return std::nullopt;
  std::array<char, 8192> buffer{};
  for (;;) {
    const auto count = ::read(x_fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const bool has_ended = count == 0 || errno != EAGAIN;
      if (!has_ended && Clock::now() < x_deadline && x_output.size() < k_most_output) return std::nullopt;
      break;
    }
    x_output.append(buffer.data(), static_cast<std::size_t>(count));
    if (x_output.size() >= k_most_output) break;
  }
  stop();
  return std::move(x_output);
}

void BackgroundCommand::stop() {
  if (!is_running()) return;
  ::close(x_fd);
  x_fd = -1;
  ::kill(-x_pid, SIGKILL); // one that has ended is not waited for yet, so the number is still its own
  while (::waitpid(x_pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  x_pid = -1;
}

} // namespace hpcml::batch
