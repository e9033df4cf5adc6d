// SPDX-License-Identifier: MIT
#include "emulate/submitted_job.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/site_rules/site_rule_table.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/slurm/script_header.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {
namespace {

using site_rules::PolicyViolation;

/// A number that is set: Slurm's "no value" is the type's largest but one.
std::optional<unsigned long long> number_of(const SubmittedFields& fields, std::string_view name) {
  static constexpr std::array<unsigned long long, 3> c_unset = {65534, 4294967294, 1ULL << 63};
  const auto found = fields.find(name);
  const auto number = found == fields.end() ? std::nullopt : util::parse_unsigned(found->second);
  if (!number || *number == c_unset[0] || *number == c_unset[1] || *number >= c_unset[2]) return std::nullopt;
  return *number;
}

std::string text_of(const SubmittedFields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

/// "gpu:a100:2" of "gres:gpu:a100:2" and "gres/gpu:a100:2".
std::string tres_text(const SubmittedFields& fields, std::string_view name) {
  auto items = util::split(text_of(fields, name), ',');
  for (auto& item : items)
    if (item.starts_with("gres:") || item.starts_with("gres/")) item.erase(0, 5);
  return util::join(items, ",");
}

/// Without the "gpu:" that --gpus and its kin omit.
std::string gpus_text(const std::string& tres) {
  if (tres == "gpu") return "1";
  return tres.starts_with("gpu:") ? tres.substr(4) : tres;
}

/// The last of these options in the script's directives; nothing if there is none.
std::optional<slurm::OptionSetting> find_directive(const SubmittedFields& fields,
                                                   std::initializer_list<std::string_view> options) {
  const auto script = text_of(fields, "script");
  slurm::LocatedFindings ignored("", script);
  const auto header = slurm::read_header(script, slurm::k_newest_version, ignored);
  for (const auto& component : slurm::read_settings(header, {}, slurm::k_newest_version, ignored))
    for (auto letter = component.rbegin(); letter != component.rend(); ++letter)
      if (std::find(options.begin(), options.end(), letter->option) != options.end()) return *letter;
  return std::nullopt;
}

/// True if GPUs were requested with --gres. Slurm keeps --gres and --gpus-per-node in one field: the script
/// shows which it was, else the site's usual form decides.
bool is_gres(const model::Site& site, const SubmittedFields& fields, const std::string& value) {
  if (const auto directive = find_directive(fields, {"gres", "gpus-per-node"}))
    return directive->option == "gres";
  const bool other_gres = !value.starts_with("gpu");
  return other_gres || site.gpu_request.style != model::GpuOptionStyle::gpus_per_node;
}

/// The value of --nodes; empty if none is given.
std::string nodes_text(const SubmittedFields& fields) {
  const auto least = number_of(fields, "min_nodes"), most = number_of(fields, "max_nodes");
  if (!least) return {};
  return std::to_string(*least) + (most && *most > *least ? "-" + std::to_string(*most) : "");
}

/// The value of --export. sbatch sends a job's whole environment for ALL, as it does without the option.
std::string export_text(const SubmittedFields& fields) {
  auto value = text_of(fields, "export");
  if (value.empty())
    if (const auto directive = find_directive(fields, {"export"})) value = directive->value.value_or("");
  return value;
}

/// True if --overcommit was given, which Slurm does not pass to its filters: only with it does sbatch request
/// fewer CPUs than the tasks need.
bool is_overcommitted(const SubmittedFields& fields) {
  const auto cpus = number_of(fields, "min_cpus"), tasks = number_of(fields, "num_tasks");
  return cpus && tasks && *cpus > 0 && *cpus < *tasks * number_of(fields, "cpus_per_task").value_or(1);
}

/// The options of sbatch that make such a job.
std::vector<slurm::OptionSetting> settings_of(const model::Site& site, const SubmittedFields& fields) {
  std::vector<slurm::OptionSetting> settings;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) settings.push_back({option, value});
  };
  const auto add_number = [&](const char* option, const char* field) {
    if (const auto number = number_of(fields, field)) add(option, std::to_string(*number));
  };
  for (const auto& [option, field] : {std::pair{"account", "account"},
                                      {"partition", "partition"},
                                      {"qos", "qos"},
                                      {"nodelist", "req_nodes"},
                                      {"exclude", "exc_nodes"},
                                      {"constraint", "features"},
                                      {"reservation", "reservation"},
                                      {"array", "array_inx"},
                                      {"dependency", "dependency"},
                                      {"comment", "comment"},
                                      {"licenses", "licenses"}})
    add(option, text_of(fields, field));
  for (const auto& [option, field] : {std::pair{"time", "time_limit"},
                                      {"time-min", "time_min"},
                                      {"ntasks", "num_tasks"},
                                      {"ntasks-per-node", "ntasks_per_node"},
                                      {"ntasks-per-gpu", "ntasks_per_gpu"},
                                      {"cpus-per-task", "cpus_per_task"},
                                      {"mincpus", "pn_min_cpus"},
                                      {"sockets-per-node", "sockets_per_node"},
                                      {"cores-per-socket", "cores_per_socket"},
                                      {"threads-per-core", "threads_per_core"},
                                      {"tmp", "pn_min_tmp_disk"},
                                      {"mem", "pn_min_memory"},
                                      {"mem-per-cpu", "min_mem_per_cpu"}})
    add_number(option, field);
  add("export", export_text(fields));
  add("nodes", nodes_text(fields));
  if (is_overcommitted(fields)) settings.push_back({"overcommit", std::nullopt});
  add("cpus-per-gpu", gpus_text(tres_text(fields, "cpus_per_tres")));
  add("mem-per-gpu", gpus_text(tres_text(fields, "mem_per_tres")));
  const auto per_node = tres_text(fields, "tres_per_node");
  if (is_gres(site, fields, per_node))
    add("gres", per_node);
  else
    add("gpus-per-node", gpus_text(per_node));
  add("gpus", gpus_text(tres_text(fields, "tres_per_job")));
  add("gpus-per-task", gpus_text(tres_text(fields, "tres_per_task")));
  add("gpus-per-socket", gpus_text(tres_text(fields, "tres_per_socket")));
  if (text_of(fields, "shared") == "0") settings.push_back({"exclusive", std::nullopt});
  return settings;
}

