// SPDX-License-Identifier: MIT
#include "core/launch_chain/image.hpp"

#include "core/launch_chain/shell_quoted_command.hpp"

namespace hpcml::launch_chain {

namespace {

/// The link that runs a known engine's program; null if none does.
const Link* find_engine(const Launch& launch) {
  for (const auto& link : launch.chain)
    if (model::find_engine_program(link.program) != nullptr) return &link;
  return nullptr;
}

} // namespace

std::optional<NamedImage> find_image(const Launch& launch) {
  if (const auto* step = launch.step())
    for (const auto& engine : model::k_engines)
      if (const auto* option = engine.by_slurm ? step->find(engine.image_option) : nullptr;
          option && option->value)
        return NamedImage{&*option->value, &engine, true};
  const auto* container = launch.container();
  if (!container) return std::nullopt;
  const auto* engine = model::find_engine_program(container->program);
  if (engine && !engine->image_option.empty()) {
    const auto* option = container->find(engine->image_option);
    return option && option->value ? std::optional(NamedImage{&*option->value, engine, true}) : std::nullopt;
  }
  if (container->operands.empty()) return std::nullopt;
  return NamedImage{&container->operands.front(), engine, false};
}

std::optional<StartedContainer> find_started_container(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const auto quoted = quote_argv(command);
  const auto script = shell::read_script(quoted.text);
  const auto listing = shell::list_commands(script);
  for (const auto& launch : find_launches(listing)) {
    const auto image = find_image(launch);
    const auto* program = find_engine(launch);
    if (!image && program == nullptr) continue;
    StartedContainer found;
    if (image) found.image = image->word->text();
    if (program == nullptr) {
      found.engine = image->engine;
      return found;
    }
    found.engine = model::find_engine_program(program->program);
    for (const auto& option : program->options)
      found.options.emplace_back(option.name,
                                 option.value ? std::optional(option.value->text()) : std::nullopt);
    return found;
  }
  return std::nullopt;
}

} // namespace hpcml::launch_chain
