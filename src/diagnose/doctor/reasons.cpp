// SPDX-License-Identifier: MIT
#include "diagnose/doctor/reasons.hpp"

#include <fmt/format.h>

#include "core/model/cuda_driver.hpp"
#include "core/util/text.hpp"

namespace hpcml::doctor {

namespace {

using model::GpuVendor;

constexpr const char* k_report_node = "use another node (--exclude), and report this one to the site";

class GpuQuestion {
public:
  explicit GpuQuestion(const Facts& facts) : x_facts(facts), x_amd(facts.gpus.vendor == GpuVendor::amd) {}

  DoctorCheckResult ask() {
    // In this order, a reason explains the following ones.
    ask_torch();
    ask_variables();
    ask_job();
    ask_machine();
    ask_devices();
    ask_library();
    DoctorCheckResult answer{"GPUs:", {}, std::move(x_reasons)};
    const auto& torch = x_facts.torch;
    const auto program =
        torch.kind == TorchBuild::Kind::found ? fmt::format("torch {}", torch.version) : "a program";
    if (!answer.is_good())
      answer.answer = fmt::format("none visible to {}", program);
    else
      answer.answer =
          fmt::format("{} ({}) visible to {}", x_facts.gpus.by_driver, x_amd ? "AMD" : "NVIDIA", program);
    return answer;
  }

private:
  void add(const char* id, const std::string& what, const std::string& next) {
    x_reasons.push_back({id, what, next});
  }

  bool in_container() const { return !x_facts.place.container.empty(); }
  DeviceAccess device(const std::string& name) const {
    const auto found = x_facts.gpus.devices.find(name);
    return found == x_facts.gpus.devices.end() ? DeviceAccess::missing : found->second;
  }
  std::string gpu_flag() const {
    if (x_facts.place.container != "Apptainer")
      return x_amd ? "--device /dev/kfd --device /dev/dri" : "--gpus all";
    return x_amd ? "--rocm" : "--nv";
  }

  void ask_torch() {
    const auto& torch = x_facts.torch;
    if (torch.kind == TorchBuild::Kind::none)
      add("no-torch", fmt::format("torch was not found: {}", torch.why),
          x_facts.place.modules.empty()
              ? "run source VENV/bin/activate, conda activate or module load, also in the job"
              : fmt::format("run its activate script, or load the module with torch (loaded: {})",
                            x_facts.place.modules));
    if (torch.kind != TorchBuild::Kind::found || !torch.build_known) return;
    if (torch.cuda.empty() && torch.rocm.empty())
      add("torch-without-gpus",
          fmt::format("torch {} ({}) is built for CPUs only", torch.version, torch.place),
          "run hpcml env to find the package index of a torch for GPUs");
    else if (x_facts.gpus.vendor == GpuVendor::nvidia && torch.cuda.empty())
      add("other-vendor",
          fmt::format("torch {} is built for AMD (ROCm {}), but the GPUs are from NVIDIA", torch.version,
                      torch.rocm),
          "use a torch that is built for CUDA");
    else if (x_amd && torch.rocm.empty())
      add("other-vendor",
          fmt::format("torch {} is built for NVIDIA (CUDA {}), but the GPUs are from AMD", torch.version,
                      torch.cuda),
          "use a torch that is built for ROCm");
  }

  /// Checks variables that hide all GPUs, or name GPUs that do not exist.
  void ask_variables() {
    for (const auto& [name, value] : x_facts.place.limits) {
      if (name == "ROCR_VISIBLE_DEVICES" && x_facts.gpus.vendor == GpuVendor::nvidia) continue;
      const auto first = std::string(util::trim(value.substr(0, value.find(','))));
      const auto number = util::parse_unsigned(first);
      if (first.empty() || first == "-1" || first == "NoDevFiles")
        add("hidden-by-variable", fmt::format("{}='{}' hides all GPUs", name, value),
            x_facts.place.job.empty() || !x_facts.place.gpu_variables.empty()
                ? fmt::format("remove {} (check ~/.bashrc, the job script and the image)", name)
                : "request GPUs (--gpus-per-node N): Slurm sets this variable in jobs and steps without "
                  "GPUs");
      else if (number && x_facts.gpus.by_driver > 0 && *number >= x_facts.gpus.by_driver)
        add("hidden-by-variable",
            fmt::format("{}={} starts with GPU {}, but the last GPU is {}: this entry and the following ones "
                        "are hidden",
                        name, value, first, x_facts.gpus.by_driver - 1),
            fmt::format("remove {} unless Slurm set it: the GPUs of a job are numbered from 0", name));
    }
  }

  void ask_job() {
    const auto& place = x_facts.place;
    if (!place.slurm) return;
    if (place.job.empty() && x_facts.gpus.on_bus + x_facts.gpus.by_driver == 0)
      add("login-node", "not inside a job: this looks like a login node, or a node without GPUs",
          "run this in a job: srun --gpus-per-node 1 --time 5 hpcml doctor (add the site's partition and "
          "account)");
    else if (!place.job.empty() && place.gpu_variables.empty() && place.limits.empty())
      add("none-asked-for",
          fmt::format("job {} did not request GPUs: Slurm sets none of its GPU variables", place.job),
          "request GPUs on a partition that has them (--gpus-per-node N, or --gres=gpu:N)");
    else if (place.step && place.gpu_variables.count("SLURM_JOB_GPUS") == 1 &&
             place.gpu_variables.count("SLURM_STEP_GPUS") == 0 && place.limits.empty())
      add("none-in-step",
          fmt::format("job {} has GPUs ({}), but this step has none", place.job,
                      place.gpu_variables.at("SLURM_JOB_GPUS")),
          "use srun --gpus-per-node N, and remove --gres=none");
  }

