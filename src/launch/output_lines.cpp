// SPDX-License-Identifier: MIT
#include "launch/output_lines.hpp"

namespace hpcml::launch {

namespace {
/// Beyond this a line is passed on in parts: memory is for the training.
constexpr std::size_t k_longest = 16U << 20;
} // namespace

LineMerger::LineMerger(const std::vector<unsigned>& ranks, bool colour) : x_pending(ranks.size()) {
  static constexpr const char* k_colours[] = {"\033[36m", "\033[32m", "\033[33m",
                                              "\033[35m", "\033[34m", "\033[31m"};
  for (const unsigned rank : ranks) {
    const std::string text = "[" + std::to_string(rank) + "]";
    x_prefixes.push_back(colour ? k_colours[rank % 6] + text + "\033[0m " : text + " ");
  }
}

std::string LineMerger::start_line(std::size_t index) {
  if (x_open == static_cast<int>(index)) return {};
  return (x_open >= 0 ? "\n" : "") + x_prefixes[index];
}

std::string LineMerger::add(std::size_t index, std::string_view bytes) {
  std::string& pending = x_pending[index];
  std::string out;
  const auto last = bytes.rfind('\n');
  if (last == std::string_view::npos) {
    pending.append(bytes);
    return pending.size() > k_longest ? flush(index) : out;
  }
  std::string_view lines = bytes.substr(0, last + 1);
  while (!lines.empty()) {
    const auto end = lines.find('\n') + 1;
    out += start_line(index);
    x_open = -1;
    out += pending;
    pending.clear();
    out += lines.substr(0, end);
    lines.remove_prefix(end);
  }
  pending.assign(bytes.substr(last + 1));
  return out;
}

std::string LineMerger::flush(std::size_t index) {
  if (x_pending[index].empty()) return {};
  std::string out = start_line(index) + x_pending[index];
  x_pending[index].clear();
  x_open = static_cast<int>(index);
  return out;
}

std::string LineMerger::own_line(const std::string& line) {
  std::string out = (x_open >= 0 ? "\n" : "") + line;
  x_open = -1;
  return out;
}

std::string LineMerger::finish(std::size_t index) {
  std::string out = flush(index);
  if (x_open == static_cast<int>(index)) {
    out += '\n';
    x_open = -1;
  }
  return out;
}

} // namespace hpcml::launch
