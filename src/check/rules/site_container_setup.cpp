// SPDX-License-Identifier: MIT
// Containers without what the site's documents set up for them: a module, or a bind of a directory that the
// program reads.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/site_rule.hpp"
#include "core/model/pattern.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_container_setup {

bool is_engine(const std::string& name) {
  const auto* engine = model::find_engine_program(name);
  return engine && engine->engine && !engine->by_slurm;
}

/// What modules the script loads; nothing where other files or unknown words may load any.
std::optional<std::vector<std::string>> loaded_modules(const LintContext& subject) {
  if (!subject.listing.complete || !subject.unread.empty()) return std::nullopt;
  std::vector<std::string> modules;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (!name || *name == "source" || *name == "." || *name == "eval") return std::nullopt;
    if (*name != "module" && *name != "ml") continue;
    for (const auto& word : command.arguments()) {
      if (!word.known() || word.text() == "restore") return std::nullopt;
      modules.push_back(word.text());
    }
  }
  return modules;
}

/// The first module of the rule that nothing like it was loaded for; nothing where none is missing.
std::optional<std::string> missing_module(const model::ContainerRule& rule,
                                          const std::vector<std::string>& loaded) {
  const auto is_of_containers = [](const std::string& name) {
    return name.find("bind") != std::string::npos ||
           std::any_of(model::k_engines.begin(), model::k_engines.end(), [&](const auto& engine) {
             return is_engine(std::string(engine.name)) && name.find(engine.name) != std::string::npos;
           });
  };
  if (std::any_of(loaded.begin(), loaded.end(), is_of_containers))
    return std::nullopt; // one that does the same by another name
  for (const auto& module : rule.modules) {
    const auto stem = module.substr(0, module.find('/'));
    const auto is_it = [&](const std::string& name) { return name.substr(0, name.find('/')) == stem; };
    if (!module.starts_with("use:") && std::none_of(loaded.begin(), loaded.end(), is_it)) return module;
  }
  return std::nullopt;
}

/// A directory that the site shows to images only by a bind, and that the program's words name.
const model::ContainerBind* unbound_directory(const model::ContainerRule& rule, const Launch& launch) {
  for (const auto& bind : rule.binds) {
    if (bind.optional) continue;
    for (const auto& word : launch.command->words) {
      const auto text = word.text();
      const auto at = text.find(bind.source);
      if (at == std::string::npos || (at > 0 && text[at - 1] != '=')) continue;
      if (text.size() == at + bind.source.size() || text[at + bind.source.size()] == '/') return &bind;
    }
  }
  return nullptr;
}

/// Whether a module of the site's gives the image, and with it all that it needs.
bool is_module_image(const LintContext& subject, const std::vector<std::string>& loaded) {
  const auto gives = [&](const model::ContainerRule& rule) {
    return !rule.image_variable.empty() && std::any_of(loaded.begin(), loaded.end(), [&](const auto& module) {
      return model::matches_pattern(module, rule.images);
    });
  };
  return std::any_of(subject.site->containers.begin(), subject.site->containers.end(), gives);
}

const model::ContainerRule* rule_for(const LintContext& subject) {
  auto facts = subject.fits[0].facts;
  facts.container = true;
  for (const auto& rule : subject.site->containers)
    if (rule.image_variable.empty() && !model::row_of(rule.engine).by_slurm &&
        site_rules::applies(rule.when, facts))
      return &rule;
  return nullptr;
}

RuleMatches find(const LintContext& subject) {
  if (!subject.site || subject.fits.empty() || subject.text.find("_BIND") != std::string_view::npos)
    return {};
  const auto* rule = rule_for(subject);
  const auto loaded = rule ? loaded_modules(subject) : std::nullopt;
  if (!loaded || is_module_image(subject, *loaded)) return {};
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    if (!container || !is_engine(container->program) || !is_own(launch, *container) || !container->complete)
      continue;
    const bool by_path = subject.text.substr(container->place.offset, container->place.length).find('/') !=
                         std::string_view::npos;
    if (by_path || find_any(*container, {"B", "bind", "mount", "contain", "c"})) continue;
    if (const auto module = missing_module(*rule, *loaded))
      return {{container->place,
               fmt::format("{} needs the module {} for containers, which this script does not load",
                           subject.site->name, *module),
               cite(fmt::format("add module load {}", *module), rule->origin)}};
    if (const auto* bind = unbound_directory(*rule, launch))
      return {{container->place,
               fmt::format("images on {} see {} only if it is bound", subject.site->name, bind->source),
               cite(fmt::format("add --bind {}", bind->source), rule->origin)}};
  }
  return {};
}

} // namespace site_container_setup

Rule rule_site_container_setup() {
  using namespace site_container_setup;
  return {
      .id = "site/container-setup",
      .severity = diag::Severity::warning,
      .title = "Container without the site's modules or binds",
      .why = "An image sees the directories and libraries of the host that are bound, and no others: without "
             "the site's own the program finds no data, or its communication falls back to the slow network. "
             "Where the engine itself comes with a module, it is not found without it.",
      .link = "https://docs.lumi-supercomputer.eu/software/packages/pytorch/",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun singularity exec a.sif python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
module use /appl/local/laifs/modules
module load lumi-aif-singularity-bindings
srun singularity exec a.sif python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
