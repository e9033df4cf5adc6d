// SPDX-License-Identifier: MIT
#include "core/config/site_facts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/config/object_reader.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

constexpr std::array<std::string_view, 7> k_not_facts = {"$schema",  "schema",  "id",     "extends",
                                                         "abstract", "sources", "unknown"};

bool is_scalar(const JsonNode& node) { return !node.is(JsonKind::array) && !node.is(JsonKind::object); }

std::string text_of(const JsonNode& node) {
  if (node.is(JsonKind::string)) return node.text.empty() ? "\"\"" : node.text;
  return is_scalar(node) ? render_canonical(node) : std::string();
}

std::string text_member(const JsonNode& node, std::string_view key) {
  const auto* member = node.find(key);
  return member && member->is(JsonKind::string) ? member->text : std::string();
}

class Flattener {
public:
  std::vector<SiteFact> facts;

  void visit(const JsonNode& node, const std::string& path) {
    const auto& value = unwrapped(node);
    if (is_scalar(value))
      add(node, value, path, text_of(value));
    else if (value.is(JsonKind::array))
      visit_list(node, value, path);
    else if (is_flat(value) && path.ends_with("]"))
      add(node, value, path, one_line(value));
    else
      visit_object(value, path);
  }

private:
  static bool is_flat(const JsonNode& object) {
    return std::all_of(object.members.begin(), object.members.end(),
                       [](const JsonMember& m) { return is_about(m.key) || is_scalar(m.value); });
  }
  static std::string one_line(const JsonNode& object) {
    std::vector<std::string> parts;
    for (const auto& member : object.members) {
      if (!is_about(member.key)) parts.push_back(fmt::format("{} {}", member.key, text_of(member.value)));
    }
    return util::join(parts, ", ");
  }

  void visit_list(const JsonNode& node, const JsonNode& list, const std::string& path) {
    if (std::all_of(list.items.begin(), list.items.end(), is_scalar)) {
      std::vector<std::string> parts;
      for (const auto& item : list.items) parts.push_back(text_of(item));
      add(node, list, path,
          util::join(parts, list.items.size() > 1 && parts[0].find(',') != std::string::npos ? " | " : ", "));
      return;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) visit(list.items[i], fmt::format("{}[{}]", path, i));
  }

  void visit_object(const JsonNode& object, const std::string& path) {
    for (const auto& member : object.members) {
      if (is_about(member.key)) continue;
      if (path.empty() && std::find(k_not_facts.begin(), k_not_facts.end(), member.key) != k_not_facts.end())
        continue;
      visit(member.value, path.empty() ? member.key : fmt::format("{}.{}", path, member.key));
    }
    // A remark on a section is after its values.
    if (!path.empty() && (object.find("note") || object.find("alternatives"))) add(object, object, path, "");
  }

  void add(const JsonNode& node, const JsonNode& value, const std::string& path, std::string text) {
    SiteFact fact{path, std::move(text), node.source.text(), node.checked.text(), {}, {}};
    if (fact.source.empty() && value.place.file) fact.source = *value.place.file;
    if (node.is(JsonKind::object)) {
      fact.note = text_member(node, "note");
      if (const auto* others = node.find("alternatives")) {
        for (const auto& item : others->items)
          fact.superseded.push_back(
              {text_member(item, "value"), text_member(item, "source"), text_member(item, "why")});
      }
    }
    facts.push_back(std::move(fact));
  }
};

} // namespace

SiteFacts make_facts(const JsonNode& profile) {
  Flattener flattener;
  flattener.visit(profile, "");
  return {std::move(flattener.facts), render_canonical(profile)};
}

} // namespace hpcml::config
