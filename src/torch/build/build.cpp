// SPDX-License-Identifier: MIT
#include "torch/build/build.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/process.hpp"
#include "core/util/scratch_path.hpp"
#include "core/util/text.hpp"
#include "hpcml/json_line.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/cmake_package.hpp"
#include "torch/build/compile_all.hpp"
#include "torch/build/compiler.hpp"
#include "torch/build/old_builds.hpp"
#include "torch/build/sources.hpp"

namespace hpcml::torch_build {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using util::Error;

constexpr const char* k_summary_name = "build.json";
constexpr const char* k_directory_mark = "@directory@";

/// One build of a package by a compiler.
class Build {
public:
  Build(const TorchPackage& package, std::string compiler, std::string cache, std::string key,
        const util::EnvSnapshot& env, const ProgressSink& report)
      : x_package(package), x_compiler(std::move(compiler)), x_cache(std::move(cache)), x_key(std::move(key)),
        x_env(env), x_report(report) {}

  util::Status run(unsigned jobs) {
    const auto start = Clock::now();
    const auto files = embedded::torch_sources();
    // Its directory is removed with it, unless it was renamed to the final one.
    const util::ScratchPath stage(x_cache + "/.building-" + x_key + "-" + util::read_host_name());
    stage.clear();
    TRY_DONE(write_embedded(files, stage.path()));
    TRY_DONE(write_cmake_package(x_package, stage.path()));
    std::vector<std::string> names;
    for (const auto& file : files) names.emplace_back(file.name);
    const bool options_nccl = !x_package.gpu_defines.empty();
    const auto recipe = make_recipe(x_compiler, x_package, stage.path(), names, options_nccl);
    const auto name = compiler_name(x_compiler, x_env);
    x_report(fmt::format("compiling the helper and hpcml::ddp for torch {} ({}) with {}: {}, {} at a time",
                         x_package.version, x_package.lib, name, util::counted(recipe.steps.size(), "part"),
                         jobs));
    bool nccl = options_nccl;
    TRY_DONE(compile(recipe, make_recipe(x_compiler, x_package, stage.path(), names, false), jobs, nccl));
    for (const auto* words : {&recipe.link_library, &recipe.link_helper}) TRY_DONE(link(*words));
    try_helper(stage.path());
    std::error_code ignored;
    fs::remove_all(stage.path() + "/src", ignored);
    const std::chrono::duration<double> taken = Clock::now() - start;
    TRY_DONE(
        util::write_file(stage.path() + "/" + k_summary_name, summary(name, nccl, taken.count()) + "\n"));
    TRY_DONE(util::write_file(stage.path() + "/" + k_built_for_name, library_identity(x_package) + "\n"));
    return publish(stage.path());
  }

private:
  std::string directory() const { return x_cache + "/" + x_key; }

  util::Status compile(const BuildRecipe& recipe, const BuildRecipe& without_nccl, unsigned jobs,
                       bool& nccl) {
    const auto report_progress = [&, start = Clock::now()](std::size_t done) {
      const auto taken = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
      x_report(fmt::format("compiled {} of {} parts in {} s", done, recipe.steps.size(), taken));
    };
    auto failures = compile_all(recipe.steps, jobs, x_env, report_progress);
    if (failures.empty()) return util::Success{};
    // What NCCL's header needs differs from release to release of torch, so the compiler is asked and not a
    // table.
    const bool killed =
        std::any_of(failures.begin(), failures.end(), [](const auto& failure) { return failure.killed; });
    if (nccl && !killed) {
      x_package.no_nccl = fmt::format("without NCCL, because its header does not compile: {}",
                                      first_errors(failures.front().output));
      nccl = false;
      failures = compile_all(without_nccl.steps, jobs, x_env, report_progress);
      if (failures.empty()) return util::Success{};
    }
    const auto& first = failures.front();
    return failed(fmt::format("cannot compile {}", first.step.what),
                  "use a compiler of about the age of this torch (CXX), or another torch (--torch DIR)",
                  first.output);
  }

  util::Status link(const std::vector<std::string>& words) {
    TRY(const auto output, util::run_process(words, x_env));
    if (output.exit_code == 0) return util::Success{};
    return failed(fmt::format("cannot link the helper with the libraries of torch in {}", x_package.lib),
                  "use another compiler (CXX), or a torch whose libraries are complete (--torch DIR)",
                  output.err);
  }

  /// Keeps the complete output of the compiler, because its first line is rarely sufficient.
  Error failed(const std::string& what, const std::string& hint, const std::string& output) const {
    const auto log = x_cache + "/failed.log";
    const bool kept = util::write_file(log, output).ok();
    return {fmt::format("{}: {}", what, first_errors(output)),
            fmt::format("{}{}", hint, kept ? fmt::format("; the compiler's output is in {}", log) : "")};
  }

