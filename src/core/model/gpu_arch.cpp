// SPDX-License-Identifier: MIT
#include "core/model/gpu_arch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/util/text.hpp"

namespace hpcml::model {

namespace {

struct KnownModel {
  std::string_view word; ///< is by itself in the model's name: "NVIDIA H100 NVL"
  std::string_view arch;
};

constexpr std::array k_models = {
    KnownModel{"P100", "sm_60"},    KnownModel{"V100", "sm_70"},    KnownModel{"T4", "sm_75"},
    KnownModel{"A100", "sm_80"},    KnownModel{"A30", "sm_80"},     KnownModel{"A40", "sm_86"},
    KnownModel{"A6000", "sm_86"},   KnownModel{"L4", "sm_89"},      KnownModel{"L40", "sm_89"},
    KnownModel{"L40S", "sm_89"},    KnownModel{"H100", "sm_90"},    KnownModel{"H200", "sm_90"},
    KnownModel{"GH200", "sm_90"},   KnownModel{"B200", "sm_100"},   KnownModel{"GB200", "sm_100"},
    KnownModel{"B300", "sm_103"},   KnownModel{"GB300", "sm_103"},  KnownModel{"MI100", "gfx908"},
    KnownModel{"MI210", "gfx90a"},  KnownModel{"MI250X", "gfx90a"}, KnownModel{"MI250", "gfx90a"},
    KnownModel{"MI300A", "gfx942"}, KnownModel{"MI300X", "gfx942"},
};

/// Names of several words.
constexpr std::array k_phrases = {KnownModel{"Grace Hopper", "sm_90"},
                                  KnownModel{"RTX PRO 6000 Blackwell", "sm_120"},
                                  KnownModel{"RTX 8000", "sm_75"}};

} // namespace

std::string gpu_arch(const GpuShape& gpu) {
  if (!gpu.arch.empty()) return gpu.arch;
  for (const auto& known : k_phrases)
    if (gpu.model.find(known.word) != std::string::npos) return std::string(known.arch);
  auto name = gpu.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ',' || c == '-' || c == '('; }, ' ');
  for (const auto& word : util::split(name, ' '))
    for (const auto& known : k_models)
      if (word == known.word) return std::string(known.arch);
  return {};
}

} // namespace hpcml::model
