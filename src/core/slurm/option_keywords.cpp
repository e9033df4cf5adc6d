// SPDX-License-Identifier: MIT
// How sbatch reads values that are words: policies, bindings, frequencies.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/slurm/option_parse_context.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_one_of(const std::string& text, std::initializer_list<string_view> words) {
  const std::string lower = util::to_lower(text);
  return std::find(words.begin(), words.end(), lower) != words.end();
}

} // namespace

bool read_exclusive(OptionParseContext& r) {
  if (is_one_of(r.text, {"", "exclusive", "oversubscribe", "user", "mcs"})) return true;
  if (is_one_of(r.text, {"allocation"})) return r.version >= Version::v26_05;
  return is_one_of(r.text, {"topo"}) && r.version >= Version::v24_05;
}

/// Only the first letter is looked at.
bool read_open_mode(OptionParseContext& r) {
  return !r.text.empty() && std::string_view("aAtT").find(r.text[0]) != std::string_view::npos;
}
bool read_no_kill(OptionParseContext& r) { return is_one_of(r.text, {"", "set", "off", "no"}); }
bool read_yes_no(OptionParseContext& r) { return is_one_of(r.text, {"yes", "no"}); }

bool read_requeue(OptionParseContext& r) {
  r.request.expedites = r.request.expedites || is_one_of(r.text, {"expedite"});
  return is_one_of(r.text, {"", "expedite"}) || r.version < Version::v26_05;
}

bool read_oom_kill_step(OptionParseContext& r) { return r.text.empty() || r.text == "0" || r.text == "1"; }

/// Seconds to wait and how: "10L".
bool read_get_user_env(OptionParseContext& r) {
  char* end = nullptr;
  (void)std::strtol(r.text.c_str(), &end, 10);
  return *end == '\0' || std::string_view("sSlL").find(*end) != std::string_view::npos;
}

/// A number of 16 bits of which the last two stand for none.
bool read_small_count(OptionParseContext& r) {
  const auto count = r.text.empty() ? 0 : parse_count(r.text, 0);
  if (count) r.request.counts[r.setting.option] = *count;
  return count && *count < 65535;
}

bool read_hint(OptionParseContext& r) {
  const auto parts = util::split(r.text, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return is_one_of(part, {"compute_bound", "memory_bound", "multithread", "nomultithread"});
  });
}

bool read_wait_all_nodes(OptionParseContext& r) {
  const auto count = r.text.empty() ? 0 : parse_count(r.text, 0);
  return count && *count <= 1;
}

bool read_nice(OptionParseContext& r) {
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

/// Per part a number, or one after a known name; what is around it is passed over.
bool read_acctg_freq(OptionParseContext& r) {
  const auto has_number = [](const std::string& text) {
    char* end = nullptr;
    return std::strtol(text.c_str(), &end, 10) != -1 && end != text.c_str();
  };
  const auto parts = util::split(util::to_lower(r.text), ',');
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    if (part.empty() || has_number(part)) return true;
    for (const string_view name : {"task=", "energy=", "network=", "filesystem="})
      if (const auto at = part.find(name);
          at != std::string::npos && has_number(part.substr(at + name.size())))
        return true;
    return false;
  });
}

/// A known word anywhere in the text will do.
bool read_profile(OptionParseContext& r) {
  const std::string lower = util::to_lower(r.text);
  static constexpr string_view words[] = {"all", "none", "energy", "task", "lustre", "network"};
  return std::any_of(std::begin(words), std::end(words),
                     [&](string_view word) { return lower.find(word) != std::string::npos; });
}

bool read_propagate(OptionParseContext& r) {
  static constexpr string_view limits[] = {"AS",      "CORE",   "CPU",   "DATA", "FSIZE",
                                           "MEMLOCK", "NOFILE", "NPROC", "RSS",  "STACK"};
  if (r.text.empty() || r.text == "NONE" || r.text == "ALL") return true;
  std::string text = r.text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }, ',');
  const auto parts = util::split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [](string_view part) {
    if (part.empty()) return true;
    if (part.starts_with("RLIMIT_")) part.remove_prefix(7);
    return std::find(std::begin(limits), std::end(limits), part) != std::end(limits);
  });
}

bool read_gres_flags(OptionParseContext& r) {
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

bool read_gpu_bind(OptionParseContext& r) { return is_gpu_bind(r.text, r.version); }

bool read_tres_bind(OptionParseContext& r) { return is_tres_bind(r.text, r.version); }

bool read_mem_bind(OptionParseContext& r) { return is_mem_bind(r.text, r.version); }

/// The variable has the number alone; the time is in another one.
bool read_switches(OptionParseContext& r) {
  const bool alone = r.setting.source == OptionSource::environment;
  return parse_count(alone ? r.text : r.text.substr(0, r.text.find('@')), 1).has_value();
}

bool read_cpu_freq(OptionParseContext& r) { return parse_cpu_frequency(r.text, r.version).has_value(); }

bool read_gpu_freq(OptionParseContext& r) { return is_gpu_freq(r.text); }

bool read_distribution(OptionParseContext& r) { return is_distribution(r.text, r.version); }

/// A name or a number of a user or group; who there is only the machine knows.
bool read_user(OptionParseContext& r) {
  const bool number =
      !r.text.empty() && (r.text[0] == '-' || r.text[0] == '+' || (r.text[0] >= '0' && r.text[0] <= '9'));
  if (number) return parse_count(r.text, 0).has_value();
  return !r.text.empty() &&
         !(r.setting.option == "uid" && r.text == "nobody" && r.version >= Version::v25_11);
}

/// A star marks what accounting chose by itself.
bool read_wckey(OptionParseContext& r) { return !r.text.starts_with("*") || r.version < Version::v25_05; }

bool read_mem_update(OptionParseContext& r) {
  const auto at = r.text.find('@');
  if (at == std::string::npos) return false;
  const auto margin = parse_count(r.text.substr(0, at), 1);
  const auto delay = parse_time_limit(r.text.substr(at + 1));
  return margin && *margin <= 65535 && delay && delay->minutes.value_or(0) > 0 && *delay->minutes <= 65535;
}

bool read_priority(OptionParseContext& r) {
  const long long priority = std::strtoll(r.text.c_str(), nullptr, 10);
  return is_one_of(r.text, {"top"}) || (priority >= 0 && priority < 4294967294LL);
}

} // namespace hpcml::slurm
