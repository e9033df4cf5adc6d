// SPDX-License-Identifier: MIT
#include "torch/build/gpu_headers.hpp"

#include <filesystem>
#include <fmt/format.h>

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

} // namespace

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

} // namespace hpcml::torch_build
