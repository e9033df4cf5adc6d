// SPDX-License-Identifier: MIT
#include "core/model/hostlist.hpp"

#include <charconv>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::model {

namespace {

constexpr std::size_t k_max_names = 100000;
constexpr const char* k_form_hint = "use the form of Slurm, such as node[01-04,07],login1";

util::Error too_long(std::size_t offset) {
  return {fmt::format("the node list has more than {} names (limit)", k_max_names),
          "check the ranges in it for a number that is too large", offset};
}

/// "001-004" of a bracket: numbers that are written with at least `width` digits.
struct Range {
  unsigned long long first = 0, last = 0;
  std::size_t width = 0;
};

/// A literal text and the bracket after it; only the last of an item may have none.
struct Piece {
  std::string_view literal;
  std::vector<Range> ranges;
  std::size_t count = 1; ///< texts that the bracket stands for
};

/// "001-004,007": the texts a bracket stands for.
util::Status read_bracket(std::string_view inside, std::size_t offset, Piece& piece) {
  piece.count = 0;
  for (const auto& part : util::split(inside, ',')) {
    const auto dash = part.find('-');
    const std::string_view first_text = std::string_view(part).substr(0, dash);
    const auto first = util::parse_unsigned(first_text);
    const auto last = dash == std::string::npos ? first : util::parse_unsigned(part.substr(dash + 1));
    if (!first || !last)
      return util::Error{
          fmt::format("the node list has \"{}\" in brackets, which is not a number or range", part),
          k_form_hint, offset};
    if (*first > *last)
      return util::Error{fmt::format("the range {} of the node list is in reverse order", part),
                         "use the smaller number first", offset};
    if (*last - *first >= k_max_names || piece.count + (*last - *first) >= k_max_names)
      return too_long(offset);
    piece.ranges.push_back({*first, *last, first_text.size()});
    piece.count += *last - *first + 1;
    offset += part.size() + 1;
  }
  return util::Success{};
}

/// Appends all names that begin with `name` and continue as the pieces from `at` on say.
void append_names(const std::vector<Piece>& pieces, std::size_t at, std::string& name,
                  std::vector<std::string>& out) {
  if (at == pieces.size()) {
    out.push_back(name);
    return;
  }
  const auto& piece = pieces[at];
  const auto length = name.size();
  name += piece.literal;
  if (piece.ranges.empty()) append_names(pieces, at + 1, name, out);
  const auto before = name.size();
  for (const auto& range : piece.ranges)
    for (auto number = range.first; number <= range.last; ++number) {
      char digits[24];
      const auto* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
      const auto count = static_cast<std::size_t>(end - digits);
      if (count < range.width) name.append(range.width - count, '0');
      name.append(digits, count);
      append_names(pieces, at + 1, name, out);
      name.resize(before);
    }
  name.resize(length);
}

/// One comma-separated item: text and brackets in any order; every bracket multiplies the names.
util::Status expand_item(std::string_view item, std::size_t offset, std::vector<std::string>& out) {
  std::vector<Piece> pieces;
  std::size_t at = 0, count = 1;
  while (at < item.size()) {
    const auto open = item.find('[', at);
    pieces.push_back({item.substr(at, open == std::string_view::npos ? open : open - at), {}, 1});
    if (pieces.back().literal.find(']') != std::string_view::npos)
      return util::Error{"the node list has a ] without its [", k_form_hint, offset + at};
    if (open == std::string_view::npos) break;
    const auto close = item.find(']', open);
    if (close == std::string_view::npos)
      return util::Error{"the node list has a [ without its ]", k_form_hint, offset + open};
    TRY_DONE(read_bracket(item.substr(open + 1, close - open - 1), offset + open + 1, pieces.back()));
    count *= pieces.back().count;
    if (count > k_max_names) return too_long(offset);
    at = close + 1;
  }
  if (pieces.empty())
    return util::Error{"the node list has an empty name: a comma without a name", "remove the comma", offset};
  out.reserve(out.size() + count);
  std::string name;
  append_names(pieces, 0, name, out);
  return util::Success{};
}

} // namespace

util::Result<Hostlist> Hostlist::parse(std::string_view text) {
  Hostlist list;
  const auto trimmed = util::trim(text);
  if (trimmed.empty()) return list;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= trimmed.size(); ++i) {
    if (i < trimmed.size() && trimmed[i] == '[') ++depth;
    if (i < trimmed.size() && trimmed[i] == ']') --depth;
    if (i < trimmed.size() && (trimmed[i] != ',' || depth > 0)) continue;
    TRY_DONE(expand_item(trimmed.substr(start, i - start), start, list.x_names));
    if (list.size() > k_max_names) return too_long(std::string::npos);
    start = i + 1;
  }
  return list;
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  std::string text;
  struct Parts {
    std::string prefix;
    std::string digits;
  };
  const auto parts_of = [](const std::string& name) {
    const auto last = name.find_last_not_of("0123456789");
    const auto start = last == std::string::npos ? 0 : last + 1;
    // more digits than a number holds belong to the name
    return name.size() - start > 18 ? Parts{name, ""} : Parts{name.substr(0, start), name.substr(start)};
  };
  for (std::size_t i = 0; i < names.size();) {
    const auto head = parts_of(names[i]);
    std::vector<std::string> ranges;
    std::size_t next = i;
    while (next < names.size()) {
      const auto first = parts_of(names[next]);
      if (first.prefix != head.prefix || first.digits.empty() || first.digits.size() != head.digits.size())
        break;
      std::size_t end = next;
      while (end + 1 < names.size()) {
        const auto first_parts = parts_of(names[end]), second_parts = parts_of(names[end + 1]);
        if (second_parts.prefix != head.prefix || second_parts.digits.size() != head.digits.size() ||
            util::parse_unsigned(second_parts.digits).value_or(0) !=
                util::parse_unsigned(first_parts.digits).value_or(0) + 1)
          break;
        ++end;
      }
      ranges.push_back(end > next ? first.digits + "-" + parts_of(names[end]).digits : first.digits);
      next = end + 1;
    }
    if (!text.empty()) text += ',';
    if (next <= i + 1) {
      text += names[i];
      next = i + 1;
    } else {
      text += head.prefix + "[" + util::join(ranges, ",") + "]";
    }
    i = next;
  }
  return text;
}

} // namespace hpcml::model
