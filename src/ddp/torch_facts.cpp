// SPDX-License-Identifier: MIT
// What this LibTorch is, and what can be had of it.
#include <stdexcept>

#include <torch/cuda.h>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/NCCLUtils.hpp>
#endif
#include <ATen/Version.h>
#include <torch/version.h>

#include "ddp/format_message.hpp"
#include "ddp/network.hpp"
#include "ddp/torch_compat.hpp"

namespace hpcml::ddp {

namespace {

/// "TORCH_VERSION=2.13.0" in the library's own description of its build.
std::string version_of_loaded_library() {
  const std::string text = at::show_config();
  const std::string key = "TORCH_VERSION=";
  const auto start = text.find(key);
  if (start == std::string::npos) return {};
  const auto begin = start + key.size();
  return text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

} // namespace

TorchFacts torch_facts() {
  TorchFacts facts;
  facts.header_version = TORCH_VERSION;
  facts.library_version = version_of_loaded_library();
#ifdef USE_C10D_GLOO
  facts.gloo = true;
#endif
#ifdef USE_C10D_NCCL
  facts.nccl = true;
  facts.nccl_version = c10d::getNcclVersion();
#endif
  facts.gpu_count = static_cast<int>(torch::cuda::device_count());
  return facts;
}

std::string resolve_backend(const std::string& wanted) {
  if (wanted == "gloo") return wanted;
#ifdef USE_C10D_NCCL
  const bool built = true;
#else
  const bool built = false;
#endif
  const bool gpus = torch::cuda::device_count() > 0;
  if (wanted == "auto" || wanted.empty()) return built && gpus ? "nccl" : "gloo";
  if (wanted != "nccl")
    throw std::runtime_error(format_message("unknown backend '{}'; use auto, nccl or gloo", wanted));
  if (!built)
    throw std::runtime_error("this program was built against a LibTorch without NCCL; build it against a "
                             "CUDA or ROCm torch, or use --backend gloo");
  if (!gpus)
    throw std::runtime_error(
        format_message("NCCL requires GPUs, but LibTorch finds none on {}; check --gpus-per-node and "
                       "CUDA_VISIBLE_DEVICES (ROCR_VISIBLE_DEVICES with AMD), or use --backend gloo",
                       host_name()));
  return wanted;
}

} // namespace hpcml::ddp
