// SPDX-License-Identifier: MIT
// The environment as a value: read once in main, passed down, never read again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hpcml::util {

/// A copy of an environment; changing it changes no process.
class EnvSnapshot {
public:
  EnvSnapshot() = default;
  explicit EnvSnapshot(std::map<std::string, std::string> variables) : x_variables(std::move(variables)) {}
  /// The environment of this process, as it is now. The only place that reads it.
  static EnvSnapshot of_process();

  /// The value, also when it is empty; nothing if the variable is not set.
  std::optional<std::string> get(const std::string& name) const;
  /// The value, or `fallback` if it is not set or empty.
  std::string get_or(const std::string& name, const std::string& fallback) const;
  void set(const std::string& name, const std::string& value) { x_variables[name] = value; }
  void unset(const std::string& name) { x_variables.erase(name); }
  const std::map<std::string, std::string>& variables() const { return x_variables; }
  /// "NAME=value" lines, as execve requires them.
  std::vector<std::string> to_envp() const;

private:
  std::map<std::string, std::string> x_variables;
};

} // namespace hpcml::util
