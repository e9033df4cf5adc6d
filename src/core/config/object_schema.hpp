// SPDX-License-Identifier: MIT
// What an object of a profile looks like, once: a row for each member. Its reader, its part of
// sites/schema.json and of docs/reference/site-profile.md come from the row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/object_reader.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/walltime.hpp"

namespace hpcml::config {

/// What a member's value is made of.
enum class MemberKind {
  text,             ///< under `rule`, or one of `words`, or of the form `pattern`
  number,           ///< whole, from `least` to `most`
  yes_no,           ///< true or false
  texts,            ///< a list of such texts
  numbers,          ///< a list of such numbers
  number_or_texts,  ///< a number, or a list of texts
  text_map,         ///< names under `key_rule`, texts under `rule`
  object,           ///< of `schema`
  objects,          ///< a list of such objects
  object_or_list,   ///< one such object, or a list of them
  objects_or_texts, ///< a list of such objects and of texts under `rule`
  object_map,       ///< names under `key_rule`, with such an object or a list of them
};

struct TypeErasedObjectSchema;

/// A row, for those who do not read values: a schema, a page.
struct MemberSchema {
  std::string_view key;
  MemberKind kind;
  std::string_view about;                        ///< for users, a sentence or more
  TextRule rule = TextRule::line;                ///< of the texts
  TextRule key_rule = TextRule::line;            ///< of the names in a map
  unsigned least = 0;                            ///< of a number
  unsigned most = k_most;                        ///< of a number
  std::vector<std::string> (*words)() = nullptr; ///< of a closed set
  std::string_view pattern = {};                 ///< of texts with their own form
  TypeErasedObjectSchema (*schema)() = nullptr;  ///< of the objects
  std::string_view why = {};                     ///< not empty: the member must exist, and why

  static constexpr unsigned k_most = 1000000; ///< where nothing else limits a number
};

/// An object's rows.
struct TypeErasedObjectSchema {
  std::string_view name;  ///< what the schema calls it
  std::string_view about; ///< for users; may be empty
  std::vector<MemberSchema> members;
};

/// A row with its reader, which stores the value in a T.
template <class T> struct Member {
  MemberSchema schema;
  void (*read)(ObjectReader& object, const MemberSchema& schema, T& into);

  /// The same, but the member must exist; `why` is the hint where it is not.
  constexpr Member must(std::string_view why) const {
    auto copy = *this;
    copy.schema.why = why;
    return copy;
  }
};

/// What an object looks like that becomes a T.
template <class T> struct ObjectSchema {
  std::string_view name;
  std::string_view about;
  std::span<const Member<T>> members;
  void (*check)(ObjectReader& object,
                T& value) = nullptr; ///< what only shows when the members are seen together
};

/// The schema of the objects that become a T: specialised for each.
template <class T> const ObjectSchema<T>& schema_of();

/// A schema without its readers.
template <class T> TypeErasedObjectSchema without_readers(const ObjectSchema<T>& schema) {
  TypeErasedObjectSchema any{schema.name, schema.about, {}};
  for (const auto& member : schema.members) any.members.push_back(member.schema);
  return any;
}

/// Reads the members of `object` into `value`, and the object's origin, where a T keeps one.
template <class T> void read_members(ObjectReader& object, const ObjectSchema<T>& schema, T& value) {
  for (const auto& member : schema.members)
    if (!member.schema.why.empty()) object.require(member.schema.key, member.schema.why);
  for (const auto& member : schema.members) member.read(object, member.schema, value);
  if constexpr (requires { value.origin = object.origin(); }) value.origin = object.origin();
  if (schema.check) schema.check(object, value);
}

/// An object as a T.
template <class T> T read_object(ObjectReader& object) {
  T value{};
  read_members(object, schema_of<T>(), value);
  return value;
}

} // namespace hpcml::config
