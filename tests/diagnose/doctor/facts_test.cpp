// SPDX-License-Identifier: MIT
// Facts read from a tree of files, and hpcml doctor on this machine.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "diagnose/doctor/reasons.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  REQUIRE(util::write_file(path, text));
}

util::EnvSnapshot bare() {
  util::EnvSnapshot env;
  env.set("PATH", "/usr/bin:/bin");
  return env;
}

} // namespace

TEST_CASE("GPUs on the bus, the driver and its library, device files, the container and torch's build are "
          "read from files") {
  const test::TempDirectory directory;
  const fs::path root = directory.path();
  const auto pci = root / "sys/bus/pci/devices/0000:41:00.0";
  put(pci / "class", "0x030200\n");
  put(pci / "vendor", "0x10de\n");
  put(root / "sys/bus/pci/devices/0000:00:1f.3/class", "0x040300\n");
  put(root / "sys/bus/pci/devices/0000:00:1f.3/vendor", "0x10de\n");
  put(root / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue "
                                           "Mar  5 22:23:56 UTC 2024\nGCC version: 12\n");
  put(root / "usr/lib64/libcuda.so.535.104.05", "");
  fs::create_symlink("libcuda.so.535.104.05", root / "usr/lib64/libcuda.so.1");
  put(root / "dev/nvidiactl", "");
  put(root / "dev/nvidia0", "");
  put(root / ".dockerenv", "");
  put(root / "site/torch/version.py",
      "__version__ = '2.7.1+cu126'\ncuda: Optional[str] = '12.6'\nhip: Optional[str] = None\n");
  put(root / "site/torch/__init__.py", "");
  auto env = bare();
  env.set("PYTHONPATH", (root / "site").string());
  env.set("CUDA_VISIBLE_DEVICES", "");
  const auto facts = doctor::read_facts(env, {"/usr/bin/python3", "train.py"}, root);
  CHECK(facts.gpus.vendor == model::GpuVendor::nvidia);
  CHECK(facts.gpus.on_bus == 1);
  CHECK(facts.gpus.kernel_driver == "550.54.15");
  CHECK(facts.gpus.library == "/usr/lib64/libcuda.so.1");
  CHECK(facts.gpus.library_version == "535.104.05");
  CHECK(facts.gpus.devices.at("/dev/nvidia0") == doctor::DeviceAccess::open);
  CHECK(facts.gpus.devices.at("/dev/nvidia-uvm") == doctor::DeviceAccess::missing);
  CHECK(facts.place.container == "Docker or Podman");
  CHECK(facts.place.limits.at("CUDA_VISIBLE_DEVICES").empty());
  CHECK(facts.torch.version == "2.7.1+cu126");
  CHECK(facts.torch.cuda == "12.6");
  CHECK(facts.torch.rocm.empty());
}

TEST_CASE("hpcml doctor answers here: 1 and why where no GPU is seen") {
  auto env = bare();
  env.set("CUDA_VISIBLE_DEVICES", "-1");
  const auto text = util::run_process({HPCML_BINARY, "doctor"}, env);
  REQUIRE(text);
  CHECK(text->exit_code == 1);
  CHECK_THAT(text->out, Contains("GPUs: none visible") && Contains("CUDA_VISIBLE_DEVICES='-1' hides"));
  const auto json = util::run_process({HPCML_BINARY, "doctor", "--format", "json", "--", "/bin/true"}, env);
  REQUIRE(json);
  CHECK(json->exit_code == 1);
  CHECK_THAT(json->out, Contains(R"("id":"hidden-by-variable")") &&
                            Contains(R"("limited_by":{"CUDA_VISIBLE_DEVICES":"-1"})"));
  CHECK(util::run_process({HPCML_BINARY, "doctor", "--"}, env)->exit_code == 2);
}
