// SPDX-License-Identifier: MIT
#include "core/model/gpu_families.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/model/gpu_arch.hpp"
#include "core/util/text.hpp"

namespace hpcml::model {
namespace {

struct Family {
  std::string_view word;
  GpuVendor vendor; ///< unknown: of any
  std::string_view archs =
      ""; ///< beginnings of its instruction sets, between spaces; empty: several, or unknown
};

// Generations: NVIDIA's list of compute capabilities (developer.nvidia.com/cuda-gpus and
// developer.nvidia.com/cuda-legacy-gpus, 2026-11-21).
constexpr std::array k_families = {
    Family{"gpu", GpuVendor::unknown},
    Family{"nvidia", GpuVendor::nvidia},
    Family{"tesla", GpuVendor::nvidia},
    Family{"quadro", GpuVendor::nvidia},
    Family{"geforce", GpuVendor::nvidia},
    Family{"rtx", GpuVendor::nvidia},
    Family{"gtx", GpuVendor::nvidia},
    Family{"titan", GpuVendor::nvidia},
    Family{"nvl", GpuVendor::nvidia},
    Family{"grace", GpuVendor::nvidia},
    Family{"gh", GpuVendor::nvidia, "sm_90"},
    Family{"kepler", GpuVendor::nvidia, "sm_3"},
    Family{"maxwell", GpuVendor::nvidia, "sm_5"},
    Family{"pascal", GpuVendor::nvidia, "sm_6"},
    Family{"volta", GpuVendor::nvidia, "sm_70 sm_72"},
    Family{"turing", GpuVendor::nvidia, "sm_75"},
    Family{"ampere", GpuVendor::nvidia, "sm_80 sm_86 sm_87"},
    Family{"ada", GpuVendor::nvidia, "sm_89"},
    Family{"lovelace", GpuVendor::nvidia, "sm_89"},
    Family{"hopper", GpuVendor::nvidia, "sm_90"},
    Family{"blackwell", GpuVendor::nvidia, "sm_10 sm_12"},
    Family{"amd", GpuVendor::amd},
    Family{"instinct", GpuVendor::amd},
    Family{"radeon", GpuVendor::amd},
    Family{"mi", GpuVendor::amd},
    Family{"intel", GpuVendor::intel},
    Family{"max", GpuVendor::intel},
    Family{"pvc", GpuVendor::intel},
    Family{"ponte", GpuVendor::intel},
};

/// Whether the word is in the text with no letter next to it.
bool stands_in(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]));
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  return false;
}

bool may_have(const Family& family, const GpuShape& gpu) {
  if (family.vendor != GpuVendor::unknown && gpu.vendor != GpuVendor::unknown && family.vendor != gpu.vendor)
    return false;
  const auto arch = gpu_arch(gpu);
  if (family.archs.empty() || arch.empty()) return true;
  const auto archs = util::split(std::string(family.archs), ' ');
  return std::any_of(archs.begin(), archs.end(),
                     [&](const auto& beginning) { return arch.starts_with(beginning); });
}

} // namespace

bool is_of_family(const GpuShape& gpu, const std::string& name) {
  const auto text = util::to_lower(name);
  bool any = false;
  for (const auto& family : k_families) {
    if (!stands_in(text, family.word)) continue;
    if (!may_have(family, gpu)) return false;
    any = true;
  }
  return any;
}

} // namespace hpcml::model
