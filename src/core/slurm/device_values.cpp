// SPDX-License-Identifier: MIT
// Values that say where tasks and their memory are, and how fast CPUs and GPUs run.
#include <algorithm>
#include <cstdlib>
#include <regex>

#include "core/slurm/values.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_word(const std::string& lower, std::initializer_list<string_view> words) {
  return std::find(words.begin(), words.end(), lower) != words.end();
}

/// As strtok cuts: empty pieces are none.
std::vector<std::string> pieces(string_view text, char separator) {
  auto all = util::split(text, separator);
  all.erase(std::remove(all.begin(), all.end(), std::string()), all.end());
  return all;
}

/// Numbers of GPUs or masks of them, each with an optional "*COUNT".
bool is_gpu_list(string_view list, bool masks, ComparisonTrackingVersion version) {
  // Before 22.05 the numbers are C's: 0x1 in a map as well, and a mask without 0x is decimal.
  static const std::regex c_numbers("(0x[0-9a-f]+|[0-9]*)(\\*[0-9]*)?", std::regex::icase);
  static const std::regex hexadecimals("(0x)?[0-9a-f]*(\\*[0-9]*)?", std::regex::icase);
  static const std::regex decimals("[0-9]*(\\*[0-9]*)?");
  const std::regex& form = version < Version::v22_05 ? c_numbers : masks ? hexadecimals : decimals;
  const auto items = util::split(list, ',');
  return std::all_of(items.begin(), items.end(),
                     [&](const std::string& item) { return std::regex_match(item, form); });
}

/// "single:N" and "per_task:N": any text whose number is not negative.
bool is_gpu_number(const std::string& rest) { return std::strtol(rest.c_str(), nullptr, 0) >= 0; }

/// The lists of map_mem and mask_mem.
bool is_memory_list(const std::string& list, bool masks, ComparisonTrackingVersion version) {
  const auto items = pieces(list, ',');
  if (items.empty()) return false;
  static const std::regex map("[0-9]*(\\*0*[1-9][0-9]*)?"), mask("(0x)?[0-9a-fA-F]*(\\*0*[1-9][0-9]*)?");
  return std::all_of(items.begin(), items.end(), [&](const std::string& item) {
    return std::regex_match(item, masks ? mask : map) || version < Version::v22_05;
  });
}

bool is_memory_word(const std::string& word, ComparisonTrackingVersion version) {
  if (is_word(word, {"quiet", "q", "verbose", "v", "none", "no", "rank", "local", "prefer", "p"}))
    return true;
  if (is_word(word, {"sort", "nosort"})) return version < Version::v25_11;
  const bool map = word.starts_with("map_mem") || word.starts_with("mapmem");
  const bool mask = word.starts_with("mask_mem") || word.starts_with("maskmem");
  const auto from = word.find_first_of(":=");
  if ((!map && !mask) || from == std::string::npos) return false;
  const auto list = word.substr(from + 1, word.find_first_of(":=", from + 1) - from - 1);
  return !list.empty() && is_memory_list(list, mask, version);
}

/// Whether a comma belongs to a list of numbers: a figure follows it, or hexadecimals up to the next one.
bool continues(const std::string& text, std::size_t at) {
  if (at < text.size() && text[at] >= '0' && text[at] <= '9') return true;
  const auto end = text.find_first_not_of("0123456789abcdefABCDEF", at);
  return end == std::string::npos || text[end] == ',';
}

struct Named {
  string_view start; ///< what is compared
  string_view name;  ///< as scontrol writes it
};

/// Speeds by name, slowest first; "him1" and "highm1" are one.
constexpr Named k_speeds[] = {
    {"lo", "Low"}, {"med", "Medium"}, {"him1", "Highm1"}, {"highm1", "Highm1"}, {"hi", "High"}};
constexpr Named k_governors[] = {{"co", "Conservative"}, {"perf", "Performance"}, {"pow", "PowerSave"},
                                 {"user", "UserSpace"},  {"onde", "OnDemand"},    {"sche", "SchedUtil"}};

/// Empty where it is none.
std::string governor_of(const std::string& lower, ComparisonTrackingVersion version) {
  for (const auto& [start, name] : k_governors)
    if (lower.starts_with(start) && (name != "SchedUtil" || version >= Version::v21_08))
      return std::string(name);
  return {};
}

struct Speed {
  std::string name;
  unsigned long order = 0; ///< 0: the text is none
};

/// Slurm sends names as numbers above all frequencies, HIGHM1 as the highest of them.
Speed speed_of(const std::string& lower, ComparisonTrackingVersion version) {
  for (const auto& [start, name] : k_speeds)
    if (lower.starts_with(start))
      return {std::string(name), name == "Low"      ? 0x80000001
                                 : name == "Medium" ? 0x80000002
                                 : name == "High"   ? 0x80000003
                                                    : 0x80000004};
  char* end = nullptr;
  const auto number = static_cast<std::uint32_t>(std::strtoul(lower.c_str(), &end, 10));
  if (*end != '\0' && version >= Version::v23_11) return {};
  return {std::to_string(number), number};
}

} // namespace

