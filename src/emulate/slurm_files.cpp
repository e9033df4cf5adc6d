// SPDX-License-Identifier: MIT
#include "emulate/slurm_files.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/hostlist.hpp"
#include "core/site_rules/limits.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/slurm/cpu_numbering.hpp"
#include "core/util/text.hpp"
#include "emulate/accounting.hpp"
#include "emulate/assumed_nodes.hpp"
#include "emulate/gpu_files.hpp"
#include "emulate/preemption.hpp"
#include "emulate/slurm_policy.hpp"

namespace hpcml::emulate {

namespace {

using model::Partition;
using model::Site;

bool has_type(const Partition& partition, const std::string& id) {
  return std::find(partition.node_types.begin(), partition.node_types.end(), id) !=
         partition.node_types.end();
}

/// The GPU as jobs ask for it, "gpu:mi250"; empty where the site's Slurm does not know its GPUs.
std::string gres_name(const Site& site, const model::NodeType& type) {
  if (!type.gpu || type.gpu->per_node == 0 || !counts_gpus(site)) return {};
  return type.gpu->slurm_type.empty() ? "gpu" : "gpu:" + type.gpu->slurm_type;
}

/// What --constraint can ask of these nodes: the features that the profile lists, and those by which it
/// selects them and their own disks.
std::vector<std::string> features_of(const model::NodeType& type) {
  std::vector<std::string> names = type.features;
  std::string word;
  constexpr std::string_view k_option = "--constraint=";
  const bool by_feature = type.local_disk_option.starts_with(k_option);
  const auto of_disk = by_feature ? type.local_disk_option.substr(k_option.size()) : std::string();
  for (const char c : type.constraint + "&" + of_disk + "&") {
    if (std::string_view("&|()*").find(c) == std::string_view::npos) {
      word += c;
      continue;
    }
    if (!word.empty()) util::add_once(names, word);
    word.clear();
  }
  return names;
}

/// The node type's features, and those that jobs of the site may name and that no node type has by itself:
/// a file system, a setting of the system.
std::string features_of(const Site& site, const model::NodeType& type) {
  auto names = features_of(type);
  for (const auto& name : site.constraints) {
    const bool of_type =
        std::any_of(site.node_types.begin(), site.node_types.end(),
                    [&](const auto& candidate) { return util::contains(features_of(candidate), name); });
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return util::is_name_char(c) || std::string_view(".:-").find(c) != std::string_view::npos;
    });
    if (!of_type && plain) util::add_once(names, name);
  }
  return util::join(names, ",");
}

/// "gpu:a100:4", or the parts of the GPUs, each kind as often as a whole GPU has room for; empty where there
/// are none.
std::string gres_of(const Site& site, const model::NodeType& type, bool slices) {
  const std::string name = gres_name(site, type);
  if (name.empty() || !slices) return name.empty() ? name : name + ":" + std::to_string(type.gpu->per_node);
  std::vector<std::string> parts;
  for (const auto& slice : type.gpu->slices) {
    parts.push_back("gpu:" + slice.name + ":" + std::to_string(7 * type.gpu->per_node));
    for (const auto& alias : slice.aliases)
      parts.push_back("gpu:" + alias + ":" + std::to_string(7 * type.gpu->per_node));
  }
  return util::join(parts, ",");
}

/// The same of a node that runs, which has a device for each part.
std::string gres_of(const Site& site, const ClusterNode& node) {
  if (!node.slices || gres_name(site, *node.type).empty()) return gres_of(site, *node.type, false);
  std::map<std::string, unsigned> counts;
  for (const auto& part : cut_gpus(*node.type->gpu)) ++counts[part.slice->name];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back("gpu:" + name + ":" + std::to_string(count));
  return util::join(parts, ",");
}

// More than a node has: where the profile does not know the number, a whole site accepts any.
constexpr unsigned k_any_cores = 512;

