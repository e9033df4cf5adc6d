// SPDX-License-Identifier: MIT
// The user's configuration: their site, and per site the default values of requests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/job_spec.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::config {

/// Values as texts, by site and key ("account").
struct Config {
  std::optional<std::string> site;
  std::map<std::string, std::map<std::string, std::string>> sites;
};
/// The configuration and what is wrong with its file.
struct ConfigLoad {
  Config config;
  diag::Diagnostics diagnostics;
  std::string source;
};

/// $XDG_CONFIG_HOME/hpcml/config.json, or below ~/.config; empty without a home.
std::string config_path(const util::EnvSnapshot& env);
/// The file; without one an empty configuration.
ConfigLoad load_config(const std::string& path);
/// The text of the file.
std::string render_config(const Config& config);
/// The keys that a site's part may have: what a user asks for every time, one text each.
std::vector<std::string> config_keys();
/// What is wrong with a value, or nothing.
std::optional<util::Error> check_config_value(const std::string& key, const std::string& value);
/// The site's part as a request; values are taken to be right, as load_config has checked them.
model::JobSpec job_from_config(const Config& config, const std::string& site, const std::string& path);

} // namespace hpcml::config
