// SPDX-License-Identifier: MIT
#include "torch/build/old_builds.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/scratch_path.hpp"
#include "core/util/text.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cache.hpp"

namespace hpcml::torch_build {

namespace fs = std::filesystem;

namespace {

using Time = CachedBuild::Time;

constexpr const char* k_half_built = ".building-"; ///< prefix of a running or killed build

/// Returns when a file was created, changed or read, or a directory created or changed, as far as the file
/// system records it. Reads of directories do not count, because listings cause them.
Time last_touched(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  auto latest = std::max(found.st_mtim.tv_sec, found.st_ctim.tv_sec);
  if (!S_ISDIR(found.st_mode)) latest = std::max(latest, found.st_atim.tv_sec);
  return std::chrono::system_clock::from_time_t(latest);
}

} // namespace

std::string path_of_identity(const std::string& identity) {
  auto path = identity;
  for (int part = 0; part < 2; ++part) path.resize(std::min(path.size(), path.rfind(' ')));
  return path;
}

bool is_outlived(const CachedBuild& build, Time now) {
  if (now - build.used < k_kept_for) return false;
  return build.name.starts_with(k_half_built) ||
         (!build.built_for.empty() && build.built_for != build.existing);
}

std::vector<CachedBuild> read_kept_builds(const std::string& cache) {
  std::vector<CachedBuild> builds;
  std::error_code error;
  for (fs::directory_iterator entry(cache, error), end; entry != end && !error; entry.increment(error)) {
    std::error_code ignored;
    const auto directory = entry->path().string();
    CachedBuild build;
    build.name = entry->path().filename().string();
    if (!entry->is_directory(ignored)) continue;
    if (!build.name.starts_with("torch-") && !build.name.starts_with(k_half_built)) continue;
    if (const auto kept_name = util::read_file(directory + "/" + k_built_for_name)) {
      build.built_for = std::string(util::trim(*kept_name));
      build.existing = file_identity(path_of_identity(build.built_for));
    }
    build.used = last_touched(directory);
    for (const char* name : {k_helper_name, k_library_name})
      build.used = std::max(build.used, last_touched(directory + "/" + name));
    builds.push_back(std::move(build));
  }
  return builds;
}

std::vector<std::string> remove_outlived_builds(const std::string& cache, Time now) {
  std::vector<std::string> removed;
  for (const auto& build : read_kept_builds(cache)) {
    if (!is_outlived(build, now)) continue;
    // Renamed first, so that an incomplete build is never found.
    const util::ScratchPath lost(cache + "/.gone-" + build.name + "-" + util::read_host_name());
    std::error_code error;
    fs::rename(cache + "/" + build.name, lost.path(), error);
    if (!error) removed.push_back(build.name);
  }
  std::sort(removed.begin(), removed.end());
  return removed;
}

void note_image(const std::string& directory, const std::string& image) {
  const auto note = directory + "/" + k_built_for_name;
  std::error_code ignored;
  if (!fs::exists(image, ignored))
    fs::remove(note, ignored);
  else [[maybe_unused]]
    const auto written = util::write_file(note, file_identity(image) + "\n");
}

} // namespace hpcml::torch_build
