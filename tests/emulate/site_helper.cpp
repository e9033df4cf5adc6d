// SPDX-License-Identifier: MIT
#include "emulate/site_helper.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace hpcml::test {

model::Site small_site() {
  model::Site site;
  site.id = "small";
  site.name = "Small";
  model::NodeType type;
  type.id = "gpu";
  type.cpu = model::make_regular_cpus(2, 16, 2, 2, 0);
  type.gpu = model::GpuShape{};
  type.gpu->per_node = 4;
  type.gpu->vendor = model::GpuVendor::nvidia;
  type.gpu->model = "NVIDIA A100";
  type.gpu->slurm_type = "a100";
  for (unsigned i = 0; i < 4; ++i) {
    model::GpuLocality place;
    place.index = i;
    place.numa = i / 2;
    type.gpu->places.push_back(place);
  }
  type.memory = model::Sourced<model::MemSize>{model::MemSize::of_mib(100000), {}};
  type.host_prefix = "g";
  type.host_digits = 3;
  type.node_count = 9;
  model::NodeType second_type;
  second_type.id = "cpu";
  second_type.cpu = model::make_regular_cpus(1, 8, 1, 0, 0);
  site.node_types = {type, second_type};
  const auto hours = [](int count) {
    return model::Sourced<model::Walltime>{model::Walltime::of(std::chrono::hours(count)), {}};
  };
  const auto partition = [](const std::string& name, const std::string& node_type) {
    model::Partition made;
    made.name = name;
    made.node_types = {node_type};
    return made;
  };
  auto main = partition("main", "gpu");
  main.is_default = main.exclusive = true;
  main.max_time = hours(48);
  main.max_nodes = model::Sourced<unsigned>{6, {}};
  auto dev = partition("dev", "gpu");
  dev.max_time = hours(3);
  dev.default_time = hours(1);
  site.partitions = {main, dev, partition("other", "cpu")};
  return site;
}

emulate::ClusterLayout layout_of(const model::Site& site, const std::string& partition, unsigned nodes) {
  auto layout = emulate::make_cluster_layout(site, {partition, nodes});
  REQUIRE(layout);
  return *layout;
}

} // namespace hpcml::test
