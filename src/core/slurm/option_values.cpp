// SPDX-License-Identifier: MIT
// How sbatch reads each kind of value.
#include "core/slurm/option_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

#include "core/slurm/option_parse_context.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

using Reader = bool (*)(OptionParseContext&);

struct Form {
  ValueKind kind;
  Reader read;
  string_view hint;
};

template <long Least> bool read_count(OptionParseContext& r) {
  // As strtol: no number is 0.
  const auto count = Least == 0 && r.text.empty() ? 0 : parse_count(r.text, Least);
  if (count && *count == 0x7fffffffL && r.version >= Version::v23_02) return false;
  if (count) r.request.counts[r.setting.option] = *count;
  return count.has_value();
}

bool read_time(OptionParseContext& r) {
  const auto limit = parse_time_limit(r.text);
  if (limit) r.request.times[r.setting.option] = *limit;
  return limit.has_value();
}

bool read_memory(OptionParseContext& r) {
  const auto memory = parse_memory_mb(r.text);
  if (memory) r.request.memory_mb[r.setting.option] = *memory;
  return memory.has_value();
}

bool read_nodes(OptionParseContext& r) {
  const auto nodes = parse_node_count(r.text, r.version);
  // "-1" (a maximum alone) of 1 is one node.
  if (nodes) r.request.nodes = nodes;
  return nodes.has_value();
}

bool store_gres(OptionParseContext& r, std::optional<std::vector<GresItem>> items) {
  if (!items) return false;
  if (items->empty())
    r.request.gres.erase(r.setting.option);
  else
    r.request.gres[r.setting.option] = std::move(*items);
  return true;
}

bool read_gres(OptionParseContext& r) { return store_gres(r, parse_gres(r.text, r.version)); }
bool read_gpus(OptionParseContext& r) { return store_gres(r, parse_gpus(r.text, r.version)); }
bool read_gpus_per_task(OptionParseContext& r) {
  return store_gres(r, parse_gpus_per_task(r.text, r.version));
}

bool read_tres_per_task(OptionParseContext& r) {
  r.request.tres_per_task = parse_tres_per_task(r.text, r.version);
  return r.request.tres_per_task.has_value();
}

bool read_array(OptionParseContext& r) { return r.text.empty() || is_array(r.text, 4000001); }

bool read_signal(OptionParseContext& r) {
  const bool at_reservation = r.request.signal && r.request.signal->at_reservation;
  r.request.signal = parse_signal(r.text, r.version);
  if (r.request.signal && at_reservation)
    r.request.signal->at_reservation = true; // a later option does not take it back
  return r.request.signal.has_value();
}

