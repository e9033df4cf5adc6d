// SPDX-License-Identifier: MIT
// One JSON object on one line, its members in the order in which they are added. C++17, header-only, no
// dependency: the core and the LibTorch side share it.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "hpcml/json_string.hpp"

namespace hpcml {

/// Collects the members of one object.
class JsonLine {
public:
  /// A text, a number, a boolean, nothing (null), an object, or a list of these.
  template <class T> JsonLine& add(std::string_view key, const T& value) {
    return add_json(key, json_of(value));
  }
  /// A value that is JSON already.
  JsonLine& add_json(std::string_view key, std::string_view json) {
    if (!x_members.empty()) x_members += ',';
    x_members += json_string(key);
    x_members += ':';
    x_members += json;
    return *this;
  }
  /// A list of values that are JSON already.
  template <class List> JsonLine& add_json_list(std::string_view key, const List& values) {
    std::string list;
    for (const auto& value : values) list += (list.empty() ? "" : ",") + value;
    return add_json(key, "[" + list + "]");
  }
  /// "{…}" without a line end.
  std::string text() const { return "{" + x_members + "}"; }
  /// The same without its closing brace, where more is to follow.
  std::string open() const { return "{" + x_members; }

private:
  static std::string number_of(double value) {
    if (!std::isfinite(value)) return "null";
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    return digits;
  }
  template <class T> static std::string json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : "null";
  }
  template <class T> static std::string json_of(const T& value) {
    if constexpr (std::is_same_v<T, JsonLine>) {
      return value.text();
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_of(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return json_string(value);
    } else {
      std::string list;
      for (const auto& item : value) list += (list.empty() ? "" : ",") + json_of(item);
      return "[" + list + "]";
    }
  }
  std::string x_members;
};

} // namespace hpcml
