// SPDX-License-Identifier: MIT
#include "agree_fields.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "agree_part.hpp"
#include "agree_paths.hpp"
#include "core/model/hostlist.hpp"
#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// All but the job's size and its GPUs.
class Printer : FieldPart {
public:
  Printer(const slurm::JobOptions& request, const slurm::JobSize& size, const slurm::ClusterFacts& cluster,
          Version version, unsigned component, Fields& fields)
      : FieldPart(request, size, cluster, version, fields), x_component(component) {}

  void run() {
    print_plain();
    print_times();
    print_sharing();
    print_lists();
    print_frequency();
    print_paths(r, x_version, x_component, x_fields);
  }

private:
  void print_plain() {
    if (r.has("external")) x_fields["JobName"] = "external";
    copy("JobName", "job-name");
    if (r.text("partition").find_first_not_of(',') != std::string::npos)
      set("Partition", r.text("partition"), c.partitions.front().name);
    if (r.has("account")) x_fields["Account"] = util::to_lower(r.text("account"));
    // Blanks at its end were not written down.
    if (const auto comment = r.text("comment"); r.has("comment"))
      x_fields["Comment"] = comment.substr(0, comment.find_last_not_of(' ') + 1);
    copy("Network", "network");
    if (from(Version::v23_02)) copy("Extra", "extra");
    if (r.has("reboot")) x_fields["Reboot"] = "1";
    if (r.has("prefer")) x_fields["Prefer"] = util::replace_all(r.text("prefer"), ",", "&");
    copy("ClusterFeatures", "cluster-constraint");
    copy("BurstBuffer", "bb");
    if (from(Version::v24_11)) copy("QOS", "qos");
    if (from(Version::v25_05) && r.count("segment") > 0)
      x_fields["SegmentSize"] = std::to_string(r.count("segment"));
    if (r.has("constraint")) x_fields["Features"] = util::replace_all(r.text("constraint"), ",", "&");
    if (r.has("contiguous")) x_fields["Contiguous"] = "1";
    if (r.has("spread-job")) x_fields["SpreadJob"] = "Yes";
    if (r.has("oom-kill-step"))
      x_fields["OOMKillStep"] = r.text("oom-kill-step").empty() ? "1" : r.text("oom-kill-step");
    if (util::to_lower(r.text("power")) == "level") x_fields["Power"] = "LEVEL";
    if (const auto text = r.text("switches"); !text.empty()) {
      const auto at = text.find('@');
      auto wait = at == std::string::npos ? std::nullopt : slurm::parse_time_limit(text.substr(at + 1));
      const bool none = wait && !wait->minutes && text[at + 1] == '0';
      if (none)
        wait = slurm::TimeLimit{0};
      else if (!wait || !wait->minutes || *wait->minutes > 5)
        wait = slurm::TimeLimit{5}; // the site's maximum
      x_fields["Switches"] = text.substr(0, at) + "@" + time_text(*wait);
    }
    if (r.count("nice") != 0) x_fields["Nice"] = std::to_string(r.count("nice"));
    if (!r.requeue) x_fields["Requeue"] = "0";
    if (r.has("kill-on-invalid-dep"))
      x_fields[from(Version::v25_11) ? "KillOnInvalidDependent" : "KillOInInvalidDependent"] =
          capitalised(util::to_lower(r.text("kill-on-invalid-dep")));
    const auto flags = util::to_lower(r.text("gres-flags"));
    // Two flags are printed as one word.
    const bool several = flags.find("multiple-tasks") != std::string::npos && !from(Version::v25_11);
    std::string more = several ? ",GresOneTaskPerSharing=No" : "";
    const bool binds = flags.find("-binding") != std::string::npos;
    if (binds && r.has("spread-job") && !from(Version::v25_11)) {
      more += from(Version::v23_11) ? ",SpreadJob=Yes" : "SpreadJob=Yes";
      x_fields.erase("SpreadJob");
    }
    const auto enforced = flags.rfind("enforce-binding"), disabled = flags.rfind("disable-binding");
    const bool none = disabled == std::string::npos;
    if (enforced != std::string::npos && (none || disabled < enforced))
      x_fields["GresEnforceBind"] = "Yes" + more;
    if (!none && (enforced == std::string::npos || enforced < disabled))
      x_fields["GresEnforceBind"] = "No" + more;
    if (const auto tmp = r.memory_mb.find("tmp"); tmp != r.memory_mb.end() && tmp->second > 0)
      x_fields["MinTmpDiskNode"] = memory_text(tmp->second);
    if (r.has("container") || r.has("container-id") || r.has("container-type")) {
      x_fields["Container"] = r.has("container") ? r.text("container") : "(null)";
      if (from(Version::v23_02))
        x_fields["ContainerID"] = r.has("container-id") ? r.text("container-id") : "(null)";
      if (from(Version::v26_05))
        x_fields["ContainerType"] = r.has("container-type") ? r.text("container-type") : "(null)";
    }
  }

