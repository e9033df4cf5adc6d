// SPDX-License-Identifier: MIT
#include "torch/json_line.hpp"

#include <cmath>
#include <cstdio>
#include <unistd.h>

#include "hpcml/json_string.hpp"

namespace hpcml::helper {

namespace {

template <class List, class Show> std::string array_of(const List& values, Show show) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : ",") + show(value);
  return "[" + out + "]";
}

} // namespace

JsonLine& JsonLine::raw(const std::string& key, const std::string& value) {
  x_body += (x_body.empty() ? "" : ",") + json_string(key) + ":" + value;
  return *this;
}

JsonLine& JsonLine::add(const std::string& key, const std::string& value) {
  return raw(key, json_string(value));
}
JsonLine& JsonLine::add(const std::string& key, int value) { return raw(key, std::to_string(value)); }
JsonLine& JsonLine::add(const std::string& key, long long value) { return raw(key, std::to_string(value)); }
JsonLine& JsonLine::add(const std::string& key, bool value) { return raw(key, value ? "true" : "false"); }

JsonLine& JsonLine::add(const std::string& key, double value) {
  if (!std::isfinite(value)) return raw(key, "null");
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return raw(key, digits);
}

JsonLine& JsonLine::add(const std::string& key, const std::vector<int>& values) {
  return raw(key, array_of(values, [](int value) { return std::to_string(value); }));
}

JsonLine& JsonLine::add(const std::string& key, const std::vector<std::string>& values) {
  return raw(key, array_of(values, json_string));
}

JsonLine& JsonLine::add(const std::string& key, const std::vector<JsonLine>& values) {
  return raw(key, array_of(values, [](const JsonLine& value) { return value.text(); }));
}

JsonLine& JsonLine::add_objects(const std::string& key, const std::vector<std::string>& objects) {
  return raw(key, array_of(objects, [](const std::string& object) { return object; }));
}

void JsonLine::print() const {
  const std::string line = text() + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

} // namespace hpcml::helper
