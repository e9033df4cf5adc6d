// SPDX-License-Identifier: MIT
#include "generate/plan/torch_wheels.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/cuda_driver.hpp"
#include "core/model/torch_version.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

namespace {

using model::CpuArch;
using model::GpuVendor;

/// An index with what its wheels were built for. GPUs and versions: PyTorch's RELEASE.md (compatibility and
/// CUDA support matrices of 2.6 to 2.14; github:pytorch/pytorch pull requests 143538, 164471, 170603, 175253,
/// 187075, 194367, issues 172663 and 190355) and its page of previous versions
/// (pytorch.org/get-started/previous-versions), read 2026-11-21.
struct BuiltIndex {
  const char* name;
  const char* toolkit;
  const char* archs_x86; ///< space between them; empty: no wheels
  const char* archs_aarch64;
  const char* torch_to;
  const char* python_to;
  bool only_if_requested = false; ///< has ended, or PyTorch's page does not name it: never the first choice
};

constexpr std::array k_cuda = {
    BuiltIndex{"cu132", "13.2", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "sm_80 sm_90 sm_100 sm_110 sm_120",
               "2.14", "3.14"},
    BuiltIndex{"cu130", "13.0", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "sm_80 sm_90 sm_100 sm_110 sm_120",
               "2.14", "3.14"},
    // cu129: release branches 2.8 to 2.13 (github:pytorch/pytorch pull requests 157830 and 188443).
    BuiltIndex{"cu129", "12.9", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "sm_80 sm_90 sm_100 sm_120", "2.13",
               "3.14", true},
    BuiltIndex{"cu128", "12.8", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "sm_80 sm_90 sm_100 sm_120", "2.11",
               "3.14"},
    BuiltIndex{"cu126", "12.6", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "sm_80 sm_90", "2.14", "3.14"},
    // cu124: 2.4 to 2.6 (page of previous versions); for aarch64 as TACC's page on Vista takes it.
    BuiltIndex{"cu124", "12.4", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "sm_90", "2.6", "3.13", true},
    BuiltIndex{"cu121", "12.1", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "", "2.5", "3.12", true},
    BuiltIndex{"cu118", "11.8", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "", "2.7", "3.13"},
};
constexpr std::array k_rocm = {
    BuiltIndex{"rocm7.2", "7.2", "gfx908 gfx90a gfx942", "", "2.13", "3.14"},
    BuiltIndex{"rocm7.1", "7.1", "gfx908 gfx90a gfx942", "", "2.10", "3.14"},
    BuiltIndex{"rocm6.4", "6.4", "gfx908 gfx90a gfx942", "", "2.9", "3.13"},
    BuiltIndex{"rocm6.3", "6.3", "gfx908 gfx90a gfx942", "", "2.9", "3.13"},
    BuiltIndex{"rocm6.2.4", "6.2.4", "gfx908 gfx90a gfx942", "", "2.7", "3.13"},
    BuiltIndex{"rocm6.1", "6.1", "gfx908 gfx90a gfx942", "", "2.6", "3.13"},
    BuiltIndex{"rocm6.0", "6.0", "gfx908 gfx90a gfx942", "", "2.3", "3.12"},
    BuiltIndex{"rocm5.4.2", "5.4.2", "gfx908 gfx90a", "", "2.0", "3.11"},
};

constexpr std::array k_torch_packages = {"torch",     "torchvision", "torchaudio",         "torchtext",
                                         "torchdata", "triton",      "pytorch-triton-rocm"};

/// "torch" of "torch>=2.6".
std::string_view name_of(std::string_view requirement) {
  return requirement.substr(0, requirement.find_first_of("<>=!~[ ;@"));
}

unsigned major_of(const std::string& version) {
  return static_cast<unsigned>(util::parse_unsigned(version.substr(0, version.find('.'))).value_or(0));
}

/// "sm_86" as 8 and 6.
std::pair<unsigned, unsigned> capability(const std::string& arch) {
  const auto number = static_cast<unsigned>(util::parse_unsigned(arch.substr(3)).value_or(0));
  return {number / 10, number % 10};
}

/// A GPU runs code for its own major version up to its minor one; an AMD GPU its own code only.
bool runs_on(const std::string& built, const std::string& gpu) {
  if (!gpu.starts_with("sm_") || !built.starts_with("sm_")) return built == gpu;
  const auto [major, minor] = capability(built);
  const auto [gpu_major, gpu_minor] = capability(gpu);
  return major == gpu_major && minor <= gpu_minor;
}

/// The architecture that the index lacks; nothing if it has all.
std::optional<std::string> lacking(const BuiltIndex& index, const WheelTarget& target) {
  const std::string list = target.cpu_arch == CpuArch::aarch64 ? index.archs_aarch64
                           : target.cpu_arch == CpuArch::unknown || target.cpu_arch == CpuArch::x86_64
                               ? index.archs_x86
                               : "";
  if (list.empty()) return model::word_of(target.cpu_arch);
  const auto built = util::split(list, ' ');
  for (const auto& gpu : target.archs)
    if (std::none_of(built.begin(), built.end(), [&](const auto& arch) { return runs_on(arch, gpu); }))
      return gpu;
  return std::nullopt;
}

template <std::size_t N> std::vector<BuiltIndex> all_of(const std::array<BuiltIndex, N>& list) {
  return {list.begin(), list.end()};
}

WheelIndex as_value(const BuiltIndex& index) {
  return {index.name, index.toolkit, index.torch_to, index.python_to};
}

std::string names_of(const std::vector<BuiltIndex>& list) {
  std::vector<std::string> names;
  for (const auto& index : list) names.emplace_back(index.toolkit);
  return util::join(names, ", ");
}

unsigned driver_of(const BuiltIndex& index) {
  const auto* driver = model::oldest_driver(index.toolkit);
  return driver != nullptr ? driver->branch : 0;
}

/// The index that was asked for.
WheelChoice wanted(const std::vector<BuiltIndex>& list, const WheelTarget& target,
                   const std::string& toolkit) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& index) { return index.toolkit == target.toolkit_wanted; });
  if (found == list.end())
    return {std::nullopt,
            fmt::format("hpcml knows no wheels of PyTorch for {} {}", toolkit, target.toolkit_wanted),
            fmt::format("use one of {}", names_of(list))};
  if (const auto gpu = lacking(*found, target))
    return {std::nullopt, fmt::format("the wheels of {} are not built for {}", found->name, *gpu),
            "remove the version to get one that fits"};
  if (!target.toolkit_max.empty() && model::is_older(target.toolkit_max, found->toolkit)) {
    if (toolkit != "CUDA" || major_of(found->toolkit) > major_of(target.toolkit_max))
      return {std::nullopt,
              fmt::format("the {} there runs {} up to {}, but {} needs {}", target.limit, toolkit,
                          target.toolkit_max, found->name, found->toolkit),
              "remove the version to get one that fits"};
    return {as_value(*found),
            fmt::format("as requested; the driver runs CUDA {}, so some features of {} are missing",
                        target.toolkit_max, found->toolkit),
            {}};
  }
  return {as_value(*found), "asked for", {}};
}