  void ask_machine() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver > 0) return;
    if (gpus.on_bus == 0) {
      if (x_reasons.empty() || x_reasons.back().id != "login-node")
        add("no-gpu", "this machine has no GPU: none is on its PCI bus, and no driver lists one",
            x_facts.place.slurm ? "use a partition with GPUs (run hpcml sites show SITE)"
                                : "use another machine");
    } else if (!in_container()) {
      add("no-driver",
          fmt::format("no driver uses the {} on the PCI bus: the kernel module {} is not loaded",
                      util::counted(gpus.on_bus, "GPU"), x_amd ? "amdgpu" : "nvidia"),
          k_report_node);
    }
  }

  void ask_devices() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver + gpus.on_bus == 0) return;
    const std::string control = x_amd ? "/dev/kfd" : "/dev/nvidiactl";
    if (device(control) == DeviceAccess::missing) {
      if (in_container())
        add("container-without-gpus",
            fmt::format("the container ({}) has no access to the GPUs: {} does not exist",
                        x_facts.place.container, control),
            fmt::format("add {} to the options of the container", gpu_flag()));
      else if (gpus.by_driver > 0)
        add("no-device-files",
            fmt::format("{} does not exist, although the driver lists {}", control,
                        util::counted(gpus.by_driver, "GPU")),
            k_report_node);
      return;
    }
    ask_rights(control);
    if (!x_amd && device(control) == DeviceAccess::open && device("/dev/nvidia-uvm") == DeviceAccess::missing)
      add("no-uvm", "/dev/nvidia-uvm does not exist, but CUDA requires it",
          in_container() ? fmt::format("add {} to the options of the container", gpu_flag())
                         : "request it from the site: nvidia-modprobe -u creates it");
  }

  /// Checks the permissions of the devices, and the job's cgroup.
  void ask_rights(const std::string& control) {
    unsigned open = 0, forbidden = 0, without_rights = 0;
    for (const auto& [name, access] : x_facts.gpus.devices) {
      const bool is_gpu =
          x_amd ? name.starts_with("/dev/dri/")
                : name != control && name != "/dev/nvidia-uvm" && name.starts_with("/dev/nvidia");
      if (!is_gpu && name != control) continue;
      open += is_gpu && access == DeviceAccess::open ? 1 : 0;
      forbidden += is_gpu && access == DeviceAccess::forbidden ? 1 : 0;
      without_rights += access == DeviceAccess::no_rights ? 1 : 0;
    }
    if (open > 0 && device(control) == DeviceAccess::open) return;
    if (without_rights > 0)
      add("no-rights", "this user has no permission to open the GPU devices",
          x_amd ? "request access to /dev/kfd and /dev/dri (groups render and video) from the site"
                : "request access from the site");
    else if (forbidden > 0)
      add("hidden-by-job",
          fmt::format("the node has {}, but the cgroup of the job allows none of them",
                      util::counted(forbidden, "GPU")),
          "request GPUs for the job (--gpus-per-node N)");
  }

  void ask_library() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver == 0 || gpus.vendor != GpuVendor::nvidia) return; // torch for ROCm brings AMD's own
    if (gpus.library.empty()) {
      if (!in_container() || device("/dev/nvidiactl") != DeviceAccess::missing)
        add("no-driver-library", "the driver library libcuda.so.1 was not found",
            in_container() ? fmt::format("add {} to the options of the container", gpu_flag())
                           : "request it from the site: it is part of the driver, not of a module");
      return;
    }
    if (!gpus.library_version.empty() && !gpus.kernel_driver.empty() &&
        gpus.library_version != gpus.kernel_driver)
      add("driver-mismatch",
          fmt::format("{} belongs to driver {}, but the kernel uses driver {}", gpus.library,
                      gpus.library_version, gpus.kernel_driver),
          in_container()
              ? "remove the image's own library from LD_LIBRARY_PATH"
              : "check LD_LIBRARY_PATH; if it is right, report the node: it was not restarted after an "
                "update");
    ask_age();
  }

  void ask_age() {
    const auto& driver = x_facts.gpus.kernel_driver;
    const auto branch = util::parse_unsigned(driver.substr(0, driver.find('.')));
    const auto* oldest = model::oldest_driver(x_facts.torch.cuda);
    if (oldest == nullptr || !branch || *branch >= oldest->branch) return;
    add("old-driver",
        fmt::format("torch is built for CUDA {}, which requires driver {}, but the node has {}",
                    x_facts.torch.cuda, oldest->first, driver),
        "use a torch for an older CUDA (run hpcml env), or add the package cuda-compat to the image");
  }

  const Facts& x_facts;
  bool x_amd;
  std::vector<DoctorReason> x_reasons;
};

} // namespace

DoctorCheckResult evaluate_gpus(const Facts& facts) { return GpuQuestion(facts).ask(); }

DoctorCheckResult evaluate_locked_memory(const Facts& facts) {
  const auto& limit = facts.network.locked_memory;
  DoctorCheckResult answer{fmt::format("locked memory for {}:", facts.network.fabric), {}, {}};
  const auto fault = launch::check_locked_memory(limit, facts.network.fabric);
  if (fault) answer.reasons.push_back({"locked-memory", fault->what, fault->next});
  answer.answer =
      fmt::format("{} ({})", launch::describe_bytes(limit.soft), fault ? "too low" : "sufficient");
  return answer;
}

std::vector<DoctorCheckResult> evaluate_all(const Facts& facts) {
  std::vector<DoctorCheckResult> answers = {evaluate_gpus(facts)};
  if (!facts.network.fabric.empty()) answers.push_back(evaluate_locked_memory(facts));
  return answers;
}

} // namespace hpcml::doctor
