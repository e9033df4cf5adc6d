// SPDX-License-Identifier: MIT
#include "agree_fields.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

#include "agree_paths.hpp"
#include "model/hostlist.hpp"
#include "util/text.hpp"

namespace hpcml::agree {
namespace {

using slurm::Version;

/// MB as scontrol prints them: in the next unit where that is exact to half of it.
std::string memory_text(std::uint64_t mb) {
  if (mb == 0) return "0";
  double number = static_cast<double>(mb);
  std::size_t unit = 0;
  while (number >= 1024 && unit < 3 && static_cast<std::uint64_t>(number) % 512 == 0) {
    number /= 1024;
    ++unit;
  }
  const auto whole = static_cast<std::uint64_t>(number);
  const std::string digits =
      static_cast<double>(whole) == number ? fmt::format("{}", whole) : fmt::format("{:.2f}", number);
  return digits + "MGTP"[unit];
}

std::string time_text(const slurm::TimeLimit& limit) {
  if (!limit.minutes) return "UNLIMITED";
  const auto m = *limit.minutes;
  const std::string clock = fmt::format("{:02}:{:02}:00", m / 60 % 24, m % 60);
  return m >= 1440 ? fmt::format("{}-{}", m / 1440, clock) : clock;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string index_text(const std::vector<unsigned>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(indices[i]);
    if (last > i) text += "-" + std::to_string(indices[last]);
    i = last + 1;
  }
  return text;
}

class Printer {
public:
  Printer(const slurm::Request& request, const slurm::JobSize& size, const slurm::ClusterFacts& cluster,
          Version version, unsigned component)
      : r(request), s(size), c(cluster), x_version(version), x_component(component) {}

  Fields run() {
    print_plain();
    print_size();
    print_memory();
    print_times();
    print_gpus();
    print_sharing();
    print_lists();
    print_frequency();
    print_paths(r, x_version, x_component, x_fields);
    return std::move(x_fields);
  }

private:
  bool from(Version version) const { return x_version >= version; }
  void set(const std::string& key, std::string value, const std::string& hidden) {
    if (value != hidden) x_fields[key] = std::move(value);
  }
  void copy(const std::string& key, std::string_view option) {
    if (r.has(option)) x_fields[key] = r.text(option);
  }

