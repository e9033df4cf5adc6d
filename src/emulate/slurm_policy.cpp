// SPDX-License-Identifier: MIT
#include "emulate/slurm_policy.hpp"

#include <algorithm>

#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

/// Writes a Lua table: `name = value, ` pieces between braces.
class LuaTable {
public:
  LuaTable& text(const std::string& key, std::string_view value) { return raw(key, lua_quote(value)); }
  LuaTable& number(const std::string& key, long long value) { return raw(key, std::to_string(value)); }
  LuaTable& flag(const std::string& key, bool value) { return raw(key, value ? "true" : "false"); }
  LuaTable& raw(const std::string& key, const std::string& value) {
    x_body += "[" + lua_quote(key) + "]=" + value + ", ";
    return *this;
  }
  LuaTable& item(const std::string& value) {
    x_body += value + ", ";
    return *this;
  }
  std::string render() const { return "{" + x_body + "}"; }

private:
  std::string x_body;
};

std::string text_list(const std::vector<std::string>& values) {
  LuaTable list;
  for (const auto& value : values) list.item(lua_quote(value));
  return list.render();
}

std::string policy_name(const std::string& option, model::Policy policy) {
  // sbatch takes what is discouraged; partitions that nobody is to name are stand-ins here, which the site
  // does not have.
  if (policy == model::Policy::discouraged)
    policy = option == "partition" ? model::Policy::forbidden : model::Policy::optional;
  return model::word_of(policy == model::Policy::srun_only ? model::Policy::forbidden
                                                           : policy); // sbatch refuses it
}

std::string when_table(const model::When& when) {
  LuaTable table;
  if (when.min_nodes) table.number("min_nodes", *when.min_nodes);
  if (when.max_nodes) table.number("max_nodes", *when.max_nodes);
  if (when.gpus) table.flag("gpus", *when.gpus);
  if (!when.partitions.empty()) table.raw("partitions", text_list(when.partitions));
  return table.render();
}

std::string flags_table(const model::Site& site) {
  LuaTable list;
  const auto add = [&](const std::string& name, const model::FlagRule& rule) {
    // What depends on the launcher, a container or the kind of node is not in a submission: Slurm cannot
    // judge it, nor does the site's.
    const model::When& when = rule.when;
    if (!when.launchers.empty() || when.container || !when.node_types.empty() || !when.gpu_types.empty() ||
        !when.qos.empty() || when.min_gpus || when.max_gpus || when.whole_nodes)
      return;
    LuaTable one;
    one.text("flag", name).text("policy", policy_name(name, rule.policy));
    if (!rule.pattern.empty()) one.text("pattern", rule.pattern);
    if (!rule.pattern_hint.empty()) one.text("hint", rule.pattern_hint);
    if (!rule.why.empty()) one.text("why", rule.why);
    list.item(one.raw("when", when_table(rule.when)).render() + "\n   ");
  };
  for (const auto& [name, rule] : site.flags) {
    // Several rules for one option hold one after the other, which these independent ones cannot say.
    if (rule.more.empty()) add(name, rule);
  }
  return list.render();
}

long long whole_minutes(const model::Walltime& time) { return time.seconds().count() / 60; }

std::string partitions_table(const model::Site& site, const ClusterLayout& layout) {
  LuaTable table;
  for (const auto& partition : site.partitions) {
    LuaTable one;
    const auto& types = partition.node_types;
    one.number("running", std::count_if(layout.nodes.begin(), layout.nodes.end(), [&](const auto& node) {
                 return std::find(types.begin(), types.end(), node.type->id) != types.end();
               }));
    one.flag("nameable", partition.nameable);
    if (partition.max_nodes) one.number("max_nodes", partition.max_nodes->value);
    if (partition.max_time) one.number("max_time", whole_minutes(partition.max_time->value));
    if (partition.min_time) one.number("min_time", whole_minutes(partition.min_time->value));
    LuaTable limits;
    for (const auto& limit : partition.max_time_by_nodes)
      limits.item(LuaTable()
                      .number("min_nodes", limit.min_nodes)
                      .number("max_nodes", limit.max_nodes)
                      .number("time", whole_minutes(limit.time))
                      .render());
    one.raw("by_nodes", limits.render());
    table.raw(partition.name, one.render() + "\n   ");
  }
  return table.render();
}

/// The partition of each QoS, where the site and not the job names it.
std::string routes_table(const model::Site& site) {
  LuaTable table;
  for (const auto& qos : site.qos)
    for (const auto& name : qos.partitions)
      if (const auto* partition = site.find_partition(name); partition && !partition->nameable) {
        table.text(qos.name, name);
        break;
      }
  return table.render();
}

/// Slurm's name for each other name of GPUs and their parts.
std::string names_table(const model::Site& site) {
  std::map<std::string, std::string> names;
  for (const auto& type : site.node_types) {
    if (!type.gpu) continue;
    for (const auto& alias : type.gpu->aliases)
      if (!type.gpu->slurm_type.empty()) names.emplace(alias, type.gpu->slurm_type);
    for (const auto& slice : type.gpu->slices)
      for (const auto& alias : slice.aliases) names.emplace(alias, slice.name);
  }
  for (const auto& type : site.node_types)
    if (type.gpu) names.erase(type.gpu->slurm_type);
  LuaTable table;
  for (const auto& [alias, name] : names) table.text(alias, name);
  return table.render();
}

std::string gpu_table(const model::Site& site, const ClusterLayout& layout) {
  LuaTable table;
  // Which of several rules holds is not seen in a submission.
  const bool one_rule = site.gpu_request.more.empty();
  table.text("type", one_rule ? policy_name("gpus", site.gpu_request.type) : "optional");
  table.text("style", model::word_of(site.gpu_request.style));
  if (layout.type->gpu) table.text("name", layout.type->gpu->slurm_type);
  LuaTable counts;
  for (const unsigned count : site.gpu_request.allowed_counts)
    if (one_rule) counts.item(std::to_string(count));
  return table.raw("counts", counts.render()).render();
}

} // namespace

std::string lua_quote(std::string_view text) {
  static constexpr char k_digits[] = "0123456789";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127 && c != '"' && c != '\\') {
      quoted += c;
      continue;
    }
    quoted += '\\';
    quoted += k_digits[byte / 100];
    quoted += k_digits[byte / 10 % 10];
    quoted += k_digits[byte % 10];
  }
  return quoted + "\"";
}

std::string render_policy_table(const model::Site& site, const ClusterLayout& layout) {
  LuaTable table;
  table.text("site", site.short_name()).text("site_id", site.id).flag("whole_site", layout.is_whole_site());
  table.text("partition",
             layout.default_partition.empty() ? layout.partition->name : layout.default_partition);
  table.raw("flags", "\n   " + flags_table(site));
  table.raw("partitions", "\n   " + partitions_table(site, layout));
  table.raw("routes", routes_table(site));
  table.raw("gpu", gpu_table(site, layout));
  return table.render();
}

std::string make_cli_filter(const model::Site& site) {
  return "local names = " + names_table(site) + "\n" + std::string(stand_in_text("cli_filter.lua"));
}

std::string make_job_policy(const model::Site& site, const ClusterLayout& layout) {
  return "local policy = " + render_policy_table(site, layout) + "\n" +
         std::string(stand_in_text("job_submit.lua"));
}

} // namespace hpcml::emulate
