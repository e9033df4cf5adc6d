// SPDX-License-Identifier: MIT
#include "model/hostlist.hpp"

#include "util/text.hpp"

namespace hpcml::model {

namespace {

constexpr std::size_t k_max_names = 100000;

std::string padded(unsigned long long number, std::size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// "001-004,007": the texts a bracket stands for.
util::Result<std::vector<std::string>> expand_bracket(std::string_view inside, std::size_t offset) {
  std::vector<std::string> texts;
  for (const auto& piece : util::split(inside, ',')) {
    const auto dash = piece.find('-');
    const std::string first_text = piece.substr(0, dash);
    const auto first = util::parse_unsigned(first_text);
    const auto last = dash == std::string::npos ? first : util::parse_unsigned(piece.substr(dash + 1));
    if (!first || !last)
      return util::Error{"\"" + piece + "\" is no number or range of a node list", {}, offset};
    if (*first > *last) return util::Error{"the range " + piece + " runs backwards", {}, offset};
    if (*last - *first >= k_max_names || texts.size() + (*last - *first) >= k_max_names)
      return util::Error{"the node list has more than 100000 names", {}, offset};
    for (auto number = *first; number <= *last; ++number) texts.push_back(padded(number, first_text.size()));
    offset += piece.size() + 1;
  }
  return texts;
}

/// One comma-separated item: text and brackets in any order; every bracket multiplies the names.
util::Status expand_item(std::string_view item, std::size_t offset, std::vector<std::string>& out) {
  std::vector<std::string> names{""};
  std::size_t at = 0;
  while (at < item.size()) {
    const auto open = item.find('[', at);
    const std::string literal(item.substr(at, open == std::string_view::npos ? open : open - at));
    if (literal.find(']') != std::string::npos)
      return util::Error{"a ] without its [ in the node list", {}, offset + at};
    for (auto& name : names) name += literal;
    if (open == std::string_view::npos) break;
    const auto close = item.find(']', open);
    if (close == std::string_view::npos)
      return util::Error{"a [ without its ] in the node list", {}, offset + open};
    auto texts = expand_bracket(item.substr(open + 1, close - open - 1), offset + open + 1);
    if (!texts) return texts.error();
    if (names.size() * texts->size() > k_max_names)
      return util::Error{"the node list has more than 100000 names", {}, offset};
    std::vector<std::string> product;
    for (const auto& name : names)
      for (const auto& text : *texts) product.push_back(name + text);
    names = std::move(product);
    at = close + 1;
  }
  if (names.size() == 1 && names[0].empty()) return util::Error{"an empty name in the node list", {}, offset};
  out.insert(out.end(), names.begin(), names.end());
  return util::Done{};
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
    auto status = expand_item(trimmed.substr(start, i - start), start, list.x_names);
    if (!status) return status.error();
    if (list.size() > k_max_names) return util::Error{"the node list has more than 100000 names"};
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
        const auto one = parts_of(names[end]), other = parts_of(names[end + 1]);
        if (other.prefix != head.prefix || other.digits.size() != head.digits.size() ||
            util::parse_unsigned(other.digits).value_or(0) !=
                util::parse_unsigned(one.digits).value_or(0) + 1)
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
