// SPDX-License-Identifier: MIT
// Errors of GPUs that the kernel tells of, and no rank.
#include <catch2/catch.hpp>
#include <fstream>

#include "core/node_health/kernel_log.hpp"
#include "temp_directory.hpp"

using namespace hpcml;

TEST_CASE("a message of the kernel tells of a GPU that has failed, or of something else") {
  for (const auto* message : {
           "NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
           "NVRM: Xid (PCI:0000:41:00): 48, pid=1896, An uncorrectable double bit error (DBE) has been "
           "detected",
           "NVRM: Xid (PCI:0009:01:00): 95, pid=7, name=python3, Uncontained: FBHUB (0x0,0x0)",
           "NVRM: Xid (PCI:0000:c6:00): 119, pid=7, name=python, Timeout after 45s of waiting for RPC "
           "response",
           "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
           "amdgpu 0000:c1:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block",
           "amdgpu 0000:c1:00.0: {4}socket: 1, die: 0, 1 new uncorrectable hardware errors detected in umc "
           "block",
       }) {
    INFO(message);
    CHECK(node_health::find_gpu_fault(message) == message);
  }
  for (const auto* message : {
           "",
           "NVRM: Xid (PCI:0000:41:00): 31, pid=7, name=python, MMU Fault: ENGINE GRAPHICS", // a program's
           "NVRM: Xid (PCI:0000:41:00): 94, pid=7, name=python, Contained: SM (0x1)", // the GPU goes on
           "NVRM: Xid (PCI:0000:41:00): 63, pid=7, Row Remapper: New row marked for remapping", // is mended
           "NVRM: Xid (PCI:0000:41:00): 790, pid=7",
           "NVRM: Xid (PCI:0000:41:00",
           "NVRM: Xid 79",
           "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO",
           "amdgpu 0000:c1:00.0: amdgpu: no uncorrectable hardware errors detected in umc block",
           "amdgpu 0000:c1:00.0: amdgpu: 0 uncorrectable hardware errors detected in umc block",
           "amdgpu 0000:c1:00.0: amdgpu: 3 correctable hardware errors detected in umc block",
       }) {
    INFO(message);
    CHECK_FALSE(node_health::find_gpu_fault(message));
  }
}

TEST_CASE("of a kernel's log only that is read which comes after, without its facts") {
  const test::TempDirectory directory;
  const auto path = (directory.path() / "kmsg").string();
  std::ofstream file(path);
  file << "6,1,100,-;before\n" << std::flush;
  node_health::KernelLog log(path);
  CHECK(log.take().empty());
  file << "3,2,200,-;NVRM: a; b\n SUBSYSTEM=pci\n DEVICE=+pci:1;2\n4,3,300,c;next\n" << std::flush;
  CHECK(log.take() == std::vector<std::string>{"NVRM: a; b", "next"});
  CHECK(log.take().empty());
  CHECK(node_health::KernelLog((directory.path() / "none").string()).take().empty());
}
