// SPDX-License-Identifier: MIT
#include "run/launch/output_pipes.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace hpcml::launch {

OutputPipes::OutputPipes(System& system, std::size_t count)
    : x_system(system), x_fds(count, -1), x_ready(system.epoll_create()), x_hidden(system.epoll_create()) {}

OutputPipes::~OutputPipes() {
  for (std::size_t source = 0; source < x_fds.size(); ++source) close(source);
  for (const int set : {x_ready, x_hidden})
    if (set >= 0) x_system.close(set);
}

util::Status OutputPipes::watch(int set, std::size_t source) {
  if (x_system.epoll_add(set, x_fds[source], source) == 0) return util::Success{};
  return util::Error{fmt::format("cannot read the output of a rank: {}", std::strerror(errno)),
                     "check the free memory and the limit fs.epoll.max_user_watches of this node"};
}

util::Status OutputPipes::add(std::size_t source, int fd, bool shown) {
  x_fds[source] = fd;
  TRY_DONE(watch(x_ready, source));
  return shown ? util::Status(util::Success{}) : watch(x_hidden, source);
}

void OutputPipes::close(std::size_t source) {
  if (is_open(source)) x_system.close(x_fds[source]);
  x_fds[source] = -1;
}

std::vector<std::size_t> OutputPipes::ready(bool all) {
  std::array<std::uint64_t, 64> keys;
  const int count = x_system.epoll_ready(poll_fd(all), keys);
  ++x_turn;
  std::vector<std::size_t> sources;
  for (unsigned i = 0; static_cast<int>(i) < count; ++i)
    sources.push_back(keys[(x_turn + i) % static_cast<unsigned>(count)]);
  return sources;
}

std::optional<std::string_view> OutputPipes::read(std::size_t source) {
  static char buffer[65536];
  if (!is_open(source)) return std::nullopt;
  const ssize_t count = x_system.read(x_fds[source], buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  return std::string_view(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
}

} // namespace hpcml::launch
