// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "admission_part.hpp"
#include "core/model/hostlist.hpp"
#include "core/slurm/gres_check.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

class NameCheck : AdmissionPart {
public:
  using AdmissionPart::AdmissionPart;

  void run() {
    check_names();
    check_nodelists();
    check_gres();
    check_dependencies();
    check_array();
    check_missing_parts();
  }

private:
  void check_names() {
    const bool no_partition = r.text("partition").find_first_not_of(',') == std::string::npos;
    if (r.has("partition") && !(no_partition && from(Version::v25_11)))
      for (const auto& name : util::split(r.text("partition"), ','))
        if (!is_partition(name) && (!name.empty() || no_partition))
          refuse("partition", "partition", "there is no partition '" + name + "'", nearest_partition(name));
    for (const auto& feature : r.features)
      if (std::find(c.features.begin(), c.features.end(), feature) == c.features.end())
        refuse("constraint", "feature", "no node has the feature '" + feature + "'");
    if (const auto preferred = r.has("prefer") ? parse_features(r.text("prefer"), x_version) : std::nullopt)
      for (const auto& feature : *preferred)
        if (std::find(c.features.begin(), c.features.end(), feature) == c.features.end())
          refuse("prefer", "feature", "no node has the feature '" + feature + "'");
    if (r.has("batch")) check_batch();
    if (!r.text("licenses").empty()) refuse("licenses", "licenses", "the cluster has no such licenses");
    if (!r.text("resources").empty()) refuse("resources", "resources", "the cluster has no such resources");
    if (!r.text("reservation").empty()) refuse("reservation", "reservation", "there is no such reservation");
    if (r.has("clusters") && !c.has_accounting)
      refuse("clusters", "clusters", "the cluster has no database of clusters");
  }

  /// The batch script's features have to be among those of the nodes.
  void check_batch() {
    auto known = r.features;
    for (const std::string_view option : {"prefer"})
      if (const auto more = r.has(option) ? parse_features(r.text(option), x_version) : std::nullopt)
        known.insert(known.end(), more->begin(), more->end());
    const auto wanted = parse_features(r.text("batch"), x_version);
    const bool all = wanted && std::all_of(wanted->begin(), wanted->end(), [&](const std::string& name) {
                       return std::find(known.begin(), known.end(), name) != known.end();
                     });
    if (known.empty() || !all)
      refuse("batch", "feature", "--batch names features that --constraint does not");
  }

  bool is_partition(const std::string& name) const {
    return std::any_of(c.partitions.begin(), c.partitions.end(),
                       [&](const PartitionFacts& p) { return p.name == name; });
  }