bool read_mail_type(OptionParseContext& r) {
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

bool read_dependency(OptionParseContext& r) {
  const auto dependencies = parse_dependencies(r.text, r.version);
  if (dependencies) r.request.dependencies = *dependencies;
  return dependencies.has_value();
}

bool read_features(OptionParseContext& r) {
  const auto names = parse_features(r.text, r.version);
  if (names && r.setting.option == "constraint") r.request.features = *names;
  return names.has_value();
}

bool read_begin(OptionParseContext& r) { return parse_moment(r.text, r.version).has_value(); }

bool read_geometry(OptionParseContext& r) {
  static constexpr string_view names[] = {"sockets-per-node", "cores-per-socket", "threads-per-core"};
  for (const auto name : names) r.request.counts.erase(std::string(name));
  const auto numbers = parse_geometry(r.text);
  if (!numbers) return false;
  for (std::size_t i = 0; i < numbers->size(); ++i)
    if ((*numbers)[i]) r.request.counts[std::string(names[i])] = *(*numbers)[i];
  return true;
}

// clang-format off
constexpr string_view k_number = "a whole number, 1 or more";
constexpr string_view k_time = "minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS; no letters";
constexpr string_view k_memory = "a whole number with K, M, G or T (MB without); no fractions, no GiB";
constexpr string_view k_gpus = "a number, or TYPE:NUMBER";
constexpr string_view k_gpu_freq = "low, medium, highm1, high or MHz, with memory= before it for the memory";
constexpr string_view k_gpu_bind =
    "closest, none (from 21.08), single:N, per_task:N (from 21.08), map_gpu:LIST or mask_gpu:LIST";
constexpr string_view k_gres_flags = "disable-binding or enforce-binding; task sharing is an option of srun";
constexpr string_view k_mail_type =
    "BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, TIME_LIMIT_90, _80, _50, ARRAY_TASKS, ALL or NONE, joined by "
    "commas";
constexpr string_view k_dependency =
    "afterok:JOBID and the like, or singleton; joined by ',' (all) or '?' (one)";
constexpr string_view k_distribution = "block, cyclic, plane=SIZE or arbitrary, then :block or :cyclic";
constexpr Form k_forms[] = {
    {ValueKind::node_count, read_nodes, "a number or MIN-MAX"},
    {ValueKind::count, read_count<1>, k_number},
    {ValueKind::geometry, read_geometry, "SOCKETS[:CORES[:THREADS]], numbers or *"},
    {ValueKind::count_or_zero, read_count<0>, "a whole number"},
    {ValueKind::time, read_time, k_time},
    {ValueKind::memory, read_memory, k_memory},
    {ValueKind::switches, read_switches, "COUNT[@TIME]"},
    {ValueKind::cpu_freq, read_cpu_freq, "low, medium, highm1, high or kHz, MIN-MAX, or a governor"},
    {ValueKind::gpu_freq, read_gpu_freq, k_gpu_freq},
    {ValueKind::mem_bind, read_mem_bind, "local, none, rank, prefer, map_mem:LIST or mask_mem:LIST"},
    {ValueKind::gres, read_gres, "NAME[:TYPE]:NUMBER, several joined by commas"},
    {ValueKind::gpus, read_gpus, k_gpus},
    {ValueKind::gpus_per_task, read_gpus_per_task, k_gpus},
    {ValueKind::tres_per_task, read_tres_per_task, "cpu=N or gres/gpu=N (from 23.11), cpu:N in 23.02"},
    {ValueKind::tres_bind, read_tres_bind, "gres/gpu:closest and the like"},
    {ValueKind::gpu_bind, read_gpu_bind, k_gpu_bind},
    {ValueKind::gres_flags, read_gres_flags, k_gres_flags},
    {ValueKind::array, read_array, "indices such as 0-15, 0-15:4, 1,3,7 or 0-99%10"},
    {ValueKind::signal, read_signal, "[B:]NAME[@SECONDS], for example B:USR1@120; at most 65535 seconds"},
    {ValueKind::mail_type, read_mail_type, k_mail_type},
    {ValueKind::dependency, read_dependency, k_dependency},
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
    {ValueKind::nice, read_nice, "a number up to 2147483645"},
    {ValueKind::acctg_freq, read_acctg_freq, "seconds, or task=SECONDS and the like"},
    {ValueKind::profile, read_profile, "all, none, energy, task, lustre or network"},
    {ValueKind::propagate, read_propagate, "limits in capitals (STACK, MEMLOCK, NOFILE), ALL or NONE"},
    {ValueKind::distribution, read_distribution, k_distribution},
    {ValueKind::user, read_user, "the name or number of one that exists; only root may set another"},
    {ValueKind::wckey, read_wckey, "any text that does not start with '*'"},
    {ValueKind::mem_update, read_mem_update, "MARGIN@DELAY: a number, and a time"},
    {ValueKind::priority, read_priority, "a number or TOP"},
};
// clang-format on

} // namespace

namespace {

/// Longer texts are refused at submission.
std::size_t most_characters(string_view option) {
  static constexpr string_view short_ones[] = {
      "account",  "cluster-constraint", "comment",   "constraint", "extra",     "job-name",
      "licenses", "mail-user",          "mcs-label", "network",    "partition", "prefer",
      "qos",      "reservation",        "wckey"};
  static constexpr string_view paths[] = {"array", "chdir", "error", "input", "output"};
  if (std::find(std::begin(short_ones), std::end(short_ones), option) != std::end(short_ones)) return 1024;
  if (std::find(std::begin(paths), std::end(paths), option) != std::end(paths)) return 4096;
  return option == "bb" ? 8192 : 1UL << 20;
}

} // namespace

std::optional<std::string> read_value(const OptionSetting& setting, ComparisonTrackingVersion version,
                                      JobOptions& request) {
  if (setting.value && setting.value->size() > 1024)
    if (const auto most = most_characters(setting.option); setting.value->size() > most)
      return fmt::format("Slurm accepts at most {} characters", most);
  const auto kind = value_kind_of(setting.option);
  const auto* form =
      std::find_if(std::begin(k_forms), std::end(k_forms), [&](const Form& f) { return f.kind == kind; });
  if (form == std::end(k_forms)) return std::nullopt;
  const std::string text = setting.value.value_or("");
  OptionParseContext context{setting, text, version, request};
  if (form->read(context)) return std::nullopt;
  return fmt::format("use {}", form->hint);
}

} // namespace hpcml::slurm
