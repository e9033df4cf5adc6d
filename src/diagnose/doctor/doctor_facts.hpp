// SPDX-License-Identifier: MIT
// Facts about the GPUs of a node, its job and a program's torch. Read from files and variables, without
// calling a driver or Python.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/model/gpu_vendor.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/resolve/process_limits.hpp"

namespace hpcml::doctor {

/// How a device file answers.
enum class DeviceAccess { missing, open, forbidden, no_rights };

/// The torch that a program takes.
struct TorchBuild {
  enum class Kind { found, none, unknown } kind = Kind::unknown;
  std::string python;       ///< or the program that was asked about; empty: there is none
  std::string version;      ///< "2.13.0+cu126"
  std::string place;        ///< the file that contains it
  std::string why;          ///< where not found
  bool build_known = false; ///< the next two are from its version.py; else unknown
  std::string cuda;         ///< "12.6"; empty: built without
  std::string rocm;         ///< "6.2.41133-…"; empty: built without
};

/// The GPUs of the machine, and what can hide them from a program.
struct GpuFacts {
  model::GpuVendor vendor = model::GpuVendor::unknown; ///< of the driver's, else of the bus's
  unsigned on_bus = 0;                                 ///< as PCI shows them, with or without driver
  unsigned by_driver = 0;                              ///< as the driver of the kernel shows them
  std::string kernel_driver;                           ///< NVIDIA's, "550.54.15"; empty: unknown
  std::string library;         ///< NVIDIA's libcuda.so.1 or AMD's libamdhip64.so; empty: not found
  std::string library_version; ///< NVIDIA's, of its file's name: "550.54.15"; empty: unknown
  std::map<std::string, DeviceAccess>
      devices; ///< "/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128"
};

/// Where this process is.
struct ExecutionEnvironmentFacts {
  std::string container;                            ///< "Apptainer", "Docker or Podman"; empty: none
  bool slurm = false;                               ///< Slurm's commands exist, or this is a job
  std::string job;                                  ///< its number; empty: none
  bool step = false;                                ///< in a task of srun
  std::map<std::string, std::string> gpu_variables; ///< Slurm's variables about GPUs
  std::map<std::string, std::string> limits; ///< variables that limit what a program sees, those that are set
  std::string modules;                       ///< LOADEDMODULES
};

/// What the network needs of this process.
struct LockedMemoryFacts {
  std::string fabric; ///< the one that locks memory, of the node's devices or of its site; empty: none known
  launch::ProcessLimit locked_memory;
};

struct Facts {
  ExecutionEnvironmentFacts place;
  GpuFacts gpus;
  TorchBuild torch;
  LockedMemoryFacts network = {};
};

/// Reads all of it below `root` ("/"; another one for tests). `command`: the program that is asked about;
/// empty: the active Python. `site_fabric`: how the site describes its network, if it is known.
Facts read_facts(const util::EnvSnapshot& env, const std::vector<std::string>& command,
                 const std::filesystem::path& root = "/", const std::string& site_fabric = {});

} // namespace hpcml::doctor
