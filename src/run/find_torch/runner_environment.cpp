// SPDX-License-Identifier: MIT
#include "run/find_torch/runner_environment.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/util/text.hpp"
#include "run/find_torch/import_path.hpp"

namespace hpcml::find_torch {

using util::Error;
using util::Result;

namespace {

constexpr std::size_t k_most_of_a_name_file = 4096;

/// Returns the value of the last of these options: "-n NAME", "--name NAME" or "--name=NAME".
std::optional<std::string> value_of(const std::vector<std::string>& words,
                                    std::initializer_list<std::string_view> options) {
  std::optional<std::string> value;
  for (std::size_t i = 1; i < words.size(); ++i)
    for (const auto option : options) {
      if (words[i] == option && i + 1 < words.size()) value = words[i + 1];
      if (words[i].starts_with(std::string(option) + "=")) value = words[i].substr(option.size() + 1);
    }
  return value;
}

bool has_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> options) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto name = word.substr(0, word.find('='));
    return std::find(options.begin(), options.end(), name) != options.end();
  });
}

/// Returns the nearest of `directory` and the directories above it that has one of these entries.
std::optional<std::string> directory_with(std::string directory,
                                          std::initializer_list<std::string_view> entries,
                                          const FileSystemView& files) {
  for (; directory.size() > 1; directory = util::directory_name(directory))
    for (const auto entry : entries)
      if (files.exists(fmt::format("{}/{}", directory, entry))) return directory;
  return std::nullopt;
}

Result<std::string> existing_environment(const std::string& runner, const std::string& prefix,
                                         const FileSystemView& files) {
  if (files.exists(prefix + "/bin/python")) return prefix;
  return Error{fmt::format("'{}' has no Python environment in '{}'", runner, prefix)};
}

Error unknown_environment(const std::string& runner, const std::string& why) {
  return Error{fmt::format("hpcml cannot determine the Python environment of '{}': {}", runner, why)};
}

Result<std::string> environment_of_uv(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                      const std::string& cwd, const FileSystemView& files) {
  if (has_any(words, {"--with", "--with-editable", "--with-requirements", "--isolated", "--no-project", "-p",
                      "--python", "--active", "--script", "-s"}))
    return unknown_environment("uv", "its options change it");
  const auto start = absolute_path(value_of(words, {"--project", "--directory"}).value_or(cwd), cwd);
  const auto project = directory_with(start, {"pyproject.toml"}, files);
  if (project)
    return existing_environment("uv", absolute_path(env.get_or("UV_PROJECT_ENVIRONMENT", ".venv"), *project),
                                files);
  if (const auto active = env.get_or("VIRTUAL_ENV", ""); !active.empty())
    return existing_environment("uv", active, files);
  const auto above = directory_with(start, {".venv/bin/python"}, files);
  if (!above) return unknown_environment("uv", "there is neither a project nor a .venv");
  return *above + "/.venv";
}

Result<std::string> environment_of_pixi(const std::vector<std::string>& words,
                                        const util::EnvSnapshot& /*env*/, const std::string& cwd,
                                        const FileSystemView& files) {
  const auto manifest = value_of(words, {"--manifest-path"});
  auto start = cwd;
  if (manifest) {
    start = absolute_path(*manifest, cwd);
    if (start.ends_with(".toml")) start = util::directory_name(start);
  }
  const auto project = directory_with(start, {"pixi.toml", ".pixi"}, files);
  if (!project) return unknown_environment("pixi", "there is no project");
  const auto name = value_of(words, {"-e", "--environment"}).value_or("default");
  return existing_environment("pixi", *project + "/.pixi/envs/" + name, files);
}

Result<std::string> environment_of_poetry(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                          const std::string& cwd, const FileSystemView& files) {
  if (const auto active = env.get_or("VIRTUAL_ENV", ""); !active.empty())
    return existing_environment("poetry", active, files);
  const auto start =
      absolute_path(value_of(words, {"-C", "--directory", "-P", "--project"}).value_or(cwd), cwd);
  const auto project = directory_with(start, {"pyproject.toml"}, files);
  if (!project) return unknown_environment("poetry", "there is no project");
  if (!files.exists(*project + "/.venv/bin/python"))
    return unknown_environment("poetry", "the project has no .venv");
  return *project + "/.venv";
}

