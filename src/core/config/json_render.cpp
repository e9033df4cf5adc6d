// SPDX-License-Identifier: MIT
// JSON back to text, in one form for equal content.
#include <algorithm>
#include <fmt/format.h>

#include "core/config/json_tree.hpp"
#include "hpcml/json_string.hpp"

namespace hpcml::config {

namespace {

void append(const JsonNode& node, std::string& out) {
  switch (node.kind) {
  case JsonKind::null: out += "null"; return;
  case JsonKind::boolean: out += node.boolean ? "true" : "false"; return;
  case JsonKind::integer: out += std::to_string(node.integer); return;
  case JsonKind::real: out += fmt::format("{}", node.real); return;
  case JsonKind::string: out += json_string(node.text); return;
  case JsonKind::array:
    out += '[';
    for (const auto& item : node.items) {
      if (out.back() != '[') out += ',';
      append(item, out);
    }
    out += ']';
    return;
  case JsonKind::object: break;
  }
  std::vector<const JsonMember*> sorted;
  for (const auto& member : node.members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  out += '{';
  bool first = true;
  for (const auto* member : sorted) {
    if (!first) out += ',';
    first = false;
    out += json_string(member->key) + ":";
    append(member->value, out);
  }
  out += '}';
}

} // namespace

std::string render_canonical(const JsonNode& node) {
  std::string out;
  append(node, out);
  return out;
}

} // namespace hpcml::config
