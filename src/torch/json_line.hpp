// SPDX-License-Identifier: MIT
// One JSON object on one line: how the helper talks to the core.
#pragma once

#include <string>
#include <vector>

namespace hpcml::helper {

/// Collects the members of one object.
class JsonLine {
public:
  JsonLine& add(const std::string& key, const std::string& value);
  JsonLine& add(const std::string& key, const char* value) { return add(key, std::string(value)); }
  JsonLine& add(const std::string& key, int value);
  JsonLine& add(const std::string& key, long long value);
  JsonLine& add(const std::string& key, double value);
  JsonLine& add(const std::string& key, bool value);
  JsonLine& add(const std::string& key, const std::vector<int>& values);
  JsonLine& add(const std::string& key, const std::vector<std::string>& values);
  JsonLine& add(const std::string& key, const std::vector<JsonLine>& values);
  /// An array of objects that are JSON text already.
  JsonLine& add_objects(const std::string& key, const std::vector<std::string>& objects);
  /// "{…}" without a line end.
  std::string text() const { return "{" + x_body + "}"; }
  /// Writes the line to stdout in one call, so that lines of several ranks do not mix.
  void print() const;

private:
  JsonLine& raw(const std::string& key, const std::string& value);
  std::string x_body;
};

} // namespace hpcml::helper
