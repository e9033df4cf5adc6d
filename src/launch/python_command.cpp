// SPDX-License-Identifier: MIT
#include "launch/python_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "util/process.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

bool is_compiled_program(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char magic[4] = {};
  const bool elf = fd >= 0 && ::read(fd, magic, sizeof magic) == 4 && magic[0] == 0x7f && magic[1] == 'E' &&
                   magic[2] == 'L' && magic[3] == 'F';
  if (fd >= 0) ::close(fd);
  return elf;
}

Result<std::string> find_active_python(const util::EnvSnapshot& env) {
  for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = env.get_or(variable, "");
    if (!prefix.empty() && ::access((prefix + "/bin/python").c_str(), X_OK) == 0)
      return prefix + "/bin/python";
  }
  for (const auto* name : {"python3", "python"})
    if (const auto found = util::find_program(name, env)) return *found;
  return Error{
      "there is no active Python: neither VIRTUAL_ENV nor CONDA_PREFIX has one, and PATH has no python3",
      "activate an environment, or give the whole command behind --"};
}

Result<std::vector<std::string>> find_python_command(const std::vector<std::string>& words, bool module,
                                                     const util::EnvSnapshot& env) {
  if (words.empty())
    return Error{module ? "-m needs a module" : "there is no command", "hpcml launch [FLAGS] -- CMD…"};
  if (!module && is_compiled_program(words.front()))
    return Error{words.front() + " is a compiled program, not a Python script",
                 "put -- before it: hpcml launch … -- " + words.front()};
  TRY(const auto python, find_active_python(env));
  std::vector<std::string> command = {python,
                                      "-u"}; // as torchrun does: a killed rank must not lose its last lines
  if (module) command.emplace_back("-m");
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

} // namespace hpcml::launch