std::string node_shape(const Site& site, const model::NodeType& type, const std::string& gres,
                       unsigned unknown_cores = k_unknown_cores) {
  const auto& cpu = type.cpu;
  const unsigned sockets = std::max(1U, cpu.sockets), threads = std::max(1U, cpu.threads_per_core);
  std::string text = " Sockets=" + std::to_string(sockets);
  text += " CoresPerSocket=" +
          std::to_string(std::max(1U, (cpu.cores == 0 ? unknown_cores : cpu.cores) / sockets));
  text += " ThreadsPerCore=" + std::to_string(threads);
  text += " RealMemory=" + std::to_string(type.memory ? type.memory->value.mib() : k_unknown_memory_mib);
  if (!gres.empty()) text += " Gres=" + gres;
  if (const auto features = features_of(site, type); !features.empty()) text += " Feature=" + features;
  const auto reserved = slurm::to_slurm_cpus(cpu.reserved, cpu);
  if (!reserved.empty()) text += " CpuSpecList=" + reserved.to_list();
  return text;
}

/// Nodes of which the profile knows nothing: they refuse nothing.
std::string unknown_shape(const Site& site, bool cpu_only) {
  constexpr std::string_view k_gpu = "gpu";
  constexpr unsigned k_gpus = 16;
  auto text = fmt::format(" CPUs={} RealMemory={}", k_any_cores, k_unknown_memory_mib);
  if (cpu_only || !counts_gpus(site)) return text;
  std::vector<std::string> names;
  for (const auto& type : site.node_types) {
    if (const auto name = gres_name(site, type); name.size() > k_gpu.size()) util::add_once(names, name);
    for (const auto& slice : type.gpu ? type.gpu->slices : std::vector<model::MigInstanceType>())
      util::add_once(names, "gpu:" + slice.name);
  }
  // Slurm does not accept GPUs with and without a type on one node. Those with one suit any job.
  if (names.empty()) names.emplace_back(k_gpu);
  for (auto& name : names) name += fmt::format(":{}", k_gpus);
  return text + " Gres=" + util::join(names, ",");
}

/// The emulated nodes that are in the partition, as a hostlist.
std::string nodes_of(const Site& site, const ClusterLayout& layout, const Partition& partition) {
  std::vector<std::string> names;
  for (const auto& node : layout.nodes)
    if (has_type(partition, node.type->id)) names.push_back(node.name);
  if (!layout.is_whole_site()) return names.empty() ? std::string() : model::compress_hostlist(names);
  // A name of the profile's for "the site chooses" has all nodes.
  const bool any = !partition.nameable && partition.node_types.empty();
  const bool known = std::any_of(partition.node_types.begin(), partition.node_types.end(),
                                 [&](const auto& id) { return site.find_node_type(id) != nullptr; });
  for (const auto& group : layout.dormant)
    if (any ||
        (group.type ? has_type(partition, group.type->id) : !known && group.cpu_only == partition.cpu_only))
      names.push_back(group.names);
  return util::join(names, ",");
}

std::string minutes(const model::Walltime& time) { return std::to_string(time.seconds().count() / 60); }

/// The partition's limit, or that of a QoS there which goes beyond it; nothing if there is none. If Slurm
/// enforces QoS, such a QoS overrides the partition's limit for its own jobs (flag PartitionTimeLimit).
std::optional<model::Walltime> longest_time(const Site& site, const Partition& partition, bool enforces_qos) {
  if (!partition.max_time) return std::nullopt;
  auto longest = partition.max_time->value;
  if (enforces_qos) return longest;
  for (const auto& qos : site.qos)
    if (qos.max_time && site_rules::is_place_of(&qos, partition.name) && qos.max_time->value > longest)
      longest = qos.max_time->value;
  return longest;
}

