// SPDX-License-Identifier: MIT
#include "spec/site_reader.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>

#include "spec/object_reader.hpp"
#include "spec/site_parts.hpp"
#include "util/text.hpp"

namespace hpcml::spec {

namespace {

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto year = util::parse_unsigned(text.substr(0, 4)), month = util::parse_unsigned(text.substr(5, 2)),
             day = util::parse_unsigned(text.substr(8, 2));
  if (!year || !month || !day) return false;
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                     std::chrono::month(static_cast<unsigned>(*month)),
                                     std::chrono::day(static_cast<unsigned>(*day)))
      .ok();
}

void read_sources(ObjectReader& root, ReadContext& context, model::Site& site) {
  root.each_member("sources", [&](const std::string& id, ObjectReader& object) {
    object.require("url", "where the source can be read");
    object.require("checked", "the day on which the source was read, YYYY-MM-DD");
    model::Source source{id, object.text("url").value_or(""), object.text("checked").value_or("")};
    if (!source.checked.empty() && !is_date(source.checked))
      object.report_value("checked", "a date is written YYYY-MM-DD");
    context.sources[id] = {source.url, source.checked};
    site.sources.push_back(std::move(source));
  });
}

/// Every "source" must be one of the ids in `sources`.
void check_sources(const JsonNode& node, ReadContext& context) {
  if (node.is(JsonKind::object)) {
    if (const auto* source = node.find("source");
        source && source->is(JsonKind::string) && !context.sources.contains(source->text)) {
      std::vector<std::string> ids;
      for (const auto& [id, about] : context.sources) ids.push_back(id);
      const auto near = util::nearest(source->text, ids);
      context.report("source", fmt::format("no source has the id \"{}\"", source->text), source->place,
                     near ? fmt::format("did you mean \"{}\"?", *near)
                          : "add it to \"sources\" with its url and the day it was read");
    }
    for (const auto& member : node.members) check_sources(member.value, context);
  }
  for (const auto& item : node.items) check_sources(item, context);
}

/// Also texts for people must not move the cursor of a terminal or hide what they say.
void check_texts(const JsonNode& node, ReadContext& context) {
  const auto check = [&](std::string_view text, const JsonPlace& place) {
    const auto fault = text_fault(text, TextRule::line);
    const bool said =
        std::any_of(context.diagnostics.begin(), context.diagnostics.end(), [&](const diag::Diagnostic& d) {
          return d.span.line == place.line && d.span.column == place.column &&
                 d.span.file == place.span().file;
        });
    if (!fault.empty() && !said)
      context.report("value", fmt::format("this text {}", fault), place,
                     std::string(text_hint(TextRule::line)));
  };
  if (node.is(JsonKind::string)) check(node.text, node.place);
  for (const auto& member : node.members) {
    check(member.key, member.place);
    check_texts(member.value, context);
  }
  for (const auto& item : node.items) check_texts(item, context);
}

void read_state(ObjectReader& root, model::Site& site) {
  using model::SiteState;
  auto state = root.object("state");
  if (!state) return;
  state.require("is", "production, early or retired");
  site.state = state.choice<SiteState>("is").value_or(site.state);
  site.retired_on = state.text("retired_on").value_or("");
  if (!site.retired_on.empty() && !is_date(site.retired_on))
    state.report_value("retired_on", "a date is written YYYY-MM-DD");
  site.until = state.text("until").value_or("");
  if (!site.until.empty() && !is_date(site.until))
    state.report_value("until", "a date is written YYYY-MM-DD");
  site.successor = state.text("successor", TextRule::name).value_or("");
  site.state_origin = state.origin("is");
  state.finish();
}

void read_detect(ObjectReader& root, model::Site& site) {
  auto detect = root.object("detect");
  if (!detect) return;
  site.detect.env = detect.text_map("env", TextRule::variable, TextRule::line);
  site.detect.hostnames = detect.texts("hostnames");
  for (const auto& [name, pattern] : site.detect.env) is_pattern(detect, "env", pattern);
  for (const auto& pattern : site.detect.hostnames) is_pattern(detect, "hostnames", pattern);
  detect.finish();
}

using Names = std::map<std::string, std::set<std::string>>; // "partitions" -> the site's

