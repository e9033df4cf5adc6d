// SPDX-License-Identifier: MIT
#include "torch/build/cache.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "run/find_torch/find_torch.hpp"
#include "torch/build/build_recipe.hpp"

namespace hpcml::torch_build {

namespace fs = std::filesystem;

namespace {

long long time_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mtim.tv_sec : -1;
}

/// Increased when the same sources are compiled differently or to more files, so that earlier builds are not
/// used.
constexpr const char* k_manner = "3 ";

/// A version may hold what a file's name should not.
std::string as_name(std::string text) {
  for (char& c : text)
    if (!util::is_name_char(c) && c != '.' && c != '+' && c != '-') c = '_';
  return text;
}

} // namespace

util::Result<std::string> torch_cache(const util::EnvSnapshot& env) {
  return util::cache_directory(env, "torch");
}

util::Result<std::string> make_cache(const std::string& wanted, const util::EnvSnapshot& env,
                                     const std::string& cwd) {
  std::string directory = (fs::path(cwd) / wanted).lexically_normal().string();
  if (wanted.empty()) {
    TRY(directory, torch_cache(env));
  }
  const std::string hint = "set --cache DIR or XDG_CACHE_HOME to a directory that you can write to";
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return util::Error{
        fmt::format("cannot create the directory for builds (--cache, XDG_CACHE_HOME), '{}': {}", directory,
                    error.message()),
        hint};
  if (::access(directory.c_str(), W_OK) != 0)
    return util::Error{
        fmt::format("cannot write to the directory for builds (--cache, XDG_CACHE_HOME), '{}'", directory),
        hint};
  return directory;
}

std::string file_identity(const std::string& path) {
  struct stat found {};
  ::stat(path.c_str(), &found);
  return path + " " + std::to_string(found.st_size) + " " + std::to_string(found.st_mtim.tv_sec);
}

std::string library_identity(const TorchPackage& package) {
  return file_identity(package.lib + "/libtorch_cpu.so");
}

std::string package_key(const TorchPackage& package, std::span<const embedded::EmbeddedFile> sources) {
  auto all = k_manner + library_identity(package);
  for (const auto& file : sources)
    all += " " + util::hex16(util::fnv1a(file.name)) + util::hex16(util::fnv1a(file.text));
  return "torch-" + as_name(package.version) + "-abi" + (package.abi.empty() ? "x" : package.abi) + "-" +
         util::hex16(util::fnv1a(all));
}

std::string build_key(const std::string& package_key, const std::string& compiler_identity,
                      const TorchPackage& package) {
  const auto gpu = util::join(package.gpu_defines, " ") + " " + util::join(package.gpu_includes, " ");
  return package_key + "-" + util::hex16(util::fnv1a(compiler_identity + " " + gpu));
}

bool is_built(const std::string& directory) {
  return ::access((directory + "/" + k_helper_name).c_str(), X_OK) == 0;
}

std::optional<std::string> find_built(const std::string& cache, const std::string& package_key) {
  std::optional<std::string> newest;
  for (const auto& name : find_torch::live_files().names(cache)) {
    const auto directory = cache + "/" + name;
    if (!name.starts_with(package_key + "-") || !is_built(directory)) continue;
    if (!newest || time_of(directory) > time_of(*newest)) newest = directory;
  }
  return newest;
}

util::Status write_embedded(std::span<const embedded::EmbeddedFile> files, const std::string& directory) {
  for (const auto& file : files) {
    const auto path = fs::path(directory) / file.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return util::Error{
          fmt::format("cannot create {} for files of hpcml: {}", path.parent_path().string(),
                      error.message()),
          "set XDG_CACHE_HOME, or --cache of hpcml torch build, to a directory that you can write to"};
    TRY_DONE(util::write_file(path, file.text));
  }
  return util::Success{};
}

} // namespace hpcml::torch_build
