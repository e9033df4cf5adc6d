// SPDX-License-Identifier: MIT
// The old script's directives as a request: what the user chose is kept, what belongs to the old site or to
// its nodes is dropped.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/pattern.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

enum class Fate {
  kept,    ///< read into the request
  passed,  ///< passed on unchanged
  planned, ///< the plan decides it for the new nodes
  dropped, ///< a name that only the old site knows
};

struct Row {
  std::string_view option;
  Fate fate;
};

constexpr std::array<Row, 61> k_rows = {{
    {"nodes", Fate::kept},
    {"time", Fate::kept},
    {"job-name", Fate::kept},
    {"output", Fate::kept},
    {"array", Fate::kept},
    {"dependency", Fate::kept},
    {"signal", Fate::kept},
    {"requeue", Fate::kept},
    {"no-requeue", Fate::kept},
    {"partition", Fate::kept},
    {"error", Fate::passed},
    {"input", Fate::passed},
    {"open-mode", Fate::passed},
    {"mail-type", Fate::passed},
    {"mail-user", Fate::passed},
    {"chdir", Fate::passed},
    {"comment", Fate::passed},
    {"begin", Fate::passed},
    {"deadline", Fate::passed},
    {"nice", Fate::passed},
    {"hold", Fate::passed},
    {"time-min", Fate::passed},
    {"wait", Fate::passed},
    {"kill-on-invalid-dep", Fate::passed},
    {"export", Fate::passed},
    {"propagate", Fate::passed},
    {"profile", Fate::passed},
    {"wait-all-nodes", Fate::passed},
    {"ntasks", Fate::planned},
    {"ntasks-per-node", Fate::planned},
    {"ntasks-per-gpu", Fate::planned},
    {"ntasks-per-core", Fate::planned},
    {"ntasks-per-socket", Fate::planned},
    {"cpus-per-task", Fate::planned},
    {"cpus-per-gpu", Fate::planned},
    {"mincpus", Fate::planned},
    {"mem", Fate::planned},
    {"mem-per-cpu", Fate::planned},
    {"mem-per-gpu", Fate::planned},
    {"gres", Fate::planned},
    {"gpus", Fate::planned},
    {"gpus-per-node", Fate::planned},
    {"gpus-per-task", Fate::planned},
    {"gpus-per-socket", Fate::planned},
    {"gpu-bind", Fate::planned},
    {"exclusive", Fate::planned},
    {"oversubscribe", Fate::planned},
    {"threads-per-core", Fate::planned},
    {"hint", Fate::planned},
    {"distribution", Fate::planned},
    {"cores-per-socket", Fate::planned},
    {"sockets-per-node", Fate::planned},
    {"extra-node-info", Fate::planned},
    {"overcommit", Fate::planned},
    {"tres-per-task", Fate::planned},
    {"mem-bind", Fate::planned},
    {"core-spec", Fate::planned},
    {"gres-flags", Fate::planned},
    {"switches", Fate::planned},
    {"contiguous", Fate::planned},
    {"use-min-nodes", Fate::planned},
}};

/// Everything else names something of the old site: an account, a QoS, a feature, a reservation, an option of
/// a plugin.
Fate fate_of(std::string_view option) {
  const auto found =
      std::find_if(k_rows.begin(), k_rows.end(), [&](const Row& row) { return row.option == option; });
  return found == k_rows.end() ? Fate::dropped : found->fate;
}

std::string word_of(const slurm::OptionSetting& setting) {
  return "--" + setting.option + (setting.value ? "=" + *setting.value : "");
}

class RequestPorter {
public:
  RequestPorter(ImportState& porting, const slurm::JobOptions& request)
      : x_porting(porting), x_request(request), x_job(porting.result.job) {}

  void port() {
    for (const auto& [option, setting] : x_request.settings)
      if (!keep_own(setting)) port_option(setting);
    if (!x_planned.empty())
      x_porting.note(
          x_planned_at, "port/planned",
          fmt::format("#SBATCH options {} are replaced: hpcml chooses their values for the nodes of {}",
                      util::join(x_planned, ", "), site_id()),
          "add --explain to hpcml gen to see the new values");
    if (!x_job.qos) choose_qos();
    if (!x_request.has("output")) keep_default_log();
  }

private:
  model::Origin origin(const std::string& option) const { return x_porting.origin("--" + option); }
  void keep(model::Known<std::string>& target, const slurm::OptionSetting& setting) {
    target = model::Sourced<std::string>{setting.value.value_or(""), origin(setting.option)};
  }

  /// Slurm's own name of the log, by which the script may find it: the option changes nothing.
  void keep_default_log() {
    x_job.output = model::Sourced<std::string>{x_request.has("array") ? "slurm-%A_%a.out" : "slurm-%j.out",
                                               x_porting.origin("the default log")};
    x_porting.result.intent.options.insert("output");
  }