/// The names in conditions and lists that refer to partitions, node types and QoS must be the site's.
void check_references(const JsonNode& node, const Names& names, ReadContext& context) {
  for (const auto& member : node.members) {
    const auto known = names.find(member.key);
    for (const auto& item : unwrapped(member.value).items) {
      if (known == names.end() || !item.is(JsonKind::string) || known->second.contains(item.text)) continue;
      const auto near = util::nearest(item.text, {known->second.begin(), known->second.end()});
      const std::string_view what = member.key == "qos"          ? "QoS"
                                    : member.key == "partitions" ? "partition"
                                                                 : "node type";
      context.report("value", fmt::format("the site has no {} \"{}\"", what, item.text), item.place,
                     near ? fmt::format("did you mean \"{}\"?", *near) : "");
    }
    check_references(member.value, names, context);
  }
  for (const auto& item : node.items) check_references(item, names, context);
}

/// A time that no partition takes would refuse every job that gives none.
void check_default_time(ObjectReader& root, const model::Site& site) {
  const auto rule = site.flags.find("time");
  const auto time = rule == site.flags.end() ? util::Result<model::Walltime>(util::Error{})
                                             : model::Walltime::parse(rule->second.default_value);
  if (!time || site.partitions.empty()) return;
  if (std::all_of(site.partitions.begin(), site.partitions.end(), [&](const auto& partition) {
        return partition.max_time && partition.max_time->value < *time;
      }))
    root.report_value("flags", fmt::format("flags.time.default is {}, more than the limit of every partition",
                                           time->to_slurm()));
}

/// What only shows when the parts are seen together.
void check_whole(ObjectReader& root, const JsonNode& profile, const model::Site& site, ReadContext& context) {
  Names names;
  const auto unique = [&](std::string_view key, const std::string& name, std::string_view what) {
    if (!names[std::string(key)].insert(name).second)
      root.report_value(key, fmt::format("two {} \"{}\"", what, name));
  };
  unsigned defaults = 0;
  for (const auto& node : site.node_types) unique("node_types", node.id, "node types have the id");
  for (const auto& qos : site.qos) unique("qos", qos.name, "QoS have the name");
  for (const auto& partition : site.partitions) {
    unique("partitions", partition.name, "partitions have the name");
    defaults += partition.is_default ? 1 : 0;
  }
  if (defaults > 1) root.report_value("partitions", "more than one partition is the default");
  check_default_time(root, site);
  for (const auto* key : {"node_types", "qos", "partitions"}) names[key];
  check_references(profile, names, context);
}

} // namespace

std::string hash_of(const JsonNode& profile) { return util::hex16(util::fnv1a(render_canonical(profile))); }

SiteRead read_site(const JsonNode& profile, const std::string& file, ReadCheck check, std::string hash) {
  ReadContext context;
  context.checks = check == ReadCheck::whole;
  model::Site site;
  ObjectReader root(context, &profile, "");
  for (const auto* key : {"$schema", "schema", "extends", "abstract"}) root.raw(key);
  root.require("id", "the name people give to --site; the file is called ID.json");
  site.id = root.text("id", TextRule::name).value_or("");
  site.name = root.text("name").value_or(site.id);
  site.file = file;
  site.hash = hash.empty() ? hash_of(profile) : std::move(hash);
  read_sources(root, context, site);
  if (check == ReadCheck::whole) check_sources(profile, context);
  read_state(root, site);
  read_detect(root, site);
  site.login_arch = root.choice<model::CpuArch>("login_arch").value_or(site.login_arch);
  read_submit(root, site);
  site.scheduler = root.choice<model::Scheduler>("scheduler").value_or(site.scheduler);
  site.slurm_version = root.known("slurm_version", root.text("slurm_version", TextRule::name));
  read_request_rules(root, site);
  read_launchers(root, site);
  read_environment(root, site);
  read_software(root, site);
  read_network(root, site);
  root.each("node_types", [&](ObjectReader& object) { site.node_types.push_back(read_node_type(object)); });
  root.each("partitions", [&](ObjectReader& object) { site.partitions.push_back(read_partition(object)); });
  root.each("qos", [&](ObjectReader& object) { site.qos.push_back(read_qos(object)); });
  read_storage(root, site);
  read_policies(root, site);
  site.unknown = root.texts("unknown");
  root.finish();
  if (check == ReadCheck::whole) {
    check_whole(root, profile, site, context);
    check_texts(profile, context);
  }

  SiteRead result;
  result.diagnostics = std::move(context.diagnostics);
  if (!diag::has_errors(result.diagnostics)) result.site = std::move(site);
  return result;
}

} // namespace hpcml::spec
