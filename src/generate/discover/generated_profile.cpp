// SPDX-License-Identifier: MIT
#include "generate/discover/generated_profile.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/config/text_rule.hpp"
#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"
#include "generate/discover/json_build.hpp"
#include "generate/discover/profile_parts.hpp"

namespace hpcml::discover {

namespace {

using model::GpuVendor;

/// A host name as a pattern: its dots are dots, its first number is any number.
std::string host_pattern(const std::string& host) {
  std::string pattern;
  bool number_done = false;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const bool digit = host[i] >= '0' && host[i] <= '9';
    if (digit && !number_done) {
      while (i + 1 < host.size() && host[i + 1] >= '0' && host[i + 1] <= '9') ++i;
      pattern += "[0-9]+";
      number_done = true;
    } else {
      pattern += host[i] == '.' ? std::string("\\.") : std::string(1, host[i]);
    }
  }
  return pattern;
}

JsonObjectBuilder detect_part(const ClusterFacts& facts, const ProfileGenerationInput& request,
                              const std::string& source) {
  JsonObjectBuilder detect, variables;
  const auto cluster = util::to_lower(facts.config.cluster);
  for (const auto& [name, value] : request.env.variables()) {
    // Slurm's own variables exist in jobs only, and those of a user's shell say nothing of the cluster.
    static const std::set<std::string> k_personal = {
        "USER",           "LOGNAME",  "HOME", "PWD", "OLDPWD", "SLURM_CLUSTER_NAME",
        "SLURM_CLUSTERS", "HOSTNAME", "HOST"};
    if (cluster.empty() || util::to_lower(value) != cluster || !is_name(value) || k_personal.contains(name))
      continue;
    if (config::text_fault(name, config::TextRule::variable).empty()) variables.put(name, "^" + value + "$");
  }
  std::vector<std::string> patterns;
  for (const auto& host : request.host_names)
    // A short name such as login1 would recognise other clusters as well.
    if (host.find('.') != std::string::npos && is_name(host)) patterns.push_back(host_pattern(host));
  if (!variables.empty()) detect.put("env", std::move(variables));
  if (!patterns.empty()) detect.put("hostnames", json_texts(patterns));
  if (!detect.empty()) detect.put("source", source);
  return detect;
}

JsonObjectBuilder flag_part(const model::SbatchOptionRule& rule) {
  JsonObjectBuilder flag;
  flag.put("policy", rule.policy == model::OptionPolicy::required    ? "required"
                     : rule.policy == model::OptionPolicy::forbidden ? "forbidden"
                                                                     : "optional");
  if (!rule.when.partitions.empty())
    flag.put("when", JsonObjectBuilder().put("partitions", json_texts(rule.when.partitions)));
  if (!rule.why.empty()) flag.put("why", rule.why);
  return flag;
}

JsonObjectBuilder flags_part(const ClusterFacts& facts, const ProfileGenerationInput& request,
                             const std::string& source) {
  auto rules = request.trials.flags;
  const auto require = [&](const char* name, const char* why) {
    if (rules.contains(name)) return;
    rules[name].policy = model::OptionPolicy::required;
    rules[name].why = why;
  };
  const bool has_default = std::any_of(facts.partitions.begin(), facts.partitions.end(),
                                       [](const auto& partition) { return partition.is_default; });
  if (!has_default) require("partition", "this Slurm has no default partition");
  if (needs_account(facts))
    require("account", "this Slurm starts no job without an account, and there is no default one");
  JsonObjectBuilder flags;
  for (const auto& [name, rule] : rules) flags.put(name, flag_part(rule));
  if (!flags.empty()) flags.put("source", source);
  return flags;
}

/// The QoS that partitions or the user's associations name, with their limits.
config::JsonNode qos_part(const ClusterFacts& facts, const std::string& source) {
  std::set<std::string> named;
  for (const auto& partition : facts.partitions)
    named.insert(partition.allow_qos.begin(), partition.allow_qos.end());
  if (facts.accounts)
    for (const auto& association : facts.accounts->associations)
      named.insert(association.qos.begin(), association.qos.end());
  std::vector<config::JsonNode> list;
  for (const auto& [name, record] : facts.qos) {
    if (!named.contains(name) || !is_name(name)) continue;
    std::vector<std::string> partitions;
    for (const auto& partition : facts.partitions)
      if (std::find(partition.allow_qos.begin(), partition.allow_qos.end(), name) !=
              partition.allow_qos.end() &&
          is_name(partition.name))
        partitions.push_back(partition.name);
    JsonObjectBuilder qos;
    qos.put("name", name);
    if (!partitions.empty()) qos.put("partitions", json_texts(partitions));
    if (record.max_wall) qos.put("max_time", record.max_wall->to_slurm());
    if (record.max_nodes_per_job && *record.max_nodes_per_job > 0)
      qos.put("max_nodes", json_number(*record.max_nodes_per_job));
    if (record.min_gpus_per_job && *record.min_gpus_per_job > 0)
      qos.put("min_gpus", json_number(*record.min_gpus_per_job));
    list.push_back(qos.put("source", source).node());
  }
  return json_list(std::move(list));
}

/// The engine in PATH or, where there is none, the module that has it.
config::JsonNode containers_part(const ClusterFacts& facts, model::GpuVendor vendor,
                                 const std::string& source) {
  for (const auto& engine : model::engine_programs()) {
    std::string module;
    for (const auto& name : facts.modules) {
      const auto parts = util::split(name, '/');
      const bool fits = std::find(parts.begin(), parts.end(), engine) != parts.end() &&
                        is_name(util::replace_all(name, "/", "-"));
      if (fits && (module.empty() || parts.front() == engine)) module = name;
    }
    const bool is_installed =
        std::find(facts.programs.begin(), facts.programs.end(), engine) != facts.programs.end();
    if (!is_installed && module.empty()) continue;
    JsonObjectBuilder container;
    container.put("engine", engine);
    if (vendor != GpuVendor::unknown)
      container.put("gpu_flag",
                    model::word_of(vendor == GpuVendor::nvidia ? model::ContainerGpuOption::nv
                                                               : model::ContainerGpuOption::rocm));
    if (!is_installed) container.put("modules", json_texts({module}));
    return json_list({container.put("source", source).node()});
  }
  return json_list({});
}

std::vector<std::string> unknown_facts(const ClusterFacts& facts, const std::vector<NodeKind>& kinds,
                                       const ProfileGenerationInput& request) {
  std::vector<std::string> list;
  const bool tried = request.trials.requests > 0 && request.trials.why_not.empty();
  if (tried) list.emplace_back("flags: rules for other options and larger jobs than the tested ones");
  for (const auto& plugin : facts.config.submit_plugins)
    if (!tried)
      list.push_back(fmt::format(
          "flags: what the site's own rules (JobSubmitPlugins={}) reject, which Slurm does not show",
          plugin));
  if (std::none_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) { return kind.gpus > 0; }) &&
      request.topologies.empty())
    list.emplace_back("node_types: gpu: this Slurm lists no GPUs");
  for (const auto& kind : kinds) {
    const auto at = fmt::format("node_types {}: ", kind.id);
    if (kind.arch.empty()) list.push_back(fmt::format("{}cpu_arch: no node of this type has registered", at));
    if (kind.gpus > 0 && !request.topologies.contains(kind.id))
      list.push_back(fmt::format("{}cpu.numa, cpu.l3, gpu.places: read them from one node's topology", at));
    const auto seen = request.topologies.find(kind.id);
    const bool seen_vendor = seen != request.topologies.end() && seen->second.gpu &&
                             seen->second.gpu->vendor != GpuVendor::unknown;
    if (kind.gpus > 0 && !seen_vendor && gpu_vendor(facts, kind).vendor == GpuVendor::unknown)
      list.push_back(fmt::format("{}gpu.vendor: its GRES type does not show it", at));
  }
  if (detect_part(facts, request, {}).empty())
    list.emplace_back("detect: neither a variable nor a full host name identifies this cluster");
  for (const char* fact :
       {"network (interfaces, internet on compute nodes)", "env (settings of NCCL or RCCL)", "gpu_visibility",
        "python", "node_types: local_disk"})
    list.emplace_back(fact);
  for (const auto& missing : facts.unanswered)
    list.push_back(fmt::format("not queried: {}", missing.sentence()));
  // Commands say what they like; a profile takes one plain line.
  for (auto& line : list)
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = ' ';
  return list;
}

