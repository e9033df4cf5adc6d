// SPDX-License-Identifier: MIT
#include "topo/live_nics.hpp"

#include <algorithm>

#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  const auto text = util::read_file(file);
  return text ? std::string(util::trim(*text)) : "";
}

/// Bridges above a device, host bridge first: "pci0000:c0", "0000:c0:01.1" of
/// …/pci0000:c0/0000:c0:01.1/0000:c1:00.0.
std::vector<std::string> bridges_of(const fs::path& device) {
  std::vector<std::string> bridges;
  for (const auto& part : device.parent_path())
    if (!bridges.empty() || util::starts_with(part.string(), "pci")) bridges.push_back(part.string());
  // Containers and emulated nodes show the device alone, below …/bus/pci/devices.
  return !bridges.empty() && bridges.front() == "pci" ? std::vector<std::string>{} : bridges;
}

/// A device by the link that leads to it; without a name if there is none.
Nic read_nic(const std::string& name, const fs::path& link) {
  std::error_code error;
  const fs::path device = fs::canonical(link, error);
  Nic nic;
  if (error) return nic;
  nic.name = name;
  nic.pci = device.filename().string();
  nic.path = bridges_of(device);
  if (const auto numa = util::parse_unsigned(first_line(device / "numa_node")))
    nic.numa = static_cast<unsigned>(*numa);
  return nic;
}

std::vector<Nic> read_rdma_devices(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/class/infiniband", error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::vector<Nic> nics;
  bool fabric = false;
  for (const auto& name : names) {
    const fs::path folder = root / "sys/class/infiniband" / name;
    if (!util::ends_with(first_line(folder / "ports/1/state"), "ACTIVE")) continue;
    Nic nic = read_nic(name, folder / "device");
    nic.management = first_line(folder / "ports/1/link_layer") == "Ethernet";
    fabric = fabric || !nic.management;
    if (!nic.name.empty()) nics.push_back(std::move(nic));
  }
  if (!fabric) // RoCE is the fabric
    for (auto& nic : nics) nic.management = false;
  return nics;
}

} // namespace

LiveNics read_live_nics(const std::vector<model::GpuPlace>& places,
                        const std::vector<std::string>& interfaces, const fs::path& root) {
  LiveNics found;
  if (places.empty()) return found;
  std::vector<Nic> nics;
  for (const auto& name : interfaces)
    if (Nic nic = read_nic(name, root / "sys/class/net" / name / "device"); !nic.name.empty())
      nics.push_back(std::move(nic));
  const auto devices = read_rdma_devices(root);
  if (nics.empty() && devices.empty()) return found;
  std::vector<Gpu> gpus;
  for (const auto& place : places) {
    Gpu gpu;
    gpu.place = place;
    std::error_code error;
    if (const auto device = fs::canonical(root / "sys/bus/pci/devices" / place.pci, error);
        !error && !place.pci.empty())
      gpu.path = bridges_of(device);
    gpus.push_back(std::move(gpu));
  }
  found.interfaces = nearest_nics(gpus, nics);
  found.devices = nearest_nics(gpus, devices);
  std::vector<std::string> fabric;
  for (const auto& nic : devices)
    if (!nic.management) fabric.push_back(nic.name);
  if (fabric.size() < devices.size()) found.fabric = "=" + util::join(fabric, ",");
  return found;
}

} // namespace hpcml::topo
