// SPDX-License-Identifier: MIT
// The LibTorch to build programs against: its directories and compiler options.
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
  std::string from;    ///< how it was found, for messages: "VIRTUAL_ENV"
  std::string include; ///< directory of torch's headers
  std::string lib;     ///< directory of libtorch_cpu.so
  std::string abi;     ///< of std::string, "0" or "1"; empty: it does not say, so the compiler's own
  unsigned cxx_standard = 17;
  std::vector<std::string> gpu_libraries; ///< torch's own, which its kernels are in
  std::vector<std::string> gpu_includes;  ///< where NCCL's and the driver's headers are
  std::vector<std::string> gpu_defines;   ///< empty: without NCCL
  std::string no_nccl;                    ///< the reason without NCCL, for messages
};

/// The torch, or all that is wrong with what there is.
struct TorchSearchResult {
  std::optional<TorchPackage> package;
  std::vector<util::Error> problems; ///< none where there is a package
};

/// Searches only `named` (a directory) or, if it is empty, in this order: Torch_DIR, CMAKE_PREFIX_PATH,
/// VIRTUAL_ENV, CONDA_PREFIX, the imports of the PATH's Python, LD_LIBRARY_PATH and LIBRARY_PATH (modules),
/// the system's package. Only reads files.
TorchSearchResult find_torch_package(const std::string& named, const util::EnvSnapshot& env,
                                     const std::string& cwd);

/// Returns the version ("2.13.0") from two headers of torch, the newer one first; empty without one. Pure.
std::string header_version(const std::string& text);
/// The C++ standard that the headers of a release ask for. Pure.
unsigned standard_of(const std::string& version);
/// "0" or "1" as TorchConfig.cmake says it, empty where it does not. Pure.
std::string abi_of(const std::string& config);

} // namespace hpcml::torch_build