/// Returns the directories that conda searches for environments by their names.
std::vector<std::string> conda_directories(const std::string& runner, const util::EnvSnapshot& env) {
  std::vector<std::string> directories;
  for (const auto* name : {"CONDA_ENVS_DIRS", "CONDA_ENVS_PATH"})
    for (const auto& directory : util::split(env.get_or(name, ""), ':'))
      if (!directory.empty()) directories.push_back(directory);
  if (const auto root = env.get_or("MAMBA_ROOT_PREFIX", ""); runner != "conda" && !root.empty())
    directories.push_back(root + "/envs");
  if (const auto program = env.get_or("CONDA_EXE", ""); !program.empty()) // ROOT/bin/conda
    directories.push_back(util::directory_name(util::directory_name(program)) + "/envs");
  if (const auto home = env.get_or("HOME", ""); !home.empty()) directories.push_back(home + "/.conda/envs");
  return directories;
}

Result<std::string> environment_of_conda(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                         const std::string& cwd, const FileSystemView& files) {
  const auto runner = util::base_name(words[0]);
  if (const auto prefix = value_of(words, {"-p", "--prefix"}))
    return existing_environment(runner, absolute_path(*prefix, cwd), files);
  const auto name = value_of(words, {"-n", "--name"});
  if (!name) {
    const auto active = env.get_or("CONDA_PREFIX", "");
    if (active.empty()) return unknown_environment(runner, "no environment is named or active");
    return existing_environment(runner, active, files);
  }
  for (const auto& directory : conda_directories(runner, env)) {
    const auto prefix = *name == "base" ? util::directory_name(directory) : directory + "/" + *name;
    if (files.exists(prefix + "/bin/python")) return prefix;
  }
  return unknown_environment(runner, fmt::format("'{}' was not found", *name));
}

/// Returns the installed version that pyenv means by "3.11.9" or "3.11".
std::optional<std::string> installed_version(const std::string& root, const std::string& version,
                                             const FileSystemView& files) {
  const auto versions = root + "/versions";
  if (files.exists(versions + "/" + version + "/bin/python")) return version;
  std::optional<std::string> newest;
  unsigned long long most = 0;
  for (const auto& name : files.names(versions)) {
    if (!name.starts_with(version + ".")) continue;
    const auto last = util::parse_unsigned(name.substr(version.size() + 1));
    if (last && (!newest || *last > most)) {
      newest = name;
      most = *last;
    }
  }
  return newest;
}

/// A runner, and what finds the environment that it activates.
struct Runner {
  std::string_view name;
  Result<std::string> (*find)(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                              const std::string& cwd, const FileSystemView& files);
};

constexpr Runner k_runners[] = {{"uv", environment_of_uv},
                                {"pixi", environment_of_pixi},
                                {"poetry", environment_of_poetry},
                                {"conda", environment_of_conda},
                                {"micromamba", environment_of_conda}};

} // namespace

Error unknown_program(const std::string& starter) {
  return Error{fmt::format("hpcml cannot determine which program '{}' runs", starter)};
}

Result<std::string> find_runner_environment(const std::vector<std::string>& words,
                                            const util::EnvSnapshot& env, const std::string& cwd,
                                            const FileSystemView& files) {
  const auto runner = util::base_name(words.at(0));
  for (const auto& [name, find] : k_runners)
    if (runner == name) return find(words, env, cwd, files);
  return unknown_program(runner);
}

Result<std::string> follow_pyenv_shim(const std::string& shim, const util::EnvSnapshot& env,
                                      const std::string& cwd, const FileSystemView& files) {
  const auto directory = util::directory_name(shim);
  if (!directory.ends_with("/shims")) return shim;
  const auto text = files.read(shim, k_most_of_a_name_file).value_or("");
  if (text.find("pyenv") == std::string::npos) return shim;
  const auto root = util::directory_name(directory);
  auto version = env.get_or("PYENV_VERSION", "");
  if (version.empty()) {
    const auto local = directory_with(cwd, {".python-version"}, files);
    const auto file = local ? *local + "/.python-version" : root + "/version";
    version = files.read(file, k_most_of_a_name_file).value_or("");
  }
  version = std::string(util::trim(version.substr(0, version.find_first_of(":\n"))));
  const auto installed = version.empty() || version == "system" || version.find('/') != std::string::npos
                             ? std::nullopt
                             : installed_version(root, version, files);
  if (!installed)
    return Error{fmt::format("hpcml cannot determine which Python the pyenv shim '{}' runs", shim)};
  return root + "/versions/" + *installed + "/bin/" + util::base_name(shim);
}

} // namespace hpcml::find_torch
