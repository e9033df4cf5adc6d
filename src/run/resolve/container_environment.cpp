// SPDX-License-Identifier: MIT
#include "run/resolve/container_environment.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <optional>

#include "core/launch_chain/image.hpp"
#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

namespace {

using launch_chain::StartedContainer;

bool is_one_of(std::string_view list, const std::string& word) {
  return list.find(" " + word + " ") != std::string_view::npos;
}

/// Whether a pattern of names ("RANK", "*", also "RANK=3") holds the rank's.
bool names_rank(const std::optional<std::string>& pattern) {
  return pattern && ::fnmatch(pattern->substr(0, pattern->find('=')).c_str(), "RANK", 0) == 0;
}

/// The option by which the engine hides the rank's variables; nothing where none does.
std::optional<std::string> hiding_option(const StartedContainer& container) {
  for (const auto& [name, value] : container.options) {
    const auto dashes = name.size() == 1 ? "-" : "--";
    if (is_one_of(container.engine->clearing_options, name)) return dashes + name;
    if (is_one_of(container.engine->clearing_options, name + "=") && names_rank(value))
      return dashes + name + "=" + *value;
  }
  return std::nullopt;
}

/// Whether the options hand RANK on: "--env-host", "-e RANK", "--env=RANK=3", "-e 'RANK*'". The file of an
/// --env-file may name it.
bool passes_rank(const StartedContainer& container) {
  return std::any_of(container.options.begin(), container.options.end(), [&](const auto& option) {
    const auto& [name, value] = option;
    return name == "env-file" || is_one_of(container.engine->passing_options, name) ||
           ((name == "e" || name == "env") && names_rank(value));
  });
}

} // namespace

std::vector<std::string> container_prefixes(const std::vector<std::string>& command, bool container) {
  const auto started = launch_chain::find_started_container(command);
  const auto* engine = started ? started->engine : nullptr;
  if (engine != nullptr ? engine->variables.empty() : !container) return {};
  // Singularity's program may be a link to Apptainer's, and Apptainer reports a name of Singularity's.
  if (engine != nullptr && engine->engine == model::ContainerEngine::apptainer)
    return {std::string(engine->variables) + "ENV_"};
  return model::engine_variables({"ENV_"});
}

util::Status check_container_environment(const std::vector<std::string>& command) {
  const auto started = launch_chain::find_started_container(command);
  const auto* engine = started ? started->engine : nullptr;
  if (engine == nullptr || !engine->variables.empty()) return util::Success{};
  const auto option = hiding_option(*started);
  if ((!option && !engine->clears_environment) || passes_rank(*started)) return util::Success{};
  const auto passing = std::string(util::trim(engine->passing_options));
  return util::Error{
      fmt::format("{} starts the image without the ranks' variables (RANK, WORLD_SIZE, MASTER_ADDR, ...)",
                  option ? fmt::format("{} {}", engine->words.name, *option)
                         : std::string(engine->words.name)),
      option             ? fmt::format("remove {} from the command", *option)
      : !passing.empty() ? fmt::format("add --{} to the options of {}", passing, engine->words.name)
                         : "add -e RANK -e WORLD_SIZE -e LOCAL_RANK -e LOCAL_WORLD_SIZE -e MASTER_ADDR -e "
                           "MASTER_PORT to the options of the container"};
}

} // namespace hpcml::launch
