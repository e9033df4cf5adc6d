// SPDX-License-Identifier: MIT
#include "core/slurm/gres.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number as strtoull takes it, with a unit: "4", "2k", "1Mb"; a unit alone is 0.
std::optional<std::uint64_t> parse_number(string_view text) {
  const std::string plain(text);
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(plain.c_str(), &end, 10);
  if (number == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  const std::string unit = util::to_lower(end);
  if (unit.empty()) return number;
  static constexpr string_view units = "kmgtp";
  const auto power = units.find(unit.front());
  const string_view rest = string_view(unit).substr(1);
  if (power == string_view::npos || !(rest.empty() || rest == "ib" || rest == "b")) return std::nullopt;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= rest == "b" ? 1000 : 1024;
  return number * factor;
}

/// A count starts with a figure from 23.11; before that a sign or a unit alone will do.
std::optional<std::uint64_t> parse_item_count(string_view text, ComparisonTrackingVersion version) {
  if ((text.empty() || !is_digit(text.front())) && version >= Version::v23_11) return std::nullopt;
  return parse_number(text);
}

/// From 23.11 the count is what follows the last '=' or ':'; all between it and the name is the type.
std::optional<GresItem> parse_later_item(string_view text, ComparisonTrackingVersion version) {
  auto separator = text.rfind('=');
  const bool equals = separator != string_view::npos;
  if (!equals) separator = text.rfind(':');
  GresItem item;
  if (separator != string_view::npos) {
    const auto last = text.substr(separator + 1);
    if (last.empty()) return std::nullopt;
    const auto count = parse_item_count(last, version);
    if (!count && equals) return std::nullopt;
    if (count)
      item.count = *count;
    else
      item.type = last;
    text = text.substr(0, separator);
  }
  const auto colon = text.find(':');
  item.name = text.substr(0, colon);
  if (colon == string_view::npos) return item;
  if (!item.type.empty()) return std::nullopt;
  item.type = text.substr(colon + 1);
  if (item.type.empty()) item.type = ":"; // an empty type is one that no GPU has
  return item;
}

std::optional<GresItem> parse_item(string_view text, ComparisonTrackingVersion version) {
  const auto parts = util::split(text, ':');
  // NAME, NAME:NUMBER and NAME:TYPE:NUMBER are the same to all versions.
  const bool plain = text.find_first_of("=+") == string_view::npos && parts.size() <= 3 &&
                     std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
  if (!plain && version >= Version::v23_11) return parse_later_item(text, version);
  GresItem item{parts[0], {}, 1};
  if (parts[0].empty() || parts.back().empty() || parts.size() > 3) return std::nullopt;
  if (parts.size() == 1) return item;
  const auto count = parse_item_count(parts.back(), version);
  if (count) item.count = *count;
  if (parts.size() == 2) {
    if (!count) item.type = parts[1];
    return item;
  }
  if (!count || parts[1].empty()) return std::nullopt;
  item.type = parts[1];
  return item;
}

} // namespace

std::optional<std::vector<GresItem>> parse_gres(string_view text, ComparisonTrackingVersion version) {
  const auto strict = [&] { return version >= Version::v21_08 && version <= Version::v23_02; };
  std::vector<GresItem> items;
  if (util::to_lower(text) == "none" && version >= Version::v21_08) return items;
  for (const auto& part : util::split(std::string(text), ',')) {
    if (part.empty()) {
      if (strict()) return std::nullopt;
      continue;
    }
    string_view rest = part;
    if (rest.starts_with("gres:") && strict()) rest.remove_prefix(5);
    if (rest.starts_with("gres/") && version >= Version::v23_11) rest.remove_prefix(5);
    const auto item = parse_item(rest, version);
    if (!item) return std::nullopt;
    items.push_back(*item);
  }
  return items;
}

std::optional<std::vector<GresItem>> parse_gpus(string_view text, ComparisonTrackingVersion version) {
  std::vector<GresItem> items;
  if (text.empty()) return items;
  for (const auto& part : util::split(std::string(text), ',')) {
    if (part.empty()) continue;
    const auto item = parse_item("gpu:" + part, version);
    if (!item) return std::nullopt;
    items.push_back(*item);
  }
  return items;
}

