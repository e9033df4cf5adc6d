// SPDX-License-Identifier: MIT
// Reading the user's command.
#include "generate/plan/user_command.hpp"

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {
namespace {

std::string base_name(const std::string& path) {
  const std::string trimmed = path.substr(0, path.find_last_not_of('/') + 1);
  return util::base_name(trimmed);
}

std::string program_of(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  std::size_t i = 0;
  if (!launch_chain::is_python(command[0]) && command[0] != "bash" && command[0] != "sh" &&
      command[0] != "env")
    return command[0];
  for (i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
    if (command[i] == "-c") break;
    if (command[i] == "-X" || command[i] == "-W")
      ++i; // Python's options with their own value
    else if (!command[i].empty() && command[i].front() != '-' && command[i].find('=') == std::string::npos) {
      if (command[0] == "env" && launch_chain::is_python(command[i]))
        return program_of({command.begin() + static_cast<std::ptrdiff_t>(i), command.end()});
      return command[i];
    }
  }
  return command[0];
}

} // namespace

bool is_python(const std::vector<std::string>& command) {
  return !command.empty() &&
         (launch_chain::is_run_by_python(command[0]) ||
          (base_name(command[0]) == "env" && command.size() > 1 && launch_chain::is_python(command[1])));
}

std::string job_name_of(const std::vector<std::string>& command) {
  std::string name = base_name(program_of(command));
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0 && (name.ends_with(".py") || name.ends_with(".sh")))
    name.resize(dot);
  for (char& c : name)
    if (!util::is_name_char(c) && c != '.' && c != '-') c = '_';
  while (!name.empty() && (name.front() == '-' || name.front() == '.')) name.erase(0, 1);
  return name.empty() ? "job" : name;
}

} // namespace hpcml::plan
