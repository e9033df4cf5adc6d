// SPDX-License-Identifier: MIT
// JSON text that people can read and edit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/json_tree.hpp"

namespace hpcml::discover {

/// Values of a profile that is being made.
spec::JsonNode json_text(std::string_view text);
spec::JsonNode json_number(unsigned long long number);
spec::JsonNode json_flag(bool flag);
spec::JsonNode json_list(std::vector<spec::JsonNode> items);
spec::JsonNode json_texts(const std::vector<std::string>& texts);

/// An object whose members keep the order in which they are put.
class JsonObject {
public:
  JsonObject() { x_node.kind = spec::JsonKind::object; }
  JsonObject& put(std::string_view key, spec::JsonNode value);
  JsonObject& put(std::string_view key, std::string_view text) { return put(key, json_text(text)); }
  JsonObject& put(std::string_view key, const char* text) { return put(key, json_text(text)); }
  JsonObject& put(std::string_view key, JsonObject value) { return put(key, std::move(value.x_node)); }
  bool empty() const { return x_node.members.empty(); }
  const spec::JsonNode& node() const { return x_node; }

private:
  spec::JsonNode x_node;
};

/// The tree on one line, blanks behind commas and colons.
std::string render_on_one_line(const spec::JsonNode& node);
/// The tree as indented text with its members in order; what fits on a line stands on one.
std::string render_readable(const spec::JsonNode& node);

} // namespace hpcml::discover
