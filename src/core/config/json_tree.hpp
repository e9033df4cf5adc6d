// SPDX-License-Identifier: MIT
// JSON as a tree that knows where each value is in its file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/util/shared_text.hpp"

namespace hpcml::config {

/// The kinds of value; a number is `integer` where it has no fraction.
enum class JsonKind { null, boolean, integer, real, string, array, object };

/// "an object", "a text": for messages.
std::string_view name_of(JsonKind kind);
/// Returns how a value of the kind is written, for hints: "double quotes, as in …".
std::string_view example_of(JsonKind kind);

/// Where a token is. The file's name is shared by all nodes of a file.
struct JsonSourceLocation {
  std::shared_ptr<const std::string> file;
  unsigned line = 0;
  unsigned column = 0;
  unsigned length = 1;
  diag::SourceLocation location() const { return {file ? *file : std::string(), line, column, length}; }
};

struct JsonMember;

/// A value. Only the member that fits `kind` is meaningful.
struct JsonNode {
  JsonKind kind = JsonKind::null;
  bool boolean = false;
  long long integer = 0;
  double real = 0;
  std::string text;
  std::vector<JsonNode> items;
  std::vector<JsonMember> members; ///< in the file's order
  JsonSourceLocation place;
  util::SharedText source;  ///< id in the profile's `sources`, from the nearest "source" around the value
  util::SharedText checked; ///< the nearest "checked" around the value

  /// The member's value, or null.
  const JsonNode* find(std::string_view key) const;
  JsonNode* find(std::string_view key);
  bool is(JsonKind wanted) const { return kind == wanted; }
};

/// One member of an object.
struct JsonMember {
  std::string key;
  JsonSourceLocation place; ///< of the key
  JsonNode value;
};

/// A parsed file and what is wrong with it; with duplicate keys there are both.
struct JsonParse {
  std::optional<JsonNode> root;
  diag::Diagnostics diagnostics;
};

/// Strict JSON (no trailing commas), in which a line, or the rest of one, may be a comment after //.
/// Duplicate keys and nesting deeper than 64 are errors. `code` is put before "/json" and "/duplicate-key" in
/// the diagnostics' codes: "site", "job".
JsonParse parse_json(std::string_view text, const std::string& file, const std::string& code);

/// The text with comments (// to the end of the line, outside of texts) made space: everything else keeps its
/// place.
std::string blank_comments(std::string text);

/// The tree as JSON with sorted keys and no spaces: equal for equal content.
std::string render_canonical(const JsonNode& node);

} // namespace hpcml::config
