// SPDX-License-Identifier: MIT
#include "torch/build/torch_package.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <sys/utsname.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/find_torch/find_torch.hpp"

namespace hpcml::torch_build {

namespace fs = std::filesystem;

namespace {

/// A vendor's torch: the library that identifies it, the headers that its NCCL header includes, and its
/// macros.
struct Vendor {
  const char* library;
  std::vector<const char*> headers;
  std::vector<const char*> more_headers; ///< that those include in some releases
  std::vector<std::string> defines;
  std::vector<const char*> roots; ///< variables with the toolkit's directory
  const char* usual_root;
  const char* compiler; ///< its bin directory is inside the toolkit's
};

const std::vector<Vendor>& vendors() {
  static const std::vector<Vendor> k_vendors = {
      {"libtorch_cuda.so",
       {"cuda_runtime_api.h", "nccl.h", "cusparse.h", "cublas_v2.h", "cusolverDn.h"},
       {"crt/host_config.h", "nv/target"},
       {"USE_C10D_NCCL"},
       {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "EBROOTCUDA", "NCCL_HOME", "EBROOTNCCL"},
       "/usr/local/cuda",
       "nvcc"},
      {"libtorch_hip.so",
       {"hip/hip_runtime_api.h", "rccl.h"},
       {},
       {"USE_C10D_NCCL", "USE_ROCM", "__HIP_PLATFORM_AMD__=1"},
       {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"},
       "/opt/rocm",
       "hipcc"}};
  return k_vendors;
}

/// Returns the directories that may contain the vendor's headers: wheels install them in packages next to
/// torch, and modules set variables.
std::vector<std::string> header_directories(const Vendor& vendor, const TorchPackage& package,
                                            const util::EnvSnapshot& env) {
  std::vector<std::string> directories;
  const auto nvidia_packages = fs::path(package.lib) / "../../nvidia";
  for (const auto& name : find_torch::live_files().names(nvidia_packages.string()))
    directories.push_back((nvidia_packages / name / "include").string());
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"})
    for (const auto& entry : util::split(env.get_or(variable, ""), ':'))
      if (!entry.empty()) directories.push_back(entry);
  std::vector<std::string> roots;
  for (const char* variable : vendor.roots) roots.push_back(env.get_or(variable, ""));
  if (const auto compiler = util::find_program(vendor.compiler, env))
    roots.push_back(util::directory_name(util::directory_name(*compiler)));
  roots.insert(roots.end(), {vendor.usual_root, "/usr"});
  for (const auto& root : roots)
    if (!root.empty())
      for (const char* below : {"/include", "/include/rccl", "/include/cccl", "/targets/x86_64-linux/include",
                                "/targets/sbsa-linux/include"})
        directories.push_back(root + below);
  return directories;
}

/// Fills gpu_includes and gpu_defines where this torch was built for GPUs and the vendor's headers are here;
/// no_nccl elsewhere.
void find_gpu_headers(TorchPackage& package, const util::EnvSnapshot& env) {
  const auto& files = find_torch::live_files();
  for (const auto& vendor : vendors()) {
    if (!files.exists(package.lib + "/" + vendor.library)) continue;
    const auto directories = header_directories(vendor, package, env);
    const auto find = [&](const char* header) {
      const auto found = std::find_if(directories.begin(), directories.end(), [&](const auto& directory) {
        return files.exists(directory + "/" + header);
      });
      // The compiler looks into /usr/include by itself, and must do so last.
      if (found != directories.end() && *found != "/usr/include")
        util::add_once(package.gpu_includes, *found);
      return found != directories.end();
    };
    std::vector<std::string> missing;
    for (const char* header : vendor.headers)
      if (!find(header)) missing.emplace_back(header);
    for (const char* header : vendor.more_headers) find(header);
    if (missing.empty()) {
      package.gpu_defines = vendor.defines;
      return;
    }
    package.gpu_includes.clear();
    package.no_nccl = fmt::format(
        "without NCCL, because these headers were not found: {}. Load the cluster's CUDA or ROCm module, "
        "or set CUDA_HOME or ROCM_PATH, and build again",
        util::join(missing, ", "));
    return;
  }
  package.no_nccl = "without NCCL: this torch is a CPU build";
}

constexpr const char* k_header = "torch/csrc/api/include/torch/version.h";
constexpr const char* k_gloo_header = "torch/csrc/distributed/c10d/ProcessGroupGloo.hpp";
constexpr const char* k_library = "libtorch_cpu.so";

bool path_exists(const fs::path& path) { return find_torch::live_files().exists(path.string()); }

std::string text_of(const fs::path& path) { return util::read_file(path).value_or(""); }

struct Directories {
  std::string from, include, lib;
};

/// Returns the torch of a given directory: its own one, its share/cmake/Torch or its lib.
std::optional<Directories> directories_above(const std::string& from, const fs::path& named) {
  for (const char* up : {".", "..", "../..", "../../.."}) {
    std::error_code error;
    const auto root = fs::weakly_canonical(named / up, error);
    if (!error && path_exists(root / "include" / k_header) && path_exists(root / "lib" / k_library))
      return Directories{from, (root / "include").string(), (root / "lib").string()};
  }
  return std::nullopt;
}

/// Returns the torch package in the directory of a Python environment.
std::optional<Directories> directories_in_environment(const std::string& from, const fs::path& prefix) {
  for (const char* lib : {"lib", "lib64"})
    for (const auto& name : find_torch::live_files().names((prefix / lib).string()))
      if (name.starts_with("python3"))
        if (auto found = directories_above(from, prefix / lib / name / "site-packages/torch")) return found;
  return std::nullopt;
}

std::optional<Directories> directories_of(const std::string& from, const std::string& named) {
  if (named.empty()) return std::nullopt;
  if (auto found = directories_above(from, named)) return found;
  if (auto found = directories_above(from, fs::path(named) / "torch")) return found;
  return directories_in_environment(from, named);
}

/// The distribution's own package, for this machine's processor.
std::optional<Directories> system_directories() {
  utsname machine{};
  ::uname(&machine);
  const std::string triplet = std::string("/usr/lib/") + machine.machine + "-linux-gnu";
  for (const fs::path include : {"/usr/local/include", "/usr/include"})
    for (const auto& lib :
         {std::string("/usr/local/lib"), triplet, std::string("/usr/lib64"), std::string("/usr/lib")})
      if (path_exists(include / k_header) && path_exists(fs::path(lib) / k_library))
        return Directories{"the system's package", include.string(), lib};
  return std::nullopt;
}

/// Returns the torch that the PATH's Python imports; `bare` names one without headers.
std::optional<Directories> directories_of_python(const util::EnvSnapshot& env, const std::string& cwd,
                                                 std::string& bare) {
  for (const char* name : {"python3", "python"}) {
    const auto found = find_torch::find_torch({name}, env, cwd);
    if (found.kind != find_torch::TorchLookupResult::Kind::found) continue;
    const auto package = util::directory_name(found.place);
    if (auto directories = directories_above(fmt::format("what {} imports", name), package))
      return directories;
    bare = fmt::format("torch {} in {}, which {} imports, has no C++ headers", found.text, package, name);
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Directories> search(const util::EnvSnapshot& env, const std::string& cwd, std::string& bare) {
  if (auto found = directories_of("Torch_DIR", env.get_or("Torch_DIR", ""))) return found;
  for (const auto& entry : util::split(env.get_or("CMAKE_PREFIX_PATH", ""), ':'))
    if (auto found = directories_of("CMAKE_PREFIX_PATH", entry)) return found;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = env.get_or(variable, "");
    if (prefix.empty()) continue;
    if (auto found = directories_in_environment(variable, prefix)) return found;
    if (auto found = directories_above(variable, prefix)) return found;
  }
  if (auto found = directories_of_python(env, cwd, bare)) return found;
  for (const char* variable : {"LD_LIBRARY_PATH", "LIBRARY_PATH"})
    for (const auto& entry : util::split(env.get_or(variable, ""), ':'))
      if (!entry.empty() && path_exists(fs::path(entry) / k_library))
        if (auto found = directories_above(variable, entry)) return found;
  return system_directories();
}

/// "2.13.0+cpu" → "2.13"; empty if it is not a version.
std::string series_of(const std::string& version) {
  const auto parsed = find_torch::parse_torch_version(version);
  return parsed ? std::to_string(parsed->major) + "." + std::to_string(parsed->minor) : "";
}

/// The library's version, from another source than the headers: the wheel's file, LibTorch's, the file's own
/// name.
std::string library_version(const Directories& directories) {
  if (const auto found = find_torch::torch_around(directories.lib, find_torch::live_files());
      found && !found->text.empty())
    return found->text;
  std::error_code ignored;
  const auto real = fs::canonical(fs::path(directories.lib) / k_library, ignored).string();
  const auto number = real.find(".so.");
  return number == std::string::npos ? "" : real.substr(number + 4);
}

TorchSearchResult evaluate_package(const Directories& directories) {
  TorchSearchResult result;
  TorchPackage package;
  package.from = directories.from;
  package.include = directories.include;
  package.lib = directories.lib;
  const fs::path include = directories.include;
  auto headers = header_version(text_of(include / "torch/headeronly/version.h"));
  if (headers.empty()) headers = header_version(text_of(include / k_header));
  const auto library = library_version(directories);
  if (headers.empty())
    result.problems.push_back({fmt::format("the headers in {} contain no version", directories.include),
                               "run the installation of torch again"});
  else if (!series_of(library).empty() && series_of(library) != series_of(headers))
    result.problems.push_back({fmt::format("the headers in {} are of torch {}, but the library in {} is {}",
                                           directories.include, headers, directories.lib, library),
                               "use --torch DIR with a complete torch, or install one of the two again"});
  if (!path_exists(include / k_gloo_header))
    result.problems.push_back(
        {fmt::format("{} lacks {}: this torch has no torch.distributed, or its headers are incomplete",
                     directories.include, k_gloo_header),
         "use torch from pip, the LibTorch archive or the distribution's libtorch-dev"});
  if (!result.problems.empty()) return result;
  package.version = library.starts_with(headers) ? library : headers;
  package.cxx_standard = standard_of(headers);
  package.abi = abi_of(text_of(fs::path(directories.lib) / "../share/cmake/Torch/TorchConfig.cmake"));
  if (package.abi.empty())
    package.abi = abi_of(text_of(fs::path(directories.lib) / "cmake/Torch/TorchConfig.cmake"));
  for (const char* name : {"libtorch_cuda.so", "libc10_cuda.so", "libtorch_hip.so", "libc10_hip.so"})
    if (path_exists(fs::path(directories.lib) / name))
      package.gpu_libraries.push_back(directories.lib + "/" + name);
  result.package = std::move(package);
  return result;
}

} // namespace

std::string header_version(const std::string& text) {
  std::string version;
  for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
    const std::string key = std::string("#define TORCH_VERSION_") + part + " ";
    const auto at = text.find(key);
    if (at == std::string::npos) return {};
    auto end = at + key.size();
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const auto number = text.substr(at + key.size(), end - at - key.size());
    if (number.empty()) return {};
    version += (version.empty() ? "" : ".") + number;
  }
  return version;
}

unsigned standard_of(const std::string& version) {
  const auto parsed = find_torch::parse_torch_version(version);
  return parsed && (parsed->major > 2 || (parsed->major == 2 && parsed->minor >= 9)) ? 20 : 17;
}

std::string abi_of(const std::string& config) {
  constexpr std::string_view k_key = "_GLIBCXX_USE_CXX11_ABI=";
  for (auto at = config.find(k_key); at != std::string::npos; at = config.find(k_key, at + 1)) {
    const char digit = at + k_key.size() < config.size() ? config[at + k_key.size()] : ' ';
    if (digit == '0' || digit == '1') return {digit};
  }
  return {};
}

TorchSearchResult find_torch_package(const std::string& named, const util::EnvSnapshot& env,
                                     const std::string& cwd) {
  std::string bare;
  const auto directories =
      named.empty() ? search(env, cwd, bare) : directories_of("--torch", fs::path(cwd) / named);
  if (!directories && !named.empty())
    return {std::nullopt,
            {{fmt::format("'{}' contains no torch with C++ headers ({} in an include directory, {} in lib)",
                          named, k_header, k_library),
              "use the torch package (…/site-packages/torch), its environment or the LibTorch directory"}}};
  if (!directories)
    return {std::nullopt,
            {{bare.empty() ? "torch was not found by Torch_DIR, CMAKE_PREFIX_PATH, VIRTUAL_ENV, "
                             "CONDA_PREFIX, the Python in "
                             "PATH, LD_LIBRARY_PATH or LIBRARY_PATH, or as a system package"
                           : bare,
              bare.empty() ? "use the environment or module with torch, or set --torch DIR"
                           : "add the headers (Debian: libtorch-dev), or set --torch DIR to another torch"}}};
  auto result = evaluate_package(*directories);
  if (result.package) find_gpu_headers(*result.package, env);
  return result;
}

} // namespace hpcml::torch_build
