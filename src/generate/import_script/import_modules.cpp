// SPDX-License-Identifier: MIT
// Modules of the old script that the new site has, too: their versions.
#include <algorithm>
#include <fmt/format.h>

#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

std::string base_of(const std::string& module) { return module.substr(0, module.find('/')); }

/// All modules that the site's own environments load.
std::vector<std::string> usual_modules(const model::Site& site) {
  std::vector<std::string> usual;
  for (const auto& rule : site.modules) usual.insert(usual.end(), rule.load.begin(), rule.load.end());
  for (const auto& rule : site.python) usual.insert(usual.end(), rule.modules.begin(), rule.modules.end());
  return usual;
}

bool has_wheelhouse(const model::Site& site) {
  return std::any_of(site.python.begin(), site.python.end(),
                     [](const auto& rule) { return rule.kind == model::PythonSource::wheelhouse; });
}

/// The script's version where the site names none: environments are built in jobs, of wheels for each version
/// of Python.
bool take_over(ImportState& porting, diag::Place place, const std::string& shown, const std::string& module) {
  auto& modules = porting.result.job.modules;
  if (std::any_of(modules.begin(), modules.end(),
                  [&](const auto& existing) { return existing.value == module; }))
    return false;
  modules.push_back({module, porting.origin("a module")});
  porting.note(place, "port/module",
               fmt::format("{} becomes {}, which {} also has", shown, module, porting.to.id),
               "run module avail to check that this version exists");
  return true;
}

} // namespace

bool keep_module_versions(ImportState& porting, const shell::SyntaxNode& node, const std::string& shown) {
  const auto usual = usual_modules(porting.to);
  const bool by_wheels = has_wheelhouse(porting.to);
  bool any = false;
  for (std::size_t i = 1; i < node.words.size(); ++i) {
    std::string name;
    for (const auto& part : node.words[i].parts) name += part.text;
    const auto same = std::find_if(usual.begin(), usual.end(), [&](const auto& candidate) {
      return base_of(candidate) == base_of(name);
    });
    if (same == usual.end() || name == *same) continue;
    if (by_wheels)
      any |= take_over(porting, node.place, shown, same->find('/') == std::string::npos ? name : *same);
    else // elsewhere a version of another site says little
      porting.note(node.place, "port/module",
                   fmt::format("{} loads {}, but the new script loads {}", shown, name, *same),
                   fmt::format("use --module {} to load that version, if {} has it", name, porting.to.id));
  }
  return any;
}

} // namespace hpcml::import_script