  /// A login node may lack libraries of the compute nodes, so that this is only a note.
  void try_helper(const std::string& stage) const {
    const auto info =
        util::run_process({stage + "/" + k_helper_name, "info"}, x_env, std::chrono::seconds(120));
    if (info && info->exit_code == 0) return;
    const auto why = info ? std::string(util::trim(info->err)) : info.error().what;
    x_report(fmt::format("the helper is built, but does not start on this machine: {}",
                         why.substr(0, why.find('\n'))));
  }

  /// The directory is inserted when the file is read, because a build may be moved, or was made in an
  /// image at another path.
  std::string summary(const std::string& compiler, bool nccl, double seconds) const {
    const std::string directory = k_directory_mark;
    JsonLine line;
    line.add("torch", x_package.version).add("torch_lib", x_package.lib).add("found_by", x_package.from);
    line.add("compiler", compiler).add("nccl", nccl);
    if (!nccl) line.add("no_nccl", x_package.no_nccl);
    line.add("prefix", directory)
        .add("helper", directory + "/" + k_helper_name)
        .add("library", directory + "/" + k_library_name);
    line.add("include", directory + "/include").add("flags", program_flags(x_package, directory));
    return line.add("seconds", seconds).text();
  }

  util::Status publish(const std::string& stage) const {
    std::error_code error;
    fs::remove_all(directory(), error);
    fs::rename(stage, directory(), error);
    // Another machine has finished the same build before.
    if (error && !is_built(directory()))
      return Error{fmt::format("cannot move the built helper to {}: {}", directory(), error.message()),
                   "use --cache DIR to build in another directory"};
    return util::Success{};
  }

  TorchPackage x_package;
  std::string x_compiler, x_cache, x_key;
  const util::EnvSnapshot& x_env;
  const ProgressSink& x_report;
};

/// Only the default directory is cleaned: another one may contain builds for torches that are not visible
/// from here, for example those of an image.
void remove_old_builds(const BuildRequest& request, const std::string& cache, const ProgressSink& report) {
  if (!request.cache.empty()) return;
  const auto removed = remove_outlived_builds(cache, std::chrono::system_clock::now());
  if (removed.empty()) return;
  report(fmt::format(
      "removed old builds from {}, unused for a month, whose torch no longer exists or has changed: {}",
      cache, util::join(removed, ", ")));
}

} // namespace

CompletedBuild read_built(const std::string& directory, bool was_built) {
  const auto quoted = json_string(directory);
  auto summary = std::string(util::trim(util::read_file(directory + "/" + k_summary_name).value_or("{}")));
  summary = util::replace_all(summary, k_directory_mark, quoted.substr(1, quoted.size() - 2));
  if (summary.size() > 2) summary.insert(1, std::string("\"was_there\":") + (was_built ? "true," : "false,"));
  return {directory, summary, was_built};
}

BuildOutcome run_build(const BuildRequest& request, const util::EnvSnapshot& env, const std::string& cwd,
                       const ProgressSink& report) {
  BuildOutcome outcome;
  auto search = find_torch_package(request.torch, env, cwd);
  const auto compiler = find_compiler(env);
  const auto cache = make_cache(request.cache, env, cwd);
  outcome.problems = search.problems;
  if (!cache) outcome.problems.push_back(cache.error());
  const bool has_place = search.package && cache;
  const auto package = has_place ? package_key(*search.package, embedded::torch_sources()) : "";
  // Where there is no compiler, what another node built serves as well.
  if (has_place && !compiler && !request.rebuild)
    if (const auto found_build = find_built(*cache, package)) {
      outcome.built = read_built(*found_build, true);
      return outcome;
    }
  if (!compiler) outcome.problems.push_back(compiler.error());
  if (!has_place || !compiler) {
    // Reports everything that is missing at once: for the newest standard if no torch determines it.
    if (compiler && !search.package)
      if (auto old = try_compiler(*compiler, 17, env)) outcome.problems.push_back(*old);
    return outcome;
  }
  const auto key = build_key(package, file_identity(*compiler), *search.package);
  const auto directory = *cache + "/" + key;
  if (!request.rebuild && is_built(directory)) {
    outcome.built = read_built(directory, true);
    return outcome;
  }
  if (auto old = try_compiler(*compiler, search.package->cxx_standard, env)) {
    outcome.problems.push_back(*old);
    return outcome;
  }
  const util::FileLock lock(*cache + "/" + key + ".lock");
  bool was_built = !request.rebuild && is_built(directory); // another process was at it while we waited
  if (!was_built) {
    Build build(*search.package, *compiler, *cache, key, env, report);
    if (const auto done = build.run(request.jobs == 0 ? default_jobs() : request.jobs); !done) {
      outcome.problems.push_back(done.error());
      return outcome;
    }
    remove_old_builds(request, *cache, report);
  }
  outcome.built = read_built(directory, was_built);
  return outcome;
}

} // namespace hpcml::torch_build