/// True if the site's job filter rejects the job for this violation. What slurm.conf has of the profile,
/// Slurm enforces itself.
bool is_enforced(const PolicyViolation& violation, const site_rules::ResolvedPlacement& placement) {
  using site_rules::JobFilterRejectionThreshold;
  const auto* partition = placement.partition();
  const bool by_partition = violation.owner.starts_with("partition ");
  const bool definite = violation.certainty == site_rules::Confidence::definite;
  switch (site_rules::row_of(violation.rule).rejection_scope) {
  case JobFilterRejectionThreshold::none: return false;
  case JobFilterRejectionThreshold::all: return true;
  case JobFilterRejectionThreshold::definite: return definite;
  case JobFilterRejectionThreshold::definite_or_likely:
    return violation.certainty != site_rules::Confidence::advisory;
  case JobFilterRejectionThreshold::beyond_slurm_conf: return definite && !by_partition;
  case JobFilterRejectionThreshold::beyond_slurm_conf_time:
    return definite &&
           (!by_partition || !partition->max_time_by_nodes.empty() || !partition->max_time_by_gpus.empty());
  }
  return false;
}

/// The emulated nodes that are in the partition.
unsigned count_running(const ClusterLayout& layout, const model::Partition& partition) {
  return static_cast<unsigned>(std::count_if(layout.nodes.begin(), layout.nodes.end(), [&](const auto& node) {
    return util::contains(partition.node_types, node.type->id);
  }));
}

/// Jobs that the emulated part of the site could never start would wait for ever.
void evaluate_size(const model::Site& site, const ClusterLayout& layout,
                   const site_rules::ResourceRequest& demand, const model::Partition& partition,
                   std::vector<std::string>& refusals) {
  if (layout.is_whole_site()) return; // nothing starts there, and Slurm knows how many nodes there are
  if (partition.max_nodes && demand.nodes > partition.max_nodes->value) return; // Slurm refuses it by itself
  const auto running = count_running(layout, partition);
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    refusals.push_back(fmt::format("{}: {}", site.short_name(), what));
    refusals.push_back("hint: " + hint);
  };
  if (running == 0)
    refuse(
        fmt::format("the nodes of partition {} are not emulated, so this job cannot start", partition.name),
        fmt::format("use hpcml emulate --site {} --partition {}", site.id, partition.name));
  else if (demand.nodes > running)
    refuse(fmt::format("the {} nodes of the job exceed the emulated nodes ({}), so it cannot start",
                       demand.nodes, running),
           fmt::format("use hpcml emulate --site {} --nodes {}", site.id, demand.nodes));
}

} // namespace

util::Result<SubmittedFields> parse_submission(std::string_view text) {
  SubmittedFields fields;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto space = line.find(' ');
    const auto length = space == line.npos ? std::nullopt : util::parse_unsigned(line.substr(space + 1));
    if (!length || text.size() - line.size() < *length + 2)
      return util::Error{
          "cannot check the job that was submitted to the emulated cluster: its data is incomplete",
          "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
    fields.emplace(line.substr(0, space), text.substr(line.size() + 1, *length));
    text.remove_prefix(line.size() + *length + 2);
  }
  return fields;
}

JobAdmission evaluate_submission(const model::Site& site, const ClusterLayout& layout,
                                 const SubmittedFields& fields) {
  JobAdmission admission;
  slurm::LocatedFindings ignored("", "");
  const auto request = slurm::make_request(settings_of(site, fields), slurm::k_newest_version, ignored);
  auto demand = site_rules::demand_of(
      request, slurm::size_job(request, slurm::k_newest_version, slurm::listed_nodes(request)));
  demand.stage = site_rules::RequestStage::submitted;
  const auto placement = site_rules::place(site, demand);
  auto partitions = placement.partitions;
  if (demand.partitions.empty()) {
    const auto* chosen = placement.partition();
    // Where the profile does not state the job's place, or the site would choose one that is not emulated,
    // the job gets the emulated nodes.
    if (chosen && (chosen->nameable || count_running(layout, *chosen) > 0 || layout.is_whole_site())) {
      if (chosen->name != layout.default_partition) admission.partition = chosen->name;
    } else {
      const auto* usual = site.find_partition(layout.default_partition);
      partitions = {usual ? usual : layout.partition};
    }
  }
  for (const auto& violation : site_rules::evaluate_policy(site, placement, demand))
    if (is_enforced(violation, placement)) {
      admission.refusals.push_back(site_rules::describe(violation, site, placement, demand));
      if (violation.flag && !violation.flag->pattern_hint.empty())
        admission.refusals.push_back(
            fmt::format("hint: use --{}={}", violation.name, violation.flag->pattern_hint));
    }
  for (const auto* partition : partitions)
    evaluate_size(site, layout, demand, *partition, admission.refusals);
  return admission;
}

std::string render_admission(const JobAdmission& admission) {
  const bool taken = admission.refusals.empty();
  std::string text = taken ? "taken " + admission.partition + "\n" : "refused\n";
  for (const auto& sentence : admission.refusals) text += sentence + "\n";
  return text;
}

} // namespace hpcml::emulate