bool is_gpu_bind(string_view value, ComparisonTrackingVersion version) {
  auto text = util::to_lower(value);
  std::size_t from = 0;
  if (text.starts_with("verbose,")) from = 8;
  text = text.substr(from);
  const bool later = version >= Version::v21_08;
  // 21.08 and 22.05 look at the first letter only.
  if (later && version <= Version::v22_05 && (text.starts_with("c") || text.starts_with("n"))) return true;
  if (!later && text != value.substr(from)) return false; // capitals
  if (later ? text.starts_with("closest") || text.starts_with("none") : text == "closest") return true;
  const auto colon = text.find(':');
  if (colon == std::string::npos) return false;
  const auto name = text.substr(0, colon), rest = text.substr(colon + 1);
  const bool plain = version >= Version::v23_11;
  if (name == "map_gpu" || (plain && name == "map")) return is_gpu_list(rest, false, version);
  if (name == "mask_gpu" || (plain && name == "mask")) return is_gpu_list(rest, true, version);
  return (name == "single" || (later && name == "per_task")) && is_gpu_number(rest);
}

bool is_tres_bind(string_view text, ComparisonTrackingVersion version) {
  const auto parts = pieces(text, '+');
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    const auto colon = part.find(':');
    return part.starts_with("gres/") && colon != std::string::npos &&
           is_gpu_bind(part.substr(colon + 1), version);
  });
}

bool is_mem_bind(string_view text, ComparisonTrackingVersion version) {
  std::string lower = util::to_lower(text);
  for (std::size_t i = 0; i < lower.size(); ++i)
    if (lower[i] == ',' && !continues(lower, i + 1)) lower[i] = ';';
  const auto words = util::split(lower, ';');
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return is_memory_word(word, version); });
}

bool is_gpu_freq(string_view text) {
  const auto parts = pieces(text, ',');
  const auto is_value = [](const std::string& value) {
    return is_word(value, {"low", "medium", "high", "highm1"}) || parse_count(value, 0).has_value();
  };
  return !text.empty() && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    if (part.find('=') == std::string::npos) return part == "verbose" || is_value(part);
    return part.starts_with("memory=") && is_value(part.substr(7));
  });
}

std::optional<CpuFrequency> parse_cpu_frequency(string_view text, ComparisonTrackingVersion version) {
  const std::string lower = util::to_lower(text);
  const auto colon = lower.find(':'), dash = lower.find('-');
  const bool range = dash != std::string::npos;
  const auto first = lower.substr(0, std::min(dash, colon));
  CpuFrequency result;
  result.governor = governor_of(first, version);
  if (!result.governor.empty())
    return range || colon != std::string::npos ? std::nullopt : std::optional(result);
  const auto speed = speed_of(first, version);
  if (speed.order == 0) return std::nullopt;
  result.max = speed.name;
  if (range) {
    const auto last =
        speed_of(lower.substr(dash + 1, colon == std::string::npos ? colon : colon - dash - 1), version);
    if (last.order == 0 || last.order < speed.order) return std::nullopt;
    result.min = speed.name;
    result.max = last.name;
  }
  if (colon == std::string::npos) {
    if (!range && version >= Version::v23_11) result.governor = "UserSpace";
    return result;
  }
  result.governor = governor_of(lower.substr(colon + 1), version);
  if (result.governor.empty()) return std::nullopt;
  const bool user = result.governor == "UserSpace";
  // Up to 23.02 a governor requires a range; from 23.11 UserSpace requires a single speed.
  if (range ? user && version >= Version::v23_11 : !(user && version >= Version::v23_11)) return std::nullopt;
  return result;
}

namespace {

bool is_start_of(const std::string& part, string_view word) { return word.starts_with(part); }

/// 20.11 takes the first letters of a word and passes over words that it does not know.
bool is_early_distribution(const std::string& lower) {
  bool known = false;
  for (const auto& part : pieces(lower, ',')) {
    const auto words = util::split(part, ':');
    if (words.size() == 1) {
      known = known || is_start_of(part, "cyclic") || is_start_of(part, "block") || is_start_of(part, "*") ||
              is_start_of(part, "arbitrary") || is_start_of(part, "hostfile") ||
              is_start_of(part, "nopack") || is_start_of(part, "pack");
      continue;
    }
    bool all = is_word(words[0], {"block", "cyclic", "*"}) && !words[1].empty();
    for (std::size_t i = 1; i < std::min<std::size_t>(words.size(), 3); ++i)
      all = all && is_word(words[i], {"block", "cyclic", "fcyclic", "*", ""});
    known = known || all;
  }
  return known;
}

} // namespace

bool is_distribution(string_view text, ComparisonTrackingVersion version) {
  const std::string lower = util::to_lower(text);
  if (lower.starts_with("plane")) {
    const auto equals = lower.find('=');
    return equals != std::string::npos && parse_count(lower.substr(equals + 1), 1).has_value();
  }
  if (version < Version::v21_08) return is_early_distribution(lower);
  const auto comma = lower.find(',');
  if (comma != std::string::npos && comma + 1 < lower.size() &&
      !is_word(lower.substr(comma + 1), {"pack", "nopack"}))
    return false;
  const auto parts = pieces(lower.substr(0, comma), ':');
  if (parts.size() == 1 && is_word(parts[0], {"arbitrary", "hostfile", "pack", "nopack"})) return true;
  if (parts.empty() || parts.size() > 3) return false;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!is_word(parts[i], {"block", "cyclic", "*"}) && !(i > 0 && parts[i] == "fcyclic")) return false;
  return true;
}

} // namespace hpcml::slurm
