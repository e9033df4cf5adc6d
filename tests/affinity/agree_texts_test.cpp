// SPDX-License-Identifier: MIT
// What the judges of measured cases read in other programs' texts.
#include "agree_texts.hpp"

#include <catch2/catch.hpp>

using namespace hpcml;

TEST_CASE("Lines of srun --cpu-bind=verbose are read in the spelling of old and new versions") {
  for (const char* line : {"cpu-bind=MASK - nid001, task  9  1 [147695]: mask 0xff set",
                           "cpu_bind=MASK - nid001, task  9  1 [147695]: mask 0xff set",
                           "cpu-bind-cores=UNK  - nid001, task  9  1 [147695]: mask 0xff set FAILED",
                           "slurmstepd: cpu-bind=NULL - nid001, task  9  1 [147695]: mask 0xff"}) {
    INFO(line);
    const auto bound = agree::parse_verbose_line(line);
    REQUIRE(bound);
    CHECK(bound->node == "nid001");
    CHECK(bound->task == 9);
    CHECK(bound->local == 1);
    CHECK(bound->cpus.to_list() == "0-7");
  }
  CHECK_FALSE(agree::parse_verbose_line("mem-bind=LOC - nid001, task  9  1 [147695]: mask 0x1 set"));
}

TEST_CASE("nvidia-smi's NUMA affinity names the CPUs' node first, then memory of GPUs") {
  const auto affinity = agree::parse_numa_affinity("0,2-17");
  REQUIRE(affinity);
  CHECK(affinity->cpu == 0u);
  CHECK(affinity->gpu_memory.to_list() == "2-17");
  CHECK_FALSE(agree::parse_numa_affinity("N/A")->cpu);
  CHECK_FALSE(agree::parse_numa_affinity("x"));
}
