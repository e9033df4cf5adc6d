// SPDX-License-Identifier: MIT
#include "core/config/site_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"
#include "core/config/unknown_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

/// Every "source" must be one of the ids in `sources`.
void check_source_id(const JsonNode& id, ReadContext& context) {
  if (context.sources.contains(id.text)) return;
  std::vector<std::string> ids;
  for (const auto& [known, about] : context.sources) ids.push_back(known);
  const auto near = util::nearest(id.text, ids);
  context.report(
      "source", fmt::format("the profile names the source \"{}\", which \"sources\" does not list", id.text),
      id.place,
      near ? fmt::format("use \"{}\" if that is meant", *near)
           : fmt::format("add \"{}\" to \"sources\" with its url and the day on which it was read", id.text));
}

bool is_reported(const ReadContext& context, const JsonSourceLocation& place) {
  return std::any_of(context.diagnostics.begin(), context.diagnostics.end(), [&](const diag::Diagnostic& d) {
    return d.location.line == place.line && d.location.column == place.column &&
           d.location.file == place.location().file;
  });
}

/// The members that any object may have: is_about() lists them.
void check_about_member(const JsonMember& member, ReadContext& context) {
  const auto& value = member.value;
  if (is_reported(context, value.place)) return; // other objects have members of the same name
  const auto kind = member.key == "alternatives" ? JsonKind::array : JsonKind::string;
  if (!value.is(kind))
    context.report(
        "type",
        fmt::format("\"{}\" of a value must be {}, not {}", member.key, name_of(kind), name_of(value.kind)),
        value.place, fmt::format("use {}", example_of(kind)));
  else if (member.key == "source")
    check_source_id(value, context);
  else if (member.key == "checked" && !is_date(value.text))
    context.report("value", k_date_fault, value.place);
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    ObjectReader discarded(context, &value.items[i], fmt::format("alternatives[{}]", i));
    for (const auto* key : {"value", "why"}) {
      discarded.require(key, "set a value that a source gives, and why it was not used");
      discarded.text(key);
    }
    discarded.finish();
  }
}

void check_about_members(const JsonNode& node, ReadContext& context) {
  for (const auto& member : node.members) {
    if (is_about(member.key)) check_about_member(member, context);
    check_about_members(member.value, context);
  }
  for (const auto& item : node.items) check_about_members(item, context);
}

/// Also texts for users must not move the cursor of a terminal or hide what they say.
void check_texts(const JsonNode& node, ReadContext& context) {
  const auto check = [&](std::string_view text, const JsonSourceLocation& place) {
    const auto fault = text_fault(text, TextRule::line);
    if (!fault.empty() && !is_reported(context, place))
      context.report("value", fmt::format("this text {}", fault), place, text_advice(TextRule::line));
  };
  if (node.is(JsonKind::string)) check(node.text, node.place);
  for (const auto& member : node.members) {
    check(member.key, member.place);
    check_texts(member.value, context);
  }
  for (const auto& item : node.items) check_texts(item, context);
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
      context.report(
          "value",
          fmt::format("the profile refers to the {} \"{}\", which it does not describe", what, item.text),
          item.place,
          near ? fmt::format("use \"{}\" if that is meant", *near)
               : fmt::format("add \"{}\" to \"{}\" of the profile, or remove it from this list", item.text,
                             member.key));
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
    root.report_value(
        "flags",
        fmt::format("flags.time.default is {}, which exceeds max_time of every partition", time->to_slurm()),
        "set a default that at least one partition accepts");
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
  if (defaults > 1)
    root.report_value("partitions", "the profile has more than one partition with \"default\": true",
                      "remove \"default\" from all partitions but one");
  check_default_time(root, site);
  for (const auto* key : {"node_types", "qos", "partitions"}) names[key];
  check_references(profile, names, context);
}

} // namespace

std::string hash_of(const JsonNode& profile) { return util::hex16(util::fnv1a(render_canonical(profile))); }

SiteReadResult read_site(const JsonNode& profile, const std::string& file, ProfileValidationTime mode,
                         std::string hash) {
  ReadContext context;
  context.checks = mode == ProfileValidationTime::whole;
  model::Site site;
  ObjectReader root(context, &profile, "");
  read_members(root, schema_of<model::Site>(), site);
  site.file = file;
  site.hash = hash.empty() ? hash_of(profile) : std::move(hash);
  root.finish();
  if (mode == ProfileValidationTime::whole) {
    check_about_members(profile, context);
    check_whole(root, profile, site, context);
    check_unknown_facts(profile, without_readers(schema_of<model::Site>()), context);
    check_texts(profile, context);
  }

  SiteReadResult result;
  result.diagnostics = std::move(context.diagnostics);
  if (!diag::has_errors(result.diagnostics)) result.site = std::move(site);
  return result;
}

} // namespace hpcml::config
