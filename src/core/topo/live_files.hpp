// SPDX-License-Identifier: MIT
// Files of /sys that several readers of the live node use.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/topo/node.hpp"

namespace hpcml::topo {

/// Names in a directory, sorted; none where it cannot be read.
std::vector<std::string> entries(const std::filesystem::path& directory);
/// "0000:c1:00.0"
bool is_pci_address(const std::string& name);
/// The device's NUMA node; -1 in the file means that the firmware does not state.
std::optional<unsigned> numa_of_pci(const std::filesystem::path& root, const std::string& pci);
/// The first line of a file, empty if it cannot be read.
std::string read_line(const std::filesystem::path& path);
/// The bridges above a PCI function, host bridge first: "pci0000:c0", "0000:c0:01.1".
std::vector<std::string> pci_path(const std::filesystem::path& root, const std::string& pci);
/// A network device by its directory in /sys/class; nothing without a PCI function after it.
std::optional<Nic> read_nic(const std::filesystem::path& root, const std::filesystem::path& entry);
/// "name value" lines of a file of the compute topology.
std::map<std::string, unsigned long long> read_properties(const std::filesystem::path& path);

/// A node of AMD's compute topology, or a link of one.
struct KfdNode {
  unsigned long long id = 0;
  std::filesystem::path directory;
  std::map<std::string, unsigned long long> properties;
  /// The property's value, 0 where there is none.
  unsigned long long get(const char* name) const;
};

/// The nodes that are GPUs, in the runtime's order.
std::vector<KfdNode> read_kfd_gpus(const std::filesystem::path& root);

} // namespace hpcml::topo
