// SPDX-License-Identifier: MIT
// The value of --array.
#include <charconv>
#include <cstdlib>
#include <set>

#include "core/slurm/values.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

struct IndexRange {
  long first = 0;
  long last = 0;
  long step = 1;
};

/// One token as the controller reads it: "[" and "]" are skipped where they may be, numbers are strtol's.
std::optional<IndexRange> read_indices(const std::string& token, long max_size) {
  const char* at = token.c_str();
  const auto number = [&at] {
    char* end = nullptr;
    const long value = std::strtol(at, &end, 10);
    at = *end == ']' ? end + 1 : end;
    return value;
  };
  const auto ends = [&at] { return *at == '\0' || *at == '%'; };
  if (*at == '[') ++at;
  IndexRange range;
  range.first = range.last = number();
  if (range.first < 0) return std::nullopt;
  if (*at == '-') {
    ++at;
    range.last = number();
    if (*at == ':') {
      ++at;
      range.step = number();
      if (range.step <= 0 || range.step >= max_size) return std::nullopt;
    }
  }
  if (!ends() || range.last < range.first || range.last >= max_size) return std::nullopt;
  return range;
}

std::optional<std::vector<IndexRange>> read_index_list(std::string_view text, unsigned max_size) {
  std::vector<IndexRange> ranges;
  for (const auto& part : util::split(std::string(text), ',')) {
    if (part.empty()) continue;
    const auto range = read_indices(part, static_cast<long>(max_size));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
  }
  return ranges;
}

} // namespace

bool is_array(std::string_view text, unsigned max_size) {
  return read_index_list(text, max_size).has_value();
}

std::optional<ArraySpec> parse_array(std::string_view text, unsigned max_size) {
  ArraySpec spec;
  if (const auto percent = text.find('%'); percent != std::string_view::npos) {
    std::uint64_t at_once = 0; // 0 where none exists, or one too long
    const auto read = std::from_chars(text.data() + percent + 1, text.data() + text.size(), at_once);
    if (read.ec == std::errc{}) spec.at_once = static_cast<unsigned>(at_once);
  }
  const auto ranges = read_index_list(text, max_size);
  if (!ranges) return std::nullopt;
  std::set<unsigned> indices;
  for (const auto& range : *ranges)
    for (long i = range.first; i <= range.last; i += range.step) indices.insert(static_cast<unsigned>(i));
  spec.indices.assign(indices.begin(), indices.end());
  return spec;
}

} // namespace hpcml::slurm
