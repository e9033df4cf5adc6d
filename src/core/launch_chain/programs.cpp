// SPDX-License-Identifier: MIT
#include "core/launch_chain/programs.hpp"

#include <algorithm>
#include <array>

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/model/launcher_rows.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {
namespace {

using model::ProgramSyntax;

/// Programs that start others and are neither launchers nor engines.
constexpr auto k_others = std::to_array<ProgramSyntax>({
    {.name = "python", .values = " -W -X -Q "},
    {.name = "nsys",
     .values = " -o --output -t --trace -s --sample -c --capture-range --stats -f --force-overwrite -w "
               "--show-output ",
     .subcommands = " profile launch "},
    {.name = "ncu", .values = " -o --export -k --kernel-name --set --section --target-processes "},
    {.name = "uv",
     .values = " --with --with-requirements --python -p --project --directory --extra --group --env-file ",
     .subcommands = " run "},
    {.name = "poetry", .values = " -C --directory -P --project ", .subcommands = " run "},
    {.name = "pixi", .values = " -e --environment --manifest-path ", .subcommands = " run "},
    {.name = "conda", .values = " -n --name -p --prefix --cwd ", .subcommands = " run "},
    {.name = "mamba", .values = " -n --name -p --prefix --cwd ", .subcommands = " run "},
    {.name = "micromamba", .values = " -n --name -p --prefix --cwd ", .subcommands = " run "},
    {.name = "pipenv", .subcommands = " run "},
});

} // namespace

const ProgramSyntax* find_wrapper(std::string_view program) {
  if (const auto* launcher = model::find_launcher(program)) return &launcher->words;
  if (const auto* engine = model::find_engine_program(program)) return &engine->words;
  const auto* wrapper =
      std::find_if(k_others.begin(), k_others.end(), [&](const auto& row) { return row.name == program; });
  return wrapper == k_others.end() ? nullptr : wrapper;
}

bool has_subcommand_in_name(const ProgramSyntax& wrapper, std::string_view program) {
  const auto& name = wrapper.name;
  return program.size() > name.size() && program.starts_with(name) && program[name.size()] == '-' &&
         wrapper.subcommands.find(" " + std::string(program.substr(name.size() + 1)) + " ") !=
             std::string_view::npos;
}

std::string_view usual_name(std::string_view program) {
  for (const auto& [name, usual] : model::k_launcher_aliases)
    if (name == program || (name.back() == '.' && program.starts_with(name))) return usual;
  const auto dash = program.find('-');
  const auto* wrapper = dash == std::string_view::npos ? nullptr : find_wrapper(program.substr(0, dash));
  return wrapper && has_subcommand_in_name(*wrapper, program) ? wrapper->name : std::string_view();
}

std::string full_option(const ProgramSyntax& wrapper, std::string_view written) {
  std::string full(written);
  if (!wrapper.abbreviates || !written.starts_with("--") || written.size() < 3 ||
      written.find(' ') != std::string_view::npos)
    return full;
  const auto is_same = [](std::string_view a, std::string_view b) {
    const auto plain = [](char c) { return c == '_' ? '-' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char left_char, char right_char) { return plain(left_char) == plain(right_char); });
  };
  const auto letters = written.substr(2); // dashes are all over the lists
  std::string_view found;
  for (const auto list : {wrapper.values, wrapper.flags})
    for (auto at = list.find(letters); at != std::string_view::npos; at = list.find(letters, at + 1)) {
      if (at < 2 || list.substr(at - 2, 2) != "--" || (at > 2 && list[at - 3] != ' ')) continue;
      const auto name = list.substr(at - 2, list.find(' ', at) - (at - 2));
      if (name == written) return full;
      if (!found.empty() && !is_same(found, name)) return full; // of several: the program refuses it
      found = name;
    }
  return found.empty() ? full : std::string(found);
}

Role role_of(std::string_view program) {
  if (const auto* launcher = model::find_launcher(program)) {
    if (launcher->ranks == model::RankStartMethod::launch) return Role::other;
    return launcher->starts_tasks ? Role::step : Role::agent;
  }
  const auto* engine = model::find_engine_program(program);
  return engine && engine->in_chain ? Role::container : Role::other;
}

} // namespace hpcml::launch_chain
