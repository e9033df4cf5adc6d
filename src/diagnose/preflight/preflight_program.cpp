// SPDX-License-Identifier: MIT
#include "diagnose/preflight/preflight_program.hpp"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/launch/preflight_check.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/sources.hpp"

namespace hpcml::preflight {

namespace fs = std::filesystem;

namespace {

using Kind = find_torch::TorchLookupResult::Kind;

std::string working_directory() {
  std::error_code ignored;
  return fs::current_path(ignored).string();
}

/// The helper that was built for the torch of the command, else of this environment.
std::optional<std::string> find_built_helper(const std::vector<std::string>& command,
                                             const util::EnvSnapshot& env, const std::string& cwd) {
  const auto cache = torch_build::torch_cache(env);
  if (!cache || !find_torch::live_files().exists(*cache)) return std::nullopt;
  std::optional<torch_build::TorchPackage> package;
  const auto own = find_torch::find_torch(command, env, cwd);
  if (own.kind == Kind::found)
    package = torch_build::find_torch_package(util::directory_name(own.place), env, cwd).package;
  if (!package) package = torch_build::find_torch_package("", env, cwd).package;
  if (!package) return std::nullopt;
  const auto directory =
      torch_build::find_built(*cache, torch_build::package_key(*package, embedded::torch_sources()));
  return directory ? std::optional(*directory + "/" + torch_build::k_helper_name) : std::nullopt;
}

constexpr std::chrono::seconds k_python_limit{60}; ///< of a wrapper that enters a container

/// Runs a Python to get the version of its torch if its files do not contain it (a wrapper for a container,
/// or pyenv). Empty if it has none. Does not import torch.
std::string ask_python(const std::string& program, const util::EnvSnapshot& env) {
  constexpr const char* k_question =
      "import importlib.util as u, os, runpy; place = os.path.dirname(u.find_spec('torch').origin); "
      "print(runpy.run_path(os.path.join(place, 'version.py'))['__version__'])";
  const auto answer = util::run_process({program, "-c", k_question}, env, k_python_limit);
  if (!answer || answer->exit_code != 0) return {};
  return std::string(util::trim(util::split(util::trim(answer->out), '\n').back()));
}

/// A Python that imports torch: the command's own, else the PATH's.
struct ProbePython {
  std::string program, version;
};
std::optional<ProbePython> find_python(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                                       const std::string& cwd) {
  std::vector<std::string> programs;
  if (!command.empty() && launch_chain::is_python(command[0])) programs.push_back(command[0]);
  programs.insert(programs.end(), {"python3", "python"});
  for (const auto& program : programs) {
    auto found = find_torch::find_torch({program}, env, cwd);
    if (found.kind == Kind::unknown) found.text = ask_python(program, env);
    if (found.kind != Kind::none && !found.text.empty()) return ProbePython{program, found.text};
  }
  return std::nullopt;
}

} // namespace

util::Result<std::string> place_probe(const util::EnvSnapshot& env) {
  TRY(const auto cache, torch_build::torch_cache(env));
  std::string all;
  for (const auto& file : embedded::probe_files())
    all += std::string(file.name) + "\n" + std::string(file.text);
  const auto directory = cache + "/probe-" + util::hex16(util::fnv1a(all));
  const auto exists = [&] { return ::access((directory + "/__main__.py").c_str(), R_OK) == 0; };
  if (exists()) return directory;
  // Ranks of a node come at once: each writes its own, and the first that is whole stays.
  const auto own = cache + "/.probe-" + std::to_string(::getpid());
  const auto written = torch_build::write_embedded(embedded::probe_files(), own);
  std::error_code error, ignored;
  if (written) fs::rename(own, directory, error);
  if (!written || error) fs::remove_all(own, ignored);
  if (exists()) return directory;
  return util::Error{written ? fmt::format("cannot create '{}' for the files of the preflight: {}", directory,
                                           error.message())
                             : written.error().what,
                     "set XDG_CACHE_HOME to a directory that you can write to"};
}

util::Result<launch::PreflightProgram> choose_preflight(const std::string& program,
                                                        const std::vector<std::string>& command,
                                                        const util::EnvSnapshot& env) {
  const auto cwd = working_directory();
  if (auto helper = find_built_helper(command, env, cwd)) return launch::PreflightProgram{{*helper}, ""};
  if (auto helper = launch::find_torch_helper(program)) return launch::PreflightProgram{{*helper}, ""};
  const auto python = find_python(command, env, cwd);
  if (!python) {
    const auto package = torch_build::find_torch_package("", env, cwd).package;
    return util::Error{"cannot run the preflight: no helper is built, and no Python with torch was found",
                       package ? fmt::format("run `hpcml torch build` to build the helper for torch {} in {}",
                                             package->version, package->lib)
                               : "use the environment or module with torch"};
  }
  TRY(const auto directory, place_probe(env));
  return launch::PreflightProgram{
      {python->program, directory},
      fmt::format("running the preflight in {} with torch {}\n"
                  "hint: run `hpcml torch build` once to build a helper that starts faster",
                  python->program, python->version)};
}

} // namespace hpcml::preflight
