// SPDX-License-Identifier: MIT
#include "run/find_torch/python_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::find_torch {

using util::Error;
using util::Result;

namespace {

bool path_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// The Python in a directory; empty without one.
std::string python_in(const std::string& directory) {
  for (const auto* name : {"/python", "/python3"})
    if (::access((directory + name).c_str(), X_OK) == 0) return directory + name;
  return {};
}

/// The Python of the active environment; empty without one.
std::string find_environment_python(const util::EnvSnapshot& env) {
  for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = env.get_or(variable, ""); !prefix.empty())
      if (auto python = python_in(prefix + "/bin"); !python.empty()) return python;
  return {};
}

} // namespace

bool is_compiled_program(const std::string& path) {
  // A pipe or a device is left to the program that reads it.
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char magic[4] = {};
  const bool elf = fd >= 0 && ::read(fd, magic, sizeof magic) == 4 && magic[0] == 0x7f && magic[1] == 'E' &&
                   magic[2] == 'L' && magic[3] == 'F';
  if (fd >= 0) ::close(fd);
  return elf;
}

Result<std::string> find_active_python(const util::EnvSnapshot& env) {
  if (auto active = find_environment_python(env); !active.empty()) return active;
  for (const auto* name : {"python3", "python"})
    if (const auto found = util::find_program(name, env)) return *found;
  return Error{"no active Python: neither VIRTUAL_ENV nor CONDA_PREFIX has one, and PATH has no python3",
               "use an activated environment, or add the complete command after --"};
}

Result<std::string> find_python_of_program(const std::string& program, const util::EnvSnapshot& env) {
  const bool has_slash = program.find('/') != std::string::npos;
  const auto path = has_slash ? program : util::find_program(program, env).value_or("");
  const auto directory = path.empty() ? "" : util::directory_name(path);
  const auto next_to_it = directory.empty() ? "" : python_in(directory);
  // What marks the prefix of a virtual environment, and of conda's.
  const bool environment =
      path_exists(directory + "/../pyvenv.cfg") || path_exists(directory + "/../conda-meta");
  if (!next_to_it.empty() && environment) return next_to_it;
  if (auto active = find_environment_python(env); !active.empty()) return active;
  const bool by_path = has_slash && util::base_name(program) == "torchrun";
  return by_path && !next_to_it.empty() ? Result<std::string>(next_to_it) : find_active_python(env);
}

Result<std::vector<std::string>> find_python_command(const std::vector<std::string>& words, bool module,
                                                     const util::EnvSnapshot& env) {
  if (words.empty())
    return Error{module ? "-m requires the name of a Python module" : "no command given",
                 module ? "use hpcml launch [OPTIONS] -m MODULE [ARGS]..."
                        : "run hpcml launch [OPTIONS] -- COMMAND [ARGS]..."};
  if (!module && is_compiled_program(words.front()))
    return Error{fmt::format("'{}' is a compiled program, not a Python script", words.front()),
                 fmt::format("add -- before it: hpcml launch … -- {}", words.front())};
  TRY(const auto python, find_active_python(env));
  std::vector<std::string> command = {python,
                                      "-u"}; // as torchrun does: a killed rank must not lose its last lines
  if (module) command.emplace_back("-m");
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

} // namespace hpcml::find_torch
