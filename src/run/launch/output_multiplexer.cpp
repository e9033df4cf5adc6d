// SPDX-License-Identifier: MIT
#include "run/launch/output_multiplexer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace hpcml::launch {

namespace {

/// An unfinished line is shown after this time without new text.
constexpr auto k_idle = std::chrono::milliseconds(200);
/// Of a program that writes in large pieces the next one may take longer.
constexpr auto k_idle_large = std::chrono::seconds(2);
/// Libraries write their buffers in multiples of this size, so that the text may end within a line.
constexpr std::size_t k_block = 4096;
/// More than a pipe holds.
constexpr std::size_t k_pipe = 1U << 20;

std::vector<std::string> shown_prefixes(const std::vector<OutputRoute>& routes) {
  std::vector<std::string> prefixes;
  for (const auto& route : routes) prefixes.push_back(route.prefix);
  return prefixes;
}

} // namespace

OutputMultiplexer::OutputMultiplexer(int target, std::vector<OutputRoute> routes, MessageSink report)
    : x_queue(target), x_lines(shown_prefixes(routes)), x_sources(routes.size()), x_files(routes, report),
      x_report(std::move(report)), x_target(target), x_ready(::epoll_create1(EPOLL_CLOEXEC)),
      x_unseen(::epoll_create1(EPOLL_CLOEXEC)) {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    x_all_outlive = x_all_outlive && routes[i].outlives_reader();
    x_sources[i].route = std::move(routes[i]);
  }
}

OutputMultiplexer::~OutputMultiplexer() {
  for (const auto& source : x_sources)
    if (source.fd >= 0) ::close(source.fd);
  for (const int set : {x_ready, x_unseen})
    if (set >= 0) ::close(set);
}

util::Status OutputMultiplexer::open_files(const OutputOptions& output_options, unsigned node_rank) {
  return x_files.open(output_options, node_rank);
}

util::Status OutputMultiplexer::watch(int set, std::size_t source) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = source;
  if (::epoll_ctl(set, EPOLL_CTL_ADD, x_sources[source].fd, &event) == 0) return util::Success{};
  return util::Error{fmt::format("cannot read the output of a rank: {}", std::strerror(errno)),
                     "check the free memory and the limit fs.epoll.max_user_watches of this node"};
}

util::Status OutputMultiplexer::add_source(std::size_t source, int fd) {
  x_sources[source].fd = fd;
  TRY_DONE(watch(x_ready, source));
  return x_sources[source].route.shown ? util::Status(util::Success{}) : watch(x_unseen, source);
}

void OutputMultiplexer::read_some() {
  epoll_event events[64];
  const int count = ::epoll_wait(read_fd(), events, 64, 0);
  // Each round starts with another source, so that the last of many busy ones is read as well.
  ++x_turn;
  for (unsigned i = 0; static_cast<int>(i) < count; ++i) {
    const auto source = events[(x_turn + i) % static_cast<unsigned>(count)].data.u64;
    if (!x_queue.full() || !x_sources[source].route.shown) read_source(source);
  }
}

void OutputMultiplexer::read_source(std::size_t source) {
  auto& from = x_sources[source];
  if (from.fd < 0) return;
  static char buffer[65536];
  const ssize_t count = ::read(from.fd, buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count > 0) {
    from.last = Clock::now();
    if (from.bytes == 0) from.first = from.last;
    from.last_piece = static_cast<std::size_t>(count);
    from.bytes += from.last_piece;
    const std::string_view bytes(buffer, from.last_piece);
    if (from.route.is_error) from.words.add(bytes);
    const bool reported = from.world.found();
    from.world.add(bytes);
    if (!reported && from.world.found()) ++x_world_reports;
    x_files.add(source, bytes);
    if (from.route.shown && !x_queue.broken()) x_queue.add(x_lines.add(source, bytes));
    if (x_lines.has_pending(source) && !x_flush_at) x_flush_at = from.last + k_idle;
  }
  // At the end of the input, or if our reader has exited: the rank's own writes must then fail as without
  // us.
  if (count <= 0 || (x_queue.broken() && !from.route.outlives_reader())) end_source(source);
}

void OutputMultiplexer::end_source(std::size_t source) {
  auto& from = x_sources[source];
  x_queue.add(x_lines.finish(source));
  x_files.finish(source);
  if (from.fd >= 0) ::close(from.fd);
  from.fd = -1;
}

void OutputMultiplexer::write_some() {
  x_queue.write_some();
  if (!x_queue.broken() || x_break_reported) return;
  x_break_reported = true;
  const bool any = std::any_of(x_sources.begin(), x_sources.end(), [](const Source& source) {
    return source.route.shown && source.route.outlives_reader();
  });
  if (any && x_report)
    x_report(fmt::format(
        "cannot write to {} any more ({}); the ranks continue, and their output goes to its files",
        x_target == STDOUT_FILENO ? "standard output" : "standard error", std::strerror(x_queue.error())));
}

std::optional<OutputMultiplexer::Clock::time_point>
OutputMultiplexer::last_written(std::size_t source) const {
  const auto& from = x_sources[source];
  if (from.fd >= 0 && from.route.shown && x_queue.full()) return Clock::now();
  return from.bytes == 0 ? std::nullopt : std::optional(from.last);
}

std::optional<OutputMultiplexer::Clock::time_point>
OutputMultiplexer::first_written(std::size_t source) const {
  const auto& from = x_sources[source];
  return from.bytes == 0 ? std::nullopt : std::optional(from.first);
}

void OutputMultiplexer::flush_idle() {
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

void OutputMultiplexer::print_line(const std::string& line) { x_queue.add(x_lines.own_line(line + "\n")); }

bool OutputMultiplexer::take_rest() {
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
  x_flush_at.reset(); // the source ends, so that no line is held back
  return count > 0;
}

/// Reads the content of the pipe even if other processes hold it open.
void OutputMultiplexer::read_to_end(std::size_t source) {
  const auto& from = x_sources[source];
  const auto most = from.bytes + k_pipe;
  for (std::size_t before = 0; from.fd >= 0 && from.bytes < most;) {
    before = from.bytes;
    read_source(source);
    if (from.bytes == before) return;
  }
}

void OutputMultiplexer::close_sources() {
  for (std::size_t i = 0; i < x_sources.size(); ++i) {
    if (x_sources[i].route.in_file) read_to_end(i);
    end_source(i);
  }
  x_files.close();
  x_flush_at.reset();
}

} // namespace hpcml::launch
