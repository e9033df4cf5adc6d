// SPDX-License-Identifier: MIT
#include "core/model/node_shape.hpp"

namespace hpcml::model {

IdSet CpuShape::all() const {
  IdSet set;
  for (const auto& threads : core_threads) set = set | threads;
  return set;
}

unsigned possible_threads_per_core(const NodeType& node) {
  if (node.cpu.threads_per_core > 1) return node.cpu.threads_per_core;
  if (node.cpu_arch == CpuArch::aarch64) return 1;
  return node.cpu_arch == CpuArch::ppc64le ? 4 : 2;
}

namespace {
/// `count` domains of equal width over the cores, each with all hardware threads of its cores.
std::vector<CpuDomain> equal_domains(const CpuShape& shape, unsigned count) {
  std::vector<CpuDomain> domains;
  if (count == 0 || shape.cores % count != 0) return domains;
  const unsigned width = shape.cores / count;
  for (unsigned id = 0; id < count; ++id) {
    CpuDomain domain{id, {}};
    for (unsigned core = id * width; core < (id + 1) * width; ++core)
      domain.cpus = domain.cpus | shape.core_threads[core];
    domains.push_back(std::move(domain));
  }
  return domains;
}
} // namespace

CpuShape make_regular_cpus(unsigned sockets, unsigned cores, unsigned threads_per_core, unsigned numa_count,
                           unsigned l3_count) {
  CpuShape shape;
  shape.sockets = sockets;
  shape.cores = cores;
  shape.threads_per_core = threads_per_core;
  for (unsigned core = 0; core < cores; ++core) {
    IdSet threads;
    for (unsigned thread = 0; thread < threads_per_core; ++thread) threads.add(core + thread * cores);
    shape.core_threads.push_back(std::move(threads));
  }
  shape.packages = equal_domains(shape, sockets);
  shape.numa = equal_domains(shape, numa_count);
  shape.l3 = equal_domains(shape, l3_count);
  return shape;
}

} // namespace hpcml::model
