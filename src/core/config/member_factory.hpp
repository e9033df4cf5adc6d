// SPDX-License-Identifier: MIT
// Makes the rows of an object's schema: Members<T>::text<&T::name>("name", TextRule::name, "Slurm's name.").
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/config/object_schema.hpp"

namespace hpcml::config {

namespace member {

template <class V>
struct UnwrappedType { // what a place for a value holds: itself, an optional one, one with an origin
  using type = V;
};
template <class V> struct UnwrappedType<std::optional<V>> : UnwrappedType<V> {};
template <class V> struct UnwrappedType<model::Sourced<V>> : UnwrappedType<V> {};

template <class V> inline constexpr bool is_known = false;
template <class V> inline constexpr bool is_known<model::Known<V>> = true;
template <class V> inline constexpr bool is_sourced = false;
template <class V> inline constexpr bool is_sourced<model::Sourced<V>> = true;
template <class V> inline constexpr bool is_optional = false;
template <class V> inline constexpr bool is_optional<std::optional<V>> = true;

/// Stores what was read. A place that is not an optional keeps its default where nothing was.
template <class V, class X>
void store(const ObjectReader& object, std::string_view key, V& place, std::optional<X> value) {
  if constexpr (is_known<V>)
    place = object.known(key, value);
  else if constexpr (is_optional<V>)
    place = std::move(value);
  else if constexpr (is_sourced<V>)
    place = value ? V{std::move(*value), object.origin(key)} : place;
  else if (value)
    place = std::move(*value);
}

} // namespace member

/// Rows for objects that become a T. `M` is the place of the value in a T: a pointer to a member, or a
/// function from a T& to the place.
template <class T> struct MemberFactory {
  template <auto M>
  using Value =
      typename member::UnwrappedType<std::remove_cvref_t<std::invoke_result_t<decltype(M), T&>>>::type;
  using Row = Member<T>;
  using Text = std::string_view;

  template <auto M> static constexpr Row text(Text key, TextRule rule, Text about) {
    return {{.key = key, .kind = MemberKind::text, .about = about, .rule = rule},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into), object.text(schema.key, schema.rule));
            }};
  }
  /// One of a few texts that stay texts.
  template <auto M> static constexpr Row text_of(Text key, std::vector<std::string> (*words)(), Text about) {
    return {{.key = key, .kind = MemberKind::text, .about = about, .words = words},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into),
                            object.choice(schema.key, schema.words()));
            }};
  }
  /// A word of a closed set.
  template <auto M> static constexpr Row word(Text key, Text about) {
    using E = Value<M>;
    return {{.key = key, .kind = MemberKind::text, .about = about, .words = &model::words_of<E>},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into), object.template choice<E>(schema.key));
            }};
  }
  /// One of two words; the second is true.
  template <auto M> static constexpr Row either(Text key, std::vector<std::string> (*words)(), Text about) {
    return {{.key = key, .kind = MemberKind::text, .about = about, .words = words},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              const auto known = schema.words();
              std::invoke(M, into) = object.choice(schema.key, known) == known.at(1);
            }};
  }
  template <auto M> static constexpr Row number(Text key, unsigned least, unsigned most, Text about) {
    return {{.key = key, .kind = MemberKind::number, .about = about, .least = least, .most = most},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into),
                            object.number(schema.key, schema.least, schema.most));
            }};
  }
  /// A number of things: at least one.
  template <auto M> static constexpr Row count(Text key, Text about) {
    return number<M>(key, 1, MemberSchema::k_most, about);
  }
  template <auto M> static constexpr Row yes_no(Text key, Text about) {
    return {{.key = key, .kind = MemberKind::yes_no, .about = about},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into), object.flag(schema.key));
            }};
  }
  template <auto M> static constexpr Row time(Text key, Text about) {
    return parsed<M>(key, "^[0-9][0-9:dhms-]*$", about);
  }
  template <auto M> static constexpr Row memory(Text key, Text about) {
    return parsed<M>(key, "^[0-9]+[KMGTkmgt]?[Bb]?$", about);
  }
  template <auto M> static constexpr Row texts(Text key, TextRule rule, Text about) {
    return {{.key = key, .kind = MemberKind::texts, .about = about, .rule = rule},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              std::invoke(M, into) = object.texts(schema.key, schema.rule);
            }};
  }
  template <auto M> static constexpr Row numbers(Text key, Text about) {
    return {{.key = key, .kind = MemberKind::numbers, .about = about},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              std::invoke(M, into) = object.numbers(schema.key);
            }};
  }
  template <auto M> static constexpr Row text_map(Text key, TextRule key_rule, TextRule rule, Text about) {
    return {{.key = key, .kind = MemberKind::text_map, .about = about, .rule = rule, .key_rule = key_rule},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              std::invoke(M, into) = object.text_map(schema.key, schema.key_rule, schema.rule);
            }};
  }
  template <auto M> static constexpr Row object(Text key, Text about = {}) {
    using V = Value<M>;
    return {{.key = key, .kind = MemberKind::object, .about = about, .schema = &any_schema<V>},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              auto below = object.object(schema.key);
              if (!below) return;
              V value{};
              read_members(below, schema_of<V>(), value);
              std::invoke(M, into) = std::move(value);
              below.finish();
            }};
  }
  /// An object whose members are kept in the T itself.
  template <const ObjectSchema<T>& (*F)()> static constexpr Row part(Text key) {
    return {
        {.key = key, .kind = MemberKind::object, .about = {}, .schema = [] { return without_readers(F()); }},
        [](ObjectReader& object, const MemberSchema& schema, T& into) {
          auto below = object.object(schema.key);
          if (!below) return;
          read_members(below, F(), into);
          below.finish();
        }};
  }
  /// A list of objects of the schema F.
  template <auto M, auto F = &schema_of<typename Value<M>::value_type>>
  static constexpr Row objects(Text key, Text about) {
    return {{.key = key,
             .kind = MemberKind::objects,
             .about = about,
             .schema = [] { return without_readers(F()); }},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              object.each(schema.key, [&](ObjectReader& item) {
                read_members(item, F(), std::invoke(M, into).emplace_back());
              });
            }};
  }
  /// A row whose value another part reads, or that has its own reader.
  static constexpr Row special(MemberSchema schema, void (*read)(ObjectReader&, const MemberSchema&, T&)) {
    return {schema, read};
  }

  template <class V> static TypeErasedObjectSchema any_schema() { return without_readers(schema_of<V>()); }

private:
  template <auto M> static constexpr Row parsed(Text key, Text pattern, Text about) {
    return {{.key = key, .kind = MemberKind::text, .about = about, .pattern = pattern},
            [](ObjectReader& object, const MemberSchema& schema, T& into) {
              member::store(object, schema.key, std::invoke(M, into),
                            object.template parsed<Value<M>>(schema.key));
            }};
  }
};

/// The rows of two arrays, one after the other.
template <class T, std::size_t N, std::size_t K>
constexpr std::array<Member<T>, N + K> joined(const std::array<Member<T>, N>& first,
                                              const std::array<Member<T>, K>& second) {
  return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
    return std::array<Member<T>, N + K>{first[I]..., second[J]...};
  }
  (std::make_index_sequence<N>(), std::make_index_sequence<K>());
}

} // namespace hpcml::config
