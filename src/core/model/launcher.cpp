// SPDX-License-Identifier: MIT
#include "core/model/launcher.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/model/launcher_rows.hpp"
#include "core/model/name_prefilter.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::model {

namespace {

/// Two spellings of an option: "-" and "_" within are one.
bool is_same_option(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char a_char, char b_char) {
    return (a_char == '-' ? '_' : a_char) == (b_char == '-' ? '_' : b_char);
  });
}

constexpr NamePrefilter k_launcher_filter(k_launchers, [](const LauncherRow& row) { return row.words.name; });

const LauncherRow* launcher_called(std::string_view name) {
  if (!k_launcher_filter.may_have(name)) return nullptr; // every word of a script is asked after
  const auto* row = std::find_if(k_launchers.begin(), k_launchers.end(),
                                 [&](const LauncherRow& candidate) { return candidate.words.name == name; });
  return row == k_launchers.end() ? nullptr : row;
}

bool is_part_of_name(char c) { return util::is_name_char(c) || c == '.'; }

} // namespace

OptionMeaning LauncherRow::meaning_of(std::string_view option) const {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  const auto row = std::find_if(options.begin(), options.end(), [&](const auto& option_row) {
    return is_same_option(option_row.name, option);
  });
  return row == options.end() ? OptionMeaning::none : row->meaning;
}

std::string_view LauncherRow::option_for(OptionMeaning what) const {
  const auto row = std::find_if(options.begin(), options.end(),
                                [&](const auto& option_row) { return option_row.meaning == what; });
  return row == options.end() ? std::string_view() : row->name;
}

bool LauncherRow::is_elastic() const {
  return std::any_of(script.words.begin(), script.words.end(), [](std::string_view word) {
    return word.find("{least_nodes}") != std::string_view::npos;
  });
}

std::string LauncherRow::variable_for(std::string_view option) const {
  if (words.variables.empty()) return {};
  std::string name(words.variables);
  for (const char c : option)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

const LauncherRow* find_launcher(std::string_view name) {
  if (const auto* row = launcher_called(name)) return row;
  const auto dash = name.find('-');
  if (dash == std::string_view::npos || dash == 0 ||
      !std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(dash),
                   [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0; }))
    return nullptr;
  const auto* row = launcher_called(name.substr(dash + 1));
  return row && row->is_step() ? row : nullptr;
}

std::vector<std::string_view> python_launchers() {
  std::vector<std::string_view> names;
  for (const auto& row : k_launchers)
    if (row.of_python) names.push_back(row.words.name);
  return names;
}

std::string_view launcher_of_module(std::string_view module) {
  const auto word = " " + std::string(module) + " ";
  for (const auto& row : k_launchers)
    if (row.modules.find(word) != std::string_view::npos) return row.words.name;
  return {};
}

bool may_name_launcher(std::string_view text) {
  for (const auto& alias : k_launcher_aliases)
    if (text.find(alias.first) != std::string_view::npos) return true;
  return std::any_of(k_launchers.begin(), k_launchers.end(), [&](const LauncherRow& row) {
    if (text.find(row.words.name) != std::string_view::npos) return true;
    const auto modules = util::split(std::string(row.modules), ' ');
    return std::any_of(modules.begin(), modules.end(), [&](const auto& module) {
      return !module.empty() && text.find(module) != std::string_view::npos;
    });
  });
}

bool starts_launcher(std::string_view text) {
  return std::any_of(k_launchers.begin(), k_launchers.end(), [&](const LauncherRow& row) {
    for (const auto& module : util::split(std::string(row.modules), ' '))
      if (module.find('.') != std::string::npos && text.find(module) != std::string_view::npos) return true;
    const auto words = util::join(row.words.start(), " ");
    for (auto at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1))
      if ((at == 0 || !is_part_of_name(text[at - 1])) &&
          (at + words.size() == text.size() || !is_part_of_name(text[at + words.size()])))
        return true;
    return false;
  });
}

bool starts_tasks(std::string_view name) {
  const auto* row = find_launcher(name);
  return row && row->is_step();
}

Launcher::Launcher() : x_row(k_launchers.begin()), x_name(k_launchers.front().words.name) {}

RankStartMethod Launcher::ranks_by() const { return x_row->ranks; }

bool Launcher::is_step() const { return x_row->is_step(); }

util::Result<Launcher> Launcher::parse(std::string_view name) {
  Launcher launcher;
  launcher.x_name = name;
  launcher.x_row = find_launcher(name);
  if (launcher.x_row && launcher.x_row->ranks != RankStartMethod::nobody) return launcher;
  const std::vector<std::string> names(k_launcher_names.begin(), k_launcher_names.end());
  return util::Error{fmt::format("unknown launcher '{}'", name),
                     util::choice_hint(std::string(name), names, "hpcml gen --help")};
}

} // namespace hpcml::model
