// SPDX-License-Identifier: MIT
#include "core/model/container_engine.hpp"

#include "core/model/name_prefilter.hpp"

namespace hpcml::model {

namespace {

constexpr NamePrefilter k_engine_filter(k_engines, [](const EngineRow& row) { return row.words.name; });

template <class Is> const EngineRow* find_engine(Is is) {
  const auto* row = std::find_if(k_engines.begin(), k_engines.end(), is);
  return row == k_engines.end() ? nullptr : row;
}

} // namespace

const EngineRow* find_engine_program(std::string_view program) {
  if (!k_engine_filter.may_have(program)) return nullptr;
  return find_engine([&](const EngineRow& row) { return row.words.name == program; });
}

const EngineRow* find_engine_option(std::string_view option) {
  const auto word = " " + std::string(option) + " ";
  return find_engine([&](const EngineRow& row) {
    return row.step_options.find(word) != std::string_view::npos ||
           (!row.option_start.empty() && option.starts_with(row.option_start));
  });
}

std::vector<std::string> engine_programs() {
  std::vector<std::string> programs;
  for (auto row = k_engines.rbegin(); row != k_engines.rend(); ++row) // older names are before newer ones
    if (row->engine && !row->by_slurm) programs.emplace_back(row->words.name);
  return programs;
}

std::vector<std::string> engine_variables(std::initializer_list<std::string_view> ends) {
  std::vector<std::string> names;
  for (const auto& row : k_engines)
    for (const auto end : ends)
      if (!row.variables.empty()) names.push_back(std::string(row.variables) + std::string(end));
  return names;
}

const EngineRow* find_image_option(std::string_view option) {
  if (option.empty()) return nullptr;
  return find_engine([&](const EngineRow& row) {
    return row.by_slurm && (row.image_option == option || row.binds_option == option);
  });
}

bool has_image_ending(std::string_view name) {
  static constexpr std::array<std::string_view, 6> k_endings = {".sif",  ".simg", ".img",
                                                                ".sqsh", ".sqfs", ".squashfs"};
  return std::any_of(k_endings.begin(), k_endings.end(), [&](auto ending) { return name.ends_with(ending); });
}

} // namespace hpcml::model