  void print_plain() {
    if (r.has("external")) x_fields["JobName"] = "external";
    copy("JobName", "job-name");
    if (r.text("partition").find_first_not_of(',') != std::string::npos)
      set("Partition", r.text("partition"), c.partitions.front().name);
    if (r.has("account")) x_fields["Account"] = util::to_lower(r.text("account"));
    copy("Comment", "comment");
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
    const std::string more = several ? ",GresOneTaskPerSharing=No" : "";
    if (flags.find("enforce-binding") != std::string::npos) x_fields["GresEnforceBind"] = "Yes" + more;
    if (flags.find("disable-binding") != std::string::npos) x_fields["GresEnforceBind"] = "No" + more;
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

  /// "1-3,5".
  static std::string count_text(const std::vector<long>& counts) {
    return index_text(std::vector<unsigned>(counts.begin(), counts.end()));
  }

  static long ceiling(long a, long b) { return (a + b - 1) / b; }

  /// As the controller estimates nodes of a job that waits: by the first of these that was asked for.
  long estimated_nodes() const {
    const long per_core = r.count("ntasks-per-core");
    const long tasks = s.tasks_known;
    if (s.tasks_per_node > 0) return tasks / s.tasks_per_node;
    if (s.cpus_per_task > 1) {
      const long per_node = std::max(1L, c.cpus() / s.cpus_per_task);
      const bool rounds_up = !from(Version::v23_02) && tasks % per_node != 0;
      return std::max(s.min_nodes, tasks / per_node) + (rounds_up ? 1 : 0);
    }
    if (per_core > 0)
      return ceiling(ceiling(tasks, per_core), static_cast<long>(c.sockets) * c.cores_per_socket);
    return ceiling(tasks, c.cpus());
  }

  std::string node_text() const {
    const bool cut = r.nodes && r.has("ntasks") && s.tasks_known < r.nodes->max;
    if (r.nodes && r.nodes->is_list && !cut) return count_text(r.nodes->counts);
    long least = s.min_nodes;
    if (from(Version::v23_11) && !s.nodes_given && r.has("ntasks-per-node"))
      least = std::max(least, ceiling(s.tasks, s.tasks_per_node));
    long nodes = std::max(least, estimated_nodes());
    long most = r.has("nodelist") && !r.nodes ? 0 : s.max_nodes;
    if (most == 0 && r.has("spread-job") && s.tasks_known > 0)
      most = std::min<long>(static_cast<long>(c.nodes.size()), s.tasks_known);
    const bool plain = s.tasks_per_node == 0 && s.cpus_per_task <= 1 && r.count("ntasks-per-core") == 0;
    if (from(Version::v23_11) && plain && most > 0) most = std::max(most, nodes);
    if (from(Version::v26_05) && most == 0 && s.tasks_known > 0 && !r.nodes && nodes > 1) most = s.tasks;
    if (most > 0) nodes = std::min(nodes, most);
    return most == 0 || most == nodes ? std::to_string(nodes) : fmt::format("{}-{}", nodes, most);
  }

  void print_size() {
    set("NumNodes", node_text(), "1");
    set("NumCPUs", std::to_string(s.cpus), "1");
    set("NumTasks", std::to_string(s.tasks), "1");
    set("CPUs/Task", std::to_string(s.cpus_per_task), "1");
    if (s.cpus_per_node > 1) x_fields["MinCPUsNode"] = std::to_string(s.cpus_per_node % 65536);
    const auto star = [](long number) {
      return number == 0 ? std::string("*") : std::to_string(std::max(number, 0L));
    };
    set("NtasksPerN:B:S:C",
        fmt::format("{}:0:{}:{}", s.tasks_per_node, star(r.count("ntasks-per-socket")),
                    star(r.count("ntasks-per-core"))),
        "0:0:*:*");
    set("ReqB:S:C:T", fmt::format("0:0:{}:{}", star(s.cores_per_socket), star(s.threads_per_core)),
        "0:0:*:*");
    if (s.sockets_per_node != 0) x_fields["Socks/Node"] = star(s.sockets_per_node);
  }

  void print_memory() {
    const auto asked = [&](std::string_view option) -> const std::uint64_t* {
      const auto found = r.memory_mb.find(option);
      return found == r.memory_mb.end() ? nullptr : &found->second;
    };
    long nodes = s.min_nodes;
    if (x_version == Version::v20_11 && !s.nodes_given) nodes = 1;
    if (from(Version::v23_11) && !s.nodes_given && r.has("ntasks-per-node"))
      nodes = std::max(nodes, ceiling(s.tasks, s.tasks_per_node));
    const auto cpus = static_cast<std::uint64_t>(s.cpus);
    std::uint64_t total = c.default_memory_per_cpu_mb * cpus;
    const auto whole = c.memory_mb * static_cast<std::uint64_t>(nodes);
    if (const auto* mb = asked("mem")) {
      x_fields["MinMemoryNode"] = memory_text(*mb);
      total = *mb == 0 ? whole : *mb * static_cast<std::uint64_t>(nodes);
    } else if (const auto* per_cpu = asked("mem-per-cpu")) {
      if (*per_cpu == 0)
        x_fields["MinMemoryNode"] = "0";
      else
        set("MinMemoryCPU", memory_text(*per_cpu), memory_text(c.default_memory_per_cpu_mb));
      total = *per_cpu == 0 ? whole : *per_cpu * cpus;
    } else if (const auto* per_gpu = asked("mem-per-gpu")) {
      x_fields["MemPerTres"] = fmt::format("gres/gpu:{}", *per_gpu);
      if (from(Version::v21_08) && *per_gpu > 0) total = *per_gpu * s.gpus;
      if (from(Version::v24_11)) {
        x_fields["MinMemoryTRES"] = memory_text(*per_gpu);
        x_fields["MinCPUsNode"] = std::to_string(std::max(1L, s.cpus_per_node));
      }
    }
    const bool none = r.nodes && r.nodes->min == 0 && r.nodes->max == 0; // 26.05 takes it
    set("ReqTRES",
        fmt::format("cpu={},mem={}", s.cpus, memory_text(total)) +
            (none ? "" : fmt::format(",node={}", nodes)),
        "cpu=1,mem=1000M,node=1");
  }

  /// The first of several; from 25.11 the first that takes so many nodes.
  const slurm::PartitionFacts* chosen_partition() const {
    const auto partitions = slurm::partitions_of(r, c);
    if (partitions.empty()) return nullptr;
    const long most = r.has("nodelist") && !r.nodes ? 0 : s.max_nodes;
    const long nodes = most > 0                ? most
                       : from(Version::v26_05) ? std::max(s.tasks_known, s.min_nodes)
                                               : s.min_nodes;
    if (from(Version::v25_11) && nodes <= static_cast<long>(c.nodes.size()))
      for (const auto* partition : partitions)
        if (partition && (!partition->max_nodes || nodes <= static_cast<long>(*partition->max_nodes)))
          return partition;
    const bool beyond = from(Version::v25_11) && nodes > static_cast<long>(c.nodes.size());
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
    else if (delay != r.times.end() && delay->second.minutes)
      x_fields["DelayBoot"] = fmt::format("{}{:02}",
                                          time_text({delay->second.seconds / 60})
                                              .substr(0, time_text({delay->second.seconds / 60}).size() - 2),
                                          delay->second.seconds % 60);
    if (r.has("deadline")) x_fields["Deadline"] = "<time>";
    if (r.has("deadline") && time == r.times.end() && x_fields.count("TimeMin") == 0)
      x_fields["TimeMin"] = "00:01:00";
  }

  static bool is_unlimited(const std::string& text) {
    const auto lower = util::to_lower(text);
    return lower == "-1" || lower == "unlimited" || lower == "infinite";
  }

  /// --gres as it was written: up to 20.11 and from 23.11 with its empty items.
  std::string gres_text() const {
    const bool later = from(Version::v23_11);
    std::vector<std::string> items;
    for (auto item : util::split(r.text("gres"), ',')) {
      for (const char* own : {"gres:", "gres/"})
        if (util::starts_with(item, own)) item = item.substr(5);
      const bool gpu = util::starts_with(item, "gpu");
      items.push_back((later || gpu ? "gres/" : from(Version::v21_08) ? "gres:" : "") + item);
    }
    return util::join(items, ",");
  }

  static std::string tres_list(const std::string& text, const std::string& prefix) {
    std::vector<std::string> parts;
    if (!text.empty())
      for (auto part : util::split(text, ',')) {
        if (part.empty()) continue;
        for (const char* own : {"gres:", "gres/"})
          if (prefix.empty() && util::starts_with(part, own)) part = part.substr(5);
        parts.push_back("gres/" + prefix + part);
      }
    return util::join(parts, ",");
  }

  void print_gpus() {
    std::vector<std::string> per_node;
    if (r.text("gpus-per-node").find_first_not_of(',') != std::string::npos)
      per_node.push_back(tres_list(r.text("gpus-per-node"), "gpu:"));
    const bool gres = r.has("gres") && util::to_lower(r.text("gres")) != "none";
    if (gres) per_node.push_back(gres_text());
    if (gres || !per_node.empty()) x_fields["TresPerNode"] = util::join(per_node, ",");
    set("TresPerJob", tres_list(r.text("gpus"), "gpu:"), "");
    set("TresPerSocket", tres_list(r.text("gpus-per-socket"), "gpu:"), "");
    if (const auto text = per_task_text(); !text.empty() || (r.tres_per_task && from(Version::v23_11)))
      x_fields["TresPerTask"] = text;
    if (r.has("cpus-per-gpu")) x_fields["CpusPerTres"] = fmt::format("gres/gpu:{}", r.count("cpus-per-gpu"));
    if (r.has("gpu-freq")) x_fields["TresFreq"] = "gres/gpu:" + r.text("gpu-freq");
    if (const auto gpus = bound_gpus_per_task(); from(Version::v23_11) && gpus > 0)
      x_fields["TresBind"] = fmt::format("gres/gpu:per_task:{}", gpus);
    if (r.has("ntasks-per-gpu")) {
      if (from(Version::v21_08))
        x_fields["NtasksPerTRES"] = std::to_string(r.count("ntasks-per-gpu"));
      else
        x_fields["TresBind"] = fmt::format("gres/gpu:single:{}", r.count("ntasks-per-gpu"));
    }
    copy("TresBind", "tres-bind");
    if (r.has("ntasks-per-tres") && !r.has("ntasks-per-gpu") && x_version == Version::v20_11)
      x_fields["TresBind"] = fmt::format("gres/gpu:single:{}", r.count("ntasks-per-tres"));
    if (r.has("gpu-bind")) x_fields["TresBind"] = "gres/gpu:" + r.text("gpu-bind");
  }

  /// Of several in --tres-per-task 23.11 takes the first, later ones the sum.
  std::uint64_t bound_gpus_per_task() const {
    if (!r.tres_per_task || r.gpus("gpus-per-task") > 0) return s.gpus_per_task;
    std::uint64_t sum = 0;
    for (const auto& item : r.tres_per_task->items) {
      if (item.name != "gpu") continue;
      sum += item.count;
      if (x_version == Version::v23_11) break;
    }
    return sum;
  }

  std::string per_task_text() const {
    std::vector<std::string> parts;
    const bool later = from(Version::v23_11);
    if (later && r.has("cpus-per-task")) parts.push_back(fmt::format("cpu={}", s.cpus_per_task));
    if (!later && !r.text("gpus-per-task").empty()) {
      for (auto part : util::split(tres_list(r.text("gpus-per-task"), "gpu:"), ',')) {
        const auto colon = part.rfind(':');
        if (part[colon + 1] >= '0' && part[colon + 1] <= '9') part[colon] = '=';
        parts.push_back(part);
      }
    }
    const auto add = [&](const slurm::GresItem& item) {
      if (item.name == "cpu") {
        if (!(later && r.has("cpus-per-task"))) parts.push_back(fmt::format("cpu={}", item.count));
      } else
        parts.push_back(
            fmt::format("gres/{}{}{}={}", item.name, item.type.empty() ? "" : ":", item.type, item.count));
    };
    if (const auto found = r.gres.find("gpus-per-task"); later && found != r.gres.end())
      for (const auto& item : found->second) add(item);
    if (r.tres_per_task && later) { // as it was written
      static const std::regex number(":([0-9])");
      for (const auto& part : util::split(r.text("tres-per-task"), ','))
        if (!(util::starts_with(part, "cpu") && r.has("cpus-per-task")))
          parts.push_back(std::regex_replace(util::replace_all(part, "gres:", "gres/"), number, "=$1"));
    } else if (r.tres_per_task) {
      for (const auto& item : r.tres_per_task->items) add(item);
    }
    return util::join(parts, ",");
  }

  void print_sharing() {
    using slurm::Sharing;
    std::string over, exclusive;
    switch (r.sharing) {
    case Sharing::site_default: return;
    case Sharing::exclusive: exclusive = "NODE"; break;
    case Sharing::exclusive_user: over = exclusive = "USER"; break;
    case Sharing::exclusive_mcs: over = exclusive = "MCS"; break;
    case Sharing::exclusive_topo: over = exclusive = "TOPO"; break;
    case Sharing::oversubscribe:
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
      const auto tasks = static_cast<std::size_t>(s.tasks);
      const bool cut = std::string_view(option) == "nodelist" && !from(Version::v23_02) && r.has("ntasks") &&
                       names.size() > tasks;
      if (cut) names.resize(tasks);
      // One range stays as it was written.
      const bool one_range = !text.empty() && text.back() == ']' && text.find('[') == text.rfind('[') &&
                             text.find(',') > text.find('[');
      x_fields[key] = one_range && !cut ? text : model::compress_hostlist(names);
    }
  }

  void print_frequency() {
    if (!r.has("cpu-freq")) return;
    const auto frequency = slurm::parse_cpu_frequency(r.text("cpu-freq"), x_version);
    if (!frequency) return;
    set("CPU_min_freq", frequency->min, "");
    set("CPU_max_freq", frequency->max, "");
    set("Governor", frequency->governor, "");
  }

  const slurm::Request& r;
  const slurm::JobSize& s;
  const slurm::ClusterFacts& c;
  Version x_version;
  unsigned x_component;
  Fields x_fields;
};

} // namespace

Fields job_fields(const slurm::Request& request, const slurm::JobSize& size,
                  const slurm::ClusterFacts& cluster, Version version, unsigned component) {
  return Printer(request, size, cluster, version, component).run();
}

} // namespace hpcml::agree
