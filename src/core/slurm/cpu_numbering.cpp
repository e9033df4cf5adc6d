// SPDX-License-Identifier: MIT
#include "core/slurm/cpu_numbering.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace hpcml::slurm {

namespace {

/// The lowest CPU of the domain that holds `cpu`; equal for all CPUs when the level is unknown.
unsigned domain_start(const std::vector<model::CpuDomain>& domains, unsigned cpu) {
  for (const auto& domain : domains)
    if (domain.cpus.contains(cpu)) return domain.cpus.first();
  return 0;
}

/// The system's id of each of Slurm's numbers.
std::vector<unsigned> ids_by_number(const model::CpuShape& cpu) {
  std::vector<unsigned> ids;
  for (const auto core : core_order(cpu))
    for (const unsigned thread : cpu.core_threads[core].ids()) ids.push_back(thread);
  return ids;
}

} // namespace

std::vector<std::size_t> core_order(const model::CpuShape& cpu) {
  std::vector<std::size_t> order(cpu.core_threads.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::size_t core) {
    const auto& threads = cpu.core_threads[core];
    const unsigned first = threads.empty() ? std::numeric_limits<unsigned>::max() : threads.first();
    return std::array{domain_start(cpu.packages, first), domain_start(cpu.numa, first),
                      domain_start(cpu.l3, first), first};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

model::IdSet to_slurm_cpus(const model::IdSet& ids, const model::CpuShape& cpu) {
  model::IdSet numbers;
  const auto by_number = ids_by_number(cpu);
  for (unsigned number = 0; number < by_number.size(); ++number)
    if (ids.contains(by_number[number])) numbers.add(number);
  return numbers;
}

model::IdSet to_system_cpus(const model::IdSet& numbers, const model::CpuShape& cpu) {
  model::IdSet ids;
  const auto by_number = ids_by_number(cpu);
  for (unsigned number = 0; number < by_number.size(); ++number)
    if (numbers.contains(number)) ids.add(by_number[number]);
  return ids;
}

} // namespace hpcml::slurm
