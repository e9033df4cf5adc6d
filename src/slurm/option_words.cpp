// SPDX-License-Identifier: MIT
// How sbatch reads values that are words: policies, bindings, frequencies.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "slurm/option_reading.hpp"
#include "slurm/options.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_one_of(const std::string& text, std::initializer_list<string_view> words) {
  const std::string lower = util::to_lower(text);
  return std::find(words.begin(), words.end(), lower) != words.end();
}

bool is_plane(const std::string& part) {
  return util::starts_with(part, "plane=") && parse_count(part.substr(6), 1).has_value();
}

bool is_frequency(const std::string& text) {
  return is_one_of(text, {"low", "medium", "highm1", "high"}) || parse_count(text, 1).has_value();
}

bool is_governor(const std::string& text) {
  return is_one_of(text, {"conservative", "ondemand", "performance", "powersave", "schedutil", "userspace"});
}

} // namespace

bool read_exclusive(Reading& r) {
  if (is_one_of(r.text, {"", "exclusive", "oversubscribe", "user", "mcs"})) return true;
  if (is_one_of(r.text, {"allocation"})) return r.version >= Version::v26_05;
  return is_one_of(r.text, {"topo"}) && r.version >= Version::v24_05;
}

/// Only the first letter is looked at.
bool read_open_mode(Reading& r) {
  return !r.text.empty() && std::string_view("aAtT").find(r.text[0]) != std::string_view::npos;
}
bool read_no_kill(Reading& r) { return is_one_of(r.text, {"", "set", "off", "no"}); }
bool read_yes_no(Reading& r) { return is_one_of(r.text, {"yes", "no"}); }

bool read_requeue(Reading& r) { return is_one_of(r.text, {"", "expedite"}) || r.version < Version::v26_05; }

bool read_oom_kill_step(Reading& r) { return r.text.empty() || r.text == "0" || r.text == "1"; }

/// Seconds to wait and how: "10L".
bool read_get_user_env(Reading& r) {
  char* end = nullptr;
  (void)std::strtol(r.text.c_str(), &end, 10);
  return *end == '\0' || std::string_view("sSlL").find(*end) != std::string_view::npos;
}

bool read_small_count(Reading& r) {
  const auto count = parse_count(r.text, 0);
  return count && *count <= 65535;
}

bool read_hint(Reading& r) {
  const auto parts = util::split(r.text, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return is_one_of(part, {"compute_bound", "memory_bound", "multithread", "nomultithread"});
  });
}

bool read_wait_all_nodes(Reading& r) {
  const auto count = parse_count(r.text, 0);
  return count && *count <= 1;
}

bool read_nice(Reading& r) {
  if (r.text.empty()) {
    r.request.counts["nice"] = 100;
    return true;
  }
  // As strtoll: what follows the number, or a text without one, is ignored.
  const long long nice = std::strtoll(r.text.c_str(), nullptr, 10);
  if (nice > 2147483645LL || nice < -2147483645LL) return false;
  r.request.counts["nice"] = static_cast<long>(nice);
  return true;
}

bool read_comment(Reading& r) { return r.text.size() <= 1024; }

bool read_acctg_freq(Reading& r) {
  const auto parts = util::split(r.text, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) return util::parse_unsigned(part).has_value();
    return is_one_of(part.substr(0, equals), {"task", "energy", "network", "filesystem"}) &&
           util::parse_unsigned(part.substr(equals + 1)).has_value();
  });
}

/// A known word anywhere in the text will do.
bool read_profile(Reading& r) {
  const std::string lower = util::to_lower(r.text);
  static constexpr string_view words[] = {"all", "none", "energy", "task", "lustre", "filesystem", "network"};
  return std::any_of(std::begin(words), std::end(words),
                     [&](string_view word) { return lower.find(word) != std::string::npos; });
}

bool read_propagate(Reading& r) {
  static constexpr string_view limits[] = {"AS",      "CORE",   "CPU",   "DATA", "FSIZE",
                                           "MEMLOCK", "NOFILE", "NPROC", "RSS",  "STACK"};
  if (r.text.empty() || r.text == "NONE" || r.text == "ALL") return true;
  const auto parts = util::split(r.text, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.empty() || std::find(std::begin(limits), std::end(limits), part) != std::end(limits);
  });
}

bool read_gres_flags(Reading& r) {
  if (r.version < Version::v23_11) return is_one_of(r.text, {"disable-binding", "enforce-binding"});
  std::set<std::string> flags;
  for (const auto& part : util::split(util::to_lower(r.text), ','))
    if (!part.empty()) flags.insert(part);
  for (const auto& flag : flags)
    if (!is_one_of(flag, {"disable-binding", "enforce-binding", "multiple-tasks-per-sharing",
                          "one-task-per-sharing"}))
      return false;
  const auto both = [&](const char* a, const char* b) { return flags.count(a) > 0 && flags.count(b) > 0; };
  return !both("disable-binding", "enforce-binding") &&
         !both("multiple-tasks-per-sharing", "one-task-per-sharing");
}

bool read_gpu_bind(Reading& r) { return is_gpu_bind(r.text, r.version); }

bool read_tres_bind(Reading& r) { return util::starts_with(r.text, "gres/"); }

bool read_mem_bind(Reading& r) {
  for (const auto& part : util::split(r.text, ',')) {
    if (is_one_of(part, {"quiet", "q", "verbose", "v", "none", "no", "rank", "local", "sort", "nosort",
                         "prefer", "p"}))
      continue;
    // The rest of the list belongs to the map.
    return util::starts_with(part, "map_mem:") || util::starts_with(part, "mask_mem:") ||
           util::starts_with(part, "mem_map:") || util::starts_with(part, "mem_mask:");
  }
  return true;
}

bool read_switches(Reading& r) { return parse_count(r.text.substr(0, r.text.find('@')), 1).has_value(); }

/// "P1", "P1-P2[:GOVERNOR]" or a governor.
bool read_cpu_freq(Reading& r) {
  const auto colon = r.text.find(':');
  const std::string range = r.text.substr(0, colon);
  const auto dash = range.find('-');
  if (dash == std::string::npos)
    return colon == std::string::npos && (is_frequency(range) || is_governor(range));
  return is_frequency(range.substr(0, dash)) && is_frequency(range.substr(dash + 1)) &&
         (colon == std::string::npos || is_governor(r.text.substr(colon + 1)));
}

bool read_gpu_freq(Reading& r) {
  for (const auto& part : util::split(r.text, ',')) {
    const std::string value = util::starts_with(part, "memory=") ? part.substr(7) : part;
    if (!value.empty() && value != "verbose" && !is_frequency(value)) return false;
  }
  return true;
}

bool read_distribution(Reading& r) {
  const auto comma = r.text.find(',');
  const auto parts = util::split(r.text.substr(0, comma), ':');
  if (parts.size() > 3) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = util::to_lower(parts[i]);
    if (i == 0 && (is_plane(part) || is_one_of(part, {"pack", "nopack"}))) continue;
    if (part == "arbitrary" && parts.size() == 1) return true;
    if (!is_one_of(part, {"block", "cyclic", "*"}) && !(i > 0 && part == "fcyclic")) return false;
  }
  return true;
}

bool read_priority(Reading& r) {
  const long long priority = std::strtoll(r.text.c_str(), nullptr, 10);
  return is_one_of(r.text, {"top"}) || (priority >= 0 && priority < 4294967294LL);
}

} // namespace hpcml::slurm
