// SPDX-License-Identifier: MIT
// Slurm's own numbers of CPUs.
#include <catch2/catch.hpp>

#include "core/slurm/cpu_numbering.hpp"
#include "shipped_site.hpp"

using namespace hpcml;

TEST_CASE("CPUs are told in Slurm's own numbers, and those are understood") {
  struct Case {
    const char* what;
    model::CpuShape cpu;
    std::vector<unsigned> ids;
    const char* expected;
  };
  const auto smt2 = model::make_regular_cpus(1, 8, 2, 2, 4); // CPU c and c+8 share core c
  const auto smt1 = model::make_regular_cpus(2, 8, 1, 2, 0);
  model::CpuShape in_turn; // even CPUs on package 0, odd on package 1, one thread each
  in_turn.packages = {{0, model::IdSet::of({0, 2, 4, 6})}, {1, model::IdSet::of({1, 3, 5, 7})}};
  for (unsigned i = 0; i < 8; ++i) in_turn.core_threads.push_back(model::IdSet::of({i}));
  const Case cases[] = {
      {"none", smt2, {}, ""},
      {"both threads of the first core", smt2, {0, 8}, "0-1"},
      {"first core of each half", smt2, {0, 4, 8, 12}, "0-1,8-9"},
      {"without hardware threads the numbers are equal", smt1, {3}, "3"},
      {"cores are counted by package, also where the system deals them out in turn",
       in_turn,
       {0, 1, 2},
       "0-1,4"},
  };
  for (const auto& [what, cpu, ids, expected] : cases) {
    CAPTURE(what);
    const auto numbers = slurm::to_slurm_cpus(model::IdSet::of(ids), cpu);
    CHECK(numbers.to_list() == expected);
    CHECK(slurm::to_system_cpus(numbers, cpu) == model::IdSet::of(ids));
  }
}

TEST_CASE("LUMI's reserved cores are the first of every L3 in Slurm's numbers, too") {
  const auto cpu = test::shipped_site("lumi").node_types.front().cpu;
  CHECK(slurm::to_slurm_cpus(cpu.reserved, cpu).to_list() ==
        "0-1,16-17,32-33,48-49,64-65,80-81,96-97,112-113");
}
