// SPDX-License-Identifier: MIT
// Why GPUs are not seen, judged over facts of nodes that are not here.
#include <catch2/catch.hpp>

#include "diagnose/doctor/reasons.hpp"

using namespace hpcml;
using Catch::Contains;
using doctor::DeviceAccess;
using doctor::Facts;

namespace {

/// A job's node with two GPUs of NVIDIA that torch sees.
Facts good_node() {
  Facts facts;
  facts.place.slurm = true;
  facts.place.job = "7";
  facts.place.gpu_variables = {{"SLURM_JOB_GPUS", "0,1"}};
  facts.place.limits = {{"CUDA_VISIBLE_DEVICES", "0,1"}};
  facts.gpus.vendor = model::GpuVendor::nvidia;
  facts.gpus.on_bus = facts.gpus.by_driver = 2;
  facts.gpus.kernel_driver = facts.gpus.library_version = "550.54.15";
  facts.gpus.library = "/usr/lib64/libcuda.so.1";
  for (const auto* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1"})
    facts.gpus.devices[name] = DeviceAccess::open;
  facts.torch = {
      doctor::TorchBuild::Kind::found, "python", "2.7.1+cu126", "/v/torch/version.py", "", true, "12.6", ""};
  return facts;
}

/// The same of AMD's.
Facts good_amd_node() {
  Facts facts = good_node();
  facts.place.limits = {{"ROCR_VISIBLE_DEVICES", "0,1"}};
  facts.gpus = {};
  facts.gpus.vendor = model::GpuVendor::amd;
  facts.gpus.on_bus = facts.gpus.by_driver = 2;
  for (const auto* name : {"/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"})
    facts.gpus.devices[name] = DeviceAccess::open;
  facts.torch.cuda.clear();
  facts.torch.rocm = "6.2.4";
  return facts;
}

std::vector<std::string> ids(const Facts& facts) {
  std::vector<std::string> list;
  for (const auto& reason : doctor::evaluate_gpus(facts).reasons) list.push_back(reason.id);
  return list;
}

using Ids = std::vector<std::string>;

void all_devices(Facts& facts, DeviceAccess access) {
  for (auto& [name, how] : facts.gpus.devices) how = access;
}

} // namespace

TEST_CASE("a node whose GPUs are seen has no reasons") {
  CHECK(doctor::evaluate_gpus(good_node()).answer == "2 (NVIDIA) visible to torch 2.7.1+cu126");
  CHECK(ids(good_node()).empty());
  CHECK(doctor::evaluate_gpus(good_amd_node()).answer == "2 (AMD) visible to torch 2.7.1+cu126");
  CHECK(ids(good_amd_node()).empty());
}

TEST_CASE("the reasons of Zurada's page: no GPU node, no GPU asked for, a torch without CUDA, drivers and "
          "libraries") {
  Facts login;
  login.place.slurm = true;
  login.torch = good_node().torch;
  CHECK(ids(login) == Ids{"login-node"});
  CHECK_THAT(doctor::evaluate_gpus(login).reasons[0].next, Contains("srun --gpus-per-node 1"));
  auto cpu_node = login;
  cpu_node.place.job = "7";
  CHECK(ids(cpu_node) == Ids{"none-asked-for", "no-gpu"});
  auto unrestricted = good_node();
  unrestricted.place.gpu_variables.clear();
  unrestricted.place.limits.clear();
  all_devices(unrestricted, DeviceAccess::forbidden);
  unrestricted.gpus.devices["/dev/nvidiactl"] = unrestricted.gpus.devices["/dev/nvidia-uvm"] =
      DeviceAccess::open;
  CHECK(ids(unrestricted) == Ids{"none-asked-for", "hidden-by-job"});
  auto cpu_torch = good_node();
  cpu_torch.torch.cuda.clear();
  cpu_torch.torch.version = "2.7.1+cpu";
  CHECK(ids(cpu_torch) == Ids{"torch-without-gpus"});
  CHECK_THAT(doctor::evaluate_gpus(cpu_torch).reasons[0].what,
             Contains("torch 2.7.1+cpu (/v/torch/version.py)"));
  auto no_driver = good_node();
  no_driver.gpus.by_driver = 0;
  no_driver.gpus.kernel_driver.clear();
  no_driver.gpus.devices.clear();
  CHECK(ids(no_driver) == Ids{"no-driver"});
  auto no_library = good_node();
  no_library.gpus.library.clear();
  CHECK(ids(no_library) == Ids{"no-driver-library"});
}

TEST_CASE("drivers that do not fit: a library of another one, one that is older than torch's CUDA") {
  auto facts = good_node();
  facts.gpus.library_version = "535.1.1";
  CHECK(ids(facts) == Ids{"driver-mismatch"});
  facts = good_node();
  facts.torch.cuda = "13.0";
  CHECK(ids(facts) == Ids{"old-driver"});
  CHECK_THAT(doctor::evaluate_gpus(facts).reasons[0].what,
             Contains("requires driver 580.65.06, but the node has 550.54.15"));
  facts.torch.cuda = "11.8";
  CHECK(ids(facts).empty());
}

TEST_CASE("a container that was not given the GPUs hears with which flag it gets them") {
  auto facts = good_node();
  facts.place.container = "Apptainer";
  facts.gpus.library.clear();
  all_devices(facts, DeviceAccess::missing);
  CHECK(ids(facts) == Ids{"container-without-gpus"});
  CHECK(doctor::evaluate_gpus(facts).reasons[0].next == "add --nv to the options of the container");
  facts.place.container = "Docker or Podman";
  CHECK(doctor::evaluate_gpus(facts).reasons[0].next == "add --gpus all to the options of the container");
  auto amd = good_amd_node();
  amd.place.container = "Apptainer";
  all_devices(amd, DeviceAccess::missing);
  CHECK(doctor::evaluate_gpus(amd).reasons.at(0).next == "add --rocm to the options of the container");
}

TEST_CASE("variables that hide GPUs are named with their value, Slurm's own as what they mean") {
  for (const auto* value : {"", "-1", "NoDevFiles", "-1,0"}) {
    auto facts = good_node();
    facts.place.limits["CUDA_VISIBLE_DEVICES"] = value;
    CAPTURE(value);
    CHECK(ids(facts) == Ids{"hidden-by-variable"});
    CHECK_THAT(doctor::evaluate_gpus(facts).reasons[0].next, Contains("remove CUDA_VISIBLE_DEVICES"));
    facts.place.gpu_variables.clear();
    CHECK_THAT(doctor::evaluate_gpus(facts).reasons[0].next, Contains("--gpus-per-node N"));
  }
  auto beyond = good_node();
  beyond.place.limits["CUDA_VISIBLE_DEVICES"] = "2,0";
  CHECK_THAT(doctor::evaluate_gpus(beyond).reasons.at(0).what,
             Contains("starts with GPU 2, but the last GPU is 1"));
  auto by_name = good_node();
  by_name.place.limits["CUDA_VISIBLE_DEVICES"] = "GPU-8f1e,MIG-77";
  CHECK(ids(by_name).empty());
}

TEST_CASE("a step without the job's GPUs, files that may not be opened, a missing nvidia-uvm, the other "
          "vendor's torch") {
  auto step = good_node();
  step.place.step = true;
  step.place.limits.clear();
  CHECK(ids(step) == Ids{"none-in-step"});
  auto amd = good_amd_node();
  all_devices(amd, DeviceAccess::no_rights);
  CHECK(ids(amd) == Ids{"no-rights"});
  CHECK_THAT(doctor::evaluate_gpus(amd).reasons[0].next, Contains("render"));
  auto uvm = good_node();
  uvm.gpus.devices.erase("/dev/nvidia-uvm");
  CHECK(ids(uvm) == Ids{"no-uvm"});
  auto amd_node = good_amd_node();
  amd_node.torch.rocm.clear();
  amd_node.torch.cuda = "12.6";
  CHECK(ids(amd_node) == Ids{"other-vendor"});
  auto none = good_node();
  none.torch = {doctor::TorchBuild::Kind::none, "python", "", "", "python3 has no torch", false, "", ""};
  none.place.modules = "gcc/12";
  CHECK(ids(none) == Ids{"no-torch"});
  CHECK_THAT(doctor::evaluate_gpus(none).reasons[0].next, Contains("loaded: gcc/12"));
}

TEST_CASE("what a variable holds is shown and not sent to the terminal, in JSON as well") {
  auto facts = good_node();
  facts.place.limits["CUDA_VISIBLE_DEVICES"] = "-1,\x1b[2J";
  const auto answers = doctor::evaluate_all(facts);
  CHECK_THAT(doctor::render_text(answers, facts),
             !Contains("\x1b") && Contains("\\x1b[2J") && Contains("[hidden-by-variable]"));
  CHECK_THAT(doctor::render_json(answers, facts), !Contains("\x1b") && Contains(R"("good":false)"));
}
