// SPDX-License-Identifier: MIT
#include "core/config/object_reader.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::config {

namespace {
const JsonSourceLocation k_nowhere;
/// Members that any object may have; they speak about the values next to them.
constexpr std::array<std::string_view, 4> k_about = {"source", "checked", "alternatives", "note"};

// By hand, not by fmt: a profile has hundreds of paths.
std::string member_path(std::string path, std::string_view key) {
  path += '.';
  path += key;
  return path;
}
std::string item_path(std::string path, std::size_t index) {
  path += '[';
  path += std::to_string(index);
  path += ']';
  return path;
}
} // namespace

bool is_about(std::string_view key) {
  return std::find(k_about.begin(), k_about.end(), key) != k_about.end();
}

void ReadContext::report(std::string_view rule, std::string message, const JsonSourceLocation& place,
                         std::string hint) {
  diagnostics.push_back({diag::Severity::error, fmt::format("{}/{}", code, rule), std::move(message),
                         place.location(), std::move(hint)});
}

const JsonNode& unwrapped(const JsonNode& node) {
  const auto* value = node.is(JsonKind::object) ? node.find("value") : nullptr;
  // An environment rule is an object with a "name" and a "value": not a wrapper.
  return value && !node.find("name") ? *value : node;
}

ObjectReader::ObjectReader(ReadContext& context, const JsonNode* node, std::string path)
    : x_context(&context), x_node(node), x_path(std::move(path)) {
  if (x_node && !x_node->is(JsonKind::object)) {
    x_context->report("type",
                      fmt::format("{} must be an object, not {}", x_path.empty() ? "the JSON file" : x_path,
                                  name_of(x_node->kind)),
                      x_node->place, fmt::format("use {}", example_of(JsonKind::object)));
    x_node = nullptr;
  }
}

std::string ObjectReader::path_of(std::string_view key) const {
  return x_path.empty() ? std::string(key) : member_path(x_path, key);
}

const JsonNode* ObjectReader::member(std::string_view key) const {
  return x_node ? x_node->find(key) : nullptr;
}

bool ObjectReader::has(std::string_view key) const { return member(key) != nullptr; }

const JsonNode* ObjectReader::take(std::string_view key) {
  note(key);
  const auto* node = member(key);
  if (!node) return nullptr;
  const auto& value = unwrapped(*node);
  if (&value != node) {
    for (const auto& about : node->members) {
      if (about.key == "value" || is_about(about.key)) continue;
      x_context->report("unknown-key",
                        fmt::format("the key \"{}\" is unknown in an object with \"value\"", about.key),
                        about.place, "use only value, source, checked, alternatives and note");
    }
  }
  return &value;
}

const JsonNode* ObjectReader::take(std::string_view key, JsonKind kind) {
  const auto* node = take(key);
  if (!node || node->is(kind)) return node;
  x_context->report("type",
                    fmt::format("{} must be {}, not {}", path_of(key), name_of(kind), name_of(node->kind)),
                    node->place, fmt::format("use {}", example_of(kind)));
  return nullptr;
}

void ObjectReader::note(std::string_view key) {
  if (x_context->checks) x_known.emplace_back(key);
}

bool ObjectReader::is_text(const JsonNode& node, TextRule rule) const {
  return node.is(JsonKind::string) && (!x_context->checks || text_fault(node.text, rule).empty());
}

void ObjectReader::report_text(const JsonNode& node, const std::string& path, TextRule rule) {
  if (!node.is(JsonKind::string))
    return x_context->report("type", fmt::format("{} must be a text, not {}", path, name_of(node.kind)),
                             node.place, fmt::format("use {}", example_of(JsonKind::string)));
  x_context->report("value", fmt::format("{} {}", path, text_fault(node.text, rule)), node.place,
                    text_advice(rule));
}

std::optional<std::string> ObjectReader::text(std::string_view key, TextRule rule) {
  const auto* node = take(key);
  if (!node) return std::nullopt;
  if (is_text(*node, rule)) return node->text;
  report_text(*node, path_of(key), rule);
  return std::nullopt;
}

