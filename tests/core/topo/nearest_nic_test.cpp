// SPDX-License-Identifier: MIT
// Which network device each GPU uses.
#include <catch2/catch.hpp>

#include "core/topo/nearest_nic.hpp"

using namespace hpcml;

namespace {

topo::Gpu gpu_of(unsigned numa) {
  topo::Gpu gpu;
  gpu.place.numa = numa;
  gpu.place.package = 0;
  return gpu;
}

topo::Nic nic_of(const std::string& name, unsigned numa) {
  topo::Nic nic;
  nic.name = name;
  nic.numa = numa;
  nic.package = 0;
  return nic;
}

std::vector<std::string> names_of(const std::vector<topo::Gpu>& gpus, const std::vector<topo::Nic>& nics) {
  std::vector<std::string> names;
  for (const auto& choice : topo::nearest_nics(gpus, nics)) names.push_back(choice.nic);
  return names;
}

} // namespace

TEST_CASE("GPUs next to no NIC share the NICs evenly") {
  // Polaris: mlx5_0 is at GPU 3 (NUMA 0), mlx5_1 at GPU 1 (NUMA 2); both are equally far from GPUs 0 and 2
  // (argonne-lcf/user-guides, docs/polaris/index.md).
  CHECK(names_of({gpu_of(3), gpu_of(2), gpu_of(1), gpu_of(0)}, {nic_of("mlx5_0", 0), nic_of("mlx5_1", 2)}) ==
        std::vector<std::string>{"mlx5_1", "mlx5_1", "mlx5_0", "mlx5_0"});
}

TEST_CASE("GPUs of one NUMA node take its NICs in turns") {
  CHECK(names_of({gpu_of(0), gpu_of(0), gpu_of(1), gpu_of(1)},
                 {nic_of("a", 0), nic_of("b", 0), nic_of("c", 1), nic_of("d", 1)}) ==
        std::vector<std::string>{"a", "b", "c", "d"});
}