  /// The first of several; from 25.11 the first that takes so many nodes.
  const slurm::PartitionFacts* chosen_partition() const {
    const auto partitions = slurm::partitions_of(r, c);
    if (partitions.empty()) return nullptr;
    const long most = r.has("nodelist") && !r.nodes ? 0 : s.max_nodes;
    const long nodes = most > 0                ? most
                       : from(Version::v26_05) ? std::max(s.tasks_known, s.min_nodes)
                                               : s.min_nodes;
    if (from(Version::v25_11) && s.min_nodes <= static_cast<long>(c.nodes.size()))
      for (const auto* partition : partitions)
        if (partition && (!partition->max_nodes || nodes <= static_cast<long>(*partition->max_nodes)))
          return partition;
    const bool beyond =
        from(Version::v25_11) && std::min(nodes, s.min_nodes) > static_cast<long>(c.nodes.size());
    return beyond ? partitions.back() : partitions.front();
  }

  void print_times() {
    const auto time = r.times.find("time");
    slurm::TimeLimit limit;
    if (time != r.times.end())
      limit = time->second;
    else if (const auto* partition = chosen_partition())
      limit.minutes = partition->max_minutes;
    set("TimeLimit", time_text(limit), "2-00:00:00");
    if (const auto least = r.times.find("time-min"); least != r.times.end())
      x_fields["TimeMin"] = time_text(least->second);
    if (const auto delay = r.times.find("delay-boot");
        delay != r.times.end() && is_unlimited(r.text("delay-boot")))
      x_fields["DelayBoot"] = "UNLIMITED";
    else if (delay != r.times.end() && delay->second.minutes) {
      const auto seconds = static_cast<std::uint32_t>(delay->second.seconds);
      const auto minutes = time_text({seconds / 60});
      x_fields["DelayBoot"] = fmt::format("{}{:02}", minutes.substr(0, minutes.size() - 2), seconds % 60);
    }
    if (r.has("deadline")) x_fields["Deadline"] = "<time>";
    if (r.has("deadline") && time == r.times.end() && x_fields.count("TimeMin") == 0)
      x_fields["TimeMin"] = "00:01:00";
  }

  static bool is_unlimited(const std::string& text) {
    const auto lower = util::to_lower(text);
    return lower == "-1" || lower == "unlimited" || lower == "infinite";
  }

  void print_sharing() {
    using slurm::NodeSharing;
    std::string over, exclusive;
    const bool restarts = r.has("reboot") && r.sharing == NodeSharing::exclusive_user;
    switch (r.sharing) {
    case NodeSharing::site_default: return;
    case NodeSharing::exclusive: exclusive = "NODE"; break;
    case NodeSharing::exclusive_user:
      exclusive = restarts ? "NODE" : "USER";
      if (!restarts) over = "USER";
      break;
    case NodeSharing::exclusive_mcs: over = exclusive = "MCS"; break;
    case NodeSharing::exclusive_topo: over = exclusive = "TOPO"; break;
    case NodeSharing::oversubscribe:
      over = "YES";
      exclusive = "NO";
      break;
    }
    if (from(Version::v26_05)) {
      x_fields["OverSubscribe"] = over == "YES" ? over : "NO";
      x_fields["Exclusive"] = exclusive;
    } else
      set("OverSubscribe", over, "");
  }

