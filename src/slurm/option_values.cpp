// SPDX-License-Identifier: MIT
// How sbatch reads each kind of value.
#include "slurm/option_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "slurm/options.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

struct Reading {
  const Setting& setting;
  const std::string& text; ///< the value, "" without one
  AsVersion version;
  Request& request;
};
using Reader = bool (*)(Reading&);

struct Form {
  ValueKind kind;
  Reader read;
  string_view hint;
};

template <long Least> bool read_count(Reading& r) {
  const auto count = parse_count(r.text, Least);
  if (count) r.request.counts[r.setting.option] = *count;
  return count.has_value();
}

bool read_time(Reading& r) {
  const auto limit = parse_time_limit(r.text);
  if (limit) r.request.times[r.setting.option] = *limit;
  return limit.has_value();
}

bool read_memory(Reading& r) {
  const auto memory = parse_memory_mb(r.text);
  if (memory) r.request.memory_mb[r.setting.option] = *memory;
  return memory.has_value();
}

bool read_nodes(Reading& r) {
  const auto nodes = parse_node_count(r.text, r.version);
  // "-1" (a maximum alone) of 1 is one node.
  if (nodes) r.request.nodes = nodes;
  return nodes.has_value();
}

bool store_gres(Reading& r, std::optional<std::vector<GresItem>> items) {
  if (!items) return false;
  if (items->empty())
    r.request.gres.erase(r.setting.option);
  else
    r.request.gres[r.setting.option] = std::move(*items);
  return true;
}

bool read_gres(Reading& r) { return store_gres(r, parse_gres(r.text, r.version)); }
bool read_gpus(Reading& r) { return store_gres(r, parse_gpus(r.text, r.version)); }
bool read_gpus_per_task(Reading& r) { return store_gres(r, parse_gpus_per_task(r.text, r.version)); }

bool read_tres_per_task(Reading& r) {
  r.request.tres_per_task = parse_tres_per_task(r.text, r.version);
  return r.request.tres_per_task.has_value();
}

bool read_array(Reading& r) { return r.text.empty() || parse_array(r.text, 4000001).has_value(); }

bool read_signal(Reading& r) {
  const bool at_reservation = r.request.signal && r.request.signal->at_reservation;
  r.request.signal = parse_signal(r.text, r.version);
  if (r.request.signal && at_reservation)
    r.request.signal->at_reservation = true; // a later option does not take it back
  return r.request.signal.has_value();
}

bool read_mail_type(Reading& r) {
  const auto types = parse_mail_types(r.text);
  // Up to 24.11 several options add up; NONE takes nothing back that an earlier one asked for.
  if (!r.request.mail_types.empty() && r.version >= Version::v25_05) r.request.mail_types.clear();
  if (types)
    for (const auto& type : *types)
      if (std::find(r.request.mail_types.begin(), r.request.mail_types.end(), type) ==
          r.request.mail_types.end())
        r.request.mail_types.push_back(type);
  return types.has_value();
}

bool read_dependency(Reading& r) {
  const auto dependencies = parse_dependencies(r.text, r.version);
  if (dependencies) r.request.dependencies = *dependencies;
  return dependencies.has_value();
}

bool read_features(Reading& r) {
  const auto names = parse_features(r.text);
  if (names && r.setting.option == "constraint") r.request.features = *names;
  return names.has_value();
}

bool read_begin(Reading& r) { return is_point_in_time(r.text); }

bool is_one_of(const std::string& text, std::initializer_list<string_view> words) {
  const std::string lower = util::to_lower(text);
  return std::find(words.begin(), words.end(), lower) != words.end();
}

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

bool read_geometry(Reading& r) {
  static constexpr string_view names[] = {"sockets-per-node", "cores-per-socket", "threads-per-core"};
  for (const auto name : names) r.request.counts.erase(std::string(name));
  const auto numbers = parse_geometry(r.text);
  if (!numbers) return false;
  for (std::size_t i = 0; i < numbers->size(); ++i)
    if ((*numbers)[i]) r.request.counts[std::string(names[i])] = *(*numbers)[i];
  return true;
}

bool is_plane(const std::string& part) {
  return util::starts_with(part, "plane=") && parse_count(part.substr(6), 1).has_value();
}

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

bool is_frequency(const std::string& text) {
  return is_one_of(text, {"low", "medium", "highm1", "high"}) || parse_count(text, 1).has_value();
}

bool is_governor(const std::string& text) {
  return is_one_of(text, {"conservative", "ondemand", "performance", "powersave", "schedutil", "userspace"});
}

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

