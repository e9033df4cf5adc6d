// SPDX-License-Identifier: MIT
#include "diagnose/doctor/doctor_facts.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "core/topo/live_files.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/find_torch/python_command.hpp"
#include "run/launch/system_view.hpp"

namespace hpcml::doctor {

namespace {

namespace fs = std::filesystem;

bool path_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Opens the device, because the job's cgroup hides no device file and rejects only opening it.
DeviceAccess try_device(const fs::path& path) {
  if (!path_exists(path)) return DeviceAccess::missing;
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) {
    ::close(fd);
    return DeviceAccess::open;
  }
  return errno == EACCES ? DeviceAccess::no_rights : DeviceAccess::forbidden;
}

ExecutionEnvironmentFacts read_place(const util::EnvSnapshot& env, const fs::path& root) {
  ExecutionEnvironmentFacts place;
  if (env.get("APPTAINER_CONTAINER") || env.get("SINGULARITY_CONTAINER") ||
      path_exists(root / ".singularity.d"))
    place.container = "Apptainer";
  else if (path_exists(root / ".dockerenv") || path_exists(root / "run/.containerenv"))
    place.container = "Docker or Podman";
  else if (env.get("SHIFTER_RUNTIME"))
    place.container = "Shifter";
  place.job = env.get_or("SLURM_JOB_ID", "");
  place.step = env.get("SLURM_PROCID").has_value() && env.get("SLURM_STEP_ID").has_value();
  place.slurm = !place.job.empty() || util::find_program("sbatch", env).has_value();
  for (const auto* name : {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE", "SLURM_GPUS",
                           "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"})
    if (const auto value = env.get(name); value && !value->empty()) place.gpu_variables[name] = *value;
  for (const auto* name : model::k_visible_devices_variables)
    if (const auto value = env.get(name)) place.limits[name] = *value;
  place.modules = env.get_or("LOADEDMODULES", "");
  return place;
}

/// GPUs on the PCI bus: display controllers of the two vendors, which is what their drivers take.
void read_bus(const fs::path& root, GpuFacts& gpus) {
  const fs::path bus = root / "sys/bus/pci/devices";
  for (const auto& name : topo::entries(bus)) {
    const auto kind = topo::read_line(bus / name / "class"), vendor = topo::read_line(bus / name / "vendor");
    const bool display = kind.starts_with("0x0302") || kind.starts_with("0x0300") ||
                         kind.starts_with("0x0380") || kind.starts_with("0x1200");
    const bool nvidia = vendor == "0x10de", amd = vendor == "0x1002";
    if (!display || !(nvidia || amd)) continue;
    ++gpus.on_bus;
    if (gpus.vendor == model::GpuVendor::unknown)
      gpus.vendor = nvidia ? model::GpuVendor::nvidia : model::GpuVendor::amd;
  }
}

/// "550.54.15" in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024".
std::string version_in(const std::string& text) {
  for (const auto& word : util::split(text, ' ')) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits && word.size() > 4 && word.find('.') != std::string::npos) return word;
  }
  return {};
}

/// Where the loader would find a library, and what its name's link says of its version.
void find_library(const util::EnvSnapshot& env, const fs::path& root, GpuFacts& gpus) {
  const bool amd = gpus.vendor == model::GpuVendor::amd;
  const std::string name = amd ? "libamdhip64.so" : "libcuda.so.1";
  auto directories = util::split(env.get_or("LD_LIBRARY_PATH", ""), ':');
  for (const auto* usual : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                            "/usr/lib", "/.singularity.d/libs", "/opt/rocm/lib", "/usr/local/nvidia/lib64"})
    directories.emplace_back(usual);
  for (const auto& directory : directories) {
    if (directory.empty() || directory[0] != '/') continue;
    const auto path = root / directory.substr(1) / name;
    if (!path_exists(path)) continue;
    gpus.library = (fs::path(directory) / name).string();
    std::error_code error;
    const auto real = fs::canonical(path, error).filename().string();
    if (!amd && real.starts_with("libcuda.so.")) gpus.library_version = real.substr(11);
    if (gpus.library_version.find('.') == std::string::npos) gpus.library_version.clear();
    return;
  }
}