std::string partition_line(const Site& site, const ClusterLayout& layout, const Partition& partition,
                           const SlurmFileOptions& options) {
  std::string text = "PartitionName=" + partition.name;
  const auto nodes = nodes_of(site, layout, partition);
  const bool has_nodes = !nodes.empty();
  if (has_nodes) text += " Nodes=" + nodes;
  if (has_nodes && partition.name == layout.default_partition) text += " Default=YES";
  const auto longest = longest_time(site, partition, options.enforced);
  text += " MaxTime=" + (longest ? minutes(*longest) : std::string("UNLIMITED"));
  if (partition.default_time) text += " DefaultTime=" + minutes(partition.default_time->value);
  // A job cannot have more nodes than the partition, whatever else has nodes of these types.
  const auto& most = partition.max_nodes ? partition.max_nodes : partition.node_count;
  if (most) text += " MaxNodes=" + std::to_string(most->value);
  if (suspends_jobs(options.faults))
    text += " OverSubscribe=FORCE:1";
  else if (partition.slurm_exclusive.value_or(partition.exclusive))
    text += " OverSubscribe=EXCLUSIVE";
  if (options.enforced) text += deny_qos(site, partition);
  text += make_partition_grace(options.faults);
  return text + " State=UP\n";
}

/// Whether the site's Slurm takes --requeue=expedite.
bool expedites(const Site& site) {
  const auto rule = site.flags.find("requeue");
  if (rule == site.flags.end()) return false;
  const auto is = [](const model::SbatchOptionRule& flag) {
    return flag.default_value == site_rules::k_expedite;
  };
  return is(rule->second) || std::any_of(rule->second.more.begin(), rule->second.more.end(), is);
}

std::string daemon_lines(const Site& site, const ClusterLayout& layout, const SlurmFileOptions& options) {
  const std::string& dir = options.state_dir;
  std::string text;
  const auto line = [&](const std::string& key, const std::string& value) {
    text += key + "=" + value + "\n";
  };
  line("ClusterName", site.id);
  line("SlurmctldHost", layout.login_name + "(" + layout.login_address + ")");
  line("SlurmUser", std::to_string(options.uid));
  line("SlurmdUser", std::to_string(options.uid));
  line("AuthType", "auth/none");
  line("CredType", "cred/none");
  line("SlurmctldPort", std::to_string(layout.controller_port));
  line("SlurmdPort", std::to_string(layout.controller_port + 1));
  line("StateSaveLocation", dir + "/slurmctld");
  line("SlurmdSpoolDir", dir + "/slurmd/%n");
  line("SlurmctldPidFile", dir + "/slurmctld.pid");
  line("SlurmdPidFile", dir + "/slurmd.%n.pid");
  line("SlurmctldLogFile", dir + "/log/slurmctld.log");
  line("SlurmdLogFile", dir + "/log/slurmd.%n.log");
  line("MailProg", "/bin/true");
  if (layout.is_whole_site()) line("PrivateData", "cloud"); // shows nodes that are powered down
  text += options.accounting ? make_accounting_lines(layout, options.enforced)
                             : "AccountingStorageType=accounting_storage/none\n";
  line("JobAcctGatherType", "jobacct_gather/none");
  line("ProctrackType", "proctrack/linuxproc");
  line("TaskPlugin", options.limits_jobs ? "task/affinity,task/cgroup" : "task/affinity");
  line("SelectType", "select/cons_tres");
  line("SelectTypeParameters", suspends_jobs(options.faults) ? "CR_Core" : "CR_Core_Memory");
  line("SlurmdParameters", "config_overrides"); // else nodes with more CPUs than the machine go "inval"
  line("ReturnToService", "2");
  line("MpiDefault", "none");
  line("GresTypes", "gpu");
  line("EnforcePartLimits", "ANY"); // a job that names several partitions needs one that suits
  line("LaunchParameters", "use_interactive_step");
  line("SchedulerParameters", "batch_sched_delay=0,sched_interval=1,bf_interval=1");
  if (expedites(site)) line("SlurmctldParameters", "enable_expedited_requeue"); // 25.11; others pass over it
  line("TreeWidth", "65533"); // every slurmd is one hop away: no node has to forward
  line("MessageTimeout", "60");
  line("KillWait", "5");
  line("SlurmdTimeout", std::to_string(choose_node_timeout(options.faults)));
  // A requeued job waits until the credentials of its first start have expired, by default two minutes. A
  // busy machine must be able to start a step within that time.
  line("AuthInfo", options.faults.empty() ? "cred_expire=30" : "cred_expire=10");
  // Without its own network no other process may reach a Slurm that asks for no credentials.
  if (layout.login_interfaces.empty()) line("CommunicationParameters", "NoInAddrAny,NoCtldInAddrAny");
  if (options.job_policy) {
    line("JobSubmitPlugins", "lua");
    line("CliFilterPlugins", "lua");
  }
  line("TaskProlog", dir + "/lib/task_prolog");
  line("Prolog", dir + "/lib/prolog");
  line("Epilog", dir + "/lib/epilog");
  return text;
}