// clang-format off
constexpr string_view k_number = "a whole number, 1 or more";
constexpr string_view k_time = "minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS; no letters";
constexpr string_view k_memory = "a whole number with K, M, G or T (MB without); no fractions, no GiB";
constexpr string_view k_gpus = "a number, or TYPE:NUMBER";
constexpr Form k_forms[] = {
    {ValueKind::node_count, read_nodes, "a number or MIN-MAX"},
    {ValueKind::count, read_count<1>, k_number},
    {ValueKind::geometry, read_geometry, "SOCKETS[:CORES[:THREADS]], numbers or *"},
    {ValueKind::count_or_zero, read_count<0>, "a whole number"},
    {ValueKind::time, read_time, k_time},
    {ValueKind::memory, read_memory, k_memory},
    {ValueKind::switches, read_switches, "COUNT[@TIME]"},
    {ValueKind::cpu_freq, read_cpu_freq, "low, medium, highm1, high or kHz, MIN-MAX, or a governor"},
    {ValueKind::gpu_freq, read_gpu_freq, "low, medium, highm1, high or MHz, with memory= before it for the memory"},
    {ValueKind::mem_bind, read_mem_bind, "local, none, rank, prefer, map_mem:LIST or mask_mem:LIST"},
    {ValueKind::gres, read_gres, "NAME[:TYPE]:NUMBER, several joined by commas"},
    {ValueKind::gpus, read_gpus, k_gpus},
    {ValueKind::gpus_per_task, read_gpus_per_task, k_gpus},
    {ValueKind::tres_per_task, read_tres_per_task, "cpu=N or gres/gpu=N (from 23.11), cpu:N in 23.02"},
    {ValueKind::tres_bind, read_tres_bind, "gres/gpu:closest and the like"},
    {ValueKind::gpu_bind, read_gpu_bind, "closest, none (from 21.08), single:N, per_task:N (from 21.08), map_gpu:LIST or mask_gpu:LIST"},
    {ValueKind::gres_flags, read_gres_flags, "disable-binding or enforce-binding; task sharing is given to srun"},
    {ValueKind::array, read_array, "indices such as 0-15, 0-15:4, 1,3,7 or 0-99%10"},
    {ValueKind::signal, read_signal, "[B:]NAME[@SECONDS], for example B:USR1@120; at most 65535 seconds"},
    {ValueKind::mail_type, read_mail_type, "BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, TIME_LIMIT_90, _80, _50, ARRAY_TASKS, ALL or NONE, joined by commas"},
    {ValueKind::dependency, read_dependency, "afterok:JOBID and the like, or singleton; joined by ',' (all) or '?' (one)"},
    {ValueKind::features, read_features, "features joined by & or |"},
    {ValueKind::moment, read_begin, "now+1hour, 16:00, tomorrow or 2030-01-31T10:00"},
    {ValueKind::exclusive, read_exclusive, "nothing, user, mcs or (from 24.05) topo"},
    {ValueKind::open_mode, read_open_mode, "append or truncate"},
    {ValueKind::no_kill, read_no_kill, "nothing or off"},
    {ValueKind::requeue, read_requeue, "nothing"},
    {ValueKind::oom_kill_step, read_oom_kill_step, "nothing, 0 or 1"},
    {ValueKind::get_user_env, read_get_user_env, "nothing, or seconds with S or L"},
    {ValueKind::small_count, read_small_count, "a whole number up to 65535"},
    {ValueKind::yes_no, read_yes_no, "yes or no"},
    {ValueKind::hint, read_hint, "compute_bound, memory_bound, multithread or nomultithread"},
    {ValueKind::zero_or_one, read_wait_all_nodes, "0 or 1"},
    {ValueKind::nice, read_nice, "a number within 2147483645"},
    {ValueKind::comment, read_comment, "at most 1024 characters"},
    {ValueKind::acctg_freq, read_acctg_freq, "seconds, or task=SECONDS and the like"},
    {ValueKind::profile, read_profile, "all, none, energy, task, filesystem or network"},
    {ValueKind::propagate, read_propagate, "limits in capitals (STACK, MEMLOCK, NOFILE), ALL or NONE"},
    {ValueKind::distribution, read_distribution, "block, cyclic, plane=SIZE or arbitrary, then :block or :cyclic"},
    {ValueKind::priority, read_priority, "a number or TOP"},
};
// clang-format on

} // namespace

std::optional<std::string> read_value(const Setting& setting, AsVersion version, Request& request) {
  const auto kind = value_kind_of(setting.option);
  const auto* form =
      std::find_if(std::begin(k_forms), std::end(k_forms), [&](const Form& f) { return f.kind == kind; });
  if (form == std::end(k_forms)) return std::nullopt;
  const std::string text = setting.value.value_or("");
  Reading reading{setting, text, version, request};
  if (form->read(reading)) return std::nullopt;
  return "it may be " + std::string(form->hint);
}

} // namespace hpcml::slurm
