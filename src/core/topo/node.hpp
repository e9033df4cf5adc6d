// SPDX-License-Identifier: MIT
// A node with everything that placement needs: CPUs, memory, GPUs, NICs and how they hang together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "core/util/result.hpp"

namespace hpcml::topo {

/// Whose memory a NUMA node is.
enum class NumaMemoryOwner {
  cpu,    ///< memory of CPUs
  none,   ///< CPUs without local memory
  device, ///< memory of a GPU or another device, no CPUs: never a place for a rank's memory
};

/// A NUMA node as the kernel numbers it; also those without CPUs.
struct NumaNode {
  unsigned id = 0;
  model::IdSet cpus;
  NumaMemoryOwner kind = NumaMemoryOwner::cpu;
};

/// A GPU, or one partition of it. Its identity is PCI address, partition and UUID; the index is computed
/// last.
struct Gpu {
  model::GpuLocality place;
  unsigned partition = 0;
  std::string uuid;
  std::string name;                    ///< as the source calls it: "rsmi4", "nvml0"
  model::IdSet cpus;                   ///< the CPUs that the source calls local; empty: unknown
  std::optional<unsigned> memory_numa; ///< NUMA node that is its memory (GH200)
  std::vector<std::string> path;       ///< PCI bridges from the root down, host bridge first
};

/// A network device that ranks can use.
struct Nic {
  std::string name;
  std::string pci;
  std::optional<unsigned> numa, l3, package;
  bool management = false; ///< Ethernet next to a high-speed network, not for the job's traffic
  std::vector<std::string> path;
};

/// A direct link between two GPUs (NVLink, XGMI), by index.
struct GpuLink {
  unsigned first = 0, second = 0;
  unsigned width = 1; ///< links side by side, or their bandwidth: of one node all in the same unit
};

/// All that can matter for placing ranks on one node. CPUs and NUMA nodes by the kernel's ids.
struct Node {
  std::string name;           ///< for users
  model::CpuShape cpus;       ///< reserved CPUs included
  std::vector<NumaNode> numa; ///< ascending; empty: unknown
  std::vector<Gpu> gpus;      ///< in the runtime's order, which is PCI address, then partition
  std::vector<GpuLink> links; ///< each once, first < second; empty: unknown
  std::vector<Nic> nics;      ///< by name
  model::IdSet allowed;       ///< CPUs that may be used; empty: all
  std::vector<std::string>
      interfaces; ///< network interfaces that are present on a live node, but whose places are not known
  std::vector<std::string> notes; ///< what its source left open, for users
};

/// The node as a profile describes it.
Node make_node(const model::NodeType& type);

/// Sets what follows from the rest: package and NUMA node of a GPU or NIC below an L3, numbers and types of
/// the NUMA nodes, packages of CPUs, the order of GPUs and NICs.
void complete_node(Node& node);

/// Adds what only its site's profile knows to a live node (reserved CPUs, L3s and NICs of GPUs), and notes
/// where the two disagree: the node's own values stay.
void complete_from_profile(Node& node, const Node& profile);

/// What is wrong with the node, one sentence each: a GPU under a NUMA node that does not exist, a CPU in two
/// cores, reserved CPUs that do not exist. Empty: nothing.
std::vector<std::string> check_node(const Node& node);

/// Bus part of a PCI address ("c1" of "0000:c1:00.0"), or the address itself where it has no such part.
std::string pci_bus(const std::string& address);
/// Whether `wanted` names the device at `address`: the whole address, without domain, or the bus alone.
bool pci_matches(const std::string& address, const std::string& wanted);

/// The domain of that id; null if there is none.
const model::CpuDomain* find_domain(const std::vector<model::CpuDomain>& domains, unsigned id);

} // namespace hpcml::topo