  /// Warns about GRES that the new job lacks: local disks, bandwidth, shares of GPUs.
  void report_gres(const slurm::OptionSetting& setting) {
    const auto items = slurm::parse_gres(setting.value.value_or(""), slurm::k_newest_version);
    for (const auto& item : items.value_or(std::vector<slurm::GresItem>())) {
      if (item.count == 0) continue;
      if (is_shared_gpu(item.name))
        x_porting.warn(setting.place, "port/gres",
                       fmt::format("'{}' requests a share of a GPU: the job on {} gets a whole GPU",
                                   word_of(setting), site_id()),
                       "check that the program does not limit itself to its share");
      else if (!is_accelerator(item.name))
        x_porting.warn(setting.place, "port/gres",
                       fmt::format("GRES '{}' of '{}' is removed, because hpcml does not know whether {} "
                                   "has it",
                                   item.name, word_of(setting), site_id()),
                       "check that the program runs without it, such as in a directory of another disk");
    }
  }

  void add_planned(const slurm::OptionSetting& setting) {
    if (setting.option == "gres") report_gres(setting);
    if (x_planned.empty()) x_planned_at = setting.place;
    x_planned.push_back("'" + word_of(setting) + "'");
  }

  void port_option(const slurm::OptionSetting& setting) {
    switch (fate_of(setting.option)) {
    case Fate::kept: return port_kept(setting);
    case Fate::passed: return pass(setting);
    case Fate::planned: return add_planned(setting);
    case Fate::dropped: break;
    }
    const auto chosen = setting.option == "account" ? x_porting.chosen.account
                        : setting.option == "qos"   ? x_porting.chosen.qos
                                                    : std::string();
    if (!chosen.empty() && chosen == setting.value.value_or("")) return;
    if (!chosen.empty())
      return x_porting.note(setting.place, "port/left-out",
                            fmt::format("'{}' is removed: --{}={} of the request replaces it",
                                        word_of(setting), setting.option, chosen));
    if (setting.option == "account" && is_of_site(setting.value.value_or(""))) {
      keep(x_job.account, setting);
      return x_porting.note(
          setting.place, "port/account",
          x_request.settings.count("partition") > 0
              ? fmt::format("'{}' is kept: it has the form of accounts of {}, and the script "
                            "names one of its partitions",
                            word_of(setting), site_id())
              : fmt::format("'{}' is kept: it has the form of accounts of {}, and the script "
                            "names no partition",
                            word_of(setting), site_id()),
          "add --account NAME to hpcml gen to charge another account");
    }
    const bool same_flag =
        setting.option == "account" || setting.option == "qos" || setting.option == "constraint";
    x_porting.note(setting.place, "port/left-out",
                   fmt::format("'{}' is removed, because hpcml does not know whether {} accepts it",
                               word_of(setting), site_id()),
                   setting.option == "account" || setting.option == "qos"
                       ? fmt::format("add --{} NAME to hpcml gen to use one of {}", setting.option, site_id())
                       : fmt::format("add --sbatch={} to hpcml gen if {} has it",
                                     same_flag ? std::string("--constraint=…") : word_of(setting),
                                     site_id()));
  }

  /// An option that means the same on every site, unless it has no value or the new site rejects it.
  void pass(const slurm::OptionSetting& setting) {
    if (setting.value && setting.value->empty())
      return x_porting.note(
          setting.place, "port/left-out",
          fmt::format("the option '{}' is not written into the new script: without a value it has no effect",
                      word_of(setting)));
    const bool is_accepted = x_porting.to.flag(setting.option).policy != model::OptionPolicy::forbidden;
    if (is_accepted && setting.option == "export") return pass_export(setting);
    if (is_accepted) return x_job.sbatch.push_back({word_of(setting), origin(setting.option)});
    if (setting.option == "export" && setting.value.value_or("") == "ALL")
      x_porting.note(setting.place, "port/left-out",
                     fmt::format("'{}' is removed: {} rejects --{}, and ALL is the default", word_of(setting),
                                 site_id(), setting.option));
    else
      x_porting.warn(
          setting.place, "port/left-out",
          fmt::format("'{}' is removed: {} rejects --{}", word_of(setting), site_id(), setting.option),
          "check that the job runs without this option");
  }

  /// The script's variables must reach the ranks, so the job gets all variables of the shell that submits it.
  void pass_export(const slurm::OptionSetting& setting) {
    const auto value = setting.value.value_or("");
    std::string all = "ALL";
    if (value != all && !value.starts_with("ALL,")) {
      for (const auto& item : util::split(value, ','))
        if (item.find('=') != std::string::npos) all += "," + item;
      x_porting.warn(setting.place, "port/variable",
                     fmt::format("'{}' is {}: with it srun hides the script's variables from the ranks",
                                 word_of(setting),
                                 all == "ALL" ? "removed" : fmt::format("replaced by '--export={}'", all)),
                     "run sbatch from a new login shell to submit the job without other variables");
      if (all == "ALL") return;
      return x_job.sbatch.push_back({"--export=" + all, origin(setting.option)});
    }
    x_job.sbatch.push_back({word_of(setting), origin(setting.option)});
  }

