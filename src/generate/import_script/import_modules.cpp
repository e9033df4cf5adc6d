// SPDX-License-Identifier: MIT
#include "generate/import_script/import_modules.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/site_queries.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

std::string base_of(const std::string& module) { return module.substr(0, module.find('/')); }

void add_module(ImportState& porting, const std::string& module) {
  auto& modules = porting.result.job.modules;
  const bool known =
      std::any_of(modules.begin(), modules.end(), [&](const auto& m) { return m.value == module; });
  if (!known) modules.push_back({module, porting.origin("a module")});
}

/// What the new site loads in place of a module; empty if its profile has none of that name. A version stays
/// where both sites have the same modules: they build environments of the same wheels.
std::string replacement_of(const ImportState& porting, const std::string& module) {
  const auto usual = usual_modules(porting.to);
  const auto same = std::find_if(usual.begin(), usual.end(), [&](const auto& candidate) {
    return base_of(candidate) == base_of(module);
  });
  if (same == usual.end()) return {};
  const auto has_wheels = [](const model::Site& site) {
    return model::has_python(site, model::PythonPackageSource::wheelhouse);
  };
  const bool same_stack =
      has_wheels(porting.to) && (porting.source ? has_wheels(*porting.source) : !porting.is_of_other_site);
  return same_stack && same->find('/') == std::string::npos ? module : *same;
}

/// The names after a subcommand that loads; `is_short`: of `ml`, which also takes names alone.
std::vector<std::string> loaded_of(std::vector<std::string> words, bool is_short) {
  static constexpr std::string_view k_loading = " load add try-load ";
  static constexpr std::string_view k_swapping = " swap switch ";
  static constexpr std::string_view k_others =
      " purge unload rm del use unuse list avail reset restore show spider whatis ";
  if (words.empty()) return {};
  const auto is_in = [&](std::string_view list) {
    return list.find(" " + words.front() + " ") != std::string_view::npos;
  };
  const std::size_t skipped = is_in(k_loading)    ? 1
                              : is_in(k_swapping) ? std::min<std::size_t>(2, words.size() - 1)
                                                  : 0;
  if (skipped == 0) return is_short && !is_in(k_others) ? words : std::vector<std::string>{};
  return {words.begin() + static_cast<std::ptrdiff_t>(skipped), words.end()};
}

} // namespace

std::string word_text(const shell::Word& word) {
  std::string text;
  for (const auto& part : word.parts) text += part.text;
  return text;
}

std::vector<std::string> usual_modules(const model::Site& site) {
  std::vector<std::string> usual;
  for (const auto& rule : site.modules) usual.insert(usual.end(), rule.load.begin(), rule.load.end());
  for (const auto& rule : site.python) usual.insert(usual.end(), rule.modules.begin(), rule.modules.end());
  return usual;
}

std::vector<std::string> loaded_modules(const shell::SyntaxNode& node) {
  if (node.kind != shell::SyntaxNode::Kind::simple || node.words.empty()) return {};
  const auto program = word_text(node.words.front());
  if (program != "module" && program != "ml") return {};
  std::vector<std::string> words;
  for (std::size_t i = 1; i < node.words.size(); ++i)
    if (const auto word = word_text(node.words[i]); !word.empty() && word.front() != '-')
      words.push_back(word);
  return loaded_of(words, program == "ml");
}

std::vector<std::string> all_loaded_modules(const shell::SyntaxNode& program) {
  auto all = loaded_modules(program);
  for (const auto& child : program.children)
    for (auto& module : all_loaded_modules(child)) all.push_back(std::move(module));
  return all;
}

void replace_modules(ImportState& porting, const shell::SyntaxNode& node, const std::string& shown) {
  std::vector<std::string> lost, kept;
  for (const auto& module : loaded_modules(node)) {
    const auto now = replacement_of(porting, module);
    if (now.empty()) {
      lost.push_back(module);
      continue;
    }
    // The script's own environment needs them; that of the site comes with its own.
    if (porting.keeps_environment || now == module) add_module(porting, now);
    kept.push_back(now);
  }
  const auto& site = porting.to.id;
  if (!lost.empty())
    porting.warn(
        node.place, "port/module",
        fmt::format("{} is removed: the profile of {} has no module {}", shown, site, util::join(lost, ", ")),
        "add --module NAME to hpcml gen to load a replacement");
  else if (!kept.empty())
    porting.note(
        node.place, "port/module",
        fmt::format("{} is replaced: the script for {} loads {}", shown, site, util::join(kept, " ")),
        "add --module NAME to hpcml gen to load another module");
  else
    porting.note(node.place, "port/module",
                 fmt::format("{} is removed: it loads no module, and the script for {} loads its own modules",
                             shown, site),
                 fmt::format("add --module NAME to hpcml gen to load a module of {}", site));
}

} // namespace hpcml::import_script
