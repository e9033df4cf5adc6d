// SPDX-License-Identifier: MIT
// Reading a JSON object member by member, with all findings at once and the origin of each value.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/json_tree.hpp"
#include "core/config/text_rule.hpp"
#include "core/diag/diagnostic.hpp"
#include "core/model/enum_names.hpp"
#include "core/model/origin.hpp"

namespace hpcml::config {

/// Whether every object may have the member: it speaks of the values next to it ("source", "note" …).
bool is_about(std::string_view key);

/// A document of the profile's `sources`.
struct KnownSource {
  util::SharedText named; ///< "id: url"
  util::SharedText checked;
};

/// Shared by all readers of one profile or job file.
struct ReadContext {
  std::string code = "site"; ///< before "/type" and the like in the diagnostics' codes
  model::OriginKind kind = model::OriginKind::site;
  bool checks =
      true; ///< whether texts, regular expressions and names of members is compared with what they must be
  std::map<std::string, KnownSource, std::less<>> sources = {}; ///< by id
  diag::Diagnostics diagnostics = {};
  void report(std::string_view rule, std::string message, const JsonSourceLocation& place,
              std::string hint = {});
};

/// One object. A value may be plain or {"value": …, "source": …, "checked": …, "alternatives": […]}.
/// A reader of an absent object answers every question with "nothing".
class ObjectReader {
public:
  /// `path` is what origins and messages call the object: "" for the root, "partitions[0]".
  ObjectReader(ReadContext& context, const JsonNode* node, std::string path);

  explicit operator bool() const { return x_node != nullptr; }
  bool has(std::string_view key) const;
  std::optional<std::string> text(std::string_view key, TextRule rule = TextRule::line);
  std::optional<unsigned> number(std::string_view key, unsigned least = 0, unsigned most = 1000000);
  std::optional<bool> flag(std::string_view key);
  std::vector<std::string> texts(std::string_view key, TextRule rule = TextRule::line);
  std::vector<unsigned> numbers(std::string_view key);
  std::map<std::string, std::string> text_map(std::string_view key, TextRule key_rule, TextRule value_rule);
  /// The member's value without its wrapper, for readers with their own form; null if absent.
  const JsonNode* raw(std::string_view key);
  ObjectReader object(std::string_view key);
  /// Calls `visit` for each object of a list, or of an object's members (then with the member's name).
  void each(std::string_view key, const std::function<void(ObjectReader&)>& visit);
  /// Like each() where the member may also be one object instead of a list.
  void each_or_one(std::string_view key, const std::function<void(ObjectReader&)>& visit);
  /// Like each() where an item may also be a text, which `visit_text` gets with its origin.
  void each_or_text(std::string_view key, TextRule rule,
                    const std::function<void(const std::string&, const model::Origin&)>& visit_text,
                    const std::function<void(ObjectReader&)>& visit);
  /// An object's members may be objects or lists of objects: `visit` is called for each object with the
  /// member's name.
  void each_member(std::string_view key, const std::function<void(const std::string&, ObjectReader&)>& visit);

  /// Readers of the member's object or, if it is a list, of its objects, for checks after these were read.
  std::vector<ObjectReader> items(std::string_view key);
  /// From here on origins that name the source `id` know where it can be read and when it was.
  void know_source(const std::string& id, const std::string& url, const std::string& checked);

  /// A word of a closed set.
  template <class E> std::optional<E> choice(std::string_view key) {
    const auto value = text(key);
    if (!value) return std::nullopt;
    if (const auto found = model::find_word<E>(*value)) return *found;
    report_choice(key, *value, model::words_of<E>());
    return std::nullopt;
  }
  /// One of a few texts that stay texts.
  std::optional<std::string> choice(std::string_view key, const std::vector<std::string>& names) {
    auto value = text(key);
    if (!value || std::find(names.begin(), names.end(), *value) != names.end()) return value;
    report_choice(key, *value, names);
    return std::nullopt;
  }

  /// A value read by `read` together with its origin.
  template <class T> model::Known<T> known(std::string_view key, const std::optional<T>& value) const {
    if (!value) return std::nullopt;
    return model::Sourced<T>{*value, origin(key)};
  }
  /// Parses a text with a model type's `parse`; its error is placed at the value.
  template <class T> std::optional<T> parsed(std::string_view key) {
    const auto value = text(key);
    if (!value) return std::nullopt;
    auto result = T::parse(*value);
    if (result) return *result;
    report_value(key, result.error().what, result.error().hint);
    return std::nullopt;
  }

  /// The object's own origin, and that of one of its members.
  model::Origin origin() const;
  model::Origin origin(std::string_view key) const;
  /// Says that a member that must exist is not.
  void require(std::string_view key, std::string_view why);
  void report_value(std::string_view key, std::string message, std::string hint = {});
  const JsonSourceLocation& place() const;
  const std::string& path() const { return x_path; }
  /// Whether a regular expression must be compiled to see that it is one.
  bool tries_patterns() const { return x_context->checks; }
  /// Reports the members that were not read, with "did you mean".
  void finish();

private:
  const JsonNode* member(std::string_view key) const; // with its wrapper
  const JsonNode* take(std::string_view key);         // unwrapped; marks the key as known
  const JsonNode* take(std::string_view key, JsonKind kind);
  void report_choice(std::string_view key, const std::string& value, const std::vector<std::string>& names);
  bool is_text(const JsonNode& node, TextRule rule) const;
  void report_text(const JsonNode& node, const std::string& path, TextRule rule);
  void note(std::string_view key); // known from here on
  void visit_object(const JsonNode& node, const std::string& path,
                    const std::function<void(ObjectReader&)>& visit);
  std::string path_of(std::string_view key) const;
  model::Origin origin_of(const JsonNode& node, std::string by) const;

  ReadContext* x_context;
  const JsonNode* x_node;
  std::string x_path;
  std::vector<std::string> x_known;
};

/// The value inside {"value": …}, or the node itself.
const JsonNode& unwrapped(const JsonNode& node);

} // namespace hpcml::config
