// SPDX-License-Identifier: MIT
#include "core/slurm/job_request.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/slurm/option_values.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

std::string JobOptions::text(std::string_view option) const {
  const auto found = settings.find(option);
  return found == settings.end() ? std::string() : found->second.value.value_or("");
}

long JobOptions::count(std::string_view option, long otherwise) const {
  const auto found = counts.find(option);
  return found == counts.end() ? otherwise : found->second;
}

std::uint64_t JobOptions::gpus(std::string_view option) const {
  const auto found = gres.find(option);
  return found == gres.end() ? 0 : gpu_count(found->second);
}

std::uint64_t JobOptions::gpus_per_node() const {
  const auto by_gres = gpus("gres");
  return by_gres > 0 ? by_gres : gpus("gpus-per-node");
}

TextRange JobOptions::place(std::string_view option) const {
  const auto found = settings.find(option);
  return found == settings.end() ? TextRange{} : found->second.place;
}

namespace {

bool is_memory(std::string_view option) {
  return option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu";
}

/// Of memory asked in several ways, script and command line put the environment's aside.
bool gives_way(const OptionSetting& setting, const std::vector<OptionSetting>& all) {
  if (setting.source != OptionSource::environment || !is_memory(setting.option)) return false;
  return std::any_of(all.begin(), all.end(), [&](const OptionSetting& later) {
    return later.source != OptionSource::environment && is_memory(later.option) &&
           later.option != setting.option;
  });
}

/// Up to 22.05 the last of these two wins, and they are refused together later.
void apply_sharing(JobOptions& request, const OptionSetting& setting) {
  if (setting.option == "oversubscribe") request.sharing = NodeSharing::oversubscribe;
  if (setting.option != "exclusive") return;
  const std::string how = util::to_lower(setting.value.value_or(""));
  request.sharing = how == "user"            ? NodeSharing::exclusive_user
                    : how == "mcs"           ? NodeSharing::exclusive_mcs
                    : how == "topo"          ? NodeSharing::exclusive_topo
                    : how == "oversubscribe" ? NodeSharing::oversubscribe
                                             : NodeSharing::exclusive;
}

void take_back(JobOptions& request, const std::string& option) {
  if (option == "oversubscribe") request.sharing = NodeSharing::site_default;
  if (option == "requeue" || option == "no-requeue") request.requeue = true;
  if (option == "overcommit") request.overcommit = false;
  request.settings.erase(option);
}

/// The last of an option holds, and the later of a list and a file of nodes. One flag of GRES stays.
void put(JobOptions& request, const OptionSetting& setting) {
  static constexpr std::string_view k_stays = "multiple-tasks-per-sharing";
  const auto before =
      setting.option == "gres-flags" ? util::to_lower(request.text(setting.option)) : std::string();
  if (setting.option == "nodelist") request.settings.erase("nodefile");
  auto& setting_put = request.settings.insert_or_assign(setting.option, setting).first->second;
  if (before.find(k_stays) != std::string::npos)
    setting_put.value = std::string(k_stays) + "," + setting.value.value_or("");
}

bool is_last(const OptionSetting& setting, const std::vector<OptionSetting>& all) {
  return std::none_of(&setting + 1, all.data() + all.size(),
                      [&](const OptionSetting& later) { return later.option == setting.option; });
}

/// Who gave the last of an option.
enum class Giver { nobody, user, environment };

Giver giver_of(const JobOptions& request, std::string_view option) {
  const auto found = request.settings.find(option);
  if (found == request.settings.end()) return Giver::nobody;
  return found->second.source == OptionSource::environment ? Giver::environment : Giver::user;
}

/// A hint and the options that say the same more exactly put each other aside; words that a user wrote go
/// before variables.
void apply_hint(JobOptions& request, ComparisonTrackingVersion version) {
  if (!request.has("hint")) return;
  std::vector<std::string_view> exact = {"ntasks-per-core", "threads-per-core", "extra-node-info"};
  const bool by_size = request.has("cores-per-socket") || request.has("sockets-per-node");
  if (by_size && version >= Version::v25_11)
    exact.insert(exact.end(), {"cores-per-socket", "sockets-per-node"});
  const auto any = [&](Giver giver) {
    return std::any_of(exact.begin(), exact.end(),
                       [&](std::string_view o) { return giver_of(request, o) == giver; });
  };
  const auto hint = giver_of(request, "hint");
  if (any(Giver::user) || (hint == Giver::environment && any(Giver::environment))) {
    request.settings.erase("hint");
    return;
  }
  if (hint == Giver::user)
    for (const char* option :
         {"ntasks-per-core", "threads-per-core", "extra-node-info", "cores-per-socket", "sockets-per-node"}) {
      request.counts.erase(option);
      request.settings.erase(option);
    }
}

/// Up to 20.11 both names exclude each other, later they have to say the same.
void check_both_names(const JobOptions& request, ComparisonTrackingVersion version,
                      LocatedFindings& findings) {
  if (version >= Version::v21_08 && request.count("ntasks-per-gpu") == request.count("ntasks-per-tres"))
    return;
  findings.error(request.place("ntasks-per-tres"), "slurm/exclusive-options",
                 "sbatch rejects --ntasks-per-gpu together with --ntasks-per-tres, its older name",
                 "remove --ntasks-per-tres");
}

/// --ntasks-per-tres is an older name of --ntasks-per-gpu.
void apply_older_name(JobOptions& request) {
  const auto older = request.settings.find("ntasks-per-tres");
  if (older == request.settings.end() || request.has("ntasks-per-gpu")) return;
  request.settings.emplace("ntasks-per-gpu", older->second);
  request.counts["ntasks-per-gpu"] = request.count("ntasks-per-tres");
}

/// From 23.11 a user's -c puts SBATCH_CPUS_PER_GPU aside.
void apply_cpus_per_gpu(JobOptions& request, ComparisonTrackingVersion version) {
  if (giver_of(request, "cpus-per-gpu") != Giver::environment || version < Version::v23_11) return;
  const bool per_task = request.tres_per_task &&
                        std::any_of(request.tres_per_task->items.begin(), request.tres_per_task->items.end(),
                                    [](const GresItem& i) { return i.name == "cpu"; });
  if (giver_of(request, "cpus-per-task") != Giver::user &&
      !(per_task && giver_of(request, "tres-per-task") == Giver::user))
    return;
  request.settings.erase("cpus-per-gpu");
  request.counts.erase("cpus-per-gpu");
}

/// From 23.11 what a user asks per task replaces its part of SBATCH_TRES_PER_TASK.
void apply_per_task(JobOptions& request, ComparisonTrackingVersion version) {
  if (giver_of(request, "tres-per-task") != Giver::environment || version < Version::v23_11) return;
  for (const auto& [option, name] : {std::pair{"cpus-per-task", "cpu"}, std::pair{"gpus-per-task", "gpu"}})
    if (giver_of(request, option) == Giver::user && request.tres_per_task)
      std::erase_if(request.tres_per_task->items,
                    [wanted = name](const GresItem& item) { return item.name == wanted; });
}

/// The page that says what such a value may be.
std::string code_of(ValueKind kind) {
  switch (kind) {
  case ValueKind::time: return "slurm/time";
  case ValueKind::memory: return "slurm/memory";
  case ValueKind::array: return "slurm/array";
  case ValueKind::gres:
  case ValueKind::gpus:
  case ValueKind::gpus_per_task:
  case ValueKind::tres_per_task: return "slurm/gres";
  default: return "slurm/value";
  }
}

void report(const OptionSetting& setting, const std::string& hint, LocatedFindings& findings) {
  std::string where;
  if (setting.source == OptionSource::environment) where = " (from the environment)";
  if (setting.source == OptionSource::command_line) where = " (from the command line)";
  findings.error(setting.place, code_of(value_kind_of(setting.option)),
                 fmt::format("--{} cannot be '{}'{}", setting.option, setting.value.value_or(""), where),
                 hint);
}

} // namespace