  /// Keeps a name of the old site if the new one is the same; the plan chooses constraints itself.
  bool keep_own(const slurm::OptionSetting& setting) {
    static constexpr std::array<std::string_view, 5> k_passed = {"nodelist", "exclude", "licenses", "wckey",
                                                                 "mcs-label"};
    const auto& option = setting.option;
    const auto value = setting.value.value_or("");
    if (!x_porting.is_of_new_site() || value.find('<') != std::string::npos) return false;
    if (option == "qos" && x_porting.chosen.qos.empty() && has_qos(value)) {
      keep(x_job.qos, setting);
      return true;
    }
    const bool passed =
        std::find(k_passed.begin(), k_passed.end(), std::string_view(option)) != k_passed.end();
    if (passed) x_job.sbatch.push_back({word_of(setting), origin(option)});
    return passed;
  }
  bool has_qos(const std::string& qos) const {
    const auto& names = x_porting.to.other_qos;
    return x_porting.to.find_qos(qos) || std::find(names.begin(), names.end(), qos) != names.end();
  }

  /// True if the account is valid on this site as well: it has the form of its accounts, and the script's
  /// partition shows that it was written for this site or another of the same centre.
  bool is_of_site(const std::string& account) const {
    const auto& to = x_porting.to;
    const auto& rule = to.flag("account");
    if (rule.pattern.empty() || !rule.takes() || !model::matches_pattern(account, rule.pattern)) return false;
    const auto named = x_request.settings.find("partition");
    if (named == x_request.settings.end()) {
      const auto policy = to.flag("partition").policy;
      return policy != model::OptionPolicy::optional && policy != model::OptionPolicy::required;
    }
    const auto partition = named->second.value.value_or("");
    const auto& others = to.other_partitions;
    return to.find_partition(partition) || std::find(others.begin(), others.end(), partition) != others.end();
  }

  void port_kept(const slurm::OptionSetting& setting) {
    const auto& option = setting.option;
    if (option == "partition") return port_partition(setting);
    if (option == "job-name") return keep(x_job.job_name, setting);
    if (option == "output") return keep(x_job.output, setting);
    if (option == "array") return keep(x_job.array, setting);
    if (option == "dependency") return keep(x_job.dependency, setting);
    if (option == "signal") return keep(x_job.signal, setting);
    if (option == "requeue" || option == "no-requeue")
      x_job.requeue = model::Sourced<bool>{x_request.requeue, origin(option)};
    if (option == "time") {
      const auto time = model::Walltime::parse(setting.value.value_or(""));
      if (time)
        x_job.time = model::Sourced<model::Walltime>{*time, origin(option)};
      else
        x_porting.note(setting.place, "port/left-out",
                       fmt::format("'{}' is removed, because hpcml cannot read the time limit: {}",
                                   word_of(setting), time.error().what),
                       "add --time TIME to hpcml gen to set the time limit, such as --time 2h");
    }
  }

  void port_partition(const slurm::OptionSetting& setting) {
    const auto* partition = x_porting.to.find_partition(setting.value.value_or(""));
    if (partition && partition->nameable)
      x_job.partition = model::Sourced<std::string>{partition->name, origin("partition")};
    else
      x_porting.note(
          setting.place, "port/left-out",
          fmt::format(
              "'{}' is removed: the profile of {} has no partition of this name that jobs can request",
              word_of(setting), site_id()),
          "add --partition NAME to hpcml gen to choose one, or check the one that hpcml chooses");
  }

  /// Where the site's usual QoS ends before the job does, the one with most room (short ones are for trials
  /// and for interactive work).
  void choose_qos() {
    if (!x_job.time || !x_porting.chosen.qos.empty()) return;
    const auto holds = [&](const model::Qos& qos) {
      return qos.max_time && qos.max_time->value.seconds() >= x_job.time->value.seconds();
    };
    const auto& all = x_porting.to.qos;
    const auto usual = std::find_if(all.begin(), all.end(), [](const auto& qos) { return qos.is_default; });
    if (usual == all.end() || !usual->max_time || holds(*usual)) return;
    const model::Qos* best = nullptr;
    for (const auto& qos : all)
      if (holds(qos) && !qos.on_request && !qos.preemptible && qos.needs.empty() &&
          qos.partitions == usual->partitions &&
          (!best || qos.max_time->value.seconds() > best->max_time->value.seconds()))
        best = &qos;
    if (!best) return;
    x_job.qos = model::Sourced<std::string>{best->name, origin("time")};
    x_porting.note(
        {}, "port/qos",
        fmt::format("--qos={} is used: the time limit of the script, {}, exceeds the maximum of the "
                    "default QoS {} ({})",
                    best->name, x_job.time->value.to_slurm(), usual->name, usual->max_time->value.to_slurm()),
        "add --qos NAME to hpcml gen to use another QoS");
  }

  const std::string& site_id() const { return x_porting.to.id; }

  ImportState& x_porting;
  const slurm::JobOptions& x_request;
  model::JobSpec& x_job;
  std::vector<std::string> x_planned; ///< options whose values the plan chooses
  diag::TextRange x_planned_at;
};

} // namespace

void port_request(ImportState& porting, const slurm::JobOptions& request) {
  RequestPorter(porting, request).port();
}

} // namespace hpcml::import_script
