// SPDX-License-Identifier: MIT
#include "diagnose/doctor/reasons.hpp"

#include "core/model/cuda_driver.hpp"
#include "core/util/text.hpp"

namespace hpcml::doctor {

namespace {

using model::GpuVendor;

class GpuQuestion {
public:
  explicit GpuQuestion(const Facts& facts) : x_facts(facts), x_amd(facts.gpus.vendor == GpuVendor::amd) {}

  DoctorAnswer ask() {
    // In this order a reason explains those behind it.
    ask_torch();
    ask_variables();
    ask_job();
    ask_machine();
    ask_devices();
    ask_library();
    DoctorAnswer answer{"does a program here see GPUs?", {}, std::move(x_reasons)};
    const auto& torch = x_facts.torch;
    const auto program =
        torch.kind == TorchBuild::Kind::found ? "torch " + torch.version : std::string("a program");
    if (!answer.is_good())
      answer.answer = "no, " + program + " sees none";
    else
      answer.answer = "yes: " + util::counted(x_facts.gpus.by_driver, "GPU") + " of " +
                      (x_amd ? "AMD" : "NVIDIA") + " for " + program;
    return answer;
  }

private:
  void add(const char* id, const std::string& what, const std::string& next) {
    x_reasons.push_back({id, what, next});
  }

  bool in_container() const { return !x_facts.place.container.empty(); }
  Access device(const std::string& name) const {
    const auto found = x_facts.gpus.devices.find(name);
    return found == x_facts.gpus.devices.end() ? Access::missing : found->second;
  }
  std::string gpu_flag() const {
    if (x_facts.place.container != "Apptainer")
      return x_amd ? "--device /dev/kfd --device /dev/dri" : "--gpus all";
    return x_amd ? "--rocm" : "--nv";
  }

  void ask_torch() {
    const auto& torch = x_facts.torch;
    if (torch.kind == TorchBuild::Kind::none)
      add("no-torch", "there is no torch: " + torch.why,
          x_facts.place.modules.empty()
              ? "activate its environment (source VENV/bin/activate, conda activate) or load its module, in "
                "the job, too"
              : "activate its environment, or load the module that has it: loaded are " +
                    x_facts.place.modules);
    if (torch.kind != TorchBuild::Kind::found || !torch.build_known) return;
    if (torch.cuda.empty() && torch.rocm.empty())
      add("torch-without-gpus", "torch " + torch.version + " (" + torch.place + ") is built for CPUs only",
          "install one that is built for the GPUs: hpcml env says from which index");
    else if (x_facts.gpus.vendor == GpuVendor::nvidia && torch.cuda.empty())
      add("other-vendor",
          "torch " + torch.version + " is built for AMD (ROCm " + torch.rocm + "), and the GPUs are NVIDIA's",
          "install one that is built for CUDA");
    else if (x_amd && torch.rocm.empty())
      add("other-vendor",
          "torch " + torch.version + " is built for NVIDIA (CUDA " + torch.cuda + "), and the GPUs are AMD's",
          "install one that is built for ROCm");
  }

  /// Variables that hide all GPUs, or name such as are not there.
  void ask_variables() {
    for (const auto& [name, value] : x_facts.place.limits) {
      if (name == "ROCR_VISIBLE_DEVICES" && x_facts.gpus.vendor == GpuVendor::nvidia) continue;
      const auto first = std::string(util::trim(value.substr(0, value.find(','))));
      const auto number = util::parse_unsigned(first);
      if (first.empty() || first == "-1" || first == "NoDevFiles")
        add("hidden-by-variable", name + " is set to \"" + value + "\", which hides all GPUs",
            x_facts.place.job.empty() || !x_facts.place.gpu_variables.empty()
                ? "unset " + name + " (look in ~/.bashrc, the job script and the image)"
                : "Slurm sets it where a job or step has no GPU: ask for some (--gpus-per-node N)");
      else if (number && x_facts.gpus.by_driver > 0 && *number >= x_facts.gpus.by_driver)
        add("hidden-by-variable",
            name + "=" + value + " begins with GPU " + first + ", and the last one here is " +
                std::to_string(x_facts.gpus.by_driver - 1) +
                ": what stands behind a wrong one is hidden, too",
            "GPUs are counted from 0 among those that the job has; unset " + name +
                " where Slurm did not set it");
    }
  }

  void ask_job() {
    const auto& place = x_facts.place;
    if (!place.slurm) return;
    if (place.job.empty() && x_facts.gpus.on_bus + x_facts.gpus.by_driver == 0)
      add("login-node",
          "this is no job: Slurm is here, and no GPU, so it is a login node or one without GPUs",
          "ask on a node of a job: srun --gpus-per-node 1 --time 5 hpcml doctor (with the site's partition "
          "and account)");
    else if (!place.job.empty() && place.gpu_variables.empty() && place.limits.empty())
      add("none-asked-for", "job " + place.job + " asked for no GPU: none of Slurm's variables names one",
          "ask for some: --gpus-per-node N (or --gres=gpu:N), on a partition that has them; hpcml gen writes "
          "it");
    else if (place.step && place.gpu_variables.count("SLURM_JOB_GPUS") == 1 &&
             place.gpu_variables.count("SLURM_STEP_GPUS") == 0 && place.limits.empty())
      add("none-in-step",
          "job " + place.job + " has GPUs (" + place.gpu_variables.at("SLURM_JOB_GPUS") +
              "), and this step was given none",
          "srun --gpus-per-node N, and no --gres=none");
  }

