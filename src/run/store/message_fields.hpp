// SPDX-License-Identifier: MIT
// Messages between hpcml's processes. Each kind has one list of its fields, by which it is packed, unpacked,
// checked and printed:
//
//   struct LeavingEvent {
//     static constexpr std::string_view k_name = "leaving";
//     int signal = 0;
//     static void fields(auto& list, auto& m) { list("signal", m.signal, 64); }
//   };
//
// The last argument bounds a field: the maximum of a number, or a predicate of a text; of an optional or a
// list it bounds what is in it. A variant is packed as the name of its alternative. A message begins with its
// name and the version of hpcml, because other versions may have other fields.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/packed.hpp"

namespace hpcml::store {

template <class T>
concept MessageNumber = (std::integral<T> && !std::same_as<T, bool>) || std::is_enum_v<T>;

/// Returns the text with which a message of this hpcml begins.
std::string message_mark(std::string_view name);
/// Returns the other version of hpcml that packed a message; nothing if it was this one, or another program.
std::optional<std::string> other_version(std::string_view bytes);
/// Returns why `bytes` are not the message, as a clause about their sender. `fault`: the first field that is
/// not valid.
util::Error message_error(std::string_view bytes, std::string_view name, std::string_view fault);
/// Returns a text on one line, without control characters, cut if it is long.
std::string printed_text(std::string_view text);

/// Makes a predicate that also accepts the empty text.
template <class Check> auto or_empty(Check check) {
  return [check](std::string_view text) { return text.empty() || check(text); };
}

class FieldPacker {
public:
  explicit FieldPacker(std::string_view mark) : x_packed(mark) {}
  void operator()(std::string_view, const auto& value, const auto&...) { put(value); }
  void require(std::string_view, bool) {}
  std::string take() { return x_packed.take(); }

private:
  void put(const std::string& text) { x_packed.text(text); }
  void put(const bool& flag) { x_packed.number(flag ? 1 : 0); }
  void put(const MessageNumber auto& value) { x_packed.number(static_cast<unsigned long long>(value)); }
  void put(const double& seconds) { x_packed.number(static_cast<unsigned long long>(seconds * 1000)); }
  void put(const std::chrono::seconds& time) { put(time.count()); }
  template <class T> void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T> void put(const std::vector<T>& values) {
    put(values.size());
    for (const auto& value : values) put(value);
  }
  template <class... Kinds> void put(const std::variant<Kinds...>& value) {
    std::visit(
        [&](const auto& kind) {
          x_packed.text(kind.k_name);
          put(kind);
        },
        value);
  }
  template <class M> void put(const M& message) { M::fields(*this, message); }

  WireWriter x_packed;
};

/// Reads what FieldPacker wrote. Counts are bounded by the bytes that are left.
class FieldUnpacker {
public:
  FieldUnpacker(std::string_view bytes, std::string_view mark) : x_packed(bytes, mark) {}
  void operator()(std::string_view name, auto& value, const auto&... bound) {
    get(value, bound...);
    require(name, true);
  }
  /// A condition of several fields.
  void require(std::string_view name, bool holds) {
    x_packed.good = x_packed.good && holds;
    if (!x_packed.good && x_fault.empty()) x_fault = name;
  }
  bool whole() const { return x_packed.whole(); }
  /// The first field that is not valid; empty if none is.
  std::string_view fault() const { return x_fault; }

private:
  void get(std::string& text) { text = x_packed.text(); }
  void get(std::string& text, const auto& is_valid) {
    get(text);
    x_packed.good = x_packed.good && is_valid(text);
  }
  void get(bool& flag) { flag = x_packed.number(1) == 1; }
  void get(unsigned& value) { get(value, k_most_ranks); }
  void get(MessageNumber auto& value, auto most) {
    value = static_cast<std::remove_cvref_t<decltype(value)>>(
        x_packed.number(static_cast<unsigned long long>(most)));
  }
  void get(double& seconds) { seconds = static_cast<double>(x_packed.number(~0ULL)) / 1000; }
  void get(std::chrono::seconds& time, std::chrono::seconds most) {
    time = std::chrono::seconds(x_packed.number(static_cast<unsigned long long>(most.count())));
  }
  template <class T> void get(std::optional<T>& value, const auto&... bound) {
    value.reset();
    if (x_packed.number(1) == 1) get(value.emplace(), bound...);
  }
  template <class T> void get(std::vector<T>& values, const auto&... bound) {
    values.clear();
    for (auto left = x_packed.count(); left > 0 && x_packed.good; --left)
      get(values.emplace_back(), bound...);
  }
  template <class... Kinds> void get(std::variant<Kinds...>& value) {
    const auto name = x_packed.text();
    const bool is_known = ((name == Kinds::k_name && (get(value.template emplace<Kinds>()), true)) || ...);
    x_packed.good = x_packed.good && is_known;
  }
  template <class M> void get(M& message) { M::fields(*this, message); }

  WireReader x_packed;
  std::string_view x_fault;
};

/// Prints "stop attempt=1 code=7 reason='…'"; it omits fields that are empty, zero or false.
class FieldPrinter {
public:
  void operator()(std::string_view name, const auto& value, const auto&...) {
    const auto text = print(value);
    if (!text.empty()) x_text += (x_text.empty() ? "" : " ") + std::string(name) + "=" + text;
  }
  void require(std::string_view, bool) {}
  template <class T> static std::string print(const T& value) {
    if constexpr (std::same_as<T, std::string>) {
      return value.empty() ? std::string() : "'" + printed_text(value) + "'";
    } else if constexpr (std::same_as<T, bool>) {
      return value ? "true" : "";
    } else if constexpr (MessageNumber<T>) {
      return value == T{} ? std::string() : std::to_string(static_cast<long long>(value));
    } else if constexpr (std::same_as<T, double>) {
      return value == 0 ? std::string() : std::to_string(value);
    } else if constexpr (std::same_as<T, std::chrono::seconds>) {
      return print(value.count());
    } else {
      return print_parts(value);
    }
  }

private:
  template <class T> static std::string print_parts(const std::optional<T>& value) {
    if (!value) return {};
    const auto text = print(*value);
    return text.empty() ? "0" : text;
  }
  template <class T> static std::string print_parts(const std::vector<T>& values) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "[" : ", ") + print(value);
    return text.empty() ? text : text + "]";
  }
  template <class... Kinds> static std::string print_parts(const std::variant<Kinds...>& value) {
    return std::visit(
        [](const auto& kind) {
          const auto fields = print(kind);
          return std::string(kind.k_name) + (fields.empty() ? "" : " ") + fields;
        },
        value);
  }
  template <class M> static std::string print_parts(const M& message) {
    FieldPrinter list;
    M::fields(list, message);
    return list.x_text.empty() ? list.x_text : "{" + list.x_text + "}";
  }

  std::string x_text;
};

template <class M> std::string pack_message(const M& message) {
  FieldPacker list(message_mark(M::k_name));
  list(M::k_name, message);
  return list.take();
}

/// Returns the message, or an error whose text is a clause about the sender: "uses hpcml 1.2.0, …".
template <class M> util::Result<M> unpack_message(std::string_view bytes) {
  FieldUnpacker list(bytes, message_mark(M::k_name));
  M message;
  list(M::k_name, message);
  if (list.whole()) return message;
  return message_error(bytes, M::k_name, list.fault());
}

} // namespace hpcml::store
