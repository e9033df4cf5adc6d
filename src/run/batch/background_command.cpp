// SPDX-License-Identifier: MIT
#include "run/batch/background_command.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hpcml::batch {

namespace {

constexpr std::size_t k_most_output = 1 << 20;

} // namespace

bool BackgroundCommand::start(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                              std::chrono::seconds limit) {
  if (is_running()) return false;
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::own;
  options.mask = util::no_signals();
  options.descriptors = {{STDIN_FILENO, util::ChildOptions::k_null_device},
                         {STDERR_FILENO, util::ChildOptions::k_null_device}};
  options.pipes_output = true;
  auto child = util::ChildProcess::run(words, env, options);
  if (!child || ::fcntl(child->output(), F_SETFL, O_NONBLOCK) != 0) return false;
  x_child = *std::move(child);
  x_output.clear();
  x_deadline = Clock::now() + limit;
  return true;
}

std::optional<std::string> BackgroundCommand::take() {
  if (!is_running()) return std::nullopt;
  std::array<char, 8192> buffer{};
  for (;;) {
    const auto count = ::read(descriptor(), buffer.data(), buffer.size());
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
  x_child.close_output();
  x_child.kill();
}

} // namespace hpcml::batch
