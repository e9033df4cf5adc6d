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
  object,           ///< of `form`
  objects,          ///< a list of such objects
  object_or_list,   ///< one such object, or a list of them
  objects_or_texts, ///< a list of such objects and of texts under `rule`
  object_map,       ///< names under `key_rule`, with such an object or a list of them
};

struct AnyObjectForm;

/// A row, for those who do not read values: a schema, a page.
struct MemberForm {
  std::string_view key;
  MemberKind kind;
  std::string_view about;                        ///< for users, a sentence or more
  TextRule rule = TextRule::line;                ///< of the texts
  TextRule key_rule = TextRule::line;            ///< of the names in a map
  unsigned least = 0;                            ///< of a number
  unsigned most = k_most;                        ///< of a number
  std::vector<std::string> (*words)() = nullptr; ///< of a closed set
  std::string_view pattern = {};                 ///< of texts with their own form
  AnyObjectForm (*form)() = nullptr;             ///< of the objects
  std::string_view why = {};                     ///< not empty: the member must exist, and why

  static constexpr unsigned k_most = 1000000; ///< where nothing else limits a number
};

/// An object's rows.
struct AnyObjectForm {
  std::string_view name;  ///< what the schema calls it
  std::string_view about; ///< for users; may be empty
  std::vector<MemberForm> members;
};

/// A row with its reader, which stores the value in a T.
template <class T> struct Member {
  MemberForm form;
  void (*read)(ObjectReader& object, const MemberForm& form, T& into);

  /// The same, but the member must exist; `why` is the hint where it is not.
  constexpr Member must(std::string_view why) const {
    auto copy = *this;
    copy.form.why = why;
    return copy;
  }
};

/// What an object looks like that becomes a T.
template <class T> struct ObjectForm {
  std::string_view name;
  std::string_view about;
  std::span<const Member<T>> members;
  void (*check)(ObjectReader& object,
                T& value) = nullptr; ///< what only shows when the members are seen together
};

/// The form of the objects that become a T: specialised for each.
template <class T> const ObjectForm<T>& form_of();

/// A form without its readers.
template <class T> AnyObjectForm without_readers(const ObjectForm<T>& form) {
  AnyObjectForm any{form.name, form.about, {}};
  for (const auto& member : form.members) any.members.push_back(member.form);
  return any;
}

/// Reads the members of `object` into `value`, and the object's origin, where a T keeps one.
template <class T> void read_members(ObjectReader& object, const ObjectForm<T>& form, T& value) {
  for (const auto& member : form.members)
    if (!member.form.why.empty()) object.require(member.form.key, member.form.why);
  for (const auto& member : form.members) member.read(object, member.form, value);
  if constexpr (requires { value.origin = object.origin(); }) value.origin = object.origin();
  if (form.check) form.check(object, value);
}

/// An object as a T.
template <class T> T read_object(ObjectReader& object) {
  T value{};
  read_members(object, form_of<T>(), value);
  return value;
}

} // namespace hpcml::config
