// SPDX-License-Identifier: MIT
#include "core/config/config_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/config/job_file.hpp"
#include "core/config/job_keys.hpp"
#include "core/config/text_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

/// What belongs to one job and not to a user.
bool is_of_one_job(const std::string& key) {
  for (const char* name : {"array", "dependency", "job-name", "nodes", "gpus-per-task", "tasks-per-node"})
    if (key == name) return true;
  return false;
}

const JobKey* find_key(const std::string& name) {
  const auto& keys = job_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const JobKey& key) {
    return key.name == name && key.has_variable() && !is_of_one_job(name);
  });
  return found == keys.end() ? nullptr : &*found;
}

void read_site(Config& config, const std::string& id, ObjectReader& object) {
  auto& values = config.sites[id];
  for (const auto& key : config_keys()) {
    const auto value = object.text(key);
    if (!value) continue;
    if (const auto fault = check_config_value(key, *value))
      object.report_value(key, object.path() + "." + key + ": " + fault->what, fault->hint);
    else
      values[key] = *value;
  }
  object.finish();
}

} // namespace

std::string config_path(const util::EnvSnapshot& env) {
  const auto directory = config_directory(env);
  return directory.empty() ? "" : directory + "/config.json";
}

ConfigLoad load_config(const std::string& path) {
  ConfigLoad load;
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(std::filesystem::symlink_status(path, error))) return load;
  auto text = load_text_file(path);
  if (!text) {
    load.diagnostics.push_back({diag::Severity::error,
                                "config/unreadable",
                                text.error().what,
                                {path},
                                "use hpcml config to write it"});
    return load;
  }
  load.source = std::move(*text);
  auto parsed = parse_json(load.source, path, "config");
  load.diagnostics = std::move(parsed.diagnostics);
  if (!parsed.root) return load;
  ReadContext context{"config", model::OriginKind::config};
  ObjectReader root(context, &*parsed.root, "");
  load.config.site = root.text("site", TextRule::name);
  root.each_member("sites",
                   [&](const std::string& id, ObjectReader& object) { read_site(load.config, id, object); });
  root.finish();
  load.diagnostics.insert(load.diagnostics.end(), context.diagnostics.begin(), context.diagnostics.end());
  return load;
}

std::string render_config(const Config& config) {
  auto json = nlohmann::ordered_json::object();
  if (config.site) json["site"] = *config.site;
  for (const auto& [id, values] : config.sites)
    for (const auto& [key, value] : values) json["sites"][id][key] = value;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> config_keys() {
  std::vector<std::string> names;
  for (const auto& key : job_keys())
    if (find_key(key.name)) names.push_back(key.name);
  return names;
}

std::optional<util::Error> check_config_value(const std::string& key, const std::string& value) {
  model::JobSpec ignored;
  const auto* found = find_key(key);
  return found ? found->from_text(ignored, value, {})
               : util::Error{fmt::format("\"{}\" is not a key of the configuration", key),
                             fmt::format("use one of: {}", util::join(config_keys(), ", "))};
}

model::JobSpec job_from_config(const Config& config, const std::string& site, const std::string& path) {
  model::JobSpec job;
  const auto values = config.sites.find(site);
  if (values == config.sites.end()) return job;
  for (const auto& [key, value] : values->second)
    if (const auto* found = find_key(key))
      found->from_text(
          job, value,
          {model::OriginKind::config, fmt::format("{} sites.{}.{}", path, site, key), {}, {}, {}});
  return job;
}

} // namespace hpcml::config