std::string list_source(const ClusterFacts& facts, const ProfileGenerationInput& request) {
  return fmt::format("discovered on {} by scontrol show partition, node, config{}{} of cluster {}{}",
                     request.date, facts.accounts || !facts.qos.empty() ? "; sacctmgr" : "",
                     facts.modules.empty() ? "" : "; module avail", make_site_id(facts.config.cluster),
                     request.host_names.empty() || !is_name(request.host_names.front())
                         ? ""
                         : fmt::format(" on {}", request.host_names.front()));
}

} // namespace

std::string make_site_id(const std::string& cluster_name) {
  std::string id;
  for (const char c : util::to_lower(cluster_name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (plain && !(id.empty() && (c == '-' || c == '.'))) id += c;
  }
  return id.empty() ? "cluster" : id;
}

bool needs_account(const ClusterFacts& facts) {
  const auto& enforced = facts.config.enforced;
  const bool associations = std::any_of(enforced.begin(), enforced.end(), [](const std::string& word) {
    return word == "associations" || word == "limits" || word == "qos" ||
           word == "safe"; // the last three imply the first
  });
  return associations && facts.accounts && facts.accounts->default_account.empty();
}

PartitionLimits find_limits(const slurm::PartitionRecord& partition,
                            const std::map<std::string, slurm::QosRecord>& qos) {
  PartitionLimits limits{partition.max_time, partition.max_nodes, {}};
  const auto found = qos.find(partition.qos);
  if (partition.qos.empty() || found == qos.end()) return limits;
  const auto& own = found->second;
  if (own.max_wall && (!limits.max_time || *own.max_wall < *limits.max_time)) {
    limits.max_time = own.max_wall;
    limits.note = fmt::format("max_time is that of its QoS {}", partition.qos);
  }
  if (own.max_nodes_per_job && (!limits.max_nodes || *own.max_nodes_per_job < *limits.max_nodes)) {
    limits.max_nodes = own.max_nodes_per_job;
    limits.note +=
        (limits.note.empty() ? "" : "; ") + std::string("max_nodes is that of its QoS ") + partition.qos;
  }
  return limits;
}

namespace {

JsonObjectBuilder gpu_request_part(const std::vector<NodeKind>& kinds, const ProfileGenerationInput& request,
                                   const std::string& source) {
  const bool gpus =
      std::any_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) { return kind.gpus > 0; });
  const auto style = request.trials.gpu_style.value_or(gpus ? model::GpuOptionStyle::gpus_per_node
                                                            : model::GpuOptionStyle::none);
  return JsonObjectBuilder()
      .put("style", model::word_of(style))
      .put("type", request.trials.gpu_type_required ? "required" : "optional")
      .put("source", source);
}

} // namespace

