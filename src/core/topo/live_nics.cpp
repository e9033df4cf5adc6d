// SPDX-License-Identifier: MIT
#include "core/topo/live_nics.hpp"

#include "core/topo/live_files.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {

namespace fs = std::filesystem;

std::string read_line(const fs::path& path) {
  const auto text = util::read_file(path);
  return text ? std::string(util::trim(text->substr(0, text->find('\n')))) : std::string();
}

std::vector<std::string> pci_path(const fs::path& root, const std::string& pci) {
  std::vector<std::string> path;
  std::error_code error;
  const fs::path target = fs::read_symlink(root / "sys/bus/pci/devices" / pci, error);
  for (const fs::path& part : target.parent_path())
    if (const std::string name = part.string(); name.starts_with("pci") || is_pci_address(name))
      path.push_back(name);
  return path;
}

std::optional<Nic> read_nic(const fs::path& root, const fs::path& entry) {
  std::error_code error;
  const std::string pci = fs::read_symlink(entry / "device", error).filename().string();
  if (error || !is_pci_address(pci)) return std::nullopt;
  Nic nic;
  nic.name = entry.filename().string();
  nic.pci = pci;
  nic.numa = numa_of_pci(root, pci);
  nic.path = pci_path(root, pci);
  return nic;
}

namespace {

std::vector<Nic> read_rdma_devices(const fs::path& root) {
  std::vector<Nic> nics;
  bool fabric = false;
  for (const auto& name : entries(root / "sys/class/infiniband")) {
    const fs::path entry = root / "sys/class/infiniband" / name;
    if (!read_line(entry / "ports/1/state").ends_with("ACTIVE")) continue;
    auto nic = read_nic(root, entry);
    if (!nic) continue;
    nic->management = read_line(entry / "ports/1/link_layer") == "Ethernet";
    fabric = fabric || !nic->management;
    nics.push_back(std::move(*nic));
  }
  if (!fabric) // RoCE is the fabric
    for (auto& nic : nics) nic.management = false;
  return nics;
}

} // namespace

NearestNicPerGpu read_live_nics(const std::vector<model::GpuLocality>& places,
                                const std::vector<std::string>& interfaces, const fs::path& root) {
  NearestNicPerGpu found;
  if (places.empty()) return found;
  std::vector<Nic> nics;
  for (const auto& name : interfaces)
    if (auto nic = read_nic(root, root / "sys/class/net" / name)) nics.push_back(std::move(*nic));
  const auto devices = read_rdma_devices(root);
  if (nics.empty() && devices.empty()) return found;
  std::vector<Gpu> gpus;
  for (const auto& place : places) {
    Gpu gpu;
    gpu.place = place;
    gpu.path = pci_path(root, place.pci);
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
