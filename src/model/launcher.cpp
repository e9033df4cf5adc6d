// SPDX-License-Identifier: MIT
#include "model/launcher.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "util/text.hpp"

namespace hpcml::model {

namespace {

constexpr std::array<std::pair<std::string_view, LauncherKind>, 4> k_kinds = {
    {{"hpcml", LauncherKind::hpcml},
     {"torchrun", LauncherKind::torchrun},
     {"accelerate", LauncherKind::accelerate},
     {"deepspeed", LauncherKind::deepspeed}}};
constexpr std::array<std::string_view, 6> k_task_starters = {"srun",    "ibrun", "mpirun",
                                                             "mpiexec", "jsrun", "aprun"};

} // namespace

bool starts_tasks(std::string_view name) {
  const auto dash = name.find('-');
  const auto prefix = name.substr(0, dash == std::string_view::npos ? 0 : dash);
  const auto program = dash == std::string_view::npos ? name : name.substr(dash + 1);
  return dash != 0 &&
         std::all_of(prefix.begin(), prefix.end(),
                     [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0; }) &&
         std::find(k_task_starters.begin(), k_task_starters.end(), program) != k_task_starters.end();
}

util::Result<Launcher> Launcher::parse(std::string_view name) {
  Launcher launcher;
  launcher.x_name = name;
  launcher.x_kind = LauncherKind::tasks;
  std::vector<std::string> names;
  for (const auto& [known, kind] : k_kinds) {
    if (known == name) launcher.x_kind = kind;
    names.emplace_back(known);
  }
  if (launcher.x_kind == LauncherKind::tasks && !starts_tasks(name)) {
    names.insert(names.end(), k_task_starters.begin(), k_task_starters.end());
    const auto near = util::nearest(std::string(name), names);
    return util::Error{"unknown launcher '" + std::string(name) + "'",
                       (near ? "did you mean " + *near + "? " : std::string()) +
                           "launchers: " + util::join(names, ", ")};
  }
  return launcher;
}

} // namespace hpcml::model