std::optional<unsigned> ObjectReader::number(std::string_view key, unsigned least, unsigned most) {
  const auto* node = take(key, JsonKind::integer);
  if (!node) return std::nullopt;
  if (node->integer < least || node->integer > most) {
    x_context->report(
        "value", fmt::format("{} is {}, but must be from {} to {}", path_of(key), node->integer, least, most),
        node->place, fmt::format("set {} to a number from {} to {}", key, least, most));
    return std::nullopt;
  }
  return static_cast<unsigned>(node->integer);
}

std::optional<bool> ObjectReader::flag(std::string_view key) {
  const auto* node = take(key, JsonKind::boolean);
  return node ? std::optional<bool>(node->boolean) : std::nullopt;
}

std::vector<std::string> ObjectReader::texts(std::string_view key, TextRule rule) {
  std::vector<std::string> list;
  const auto* node = take(key, JsonKind::array);
  if (!node) return list;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const auto& item = node->items[i];
    if (is_text(item, rule))
      list.push_back(item.text);
    else
      report_text(item, item_path(path_of(key), i), rule);
  }
  return list;
}

std::vector<unsigned> ObjectReader::numbers(std::string_view key) {
  std::vector<unsigned> list;
  const auto* node = take(key, JsonKind::array);
  if (!node) return list;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const auto& item = node->items[i];
    if (item.is(JsonKind::integer) && item.integer >= 0 && item.integer <= 1000000)
      list.push_back(static_cast<unsigned>(item.integer));
    else
      x_context->report("type",
                        fmt::format("{}[{}] must be a whole number from 0 to 1000000", path_of(key), i),
                        item.place, "use a number in this range, without quotes");
  }
  return list;
}

std::map<std::string, std::string> ObjectReader::text_map(std::string_view key, TextRule key_rule,
                                                          TextRule value_rule) {
  std::map<std::string, std::string> map;
  const auto* node = take(key, JsonKind::object);
  if (!node) return map;
  for (const auto& entry : node->members) {
    if (is_about(entry.key)) continue;
    const auto& value = unwrapped(entry.value);
    const auto fault = x_context->checks ? text_fault(entry.key, key_rule) : std::string();
    if (!fault.empty())
      x_context->report("value", fmt::format("the name \"{}\" in {} {}", entry.key, path_of(key), fault),
                        entry.place, text_advice(key_rule));
    else if (is_text(value, value_rule))
      map[entry.key] = value.text;
    else
      report_text(value, member_path(path_of(key), entry.key), value_rule);
  }
  return map;
}

const JsonNode* ObjectReader::raw(std::string_view key) { return take(key); }

ObjectReader ObjectReader::object(std::string_view key) {
  note(key);
  return {*x_context, member(key), path_of(key)};
}

void ObjectReader::visit_object(const JsonNode& node, const std::string& path,
                                const std::function<void(ObjectReader&)>& visit) {
  ObjectReader item(*x_context, &node, path);
  if (!item) return;
  visit(item);
  item.finish();
}

void ObjectReader::each(std::string_view key, const std::function<void(ObjectReader&)>& visit) {
  const auto* node = take(key, JsonKind::array);
  if (!node) return;
  for (std::size_t i = 0; i < node->items.size(); ++i)
    visit_object(node->items[i], item_path(path_of(key), i), visit);
}

void ObjectReader::each_or_one(std::string_view key, const std::function<void(ObjectReader&)>& visit) {
  const auto* node = member(key);
  if (!node || unwrapped(*node).is(JsonKind::array)) return each(key, visit);
  note(key);
  visit_object(*node, path_of(key), visit);
}

void ObjectReader::each_or_text(
    std::string_view key, TextRule rule,
    const std::function<void(const std::string&, const model::Origin&)>& visit_text,
    const std::function<void(ObjectReader&)>& visit) {
  const auto* node = take(key, JsonKind::array);
  if (!node) return;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const auto& item = node->items[i];
    const auto path = item_path(path_of(key), i);
    if (item.is(JsonKind::object))
      visit_object(item, path, visit);
    else if (is_text(item, rule))
      visit_text(item.text, origin_of(item, path));
    else
      report_text(item, path, rule);
  }
}

