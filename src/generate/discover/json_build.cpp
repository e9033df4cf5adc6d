// SPDX-License-Identifier: MIT
#include "generate/discover/json_build.hpp"

#include "hpcml/json_string.hpp"

namespace hpcml::discover {

using config::JsonKind;
using config::JsonNode;

namespace {

constexpr std::size_t k_width = 120;

void append(const JsonNode& node, std::size_t indent, std::size_t column, bool root, std::string& out) {
  const auto line = render_on_one_line(node);
  const bool list = node.is(JsonKind::array);
  if ((!list && !node.is(JsonKind::object)) || (!root && column + line.size() <= k_width) ||
      line.size() == 2) {
    out += line;
    return;
  }
  const std::string margin(indent + 2, ' ');
  out += list ? "[\n" : "{\n";
  const auto count = list ? node.items.size() : node.members.size();
  for (std::size_t i = 0; i < count; ++i) {
    out += margin;
    const std::string key = list ? "" : json_string(node.members[i].key) + ": ";
    out += key;
    append(list ? node.items[i] : node.members[i].value, indent + 2, indent + 3 + key.size(), false, out);
    out += i + 1 < count ? ",\n" : "\n";
  }
  out += std::string(indent, ' ') + (list ? "]" : "}");
}

} // namespace

JsonNode json_text(std::string_view text) {
  JsonNode node;
  node.kind = JsonKind::string;
  node.text = text;
  return node;
}

JsonNode json_number(unsigned long long number) {
  JsonNode node;
  node.kind = JsonKind::integer;
  node.integer = static_cast<long long>(number);
  return node;
}

JsonNode json_flag(bool flag) {
  JsonNode node;
  node.kind = JsonKind::boolean;
  node.boolean = flag;
  return node;
}

JsonNode json_list(std::vector<JsonNode> items) {
  JsonNode node;
  node.kind = JsonKind::array;
  node.items = std::move(items);
  return node;
}

JsonNode json_texts(const std::vector<std::string>& texts) {
  std::vector<JsonNode> items;
  for (const auto& text : texts) items.push_back(json_text(text));
  return json_list(std::move(items));
}

JsonObjectBuilder& JsonObjectBuilder::put(std::string_view key, JsonNode value) {
  x_node.members.push_back({std::string(key), {}, std::move(value)});
  return *this;
}

std::string render_on_one_line(const JsonNode& node) {
  std::string out;
  switch (node.kind) {
  case JsonKind::array:
    for (const auto& item : node.items) out += (out.empty() ? "" : ", ") + render_on_one_line(item);
    return "[" + out + "]";
  case JsonKind::object:
    for (const auto& member : node.members)
      out += (out.empty() ? "" : ", ") + json_string(member.key) + ": " + render_on_one_line(member.value);
    return "{" + out + "}";
  default: return config::render_canonical(node);
  }
}

std::string render_readable(const JsonNode& node) {
  std::string out;
  append(node, 0, 0, true, out);
  return out + "\n";
}

} // namespace hpcml::discover
