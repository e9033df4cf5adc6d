// SPDX-License-Identifier: MIT
#include "core/config/site_schema.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/config/site_parts.hpp"

namespace hpcml::config {

namespace {

using Json = nlohmann::ordered_json;

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

/// Members that speak of the values next to them.
void add_about_members(Json& properties) {
  for (const auto* key : {"source", "checked", "note", "alternatives"})
    if (!properties.contains(key)) properties[key] = reference(key);
}

class SchemaWriter {
public:
  SchemaWriter() {
    x_definitions["source"] = {
        {"type", "string"},
        {"description",
         "Id of an entry of \"sources\": where the values in this object come from, unless they "
         "say otherwise."}};
    x_definitions["checked"] = {
        {"type", "string"},
        {"pattern", k_day},
        {"description", "The day on which the source was read, if it is not the source's own."}};
    x_definitions["note"] = {{"type", "string"}, {"description", "A remark for users."}};
    Json alternative = {
        {"value", {{"type", "string"}}}, {"source", {{"type", "string"}}}, {"why", {{"type", "string"}}}};
    x_definitions["alternatives"] = {
        {"type", "array"},
        {"description", "Other values that sources give for the same thing, and why they were not used."},
        {"items",
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"value", "why"}},
          {"properties", std::move(alternative)}}}};
    Json wrapper = {{"value", Json::object()}};
    add_about_members(wrapper);
    x_definitions["wrapper"] = {{"type", "object"},
                                {"description", "A value with where it comes from."},
                                {"additionalProperties", false},
                                {"required", {"value"}},
                                {"properties", std::move(wrapper)}};
  }

  Json document(const TypeErasedObjectSchema& whole) {
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "hpcml site profile"}};
    schema.update(object_of(whole));
    schema["definitions"] = std::move(x_definitions);
    return schema;
  }

private:
  Json object_of(const TypeErasedObjectSchema& schema) {
    Json required = Json::array(), properties = Json::object();
    for (const auto& member : schema.members) {
      if (!member.why.empty()) required.push_back(member.key);
      properties[std::string(member.key)] = property(member);
    }
    add_about_members(properties);
    Json object = {{"type", "object"}, {"description", schema.about}, {"additionalProperties", false}};
    if (!required.empty()) object["required"] = std::move(required);
    object["properties"] = std::move(properties);
    return object;
  }

  /// The definition of an object, made when it is first named.
  Json object_reference(const MemberSchema& member) {
    const auto schema = member.schema();
    const std::string name(schema.name);
    if (!x_definitions.contains(name)) {
      x_definitions[name] = nullptr; // its place, before those that it names
      auto object = object_of(schema);
      x_definitions[name] = std::move(object);
    }
    return reference(name);
  }

  /// A value unchanged, null in a layer that removes it, or in a wrapper. Plain ones have a definition each.
  Json property(const MemberSchema& member) {
    auto json = member.about.empty() ? Json::object() : Json{{"description", member.about}};
    switch (member.kind) {
    case MemberKind::text_map:
    case MemberKind::object_map: json.update(map_of(member)); return json;
    case MemberKind::object: json["anyOf"] = {object_reference(member), {{"type", "null"}}}; return json;
    case MemberKind::object_or_list: {
      const auto object = object_reference(member);
      json["anyOf"] = {object, {{"type", "array"}, {"items", object}}, {{"type", "null"}}};
      return json;
    }
    default: break;
    }
    if (member.key == "schema") { // an older or newer one has another number
      json["const"] = member.least;
      return json;
    }
    json["allOf"] = Json::array({wrapped(name_of_value(member), value_of(member))});
    return json;
  }

  Json map_of(const MemberSchema& member) {
    Json json = {{"type", "object"}};
    if (member.key_rule == TextRule::name)
      json["propertyNames"] = {{"pattern", text_pattern(TextRule::name)}};
    Json about = Json::object();
    add_about_members(about);
    json["properties"] = std::move(about);
    if (member.kind == MemberKind::text_map) {
      auto text = member;
      text.kind = MemberKind::text;
      json["additionalProperties"] = wrapped(name_of_value(text), value_of(text));
      return json;
    }
    const auto object = object_reference(member);
    json["additionalProperties"] = {
        {"anyOf", {object, {{"type", "array"}, {"items", object}}, {{"type", "null"}}}}};
    return json;
  }

  /// The value without a wrapper.
  Json value_of(const MemberSchema& member) {
    const auto list = [](Json items) { return Json{{"type", "array"}, {"items", std::move(items)}}; };
    switch (member.kind) {
    case MemberKind::text: return text_of(member);
    case MemberKind::texts: return list(text_of(member));
    case MemberKind::yes_no: return {{"type", "boolean"}};
    case MemberKind::number: return number_of(member);
    case MemberKind::numbers: return list(number_of(member));
    case MemberKind::number_or_texts: return {{"anyOf", {number_of(member), list(text_of(member))}}};
    case MemberKind::objects: return list(object_reference(member));
    case MemberKind::objects_or_texts: return list({{"anyOf", {text_of(member), object_reference(member)}}});
    default: return Json::object();
    }
  }

  static Json text_of(const MemberSchema& member) {
    if (member.words) return {{"enum", member.words()}};
    Json json = {{"type", "string"}};
    const auto pattern = member.pattern.empty() ? text_pattern(member.rule) : member.pattern;
    if (!pattern.empty()) json["pattern"] = pattern;
    return json;
  }
  static Json number_of(const MemberSchema& member) {
    return {{"type", "integer"}, {"minimum", member.least}, {"maximum", member.most}};
  }

  /// What a definition of the value is called: those of one schema share it.
  static std::string name_of_value(const MemberSchema& member) {
    switch (member.kind) {
    case MemberKind::yes_no: return "yes_no";
    case MemberKind::number: return fmt::format("number_{}_to_{}", member.least, member.most);
    case MemberKind::text:
    case MemberKind::texts:
      if (!member.words && member.pattern.empty())
        return fmt::format("{}{}", text_name(member.rule), member.kind == MemberKind::texts ? "_list" : "");
      break;
    default: break;
    }
    return {};
  }

  Json wrapped(const std::string& name, Json value) {
    if (!name.empty() && x_definitions.contains(name)) return reference(name);
    Json json = {{"anyOf",
                  {value,
                   {{"type", "null"}},
                   {{"allOf", {reference("wrapper"), {{"properties", {{"value", value}}}}}}}}}};
    if (name.empty()) return json;
    x_definitions[name] = std::move(json);
    return reference(name);
  }

  Json x_definitions = Json::object();
};

} // namespace

std::string render_site_schema() {
  return SchemaWriter().document(without_readers(schema_of<model::Site>())).dump(1) + "\n";
}

} // namespace hpcml::config
