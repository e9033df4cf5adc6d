// SPDX-License-Identifier: MIT
// What rules and ports ask of a chain: its links, their options, the variables that its program sees.
#include <algorithm>

#include "core/launch_chain/launches.hpp"
#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {
namespace {

/// What the innermost command itself sets, or the script has exported.
const shell::Argument* from_shell(const shell::Command& command, std::string_view name) {
  for (const auto& setting : command.own)
    if (setting.name == name) return &setting.value;
  if (!command.exports) return nullptr;
  const auto found =
      std::lower_bound(command.exports->begin(), command.exports->end(), name,
                       [](const shell::VariableRef& a, std::string_view b) { return a->name < b; });
  if (found == command.exports->end() || (*found)->name != name || (*found)->value.words.size() != 1)
    return nullptr;
  return &(*found)->value.words[0];
}

} // namespace

const GivenOption* Link::find(std::string_view option) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const GivenOption& given_option) {
    return given_option.name == option;
  });
  return found == options.rend() ? nullptr : &*found;
}

const GivenOption* Link::find(model::OptionMeaning what) const {
  const auto* launcher = model::find_launcher(program);
  if (!launcher) return nullptr;
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const GivenOption& given_option) {
    return launcher->meaning_of(given_option.name) == what;
  });
  return found == options.rend() ? nullptr : &*found;
}

const GivenOption* Link::find_any(std::initializer_list<model::OptionMeaning> what) const {
  for (const auto meaning : what)
    if (const auto* option = find(meaning)) return option;
  return nullptr;
}

std::optional<std::string> Link::value(std::string_view option) const {
  const auto* found = find(option);
  return found && found->value && found->value->known() ? std::optional(found->value->text()) : std::nullopt;
}

const Link* Launch::find(std::string_view program) const {
  const auto found =
      std::find_if(chain.begin(), chain.end(), [&](const Link& link) { return link.program == program; });
  return found == chain.end() ? nullptr : &*found;
}

const Link* Launch::find(Role role) const {
  const auto found =
      std::find_if(chain.begin(), chain.end(), [&](const Link& link) { return link.role == role; });
  return found == chain.end() ? nullptr : &*found;
}

const Link* Launch::python() const {
  return !chain.empty() && chain.back().program == "python" ? &chain.back() : nullptr;
}

const shell::Argument* Launch::variable(std::string_view name) const {
  for (auto link = chain.rbegin(); link != chain.rend(); ++link)
    for (auto set = link->sets.rbegin(); set != link->sets.rend(); ++set)
      if (set->name == name) return &set->value;
  // An engine takes a variable for its image by its own name: what is set so goes before what only comes in.
  if (container())
    for (const auto& prefix : model::engine_variables({"ENV_"}))
      if (const auto* value = from_shell(*command, prefix + std::string(name))) return value;
  return from_shell(*command, name);
}

const shell::Argument* Launch::variable(const Link& link, model::OptionMeaning what) const {
  const auto* launcher = model::find_launcher(link.program);
  if (!launcher) return nullptr;
  if (what == model::OptionMeaning::config && !launcher->config_variable.empty())
    return variable(launcher->config_variable);
  for (const auto& option : launcher->options)
    if (option.meaning == what && !launcher->words.variables.empty())
      if (const auto* value = variable(launcher->variable_for(option.name))) return value;
  return nullptr;
}

std::vector<std::string> Launch::variables(std::string_view beginning) const {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (name.starts_with(beginning) && std::find(names.begin(), names.end(), name) == names.end())
      names.emplace_back(name);
  };
  const bool image = container() != nullptr;
  const auto add_of_shell = [&](std::string_view name) {
    add(name);
    if (image)
      for (const auto& prefix : model::engine_variables({"ENV_"}))
        if (name.starts_with(prefix)) add(name.substr(prefix.size()));
  };
  for (const auto& link : chain) {
    for (const auto& set : link.sets) add(set.name);
    for (const auto& name : link.passes) add(name);
  }
  for (const auto& setting : command->own) add_of_shell(setting.name);
  if (command->exports)
    for (const auto& variable : *command->exports)
      if (variable->value.kind != shell::Value::Kind::unset) add_of_shell(variable->name);
  return names;
}

} // namespace hpcml::launch_chain