  void print_lists() {
    if (!r.mail_types.empty() && x_component == 0) {
      x_fields["MailType"] =
          util::join(*slurm::parse_mail_types(util::join(r.mail_types, ",")), ","); // in their order
      if (r.has("mail-user"))
        x_fields["MailUser"] = r.text("mail-user").empty() ? "root" : r.text("mail-user");
    }
    std::string dependencies;
    const auto add = [&](const slurm::Dependency& d, const std::string& job) {
      if (!dependencies.empty()) dependencies += r.dependencies.any ? '?' : ',';
      dependencies +=
          d.type + (job.empty() ? "" : ":" + job) + (d.delay.empty() ? "" : "+" + d.delay) + "(unfulfilled)";
    };
    for (const auto& d : r.dependencies.list) {
      const auto bracket = d.job.find('[');
      if (bracket == std::string::npos)
        add(d, d.job);
      else // task by task
        for (const auto index :
             slurm::parse_array(d.job.substr(bracket + 1, d.job.size() - bracket - 2), c.max_array_size)
                 .value_or(slurm::ArraySpec())
                 .indices)
          add(d, d.job.substr(0, bracket) + std::to_string(index));
    }
    set("Dependency", dependencies, "");
    if (const auto array = slurm::parse_array(r.text("array"), c.max_array_size);
        array && !array->indices.empty()) {
      x_fields["ArrayTaskId"] = index_text(array->indices);
      if (array->at_once > 0) {
        x_fields["ArrayTaskId"] += "%" + std::to_string(array->at_once);
        x_fields["ArrayTaskThrottle"] = std::to_string(array->at_once);
      }
    }
    for (const auto& [key, option] :
         {std::pair{"ReqNodeList", "nodelist"}, std::pair{"ExcNodeList", "exclude"}}) {
      if (!r.has(option)) continue;
      const std::string text = slurm::hostlist_text(r.text(option));
      auto names = model::Hostlist::parse(text).value_or(model::Hostlist()).names();
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      const auto tasks = static_cast<std::size_t>(r.count("ntasks"));
      const bool cut = std::string_view(option) == "nodelist" && !from(Version::v23_02) && r.has("ntasks") &&
                       names.size() > tasks;
      if (cut) names.resize(tasks);
      // One range stays as it was written.
      const bool one_range = !text.empty() && text.back() == ']' && text.find('[') == text.rfind('[') &&
                             text.find(',') > text.find('[') && !has_uneven_ends(text);
      x_fields[key] = one_range && !cut ? text : model::compress_hostlist(names);
    }
  }

  /// "nid[001-02]", whose second number gets the first one's digits.
  static bool has_uneven_ends(const std::string& text) {
    const auto open = text.find('['), dash = text.find('-', open);
    return dash != std::string::npos && dash - open != text.size() - 1 - dash;
  }

  void print_frequency() {
    if (!r.has("cpu-freq")) return;
    const auto frequency = slurm::parse_cpu_frequency(r.text("cpu-freq"), x_version);
    if (!frequency) return;
    set("CPU_min_freq", frequency->min, "");
    set("CPU_max_freq", frequency->max, "");
    set("Governor", frequency->governor, "");
  }

  unsigned x_component;
};

} // namespace

Fields job_fields(const slurm::JobOptions& request, const slurm::JobSize& size,
                  const slurm::ClusterFacts& cluster, slurm::Version version, unsigned component) {
  Fields fields;
  print_size(request, size, cluster, version, fields);
  print_gpus(request, size, cluster, version, fields);
  Printer(request, size, cluster, version, component, fields).run();
  return fields;
}

} // namespace hpcml::agree