  void ask_machine() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver > 0) return;
    if (gpus.on_bus == 0) {
      if (x_reasons.empty() || x_reasons.back().id != "login-node")
        add("no-gpu", "this machine has no GPU: none on its PCI bus, and no driver shows one",
            x_facts.place.slurm ? "a partition with GPUs: hpcml sites show SITE lists them"
                                : "another machine");
    } else if (!in_container()) {
      add("no-driver",
          util::counted(gpus.on_bus, "GPU") + (gpus.on_bus == 1 ? " is" : " are") +
              " on the PCI bus, and no driver has taken " + (gpus.on_bus == 1 ? "it" : "them"),
          "the kernel's module (" + std::string(x_amd ? "amdgpu" : "nvidia") +
              ") is not loaded: leave the node out and tell the site");
    }
  }

  void ask_devices() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver + gpus.on_bus == 0) return;
    const std::string control = x_amd ? "/dev/kfd" : "/dev/nvidiactl";
    if (device(control) == Access::missing) {
      if (in_container())
        add("container-without-gpus",
            "the container (" + x_facts.place.container + ") was not given the GPUs: " + control +
                " is not there",
            "start it with " + gpu_flag());
      else if (gpus.by_driver > 0)
        add("no-device-files",
            control + " is not there, though the driver shows " + util::counted(gpus.by_driver, "GPU"),
            "the driver's files were not made on this node: leave it out and tell the site");
      return;
    }
    ask_rights(control);
    if (!x_amd && device(control) == Access::open && device("/dev/nvidia-uvm") == Access::missing)
      add("no-uvm", "/dev/nvidia-uvm is not there, and CUDA cannot begin without it",
          in_container() ? "start the container with " + gpu_flag()
                         : "nvidia-modprobe -u makes it: tell the site");
  }

  /// The job's cgroup, or the file's owner, lets nobody in.
  void ask_rights(const std::string& control) {
    unsigned open = 0, forbidden = 0, without_rights = 0;
    for (const auto& [name, access] : x_facts.gpus.devices) {
      const bool is_gpu =
          x_amd ? name.starts_with("/dev/dri/")
                : name != control && name != "/dev/nvidia-uvm" && name.starts_with("/dev/nvidia");
      if (!is_gpu && name != control) continue;
      open += is_gpu && access == Access::open ? 1 : 0;
      forbidden += is_gpu && access == Access::forbidden ? 1 : 0;
      without_rights += access == Access::no_rights ? 1 : 0;
    }
    if (open > 0 && device(control) == Access::open) return;
    if (without_rights > 0)
      add("no-rights", "the GPUs' files may not be opened by this user (permission denied)",
          x_amd ? "/dev/kfd and /dev/dri belong to the groups render and video: tell the site"
                : "tell the site");
    else if (forbidden > 0)
      add("hidden-by-job",
          "the node has " + util::counted(forbidden, "GPU") +
              ", and the job's cgroup lets none of them be opened",
          "GPUs that a job did not ask for are closed to it: --gpus-per-node N; on a login node: in a job");
  }

  void ask_library() {
    const auto& gpus = x_facts.gpus;
    if (gpus.by_driver == 0 || gpus.vendor != GpuVendor::nvidia) return; // torch for ROCm brings AMD's own
    if (gpus.library.empty()) {
      if (!in_container() || device("/dev/nvidiactl") != Access::missing)
        add("no-driver-library", "the driver's library libcuda.so.1 is not found",
            in_container() ? "start the container with " + gpu_flag()
                           : "it belongs to the driver, no module brings it: tell the site");
      return;
    }
    if (!gpus.library_version.empty() && !gpus.kernel_driver.empty() &&
        gpus.library_version != gpus.kernel_driver)
      add("driver-mismatch",
          gpus.library + " is of driver " + gpus.library_version + ", and the kernel runs " +
              gpus.kernel_driver,
          in_container()
              ? "the image brings a library of its own in front of the host's: leave it out of "
                "LD_LIBRARY_PATH"
              : "the driver was updated and the node not restarted, or LD_LIBRARY_PATH leads to another one");
    ask_age();
  }

  void ask_age() {
    const auto& driver = x_facts.gpus.kernel_driver;
    const auto branch = util::parse_unsigned(driver.substr(0, driver.find('.')));
    const auto* oldest = model::oldest_driver(x_facts.torch.cuda);
    if (oldest == nullptr || !branch || *branch >= oldest->branch) return;
    add("old-driver",
        "torch is built for CUDA " + x_facts.torch.cuda + ", which needs driver " +
            std::string(oldest->first) + ", and the node has " + driver,
        "install a torch for an older CUDA (hpcml env chooses one), or the package cuda-compat "
        "in the image");
  }

  const Facts& x_facts;
  bool x_amd;
  std::vector<DoctorReason> x_reasons;
};

} // namespace

DoctorAnswer evaluate_gpus(const Facts& facts) { return GpuQuestion(facts).ask(); }

DoctorAnswer evaluate_locked_memory(const Facts& facts) {
  const auto& limit = facts.network.locked_memory;
  DoctorAnswer answer{"may a program here lock the memory that " + facts.network.fabric + " needs?", {}, {}};
  const auto fault = launch::check_locked_memory(limit, facts.network.fabric);
  if (fault) answer.reasons.push_back({"locked-memory", fault->what, fault->next});
  answer.answer = std::string(fault ? "no: " : "yes: ") + launch::describe_bytes(limit.soft);
  return answer;
}

std::vector<DoctorAnswer> evaluate_all(const Facts& facts) {
  std::vector<DoctorAnswer> answers = {evaluate_gpus(facts)};
  if (!facts.network.fabric.empty()) answers.push_back(evaluate_locked_memory(facts));
  return answers;
}

} // namespace hpcml::doctor