// `sbatch -W` asks for the job 2 s, 10 s, 42 s and then each 32 s after it was submitted: a job of 13 s takes
// 42 s. In every version from 20.02 to 25.11 it keeps to 2 s if MinJobAge, which it reads from its own
// configuration, leaves no time for longer pauses. No other command reads it, and slurmctld, which forgets
// jobs by it, has its default of 300 s.
constexpr const char* k_login_lines = "MinJobAge=4\n";

std::string slurm_conf(const Site& site, const ClusterLayout& layout, const SlurmFileOptions& options) {
  std::string text = "# " + site.id + ", emulated; the site's own slurm.conf has more than its profile\n";
  text += daemon_lines(site, layout, options);
  unsigned weight = 0; // jobs that do not mind get the first kind
  for (const auto& kind : group_by_kind(layout)) {
    const auto& first = *kind.front();
    const auto shape = node_shape(site, *first.type, gres_of(site, first)) +
                       (++weight > 1 ? " Weight=" + std::to_string(weight) : std::string());
    for (const auto* node : kind)
      text += "NodeName=" + node->name + " NodeHostname=" + node->name + " NodeAddr=" + node->address +
              " Port=" + std::to_string(node->port) + shape + " State=UNKNOWN\n";
  }
  for (const auto& group : layout.dormant)
    text += "NodeName=" + group.names +
            (group.type ? node_shape(site, *group.type, gres_of(site, *group.type, group.slices), k_any_cores)
                        : unknown_shape(site, group.cpu_only)) +
            " State=CLOUD\n";
  for (const auto& partition : site.partitions) text += partition_line(site, layout, partition, options);
  text += make_preemption_lines(options.faults);
  if (layout.is_whole_site() && layout.default_partition == k_unknown_partition)
    text +=
        fmt::format("PartitionName={} Nodes={} Default=YES State=UP\n", k_unknown_partition, k_unknown_nodes);
  return text;
}

/// The cores with all others of their sockets, which Slurm counts one socket after the other.
model::IdSet widen_to_sockets(const model::IdSet& cores, const model::CpuShape& cpu) {
  const unsigned per_socket = std::max(1U, cpu.cores / std::max(1U, cpu.sockets));
  model::IdSet wide;
  for (unsigned core = 0; core < cpu.cores; ++core)
    if (cores.contains(core))
      for (unsigned i = 0; i < per_socket; ++i) wide.add(core - core % per_socket + i);
  return wide;
}

/// Returns Slurm's core numbers near a GPU (its NUMA domain, as Slurm detects it); empty if unknown.
std::string cores_near(const model::NodeType& type, const model::GpuLocality& place,
                       const std::vector<std::size_t>& order, bool whole_sockets) {
  if (!place.numa) return {};
  const auto domain = std::find_if(type.cpu.numa.begin(), type.cpu.numa.end(),
                                   [&](const model::CpuDomain& d) { return d.id == *place.numa; });
  if (domain == type.cpu.numa.end()) return {};
  model::IdSet cores;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (type.cpu.core_threads[order[i]].intersects(domain->cpus)) cores.add(static_cast<unsigned>(i));
  return (whole_sockets ? widen_to_sockets(cores, type.cpu) : cores).to_list();
}

/// A GPU or a part of one, as Slurm manages it.
struct Device {
  std::string type, cores, uuid; ///< each may be empty
};

