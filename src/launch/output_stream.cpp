// SPDX-License-Identifier: MIT
#include "launch/output_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <unistd.h>

namespace hpcml::launch {

namespace {

/// An unfinished line that stands still for so long is shown.
constexpr auto k_idle = std::chrono::milliseconds(200);
/// Of a program that writes in large pieces the next one may take longer.
constexpr auto k_idle_large = std::chrono::seconds(2);
/// Libraries write their buffers in multiples of this: such an end is no end that the program chose.
constexpr std::size_t k_block = 4096;

} // namespace

OutputStream::OutputStream(int target, const std::vector<unsigned>& ranks, bool colour)
    : x_queue(target), x_lines(ranks, colour), x_sources(ranks.size()),
      x_ready(::epoll_create1(EPOLL_CLOEXEC)) {}

OutputStream::~OutputStream() {
  for (const auto& source : x_sources)
    if (source.fd >= 0) ::close(source.fd);
  if (x_ready >= 0) ::close(x_ready);
}

util::Status OutputStream::add_source(std::size_t source, int fd) {
  x_sources[source].fd = fd;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = source;
  if (::epoll_ctl(x_ready, EPOLL_CTL_ADD, fd, &event) == 0) return util::Done{};
  return util::Error{std::string("cannot watch a rank's output: ") + std::strerror(errno)};
}

void OutputStream::read_some() {
  epoll_event events[64];
  const int count = ::epoll_wait(x_ready, events, 64, 0);
  for (int i = 0; i < count; ++i) read_source(events[i].data.u64);
}

void OutputStream::read_source(std::size_t source) {
  auto& from = x_sources[source];
  if (from.fd < 0) return;
  static char buffer[65536];
  const ssize_t count = ::read(from.fd, buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count > 0) {
    from.last = Clock::now();
    from.last_piece = static_cast<std::size_t>(count);
    from.bytes += from.last_piece;
    x_queue.add(x_lines.add(source, {buffer, from.last_piece}));
    if (x_lines.has_pending(source) && !x_flush_at) x_flush_at = from.last + k_idle;
  }
  // At the end, or nobody reads us any more: then the rank's own writes have to fail as they would without
  // us.
  if (count <= 0 || x_queue.broken()) end_source(source);
}

void OutputStream::end_source(std::size_t source) {
  auto& from = x_sources[source];
  x_queue.add(x_lines.finish(source));
  if (from.fd >= 0) ::close(from.fd);
  from.fd = -1;
}

void OutputStream::flush_idle() {
  const auto now = Clock::now();
  if (x_queue.full()) x_reading_since = now;
  if (!x_flush_at || now < *x_flush_at) return;
  x_flush_at.reset();
  if (!x_queue.empty()) {
    x_flush_at = now + k_idle;
    return;
  }
  for (std::size_t i = 0; i < x_sources.size(); ++i) {
    const auto& from = x_sources[i];
    if (from.fd < 0 || !x_lines.has_pending(i) || from.bytes % k_block == 0) continue;
    const auto due = std::max(from.last, x_reading_since) +
                     (from.last_piece < k_block ? Clock::duration(k_idle) : Clock::duration(k_idle_large));
    if (due <= now)
      x_queue.add(x_lines.flush(i));
    else if (!x_flush_at || due < *x_flush_at)
      x_flush_at = due;
  }
}

void OutputStream::say(const std::string& line) { x_queue.add(x_lines.own_line(line + "\n")); }

bool OutputStream::take_rest() {
  constexpr std::size_t k_pipe = 1U << 20; // more than a pipe holds
  epoll_event events[64];
  const int count = ::epoll_wait(x_ready, events, 64, 0);
  for (int i = 0; i < count; ++i) {
    auto& from = x_sources[events[i].data.u64];
    if (from.most == 0) from.most = from.bytes + k_pipe;
    if (from.bytes < from.most)
      read_source(events[i].data.u64);
    else
      end_source(events[i].data.u64);
  }
  x_flush_at.reset(); // nothing stands still any more: it ends
  return count > 0;
}

void OutputStream::close_sources() {
  for (std::size_t i = 0; i < x_sources.size(); ++i) end_source(i);
  x_flush_at.reset();
}

} // namespace hpcml::launch
