// SPDX-License-Identifier: MIT
#include "run/launch/input_relay.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace hpcml::launch {

InputRelay::~InputRelay() {
  close_rank_end();
  close_out();
}

util::Status InputRelay::open() {
  int ends[2];
  if (!x_system.isatty(STDIN_FILENO)) return util::Success{};
  // A rank that reads nothing must not stop us.
  if (x_system.pipe(ends) != 0 || x_system.set_nonblocking(ends[1]) != 0)
    return util::Error{fmt::format("cannot create a pipe for the input of rank 0: {}", std::strerror(errno)),
                       "check `ulimit -n`, or use </dev/null if the program reads no input"};
  x_in = ends[0];
  x_out = ends[1];
  return util::Success{};
}

int InputRelay::rank_input() const { return x_out >= 0 ? x_in : STDIN_FILENO; }

void InputRelay::close_rank_end() {
  if (x_in >= 0) x_system.close(x_in);
  x_in = -1;
}

void InputRelay::close_out() {
  if (x_out >= 0) x_system.close(x_out);
  x_out = -1;
  x_text.clear();
}

int InputRelay::read_fd() const {
  const bool foreground = x_out >= 0 && x_text.empty() && x_system.is_foreground(STDIN_FILENO);
  return foreground ? STDIN_FILENO : -1;
}

void InputRelay::read_some() {
  char buffer[4096];
  const ssize_t count = x_system.read(STDIN_FILENO, buffer, sizeof buffer);
  if (count > 0)
    x_text.assign(buffer, static_cast<std::size_t>(count));
  else if (count == 0 || errno != EINTR)
    close_out();
  write_some();
}

void InputRelay::write_some() {
  if (x_text.empty()) return;
  const ssize_t count = x_system.write(x_out, x_text.data(), x_text.size());
  if (count > 0)
    x_text.erase(0, static_cast<std::size_t>(count));
  else if (errno != EINTR && errno != EAGAIN)
    close_out();
}

} // namespace hpcml::launch
