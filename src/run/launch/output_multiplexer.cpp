// SPDX-License-Identifier: MIT
#include "run/launch/output_multiplexer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
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

OutputMultiplexer::OutputMultiplexer(System& system, int target, std::vector<OutputRoute> routes,
                                     MessageSink report)
    : x_system(system), x_queue(system, target), x_lines(shown_prefixes(routes)), x_sources(routes.size()),
      x_pipes(system, routes.size()), x_files(routes, report), x_report(std::move(report)), x_target(target) {
  for (std::size_t i = 0; i < routes.size(); ++i) x_sources[i].route = std::move(routes[i]);
}

util::Status OutputMultiplexer::open_files(const OutputOptions& output_options, unsigned node_rank) {
  return x_files.open(output_options, node_rank);
}

util::Status OutputMultiplexer::add_source(std::size_t source, int fd) {
  return x_pipes.add(source, fd, x_sources[source].route.shown);
}

void OutputMultiplexer::read_some() {
  for (const auto source : x_pipes.ready(!x_queue.full()))
    if (!x_queue.full() || !x_sources[source].route.shown) read_source(source);
}

/// Returns true if there was data.
bool OutputMultiplexer::read_source(std::size_t source) {
  const auto text = x_pipes.read(source);
  if (!text) return false;
  if (!text->empty()) add_text(source, *text);
  // At the end of the input, or if our reader has exited: the rank's own writes must then fail as without
  // us.
  if (text->empty() || (x_queue.broken() && !x_sources[source].route.outlives_reader())) end_source(source);
  return !text->empty();
}

void OutputMultiplexer::add_text(std::size_t source, std::string_view text) {
  auto& from = x_sources[source];
  from.last = x_system.now();
  if (from.bytes == 0) from.first = from.last;
  from.last_piece = text.size();
  from.bytes += text.size();
  if (from.route.is_error) from.words.add(text);
  from.world.add(text);
  x_files.add(source, text);
  if (from.route.shown && !x_queue.broken()) x_queue.add(x_lines.add(source, text));
  if (x_lines.has_pending(source) && !x_idle.flush_at) x_idle.flush_at = from.last + k_idle;
}

unsigned OutputMultiplexer::world_reports() const {
  return static_cast<unsigned>(std::count_if(x_sources.begin(), x_sources.end(),
                                             [](const Source& source) { return source.world.found(); }));
}

int OutputMultiplexer::fault() const {
  const bool all_outlive = std::all_of(x_sources.begin(), x_sources.end(),
                                       [](const Source& source) { return source.route.outlives_reader(); });
  return all_outlive ? 0 : x_queue.error();
}

void OutputMultiplexer::end_source(std::size_t source) {
  x_queue.add(x_lines.finish(source));
  x_files.finish(source);
  x_pipes.close(source);
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
  if (x_pipes.is_open(source) && from.route.shown && x_queue.full()) return x_system.now();
  return from.bytes == 0 ? std::nullopt : std::optional(from.last);
}

std::optional<OutputMultiplexer::Clock::time_point>
OutputMultiplexer::first_written(std::size_t source) const {
  const auto& from = x_sources[source];
  return from.bytes == 0 ? std::nullopt : std::optional(from.first);
}

void OutputMultiplexer::flush_idle() {
  const auto now = x_system.now();
  if (x_queue.full()) x_idle.reading_since = now;
  if (!x_idle.flush_at || now < *x_idle.flush_at) return;
  x_idle.flush_at.reset();
  if (!x_queue.empty()) {
    x_idle.flush_at = now + k_idle;
    return;
  }
  for (std::size_t i = 0; i < x_sources.size(); ++i) {
    const auto& from = x_sources[i];
    if (!x_pipes.is_open(i) || !x_lines.has_pending(i) || from.bytes % k_block == 0) continue;
    const auto due = std::max(from.last, x_idle.reading_since) +
                     (from.last_piece < k_block ? Clock::duration(k_idle) : Clock::duration(k_idle_large));
    if (due <= now)
      x_queue.add(x_lines.flush(i));
    else if (!x_idle.flush_at || due < *x_idle.flush_at)
      x_idle.flush_at = due;
  }
}

void OutputMultiplexer::print_line(const std::string& line) { x_queue.add(x_lines.own_line(line + "\n")); }

bool OutputMultiplexer::take_rest() {
  const auto sources = x_pipes.ready(true);
  for (const auto source : sources) {
    auto& from = x_sources[source];
    if (from.most == 0) from.most = from.bytes + k_pipe;
    if (from.bytes < from.most)
      read_source(source);
    else
      end_source(source);
  }
  x_idle.flush_at.reset(); // the source ends, so that no line is held back
  return !sources.empty();
}

/// Reads the content of the pipe even if other processes hold it open.
void OutputMultiplexer::read_to_end(std::size_t source) {
  const auto& from = x_sources[source];
  const auto most = from.bytes + k_pipe;
  while (from.bytes < most && read_source(source)) {
  }
}

void OutputMultiplexer::close_sources() {
  for (std::size_t i = 0; i < x_sources.size(); ++i) {
    if (x_sources[i].route.in_file) read_to_end(i);
    end_source(i);
  }
  x_files.close();
  x_idle.flush_at.reset();
}

} // namespace hpcml::launch
