// SPDX-License-Identifier: MIT
#include "run/launch/output_lines.hpp"

#include <algorithm>
#include <numeric>

namespace hpcml::launch {

namespace {
/// Beyond this, of all ranks together, the longest unfinished line is passed on in parts: memory is for the
/// training.
constexpr std::size_t k_most = 16U << 20;
/// Room for a line that is given back once the line has gone.
constexpr std::size_t k_large = 256U << 10;
} // namespace

LineInterleaver::LineInterleaver(std::vector<std::string> prefixes)
    : x_prefixes(std::move(prefixes)), x_pending(x_prefixes.size()) {}

std::string LineInterleaver::start_line(std::size_t index) {
  if (x_open == static_cast<int>(index)) return {};
  return (x_open >= 0 ? "\n" : "") + x_prefixes[index];
}

std::string LineInterleaver::add(std::size_t index, std::string_view bytes) {
  std::string& pending = x_pending[index];
  std::string out;
  const auto last = bytes.rfind('\n');
  if (last == std::string_view::npos) {
    pending.append(bytes);
    return flush_longest();
  }
  std::string_view lines = bytes.substr(0, last + 1);
  while (!lines.empty()) {
    const auto end = lines.find('\n') + 1;
    out += start_line(index);
    x_open = -1;
    out += pending;
    forget(index);
    out += lines.substr(0, end);
    lines.remove_prefix(end);
  }
  pending.assign(bytes.substr(last + 1));
  return out;
}

/// Passes on the longest unfinished line if too much is held in total.
std::string LineInterleaver::flush_longest() {
  const auto longer = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  const auto held =
      std::accumulate(x_pending.begin(), x_pending.end(), std::size_t{0},
                      [](std::size_t sum, const std::string& line) { return sum + line.size(); });
  if (held <= k_most) return {};
  const auto longest = std::max_element(x_pending.begin(), x_pending.end(), longer);
  return flush(static_cast<std::size_t>(longest - x_pending.begin()));
}

void LineInterleaver::forget(std::size_t index) {
  x_pending[index].clear();
  if (x_pending[index].capacity() > k_large) x_pending[index].shrink_to_fit();
}

std::string LineInterleaver::flush(std::size_t index) {
  if (x_pending[index].empty()) return {};
  std::string out = start_line(index) + x_pending[index];
  forget(index);
  x_open = static_cast<int>(index);
  return out;
}

std::string LineInterleaver::own_line(const std::string& line) {
  std::string out = (x_open >= 0 ? "\n" : "") + line;
  x_open = -1;
  return out;
}

std::string LineInterleaver::finish(std::size_t index) {
  std::string out = flush(index);
  if (x_open == static_cast<int>(index)) {
    out += '\n';
    x_open = -1;
  }
  return out;
}

} // namespace hpcml::launch