std::vector<Device> devices_of(const ClusterNode& node, bool whole_sockets) {
  std::vector<Device> devices;
  if (!node.type->gpu) return devices;
  const auto& gpu = *node.type->gpu;
  const auto order = slurm::core_order(node.type->cpu);
  const auto cores = [&](unsigned index) {
    return index < gpu.places.size() ? cores_near(*node.type, gpu.places[index], order, whole_sockets)
                                     : std::string();
  };
  if (node.slices)
    for (const auto& part : cut_gpus(gpu))
      devices.push_back({part.slice->name, cores(part.gpu), part_uuid(part, node.name)});
  else
    for (unsigned index = 0; index < gpu.per_node; ++index)
      devices.push_back({gpu.slurm_type, cores(index), {}});
  return devices;
}

/// The variables that Slurm sets for the vendor's devices.
std::string device_flags(const model::NodeType& type) {
  if (type.gpu->vendor == model::GpuVendor::nvidia) return "nvidia_gpu_env";
  return type.gpu->vendor == model::GpuVendor::amd ? "amd_gpu_env" : "";
}

std::string gres_conf(const Site& site, const ClusterLayout& layout, const SlurmFileOptions& options) {
  std::string text = "AutoDetect=off\n";
  for (const auto& kind : group_by_kind(layout)) {
    const auto& first = *kind.front();
    if (gres_name(site, *first.type).empty()) continue;
    std::vector<std::string> names;
    for (const auto* node : kind) names.push_back(node->name);
    const auto where = "NodeName=" + model::compress_hostlist(names);
    const auto devices = devices_of(first, options.whole_sockets);
    for (unsigned index = 0; index < devices.size(); ++index) {
      const auto& device = devices[index];
      text += fmt::format("{} Name=gpu", where);
      if (!device.type.empty()) text += " Type=" + device.type;
      text += " File=" + gpu_device_path(options.state_dir, index);
      if (!device.cores.empty()) text += " Cores=" + device.cores;
      if (const auto flags = device_flags(*first.type); !flags.empty()) text += " Flags=" + flags;
      text += "\n";
    }
  }
  return text;
}

} // namespace

bool counts_gpus(const Site& site) {
  const auto is_request = [](const auto& rule) { return rule.style != model::GpuOptionStyle::none; };
  const auto& rules = site.gpu_request.more;
  return is_request(site.gpu_request) || std::any_of(rules.begin(), rules.end(), is_request) ||
         site.flag("gres").policy != model::OptionPolicy::forbidden;
}

std::string make_detected_gpus(const Site& site, const ClusterNode& node, const std::string& state_dir,
                               bool whole_sockets) {
  std::string text;
  if (gres_name(site, *node.type).empty()) return text;
  const auto devices = devices_of(node, whole_sockets);
  for (unsigned index = 0; index < devices.size(); ++index) {
    const auto& device = devices[index];
    const auto or_null = [](const std::string& value) {
      return value.empty() ? std::string("(null)") : value;
    };
    text += or_null(device.type) + "|" + std::to_string(node.type->cpu.all().size()) + "|" +
            or_null(device.cores) + "|(null)|" + gpu_device_path(state_dir, index) + "|" +
            or_null(device.uuid) + "|" + or_null(device_flags(*node.type)) + "\n";
  }
  return text;
}

unsigned count_devices(const ClusterNode& node) {
  if (!node.type->gpu) return 0;
  return node.slices ? static_cast<unsigned>(cut_gpus(*node.type->gpu).size()) : node.type->gpu->per_node;
}

std::string gpu_device_path(const std::string& state_dir, unsigned gpu) {
  return state_dir + "/dev/gpu" + std::to_string(gpu);
}

std::map<std::string, std::string> make_slurm_files(const Site& site, const ClusterLayout& layout,
                                                    const SlurmFileOptions& options) {
  std::map<std::string, std::string> files;
  files["slurm.conf"] = slurm_conf(site, layout, options);
  files["login.conf"] = files["slurm.conf"] + k_login_lines;
  files["gres.conf"] = gres_conf(site, layout, options);
  files["cgroup.conf"] = options.cgroup_conf;
  files["hosts"] = render_hosts(layout);
  if (options.job_policy) {
    files["job_submit.lua"] = make_job_policy(options.evaluate_command, options.state_dir);
    files["cli_filter.lua"] = make_cli_filter(site);
  }
  return files;
}

} // namespace hpcml::emulate