  std::string nearest_partition(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& partition : c.partitions) names.push_back(partition.name);
    const auto near = util::nearest(name, names);
    return near ? "did you mean " + *near + "?" : "it has " + util::join(names, ", ");
  }

  std::optional<std::vector<std::string>> names_of(std::string_view option) {
    if (!r.has(option)) return std::vector<std::string>{};
    const auto list = model::Hostlist::parse(hostlist_text(r.text(option)));
    const auto is_node = [&](const std::string& name) {
      return std::find(c.nodes.begin(), c.nodes.end(), name) != c.nodes.end();
    };
    if (list && std::all_of(list->names().begin(), list->names().end(), is_node)) return list->names();
    refuse(option, "node-name", "--" + std::string(option) + " names nodes that the cluster does not have");
    return std::nullopt;
  }

  /// As sbatch sends them, with those that its GPUs make.
  long specified_tasks() const {
    JobDescriptorCounts sent = count_sent(r, x_version);
    (void)slurm::check_gres(r, x_version, sent);
    return sent.tasks.value_or(0);
  }

  void check_nodelists() {
    const auto wanted = names_of("nodelist");
    const auto excluded = names_of("exclude");
    if (!wanted || !excluded || !r.has("nodelist") || !wanted->empty()) return;
    // From 26.05 tasks make nodes; where that is one, it is sought among those of the list.
    const long most = r.nodes ? r.nodes->max : from(Version::v26_05) ? specified_tasks() : 0;
    const bool waits = s.cpus > static_cast<long>(c.nodes.size()) * c.cpus(); // nobody looks at its nodes
    if (!r.nodes && most == 0 && s.min_nodes == 0 && !waits)
      refuse("nodelist", "node-count", "--nodelist names no node");
    if (most == 1 && from(Version::v26_05) && !r.has("hold"))
      refuse("nodelist", "node-count", "--nodelist names no node to take one from");
  }

  void check_gres() {
    for (const auto& [option, items] : r.gres)
      for (const auto& item : items) check_gres_item(option, item);
    if (r.tres_per_task)
      for (const auto& item : r.tres_per_task->items)
        if (item.name != "cpu") check_gres_item("tres-per-task", item);
  }

  void check_gres_item(std::string_view option, const GresItem& item) {
    if (item.name != "gpu" && item.count == 0 && from(Version::v21_08)) return;
    // "gpu:1.5": a count that is none, not a type.
    if (from(Version::v21_08) && !from(Version::v23_11) && item.count == 1 && !item.type.empty() &&
        item.type[0] >= '0' && item.type[0] <= '9')
      return refuse(option, "gres", "'" + item.type + "' is no whole number");
    if (!c.gpus || item.name != "gpu")
      refuse(option, "gres", "the cluster has no gres '" + item.name + "'", "gpu is the name for GPUs");
  }

  void check_dependencies() {
    for (const auto& dependency : r.dependencies.list) {
      if (dependency.type == "singleton") continue;
      const bool known = c.jobs.count(dependency.job) > 0;
      const bool strict =
          (dependency.type == "afterok" || dependency.type == "afternotok") && from(Version::v23_02);
      if (strict && !known) refuse("dependency", "dependency", "there is no job " + dependency.job);
    }
    if (r.signal && r.signal->at_reservation && !c.has_preemption && from(Version::v24_11))
      refuse("signal", "preemption", "--signal=R: needs preemption, which the cluster does not have");
  }

  void check_array() {
    if (r.text("array").empty() || parse_array(r.text("array"), c.max_array_size)) return;
    refuse("array", "array",
           "the cluster takes array indices below " + std::to_string(c.max_array_size) + " only");
  }

  /// What only a site's set-up provides.
  void check_missing_parts() {
    if (const auto least = r.times.find("time-min"); least != r.times.end()) {
      const auto partitions = partitions_of(r, c);
      const bool bounded = partitions.size() == 1 && partitions.front() && partitions.front()->max_minutes;
      const auto minutes = least->second.minutes;
      if ((!minutes && (bounded || r.times.count("time") == 0)) ||
          (bounded && minutes && *minutes > *partitions.front()->max_minutes))
        refuse("time-min", "time-min", "--time-min is longer than the partition allows");
    }
    check_sampling();
    if (r.has("resv-ports")) refuse("resv-ports", "stepmgr", "--resv-ports needs slurmstepd to manage steps");
    if (r.has("external") && from(Version::v26_05))
      refuse("external", "external", "the cluster is not set up for external jobs");
    for (const std::string_view option : {"nodefile", "export-file", "bbf"})
      if (r.has(option) && (option == "nodefile" || c.files.count(r.text(option)) == 0))
        refuse(option, "file", "the file '" + r.text(option) + "' is not there, or names no nodes");
    for (const auto& setting : r.looked_up) {
      const auto value = setting.value.value_or("");
      if (setting.option == "cpu-freq")
        check_governor(value);
      else if (setting.option == "gres-flags")
        check_sharing(value);
      else
        check_person(setting.option, value, setting.option == "uid" ? c.users : c.groups);
    }
    if (r.expedites) refuse("requeue", "requeue", "the cluster does not expedite jobs that come again");
    check_deadline();
  }

  /// Up to 21.08 nobody asks whether a user's number is one's.
  void check_person(std::string_view option, std::string name, const std::set<std::string>& known) {
    const bool number = !name.empty() && name.find_first_not_of("+0123456789") == std::string::npos;
    if (name.empty() || known.empty() || (number && option == "uid" && !from(Version::v22_05))) return;
    if (number) name = std::to_string(std::strtol(name.c_str(), nullptr, 10));
    if (known.count(name) == 0) refuse(option, "user", "the cluster does not know '" + name + "'");
  }

  void check_sharing(const std::string& value) {
    if (util::to_lower(value).find("one-task-per-sharing") != std::string::npos)
      refuse("gres-flags", "gres-flags", "the cluster does not share GPUs between tasks");
  }

  void check_governor(const std::string& value) {
    const auto requested = parse_cpu_frequency(value, x_version);
    if (!requested) return;
    if (!requested->min.empty() && requested->governor.empty() && from(Version::v23_11))
      refuse("cpu-freq", "governor", "the cluster names no governor for a range: --cpu-freq has to");
    if (!requested->governor.empty() && c.governors.count(requested->governor) == 0)
      refuse("cpu-freq", "governor", "the cluster does not let jobs choose " + requested->governor);
  }

  /// What can be said of it without a clock.
  void check_deadline() {
    const auto deadline = r.has("deadline") ? parse_moment(r.text("deadline"), x_version) : std::nullopt;
    if (!deadline) return;
    const bool passed = util::to_lower(r.text("deadline")) == "today"; // at its first second
    const auto late = [&] { refuse("deadline", "deadline", "the job cannot end before its --deadline"); };
    const ScheduledTime begin = parse_moment(r.text("begin"), x_version).value_or(ScheduledTime{});
    if (passed || (deadline->year > 0 && deadline->year < 2020)) return late();
    if (begin.is_from_now && deadline->is_from_now && begin.seconds > deadline->seconds) return late();
    if (begin.year > 2020 && deadline->is_from_now) return late();
    const auto time = r.times.find("time"), least = r.times.find("time-min");
    const bool limited = time != r.times.end() && from(Version::v23_02); // before that nobody looks at it
    const auto* length = least != r.times.end() ? &least->second : limited ? &time->second : nullptr;
    if (length && !length->minutes) return late();
    if (!deadline->is_from_now) return;
    const long long start = from(Version::v23_02) ? std::max(0LL, begin.seconds) : 0;
    const long long seconds = length ? static_cast<long long>(*length->minutes) * 60 : 0;
    if (deadline->seconds < start + seconds) late();
  }

  void check_sampling() {
    if (!r.has("acctg-freq")) return;
    for (auto part : util::split(r.text("acctg-freq"), ',')) {
      if (util::to_lower(part).starts_with("task=")) part = part.substr(5);
      const auto seconds = util::parse_unsigned(part);
      if (seconds && (*seconds == 0 || *seconds > c.accounting_seconds))
        refuse("acctg-freq", "acctg-freq",
               "the cluster samples a job's use every " + std::to_string(c.accounting_seconds) +
                   " seconds at least");
    }
  }
};

} // namespace

void check_known_names(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster,
                       Version version, LocatedFindings& findings) {
  NameCheck(request, size, cluster, version, findings).run();
}

} // namespace hpcml::slurm