WheelChoice best(const std::vector<BuiltIndex>& list, const WheelTarget& target, const std::string& toolkit) {
  const auto gpus = target.archs.empty() ? std::string("the GPUs there") : util::join(target.archs, ", ");
  std::vector<BuiltIndex> fitting;
  std::copy_if(list.begin(), list.end(), std::back_inserter(fitting),
               [&](const auto& index) { return !index.only_if_requested && !lacking(index, target); });
  if (fitting.empty()) {
    const auto why = lacking(list.front(), target).value_or(gpus);
    return {std::nullopt,
            fmt::format("PyTorch has no wheels for {}{}", why,
                        why == model::word_of(target.cpu_arch) ? fmt::format(" with {}", toolkit) : ""),
            "use an image or a module of the site with PyTorch, or narrow the GPUs with --partition or "
            "--gpu-type"};
  }
  if (!target.toolkit_max.empty()) {
    const auto found = std::find_if(fitting.begin(), fitting.end(), [&](const auto& index) {
      return !model::is_older(target.toolkit_max, index.toolkit);
    });
    if (found != fitting.end())
      return {as_value(*found),
              fmt::format("the newest for {} that a {} with {} {} runs", gpus, target.limit, toolkit,
                          target.toolkit_max),
              {}};
    return {std::nullopt,
            fmt::format("the {} there runs {} up to {}, but wheels for {} need {}", target.limit, toolkit,
                        target.toolkit_max, gpus, fitting.back().toolkit),
            "use an image that contains what it needs"};
  }
  if (toolkit != "CUDA")
    return {
        std::nullopt,
        fmt::format("the profile does not state which {} the {} there runs", toolkit, target.limit),
        fmt::format("set --{} VERSION; there are wheels for {}", util::to_lower(toolkit), names_of(fitting))};
  // The driver is unknown: the oldest of CUDA 12, which every driver since 2022 runs.
  const auto found = std::find_if(fitting.rbegin(), fitting.rend(),
                                  [](const auto& index) { return major_of(index.toolkit) >= 12; });
  if (found == fitting.rend())
    return {std::nullopt, "the profile does not state which CUDA the driver runs",
            "set --cuda VERSION; run nvidia-smi on a node to see it"};
  return {as_value(*found),
          fmt::format("the profile does not state which CUDA the driver runs, and this one runs with every "
                      "driver since {}; nvidia-smi on a node shows it, --cuda VERSION sets another",
                      driver_of(*found)),
          {}};
}

} // namespace

std::string index_url(const WheelIndex& index) { return "https://download.pytorch.org/whl/" + index.name; }

WheelChoice choose_wheels(const WheelTarget& target) {
  if (target.vendor == GpuVendor::unknown)
    return {WheelIndex{"cpu", {}, "2.14", "3.13"}, "no GPUs requested", {}};
  if (target.vendor == GpuVendor::intel) return {WheelIndex{"xpu", {}, "2.14", "3.13"}, "Intel GPUs", {}};
  const bool nvidia = target.vendor == GpuVendor::nvidia;
  const auto list = nvidia ? all_of(k_cuda) : all_of(k_rocm);
  const std::string toolkit = nvidia ? "CUDA" : "ROCm";
  return target.toolkit_wanted.empty() ? best(list, target, toolkit) : wanted(list, target, toolkit);
}

bool is_torch_package(std::string_view requirement) {
  return std::find(k_torch_packages.begin(), k_torch_packages.end(), name_of(requirement)) !=
         k_torch_packages.end();
}

bool brings_torch(std::string_view requirement) {
  const auto name = name_of(requirement);
  return is_torch_package(requirement) && name != "triton" && name != "pytorch-triton-rocm";
}

} // namespace hpcml::plan
