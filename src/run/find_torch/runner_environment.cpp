// SPDX-License-Identifier: MIT
#include "run/find_torch/runner_environment.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "core/util/text.hpp"

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

std::string absolute_path(const std::string& path, const std::string& directory) {
  return path.starts_with("/") ? path : directory + "/" + path;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// Returns the nearest of `directory` and the directories above it that has one of these entries.
std::optional<std::string> directory_with(std::string directory,
                                          std::initializer_list<std::string_view> entries,
                                          const FileView& files) {
  for (; !directory.empty(); directory = parent_of(directory))
    for (const auto entry : entries)
      if (files.exists(fmt::format("{}/{}", directory, entry))) return directory;
  return std::nullopt;
}

Result<std::string> existing_environment(const std::string& runner, const std::string& prefix,
                                         const FileView& files) {
  if (files.exists(prefix + "/bin/python")) return prefix;
  return Error{fmt::format("{} has no environment in {}", runner, prefix)};
}

Error unknown_environment(const std::string& runner, const std::string& why) {
  return Error{fmt::format("the environment of {} is unknown: {}", runner, why)};
}

Result<std::string> environment_of_uv(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                      const std::string& cwd, const FileView& files) {
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

Result<std::string> environment_of_pixi(const std::vector<std::string>& words, const std::string& cwd,
                                        const FileView& files) {
  const auto manifest = value_of(words, {"--manifest-path"});
  auto start = cwd;
  if (manifest) {
    start = absolute_path(*manifest, cwd);
    if (start.ends_with(".toml")) start = parent_of(start);
  }
  const auto project = directory_with(start, {"pixi.toml", ".pixi"}, files);
  if (!project) return unknown_environment("pixi", "there is no project");
  const auto name = value_of(words, {"-e", "--environment"}).value_or("default");
  return existing_environment("pixi", *project + "/.pixi/envs/" + name, files);
}

Result<std::string> environment_of_poetry(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                          const std::string& cwd, const FileView& files) {
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
    directories.push_back(parent_of(parent_of(program)) + "/envs");
  if (const auto home = env.get_or("HOME", ""); !home.empty()) directories.push_back(home + "/.conda/envs");
  return directories;
}

Result<std::string> environment_of_conda(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                         const std::string& cwd, const FileView& files) {
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
    const auto prefix = *name == "base" ? parent_of(directory) : directory + "/" + *name;
    if (files.exists(prefix + "/bin/python")) return prefix;
  }
  return unknown_environment(runner, fmt::format("'{}' was not found", *name));
}

/// Returns the installed version that pyenv means by "3.11.9" or "3.11".
std::optional<std::string> installed_version(const std::string& root, const std::string& version,
                                             const FileView& files) {
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

/// Returns the position after "$(…)" or "`…`" at `at`; `at` if there is none, and npos if it does not end.
std::size_t end_of_substitution(const std::string& line, std::size_t at) {
  if (line[at] == '`') {
    const auto end = line.find('`', at + 1);
    return end == std::string::npos ? end : end + 1;
  }
  if (line.compare(at, 2, "$(") != 0) return at;
  std::size_t depth = 0;
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '(') ++depth;
    if (line[i] == ')' && --depth == 0) return i + 1;
  }
  return std::string::npos;
}

/// Splits the words of one simple command.
class CommandSplitter {
public:
  explicit CommandSplitter(std::string line) : x_line(std::move(line)) {}

  std::optional<std::vector<std::string>> split() {
    while (x_at < x_line.size())
      if (!take_substitution() && !take_quoting() && !take_plain()) return std::nullopt;
    if (x_quote != 0) return std::nullopt;
    end_word();
    return std::move(x_words);
  }

private:
  bool take_substitution() {
    const auto end = x_quote == '\'' ? x_at : end_of_substitution(x_line, x_at);
    if (end == x_at || end == std::string::npos) return false;
    append(end - x_at);
    return true;
  }

  bool take_quoting() {
    const char c = x_line[x_at];
    if (x_quote != '\'' && c == '\\' && x_at + 1 < x_line.size()) {
      ++x_at;
      append(1);
      return true;
    }
    if (x_quote != 0 ? c != x_quote : c != '\'' && c != '"') return false;
    x_quote = x_quote != 0 ? 0 : c;
    x_word = x_word.value_or("");
    ++x_at;
    return true;
  }

  /// False for what makes the text more than one simple command.
  bool take_plain() {
    const char c = x_line[x_at];
    const bool substitutes = c == '`' || x_line.compare(x_at, 2, "$(") == 0; // and does not end
    if (x_quote != '\'' && substitutes) return false;
    if (x_quote == 0 && std::string_view(";&|<>()\n#").find(c) != std::string_view::npos) return false;
    if (x_quote == 0 && (c == ' ' || c == '\t')) {
      end_word();
      ++x_at;
    } else {
      append(1);
    }
    return true;
  }

  void append(std::size_t count) {
    x_word = x_word.value_or("") + x_line.substr(x_at, count);
    x_at += count;
  }

  void end_word() {
    if (x_word) x_words.push_back(*std::exchange(x_word, std::nullopt));
  }

  std::string x_line;
  std::size_t x_at = 0;
  char x_quote = 0; ///< that the position is in; 0: none
  std::optional<std::string> x_word;
  std::vector<std::string> x_words;
};

} // namespace

bool is_runner(const std::string& program) {
  static constexpr std::string_view k_runners[] = {"uv", "pixi", "poetry", "conda", "micromamba"};
  return std::find(std::begin(k_runners), std::end(k_runners), program) != std::end(k_runners);
}

Result<std::string> find_runner_environment(const std::vector<std::string>& words,
                                            const util::EnvSnapshot& env, const std::string& cwd,
                                            const FileView& files) {
  const auto runner = util::base_name(words.at(0));
  if (runner == "uv") return environment_of_uv(words, env, cwd, files);
  if (runner == "pixi") return environment_of_pixi(words, cwd, files);
  if (runner == "poetry") return environment_of_poetry(words, env, cwd, files);
  return environment_of_conda(words, env, cwd, files);
}

std::optional<std::vector<std::string>> split_simple_command(const std::string& text) {
  return CommandSplitter(std::string(util::trim(text))).split();
}

Result<std::string> follow_pyenv_shim(const std::string& shim, const util::EnvSnapshot& env,
                                      const std::string& cwd, const FileView& files) {
  const auto directory = parent_of(shim);
  if (!directory.ends_with("/shims")) return shim;
  const auto text = files.read(shim, k_most_of_a_name_file).value_or("");
  if (text.find("pyenv") == std::string::npos) return shim;
  const auto root = parent_of(directory);
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
  if (!installed) return Error{fmt::format("{} is a shim of pyenv, and its Python is unknown", shim)};
  return root + "/versions/" + *installed + "/bin/" + util::base_name(shim);
}

} // namespace hpcml::find_torch