std::optional<std::vector<GresItem>> parse_gpus_per_task(string_view text,
                                                         ComparisonTrackingVersion version) {
  if (version < Version::v23_11) return parse_gpus(text, version);
  std::vector<GresItem> items;
  bool skipped = false; // a first one without a number
  if (text.empty()) return items;
  for (const auto& part : util::split(std::string(text), ',')) {
    if (!part.empty() && part.front() == '-' &&
        ((part.size() > 1 && is_digit(part[1])) || version >= Version::v24_05))
      return std::nullopt;
    if (part.find('=') != std::string::npos && version >= Version::v24_05) return std::nullopt;
    const auto colon = part.find(':');
    string_view count = colon == std::string::npos ? string_view(part) : string_view(part).substr(colon + 1);
    if (!count.empty() && count.front() == '+') count.remove_prefix(1);
    if (count.empty() || !is_digit(count.front())) {
      if (!items.empty() && !items.back().type.empty() && version >= Version::v25_05) return std::nullopt;
      skipped = skipped || items.empty();
      continue;
    }
    const auto end = std::min(count.find_first_not_of("0123456789"), count.size());
    const auto number = parse_number(count.substr(0, end));
    if (!number) return std::nullopt;
    const std::string type = colon == std::string::npos ? "" : part.substr(0, colon);
    // The first one counts: another of its kind is passed over, and up to 24.11 a bare number after a type.
    if (skipped && !type.empty()) return std::nullopt;
    if (skipped || std::any_of(items.begin(), items.end(), [&](const GresItem& item) {
          return item.type == type || (type.empty() && version < Version::v25_05);
        }))
      continue;
    if (*number > 0) items.push_back({"gpu", type, *number});
  }
  return items;
}

namespace {

/// From 23.11 words that name nothing known are passed over, but those of what cannot be given per task.
bool is_refused_tres(string_view text) {
  static constexpr string_view refused[] = {"mem", "energy", "node", "billing", "fs", "vmem", "pages", "bb"};
  const std::string list = "," + util::to_lower(text);
  return std::any_of(std::begin(refused), std::end(refused), [&](string_view name) {
    return list.find("," + std::string(name)) != std::string::npos;
  });
}

/// Whether a number is after the last colon.
bool names_count(string_view item) {
  const auto colon = item.rfind(':');
  return colon != string_view::npos && colon + 1 < item.size() && is_digit(item[colon + 1]);
}

bool is_among(const std::vector<GresItem>& items, const GresItem& wanted) {
  return std::any_of(items.begin(), items.end(), [&](const GresItem& item) {
    return item.name == wanted.name && item.type == wanted.type;
  });
}

} // namespace

std::optional<TresPerTask> parse_tres_per_task(string_view text, ComparisonTrackingVersion version) {
  TresPerTask result;
  const bool later = version >= Version::v23_11;
  if (!later && text.find('=') != string_view::npos) return std::nullopt;
  if (later && is_refused_tres(text)) return std::nullopt;
  bool has_cpus = false;
  for (const auto& part : util::split(std::string(text), ',')) {
    const bool gres = part.starts_with("gres/") || part.starts_with("gres:");
    const bool cpus = part == "cpu" || part.starts_with("cpu=") || part.starts_with("cpu:") ||
                      (!later && part.starts_with("cpu"));
    if (!gres && !cpus) {
      if (later &&
          (part.find_first_of("=:") == std::string::npos || util::to_lower(part).starts_with("cpu=")))
        continue;
      return std::nullopt;
    }
    if (part == "gres/" && later) continue;
    if (!later && part.starts_with("gres/")) return std::nullopt;
    if (cpus && part.find('=') != std::string::npos && version == Version::v23_11) result.cpus_count = false;
    const auto item = parse_item(gres ? part.substr(5) : part, version);
    if (!item || (cpus && (item->name != "cpu" || !item->type.empty()))) return std::nullopt;
    if (cpus && (part == "cpu" || item->count == 0) && version >= Version::v24_05) return std::nullopt;
    if (cpus && has_cpus && later) continue; // the first counts
    has_cpus = has_cpus || cpus;
    // 23.02 looks for each gres once, with its count.
    if (!later && gres && (!names_count(part) || is_among(result.items, *item))) return std::nullopt;
    result.items.push_back(*item);
  }
  return result;
}

std::uint64_t gpu_count(const std::vector<GresItem>& items) {
  std::uint64_t count = 0;
  for (const auto& item : items)
    if (item.name == "gpu") count = item.count;
  return count;
}

} // namespace hpcml::slurm
