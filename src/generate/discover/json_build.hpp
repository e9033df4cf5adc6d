// SPDX-License-Identifier: MIT
// JSON text that users can read and edit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/json_tree.hpp"

namespace hpcml::discover {

/// Values of a profile that is being made.
config::JsonNode json_text(std::string_view text);
config::JsonNode json_number(unsigned long long number);
config::JsonNode json_flag(bool flag);
config::JsonNode json_list(std::vector<config::JsonNode> items);
config::JsonNode json_texts(const std::vector<std::string>& texts);

/// An object whose members keep the order in which they are put.
class JsonObjectBuilder {
public:
  JsonObjectBuilder() { x_node.kind = config::JsonKind::object; }
  JsonObjectBuilder& put(std::string_view key, config::JsonNode value);
  JsonObjectBuilder& put(std::string_view key, std::string_view text) { return put(key, json_text(text)); }
  JsonObjectBuilder& put(std::string_view key, const char* text) { return put(key, json_text(text)); }
  JsonObjectBuilder& put(std::string_view key, JsonObjectBuilder value) {
    return put(key, std::move(value.x_node));
  }
  bool empty() const { return x_node.members.empty(); }
  const config::JsonNode& node() const { return x_node; }

private:
  config::JsonNode x_node;
};

/// The tree on one line, spaces after commas and colons.
std::string render_on_one_line(const config::JsonNode& node);
/// The tree as indented text with its members in order; what fits on a line is on one.
std::string render_readable(const config::JsonNode& node);

} // namespace hpcml::discover
