// SPDX-License-Identifier: MIT
// Which of PyTorch's indexes fits a driver, its GPUs and its CPUs. Expectations: PyTorch's release matrices
// and NVIDIA's table of drivers.
#include <catch2/catch.hpp>

#include "generate/plan/torch_wheels.hpp"

using namespace hpcml::plan;

namespace {
std::string chosen(const WheelTarget& target) {
  const auto choice = choose_wheels(target);
  return choice.index ? choice.index->name : "none: " + choice.reason;
}
} // namespace

TEST_CASE("the newest index that the driver can run and that has code for the GPUs is chosen") {
  struct Row {
    const char* what;
    WheelTarget target;
    std::string index;
  };
  const auto row = GENERATE(values<Row>({
      {"Zurada: H100, driver up to 12.9",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", ""},
       "cu128"},
      {"an H100 with a driver of 12.6",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.6", ""},
       "cu126"},
      {"a driver of CUDA 11",
       {hpcml::model::GpuVendor::nvidia, {"sm_80"}, hpcml::model::CpuArch::x86_64, "11.8", ""},
       "cu118"},
      {"a driver of 12.2 runs the next older one",
       {hpcml::model::GpuVendor::nvidia, {"sm_80"}, hpcml::model::CpuArch::x86_64, "12.2", ""},
       "cu118"},
      {"GH200 with a driver of 13.2",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::aarch64, "13.2", ""},
       "cu132"},
      {"V100: newer ones dropped Volta",
       {hpcml::model::GpuVendor::nvidia, {"sm_70"}, hpcml::model::CpuArch::x86_64, "13.0", ""},
       "cu126"},
      {"V100 and H100 in one environment",
       {hpcml::model::GpuVendor::nvidia, {"sm_70", "sm_90"}, hpcml::model::CpuArch::x86_64, "13.0", ""},
       "cu126"},
      {"Blackwell needs 12.8",
       {hpcml::model::GpuVendor::nvidia, {"sm_120"}, hpcml::model::CpuArch::x86_64, "12.9", ""},
       "cu128"},
      {"L40S runs code for 8.6",
       {hpcml::model::GpuVendor::nvidia, {"sm_89"}, hpcml::model::CpuArch::x86_64, "12.9", ""},
       "cu128"},
      {"B300 runs code for 10.0",
       {hpcml::model::GpuVendor::nvidia, {"sm_103"}, hpcml::model::CpuArch::x86_64, "13.0", ""},
       "cu130"},
      {"unknown driver: one that all of CUDA 12 run",
       {hpcml::model::GpuVendor::nvidia, {"sm_80"}, hpcml::model::CpuArch::x86_64, "", ""},
       "cu126"},
      {"unknown driver, Blackwell",
       {hpcml::model::GpuVendor::nvidia, {"sm_100"}, hpcml::model::CpuArch::x86_64, "", ""},
       "cu128"},
      {"LUMI's base image has ROCm 5.5.3",
       {hpcml::model::GpuVendor::amd, {"gfx90a"}, hpcml::model::CpuArch::x86_64, "5.5.3", ""},
       "rocm5.4.2"},
      {"ROCm 6.3",
       {hpcml::model::GpuVendor::amd, {"gfx90a"}, hpcml::model::CpuArch::x86_64, "6.3", ""},
       "rocm6.3"},
      {"MI300A needs ROCm 6",
       {hpcml::model::GpuVendor::amd, {"gfx942"}, hpcml::model::CpuArch::x86_64, "6.2.4", ""},
       "rocm6.2.4"},
      {"no GPUs", {hpcml::model::GpuVendor::unknown, {}, hpcml::model::CpuArch::x86_64, "", ""}, "cpu"},
      {"Intel", {hpcml::model::GpuVendor::intel, {}, hpcml::model::CpuArch::x86_64, "", ""}, "xpu"},
      {"asked for 12.6 below the best",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", "12.6"},
       "cu126"},
      {"asked for 11.8",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", "11.8"},
       "cu118"},
      {"asked for 12.8 on a driver of 12.4: the same major version runs",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.4", "12.8"},
       "cu128"},
      {"asked for an index that has ended, as a site's page has it",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::aarch64, "", "12.4"},
       "cu124"},
      {"asked for 12.9",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", "12.9"},
       "cu129"},
      {"one that has ended is not the first choice for its own driver",
       {hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", ""},
       "cu128"},
  }));
  INFO(row.what);
  CHECK(chosen(row.target) == row.index);
}

TEST_CASE("an index that cannot run is refused with the reason") {
  struct Row {
    WheelTarget target;
    std::string part;
  };
  const auto row = GENERATE(values<Row>({
      {{hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", "13.0"},
       "runs CUDA up to 12.9"},
      {{hpcml::model::GpuVendor::nvidia, {"sm_70"}, hpcml::model::CpuArch::x86_64, "13.0", "13.0"},
       "not built for sm_70"},
      {{hpcml::model::GpuVendor::nvidia, {"sm_120"}, hpcml::model::CpuArch::x86_64, "12.6", ""}, "need 12.8"},
      {{hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::aarch64, "11.8", ""}, "need 12.6"},
      {{hpcml::model::GpuVendor::nvidia, {"sm_70"}, hpcml::model::CpuArch::ppc64le, "12.0", ""}, "ppc64le"},
      {{hpcml::model::GpuVendor::nvidia, {"sm_90"}, hpcml::model::CpuArch::x86_64, "12.9", "12.7"},
       "no wheels of PyTorch for CUDA 12.7"},
      {{hpcml::model::GpuVendor::amd, {"gfx90a"}, hpcml::model::CpuArch::x86_64, "", ""},
       "does not state which ROCm"},
      {{hpcml::model::GpuVendor::amd, {"gfx942"}, hpcml::model::CpuArch::x86_64, "5.5.3", ""}, "need 6.0"},
  }));
  const auto choice = choose_wheels(row.target);
  CHECK_FALSE(choice.index.has_value());
  CHECK_THAT(choice.reason, Catch::Contains(row.part));
  CHECK_FALSE(choice.hint.empty());
}

TEST_CASE("packages of PyTorch's indexes are known by name, whatever version is asked for") {
  for (const char* name : {"torch", "torch==2.7.1", "torchvision>=0.2", "torch[opt]", "torchaudio"})
    CHECK(is_torch_package(name));
  for (const char* name : {"numpy", "torchmetrics", "pytorch-lightning", "torch-geometric"})
    CHECK_FALSE(is_torch_package(name));
}
