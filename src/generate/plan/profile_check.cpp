// SPDX-License-Identifier: MIT
#include "generate/plan/profile_check.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::plan {
namespace {

using model::CpuDomain;

std::string differs(const std::string& what, const std::string& live, const std::string& profile) {
  return fmt::format("{}{} here, but the profile states {}", what, live, profile);
}

/// By their CPUs alone: L3s and packages have no separate numbers.
void compare_domains(const std::string& what, const std::vector<CpuDomain>& live,
                     const std::vector<CpuDomain>& profile, std::vector<std::string>& found) {
  if (live.empty() || profile.empty()) return;
  if (live.size() != profile.size()) {
    found.push_back(differs("it has ", util::counted(live.size(), what), std::to_string(profile.size())));
    return;
  }
  for (const auto& domain : profile) {
    const bool exists = std::any_of(live.begin(), live.end(), [&](const CpuDomain& live_domain) {
      return live_domain.cpus == domain.cpus;
    });
    if (exists) continue;
    found.push_back(fmt::format("no {} has the CPUs {}, which the profile states for number {}", what,
                                domain.cpus.to_list(), domain.id));
    return;
  }
}

void compare_gpu(const model::GpuLocality& live, const model::GpuLocality& profile,
                 std::vector<std::string>& found) {
  const std::string gpu = fmt::format("GPU {} is ", live.index);
  if (!live.pci.empty() && !profile.pci.empty() && live.pci != profile.pci)
    found.push_back(differs(gpu + "at ", live.pci, profile.pci));
  if (live.numa && profile.numa && *live.numa != *profile.numa)
    found.push_back(
        fmt::format("{}: the live value is used",
                    differs(gpu + "under NUMA ", std::to_string(*live.numa), std::to_string(*profile.numa))));
}

} // namespace

std::vector<std::string> profile_differences(const model::NodeType& type, const DetectedNodeHardware& node) {
  std::vector<std::string> found;
  const auto live_cpus = node.cpus.all(), profile_cpus = type.cpu.all();
  if (type.cpu.cores > 0 && node.cpus.cores != type.cpu.cores)
    found.push_back(
        differs("it has ", util::counted(node.cpus.cores, "core"), std::to_string(type.cpu.cores)));
  else if (!profile_cpus.is_subset_of(live_cpus)) // not for fewer threads: few sites document theirs
    found.push_back(differs("its CPUs are ", live_cpus.to_list(), profile_cpus.to_list()));
  else {
    compare_domains("NUMA node", node.cpus.numa, type.cpu.numa, found);
    compare_domains("L3", node.cpus.l3, type.cpu.l3, found);
  }
  if (!type.gpu || node.gpus.empty()) return found;
  if (node.gpu_vendor != model::GpuVendor::unknown && type.gpu->vendor != model::GpuVendor::unknown &&
      node.gpu_vendor != type.gpu->vendor)
    found.push_back(
        differs("its GPUs are ", model::word_of(node.gpu_vendor), model::word_of(type.gpu->vendor)));
  if (node.gpus.size() != type.gpu->per_node) {
    found.push_back(
        differs("it has ", util::counted(node.gpus.size(), "GPU"), std::to_string(type.gpu->per_node)));
    return found; // the numbers of the others mean nothing then
  }
  for (const auto& gpu : node.gpus)
    for (const auto& place : type.gpu->places)
      if (place.index == gpu.index) compare_gpu(gpu, place, found);
  return found;
}

} // namespace hpcml::plan
