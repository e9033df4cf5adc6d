// SPDX-License-Identifier: MIT
// TF32, the short float32 of matrix units: by what variables it is switched, and which GPUs have it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/gpu_vendor.hpp"
#include "core/model/rank_choices.hpp"

namespace hpcml::model {

/// What switches TF32 in the environment of a program, in Python and C++ alike.
struct Tf32Variables {
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::string> unset; ///< what would win over them
};

/// The variables for GPUs of a vendor; for an unknown one all that any vendor's libraries read.
/// `NVIDIA_TF32_OVERRIDE=0` is read by cuBLAS and cuDNN and beats the program; other values are reserved.
/// `TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1` lets torch's matrix products use TF32: in 1.12 and 1.13 whatever the
/// program sets, later until it says otherwise (aten/src/ATen/Context.h; read off 1.13.1 and 2.13.0).
/// `HIPBLASLT_ALLOW_TF32=1` is what torch for ROCm asks first, from 2.7 on (pytorch#139869,
/// ATen/Context.cpp).
Tf32Variables tf32_variables(Tf32 choice, GpuVendor vendor);

/// Whether GPUs of this instruction set ("sm_80", "gfx942") have TF32: NVIDIA's from Ampere on, AMD's MI300
/// series. Unknown ones may.
bool may_have_tf32(const std::string& arch);

} // namespace hpcml::model