GpuFacts read_gpus(const util::EnvSnapshot& env, const fs::path& root) {
  GpuFacts gpus;
  const auto live = topo::read_live_gpus(root);
  gpus.vendor = live.vendor;
  gpus.by_driver = static_cast<unsigned>(live.places.size());
  read_bus(root, gpus);
  gpus.kernel_driver = version_in(topo::read_line(root / "proc/driver/nvidia/version"));
  if (gpus.kernel_driver.empty()) gpus.kernel_driver = topo::read_line(root / "sys/module/nvidia/version");
  for (const auto* name : {"nvidiactl", "nvidia-uvm", "kfd"})
    gpus.devices["/dev/" + std::string(name)] = try_device(root / "dev" / name);
  for (const auto& name : topo::entries(root / "dev"))
    if (name.starts_with("nvidia") && util::parse_unsigned(name.substr(6)))
      gpus.devices["/dev/" + name] = try_device(root / "dev" / name);
  for (const auto& name : topo::entries(root / "dev/dri"))
    if (name.starts_with("renderD")) gpus.devices["/dev/dri/" + name] = try_device(root / "dev/dri" / name);
  find_library(env, root, gpus);
  return gpus;
}

/// "cuda: Optional[str] = '12.6'" → "12.6"; empty if the line is missing or contains None.
std::string quoted_value(const std::string& text, const std::string& name) {
  for (const auto& line : util::split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size()) continue;
    if (const char next = line[name.size()]; next != ' ' && next != ':' && next != '=') continue;
    const auto first = line.find('\''), last = line.rfind('\'');
    if (first != std::string::npos && last > first) return line.substr(first + 1, last - first - 1);
  }
  return {};
}

TorchBuild read_torch(const util::EnvSnapshot& env, std::vector<std::string> command) {
  TorchBuild torch;
  if (command.empty()) {
    const auto python = find_torch::find_active_python(env);
    if (!python) {
      torch.kind = TorchBuild::Kind::none;
      torch.why = python.error().what;
      return torch;
    }
    command = {*python, "-c", "import torch"};
  }
  torch.python = command.front();
  std::error_code ignored;
  const auto found = find_torch::find_torch(command, env, fs::current_path(ignored).string());
  torch.version = found.text;
  torch.place = found.place;
  torch.why = found.why;
  torch.kind = found.kind == find_torch::TorchLookupResult::Kind::found  ? TorchBuild::Kind::found
               : found.kind == find_torch::TorchLookupResult::Kind::none ? TorchBuild::Kind::none
                                                                         : TorchBuild::Kind::unknown;
  if (torch.kind != TorchBuild::Kind::found) return torch;
  const auto directory = fs::path(torch.place).parent_path();
  for (const auto& file : {directory / "version.py", directory.parent_path() / "torch/version.py"})
    if (const auto text = util::read_file(file); text && text->find("__version__") != std::string::npos) {
      torch.build_known = true;
      torch.cuda = quoted_value(*text, "cuda");
      torch.rocm = quoted_value(*text, "hip");
      break;
    }
  return torch;
}

} // namespace

Facts read_facts(const util::EnvSnapshot& env, const std::vector<std::string>& command, const fs::path& root,
                 const std::string& site_fabric) {
  LockedMemoryFacts network{launch::read_locking_fabric(root), launch::read_limits().locked_memory};
  if (network.fabric.empty()) network.fabric = launch::locking_fabric_of(site_fabric);
  return {read_place(env, root), read_gpus(env, root), read_torch(env, command), std::move(network)};
}

} // namespace hpcml::doctor