GeneratedProfile make_profile(const ClusterFacts& facts, const std::vector<NodeKind>& kinds,
                              const ProfileGenerationInput& request) {
  GeneratedProfile profile;
  profile.id = request.id.empty() ? make_site_id(facts.config.cluster) : request.id;
  const std::string source = "discovered";
  JsonObjectBuilder root, sources;
  root.put("schema", json_number(1))
      .put("id", profile.id)
      .put("name", fmt::format("{} (found from its Slurm)", make_site_id(facts.config.cluster)));
  sources.put(source,
              JsonObjectBuilder().put("url", list_source(facts, request)).put("checked", request.date));
  if (!request.topologies.empty())
    sources.put("topology",
                JsonObjectBuilder().put("url", request.topology_source).put("checked", request.date));
  root.put("sources", std::move(sources));
  if (auto detect = detect_part(facts, request, source); !detect.empty())
    root.put("detect", std::move(detect));
  if (is_name(facts.config.version))
    root.put("slurm_version", JsonObjectBuilder().put("value", facts.config.version).put("source", source));
  if (auto flags = flags_part(facts, request, source); !flags.empty()) root.put("flags", std::move(flags));
  root.put("gpu_request", gpu_request_part(kinds, request, source));
  root.put("launchers",
           json_list({JsonObjectBuilder().put("name", "srun").put("default", json_flag(true)).node()}));
  root.put("binding", "launch").put("interactive", "salloc");
  std::vector<config::JsonNode> types, partitions;
  for (const auto& kind : kinds) types.push_back(make_node_type(facts, kind, request, source));
  for (const auto& partition : facts.partitions) {
    if (!is_name(partition.name))
      profile.left_out.push_back(fmt::format("partition \"{}\": a profile cannot name it", partition.name));
    else if (partition.root_only)
      profile.left_out.push_back(fmt::format("partition {}: only root can use it", partition.name));
    else
      partitions.push_back(make_partition(facts, partition, kinds, request, source));
  }
  root.put("node_types", json_list(std::move(types))).put("partitions", json_list(std::move(partitions)));
  if (auto qos = qos_part(facts, source); !qos.items.empty()) root.put("qos", std::move(qos));
  auto vendor = GpuVendor::unknown;
  for (const auto& kind : kinds)
    if (vendor == GpuVendor::unknown && kind.gpus > 0) vendor = gpu_vendor(facts, kind).vendor;
  if (auto containers = containers_part(facts, vendor, source); !containers.items.empty())
    root.put("containers", std::move(containers));
  root.put("unknown", json_texts(unknown_facts(facts, kinds, request)));
  profile.text = render_readable(root.node());
  return profile;
}

} // namespace hpcml::discover
