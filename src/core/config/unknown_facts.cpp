// SPDX-License-Identifier: MIT
#include "core/config/unknown_facts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

constexpr std::size_t k_longest_path = 6; // keys; conditions within conditions end here

/// One key of a path: "node_types[h100]" has the selector "h100", "node_types[]" an empty one.
struct PathStep {
  std::string key;
  std::optional<std::string> selector;
};
using Path = std::vector<PathStep>;

/// An entry's key and what the words after it mean.
struct UnknownEntry {
  std::string key;
  bool must_be_key = false; ///< what is written cannot be prose
  bool is_whole = false;    ///< the whole key is unknown, not a part of it
};

UnknownEntry read_entry(const std::string& text) {
  const auto is_key_char = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.[]$-*").find(c) != std::string_view::npos;
  };
  const auto end = std::find_if_not(text.begin(), text.end(), is_key_char);
  UnknownEntry entry{std::string(text.begin(), end)};
  const std::string_view rest = std::string_view(text).substr(entry.key.size());
  entry.is_whole = rest.empty() || rest.starts_with(" (");
  entry.must_be_key = !entry.key.empty() && (entry.is_whole || rest.starts_with(": ") ||
                                             entry.key.find_first_of("._[") != std::string::npos);
  return entry;
}

/// Returns the steps; nothing if a bracket is not closed or a key is empty. A selector may contain dots.
std::optional<Path> parse_path(std::string_view text) {
  Path path;
  while (true) {
    PathStep step{std::string(text.substr(0, text.find_first_of(".["))), {}};
    if (step.key.empty()) return std::nullopt;
    text.remove_prefix(step.key.size());
    if (text.starts_with("[")) {
      const auto close = text.find(']');
      if (close == std::string_view::npos) return std::nullopt;
      step.selector = std::string(text.substr(1, close - 1));
      text.remove_prefix(close + 1);
    }
    path.push_back(std::move(step));
    if (text.empty()) return path;
    if (!text.starts_with(".")) return std::nullopt;
    text.remove_prefix(1);
  }
}

bool is_list(MemberKind kind) {
  return kind == MemberKind::objects || kind == MemberKind::objects_or_texts ||
         kind == MemberKind::object_or_list;
}

bool is_map(MemberKind kind) { return kind == MemberKind::object_map || kind == MemberKind::text_map; }

/// True if the schema has the key that the steps from `at` lead to. Only a list with keys below has brackets.
bool has_key(const TypeErasedObjectSchema& schema, const Path& path, std::size_t at = 0) {
  const auto& step = path[at];
  const auto member = std::find_if(schema.members.begin(), schema.members.end(),
                                   [&](const MemberSchema& candidate) { return candidate.key == step.key; });
  if (member == schema.members.end()) return false;
  if (at + 1 == path.size()) return !step.selector;
  if (is_map(member->kind)) { // the next step is one of its names
    if (step.selector || path[at + 1].selector) return false;
    return at + 2 == path.size() || (member->schema && has_key(member->schema(), path, at + 2));
  }
  if (!member->schema) return false;
  const bool fits = step.selector
                        ? is_list(member->kind)
                        : member->kind == MemberKind::object || member->kind == MemberKind::object_or_list;
  return fits && has_key(member->schema(), path, at + 1);
}

/// All keys as `unknown` names them.
void list_keys(const TypeErasedObjectSchema& schema, const std::string& prefix, std::size_t depth,
               std::vector<std::string>& keys) {
  for (const auto& member : schema.members) {
    const auto key = prefix + std::string(member.key);
    keys.push_back(key);
    if (member.schema && !is_map(member.kind) && depth < k_longest_path)
      list_keys(member.schema(), key + (member.kind == MemberKind::object ? "." : "[]."), depth + 1, keys);
  }
}

std::string without_brackets(const std::string& key) {
  std::string text;
  bool is_inside = false;
  for (const char c : key) {
    is_inside = (is_inside || c == '[') && c != ']';
    if (!is_inside && c != ']') text += c;
  }
  return text;
}

/// The key that is meant: the same with brackets, the only one that ends so, or the nearest.
std::optional<std::string> find_meant_key(const TypeErasedObjectSchema& schema, const std::string& written) {
  std::vector<std::string> keys;
  list_keys(schema, "", 1, keys);
  const auto plain = without_brackets(written);
  std::vector<std::string> longer;
  for (const auto& key : keys) {
    const auto candidate = without_brackets(key);
    if (candidate == plain) return key;
    if (candidate.ends_with("." + plain)) longer.push_back(key);
  }
  if (longer.size() == 1) return longer.front();
  return util::nearest(written, keys);
}

/// True if an item of a list is what the selector names; an empty one names all.
bool is_selected(const JsonNode& item, const std::string& selector) {
  if (selector.empty()) return true;
  for (const auto* key : {"id", "name"})
    if (const auto* name = item.find(key)) return unwrapped(*name).text == selector;
  return false;
}

bool is_empty(const JsonNode& value) {
  return value.is(JsonKind::null) || (value.is(JsonKind::array) && value.items.empty()) ||
         (value.is(JsonKind::object) && value.members.empty());
}

/// The first value of the key if all objects that it is a key of have one, else null.
const JsonNode* find_value(const JsonNode& node, const Path& path, std::size_t at = 0) {
  const auto* found = node.find(path[at].key);
  if (found == nullptr) return nullptr;
  const auto& value = unwrapped(*found);
  if (is_empty(value)) return nullptr;
  if (at + 1 == path.size()) return &value;
  if (!value.is(JsonKind::array)) return find_value(value, path, at + 1);
  const JsonNode* first = nullptr;
  for (const auto& item : value.items) {
    if (!is_selected(item, path[at].selector.value_or(""))) continue;
    const auto* below = find_value(item, path, at + 1);
    if (below == nullptr) return nullptr;
    if (first == nullptr) first = below;
  }
  return first;
}

/// A profile that extends another may fill what that one lists.
bool is_filled_by_other_file(const JsonNode& entry, const JsonNode& value, const JsonNode& profile) {
  const auto file = [](const JsonNode& node) { return node.place.file ? *node.place.file : std::string(); };
  return file(entry) != file(value) && file(entry) != file(profile);
}

} // namespace

void check_unknown_facts(const JsonNode& profile, const TypeErasedObjectSchema& schema,
                         ReadContext& context) {
  const auto* list = profile.find("unknown");
  if (list == nullptr) return;
  for (const auto& item : unwrapped(*list).items) {
    if (!item.is(JsonKind::string)) continue;
    const auto entry = read_entry(item.text);
    if (!entry.must_be_key) continue;
    const auto path = parse_path(entry.key);
    if (!path || !has_key(schema, *path)) {
      const auto meant = find_meant_key(schema, entry.key);
      context.report("value",
                     fmt::format("\"unknown\" lists \"{}\", which is not a key of a profile", entry.key),
                     item.place,
                     meant ? fmt::format("use \"{}\" if that is meant", *meant)
                           : "run hpcml sites schema --format markdown to list the keys");
      continue;
    }
    const auto* value = entry.is_whole ? find_value(profile, *path) : nullptr;
    if (value != nullptr && !is_filled_by_other_file(item, *value, profile))
      context.report(
          "value", fmt::format("\"unknown\" lists \"{}\", but the profile sets this key", entry.key),
          item.place,
          fmt::format("remove one of them, or add to the entry which part is unknown: \"{}: PART\"",
                      entry.key));
  }
}

} // namespace hpcml::config
