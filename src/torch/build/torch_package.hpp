// SPDX-License-Identifier: MIT
// The LibTorch that programs are to be built against: where it is and what must be said to the compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::torch_build {

/// A torch with its headers.
struct TorchPackage {
  std::string version; ///< "2.13.0+cpu", as its package says; else that of its headers
  std::string from;    ///< what led to it, for people: "VIRTUAL_ENV"
  std::string include; ///< folder of torch's headers
  std::string lib;     ///< folder of libtorch_cpu.so
  std::string abi;     ///< of std::string, "0" or "1"; empty: it does not say, so the compiler's own
  unsigned cxx_standard = 17;
  std::vector<std::string> gpu_libraries; ///< torch's own, which its kernels are in
  std::vector<std::string> gpu_includes;  ///< where NCCL's and the driver's headers are
  std::vector<std::string> gpu_defines;   ///< empty: without NCCL
  std::string no_nccl;                    ///< why without, for people
};

/// The torch, or all that is wrong with what there is.
struct TorchSearch {
  std::optional<TorchPackage> package;
  std::vector<util::Error> problems; ///< none where there is a package
};

/// In this order: `named` (a folder) and nothing else; Torch_DIR, CMAKE_PREFIX_PATH, VIRTUAL_ENV,
/// CONDA_PREFIX, what the PATH's Python imports, LD_LIBRARY_PATH and LIBRARY_PATH (modules), the system's
/// package. Reads files only.
TorchSearch find_torch_package(const std::string& named, const util::EnvSnapshot& env,
                               const std::string& cwd);

/// "2.13.0" of two headers of torch's, newest place first; empty where they do not tell. Pure.
std::string header_version(const std::string& text);
/// The C++ standard that the headers of a release ask for. Pure.
unsigned standard_of(const std::string& version);
/// "0" or "1" as TorchConfig.cmake says it, empty where it does not. Pure.
std::string abi_of(const std::string& config);

} // namespace hpcml::torch_build
