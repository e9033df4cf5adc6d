// SPDX-License-Identifier: MIT
#include "core/util/env_snapshot.hpp"

#include <unistd.h>

namespace hpcml::util {

EnvSnapshot EnvSnapshot::of_process() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string line = *entry;
    const auto equals = line.find('=');
    if (equals != std::string::npos && equals > 0)
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return EnvSnapshot(std::move(variables));
}

std::optional<std::string> EnvSnapshot::get(const std::string& name) const {
  const auto found = x_variables.find(name);
  if (found == x_variables.end()) return std::nullopt;
  return found->second;
}

std::string EnvSnapshot::get_or(const std::string& name, const std::string& fallback) const {
  const auto found = x_variables.find(name);
  return found == x_variables.end() || found->second.empty() ? fallback : found->second;
}

std::vector<std::string> EnvSnapshot::to_envp() const {
  std::vector<std::string> lines;
  lines.reserve(x_variables.size());
  for (const auto& [name, value] : x_variables) lines.push_back(std::string(name).append("=").append(value));
  return lines;
}

} // namespace hpcml::util
