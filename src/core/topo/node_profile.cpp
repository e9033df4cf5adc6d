// SPDX-License-Identifier: MIT
// A site's profile next to the node itself.
#include <algorithm>
#include <fmt/format.h>

#include "core/topo/node.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;

std::string shown(const std::optional<unsigned>& id) { return id ? std::to_string(*id) : "none"; }

class Comparison {
public:
  Comparison(Node& node, const Node& profile) : x_node(node), x_profile(profile) {}

  void run() {
    compare("number of cores", std::to_string(x_profile.cpus.core_threads.size()),
            std::to_string(x_node.cpus.core_threads.size()));
    for (const CpuDomain& numa : x_profile.cpus.numa)
      compare(fmt::format("CPUs of NUMA {}", numa.id), numa.cpus.to_list(),
              cpus_of(x_node.cpus.numa, numa.id).to_list());
    compare("number of GPUs", std::to_string(x_profile.gpus.size()), std::to_string(x_node.gpus.size()));
    for (const Nic& nic : x_profile.nics) take_nic(nic);
    for (Gpu& gpu : x_node.gpus) compare_gpu(gpu);
    for (const Nic& nic : x_profile.nics)
      if (!has_nic(nic.name))
        x_node.notes.push_back(fmt::format(
            "hpcml ignores interface {} of the site profile, because this node does not have it", nic.name));
    // On another node type these numbers would mean other CPUs.
    if (x_profile.cpus.core_threads.size() == x_node.cpus.core_threads.size())
      x_node.cpus.reserved = x_node.cpus.reserved | (x_profile.cpus.reserved & x_node.cpus.all());
    complete_node(x_node);
  }

private:
  void compare(const std::string& what, const std::string& promised, const std::string& found) {
    if (promised != found)
      x_node.notes.push_back(
          fmt::format("{}: {} on this node, but the site profile states {}: hpcml uses the value of the node",
                      what, found.empty() ? "none" : found, promised));
  }

  static model::IdSet cpus_of(const std::vector<CpuDomain>& domains, std::optional<unsigned> id) {
    for (const CpuDomain& domain : domains)
      if (id && domain.id == *id) return domain.cpus;
    return {};
  }

  bool has_nic(const std::string& name) const {
    return std::any_of(x_node.nics.begin(), x_node.nics.end(),
                       [&](const Nic& nic) { return nic.name == name; });
  }

  /// An interface whose place the kernel does not state is where the profile says.
  void take_nic(const Nic& nic) {
    const auto& named = x_node.interfaces;
    if (!has_nic(nic.name) && std::find(named.begin(), named.end(), nic.name) != named.end())
      x_node.nics.push_back(nic);
  }

  /// Takes the L3 and the NIC that the kernel does not state, where both speak of the same GPU.
  void compare_gpu(Gpu& gpu) {
    const auto same = std::find_if(x_profile.gpus.begin(), x_profile.gpus.end(), [&](const Gpu& candidate) {
      return candidate.place.index == gpu.place.index;
    });
    if (same == x_profile.gpus.end()) return;
    const model::GpuLocality& promised = same->place;
    const std::string who = "GPU " + std::to_string(gpu.place.index);
    const std::size_t before = x_node.notes.size();
    if (!promised.pci.empty() && !gpu.place.pci.empty())
      compare(fmt::format("address of {}", who), promised.pci, gpu.place.pci);
    if (promised.numa && gpu.place.numa)
      compare(fmt::format("NUMA node of {}", who), shown(promised.numa), shown(gpu.place.numa));
    if (x_node.notes.size() != before) return;
    if (!gpu.place.numa) gpu.place.numa = promised.numa;
    const model::IdSet l3 = cpus_of(x_profile.cpus.l3, promised.l3);
    if (!gpu.place.l3 && !l3.empty() && l3 == cpus_of(x_node.cpus.l3, promised.l3))
      gpu.place.l3 = promised.l3;
    if (gpu.place.nic.empty() && has_nic(promised.nic)) gpu.place.nic = promised.nic;
  }

  Node& x_node;
  const Node& x_profile;
};

} // namespace

void complete_from_profile(Node& node, const Node& profile) { Comparison(node, profile).run(); }

} // namespace hpcml::topo