void ObjectReader::each_member(std::string_view key,
                               const std::function<void(const std::string&, ObjectReader&)>& visit) {
  const auto* node = take(key, JsonKind::object);
  if (!node) return;
  for (const auto& entry : node->members) {
    if (is_about(entry.key)) continue;
    if (const auto fault = x_context->checks ? text_fault(entry.key, TextRule::name) : std::string();
        !fault.empty()) {
      x_context->report("value", fmt::format("the name \"{}\" in {} {}", entry.key, path_of(key), fault),
                        entry.place, text_advice(TextRule::name));
      continue;
    }
    const auto path = member_path(path_of(key), entry.key);
    const auto with_name = [&](ObjectReader& item) { visit(entry.key, item); };
    if (!entry.value.is(JsonKind::array)) visit_object(entry.value, path, with_name);
    for (std::size_t i = 0; i < entry.value.items.size(); ++i)
      visit_object(entry.value.items[i], item_path(path, i), with_name);
  }
}

std::vector<ObjectReader> ObjectReader::items(std::string_view key) {
  std::vector<ObjectReader> readers;
  const auto* node = member(key);
  if (!node) return readers;
  const auto& value = unwrapped(*node);
  if (value.is(JsonKind::object)) readers.emplace_back(*x_context, &value, path_of(key));
  for (std::size_t i = 0; i < value.items.size(); ++i)
    if (value.items[i].is(JsonKind::object))
      readers.emplace_back(*x_context, &value.items[i], item_path(path_of(key), i));
  return readers;
}

void ObjectReader::know_source(const std::string& id, const std::string& url, const std::string& checked) {
  x_context->sources[id] = {id + ": " + url, checked};
}

void ObjectReader::report_choice(std::string_view key, const std::string& value,
                                 const std::vector<std::string>& names) {
  report_value(key, fmt::format("{} cannot be \"{}\"", path_of(key), value), util::choice_hint(value, names));
}

model::Origin ObjectReader::origin_of(const JsonNode& node, std::string by) const {
  model::Origin origin{x_context->kind, std::move(by)};
  const auto found = x_context->sources.find(node.source.text());
  if (found != x_context->sources.end()) {
    origin.source = found->second.named;
    origin.checked = found->second.checked;
  } else if (node.place.file) {
    origin.source = util::SharedText(node.place.file);
  }
  if (!node.checked.empty()) origin.checked = node.checked;
  const auto* others = node.is(JsonKind::object) ? node.find("alternatives") : nullptr;
  if (!others || !others->is(JsonKind::array)) return origin;
  for (const auto& item : others->items) {
    const auto part = [&](std::string_view key) {
      const auto* value = item.find(key);
      return value && value->is(JsonKind::string) ? value->text : std::string();
    };
    const auto source = x_context->sources.find(part("source"));
    origin.superseded.push_back(
        {part("value"), source == x_context->sources.end() ? part("source") : source->second.named.text(),
         part("why")});
  }
  return origin;
}

model::Origin ObjectReader::origin() const {
  return x_node ? origin_of(*x_node, x_path) : model::Origin{x_context->kind, x_path};
}

model::Origin ObjectReader::origin(std::string_view key) const {
  const auto* node = member(key);
  return node ? origin_of(*node, path_of(key)) : model::Origin{x_context->kind, path_of(key)};
}

const JsonSourceLocation& ObjectReader::place() const { return x_node ? x_node->place : k_nowhere; }

void ObjectReader::require(std::string_view key, std::string_view why) {
  if (!x_node || x_node->find(key)) return;
  x_context->report("missing", fmt::format("{} is missing", path_of(key)), x_node->place, std::string(why));
}

void ObjectReader::report_value(std::string_view key, std::string message, std::string hint) {
  const auto* node = member(key);
  x_context->report("value", std::move(message), node ? unwrapped(*node).place : place(), std::move(hint));
}

void ObjectReader::finish() {
  if (!x_node || !x_context->checks) return;
  for (const auto& entry : x_node->members) {
    if (is_about(entry.key) || std::find(x_known.begin(), x_known.end(), entry.key) != x_known.end())
      continue;
    // A typo for "nodes" is likelier than one for "note".
    auto near = util::nearest(entry.key, x_known);
    if (!near) near = util::nearest(entry.key, {k_about.begin(), k_about.end()});
    x_context->report(
        "unknown-key",
        fmt::format("the key \"{}\" is unknown in {}", entry.key, x_path.empty() ? "the file" : x_path),
        entry.place,
        near ? fmt::format("use \"{}\" if that is meant", *near)
             : fmt::format("use one of: {}", util::join(x_known, ", ")));
  }
}

} // namespace hpcml::config