JobOptions make_request(const std::vector<OptionSetting>& settings, ComparisonTrackingVersion version,
                        LocatedFindings& findings) {
  JobOptions request;
  std::optional<std::string> hint_problem;
  for (const auto& setting : settings) {
    JobOptions aside; // of what gives way only the form counts
    JobOptions& into = gives_way(setting, settings) ? aside : request;
    const auto kind = value_kind_of(setting.option);
    if (setting.off) {
      take_back(request, setting.option);
      continue;
    }
    if (const auto lower =
            kind == ValueKind::gres ? util::to_lower(setting.value.value_or("")) : std::string();
        lower == "help" || lower == "list")
      findings.error(
          setting.place, "slurm/value",
          fmt::format("sbatch --gres={} only lists the resources of the cluster and submits no job", lower),
          "use a request such as --gres=gpu:4, or remove it");
    if ((is_read_last(kind) || kind == ValueKind::text) && !is_last(setting, settings)) {
      if (is_read_last(kind) || setting.value.value_or("").size() > 1024)
        continue; // the controller sees the last
    }
    if (const auto problem = read_value(setting, version, into)) {
      if (kind == ValueKind::hint)
        hint_problem = problem; // matters only where nothing puts the hint aside
      else {
        report(setting, *problem, findings);
        continue;
      }
    }
    if (&into == &aside) continue;
    if (kind == ValueKind::user || kind == ValueKind::cpu_freq || kind == ValueKind::gres_flags)
      request.looked_up.push_back(setting);
    apply_sharing(request, setting);
    if (setting.option == "requeue") request.requeue = true;
    if (setting.option == "no-requeue") request.requeue = false;
    if (setting.option == "overcommit") request.overcommit = true;
    put(request, setting);
  }
  apply_hint(request, version);
  apply_cpus_per_gpu(request, version);
  apply_per_task(request, version);
  if (request.has("ntasks-per-tres") && request.has("ntasks-per-gpu"))
    check_both_names(request, version, findings);
  apply_older_name(request);
  if (const auto hint = request.settings.find("hint"); hint_problem && hint != request.settings.end())
    report(hint->second, *hint_problem, findings);
  check_combinations(request, version, findings);
  return request;
}

} // namespace hpcml::slurm
