// SPDX-License-Identifier: MIT
// CPU masks and device lists as other programs write them.
#include "topo/mask_text.hpp"

#include <catch2/catch.hpp>

using namespace hpcml;

TEST_CASE("srun's explicit bindings are read as srun reads them") {
  struct Bind {
    const char* text;
    unsigned tasks;
    const char* cpus; // of each task; empty: an error
  };
  for (const auto& bind : std::vector<Bind>{
           {"mask_cpu:0xfe,fe00", 2, "1-7 9-15"},
           {"v,mask_cpu=0xF*2,0xf0", 3, "0-3 0-3 4-7"},
           {"verbose,map_cpu:1,9,17", 4, "1 9 17 1"},
           {"map_cpu:0x1,0x1F,12", 3, "1 31 12"},
           {"map_cpu:0x", 1, ""},
           {"map_cpu:1-3", 1, ""},
           {"mask_cpu:", 1, ""},
           {"mask_cpu:0xg", 1, ""},
           {"mask_cpu:0xf*0", 1, ""},
           {"cores", 4, ""},
       }) {
    INFO(bind.text);
    const auto sets = topo::parse_cpu_bind(bind.text, bind.tasks);
    std::string text;
    for (const auto& set : sets ? *sets : std::vector<model::IdSet>{})
      text += (text.empty() ? "" : " ") + set.to_list();
    CHECK(text == bind.cpus);
    CHECK(sets.ok() == (*bind.cpus != '\0'));
  }
}

TEST_CASE("Lines of srun --cpu-bind=verbose are read in the spelling of old and new versions") {
  for (const char* line : {"cpu-bind=MASK - nid001, task  9  1 [147695]: mask 0xff set",
                           "cpu_bind=MASK - nid001, task  9  1 [147695]: mask 0xff set",
                           "cpu-bind-cores=UNK  - nid001, task  9  1 [147695]: mask 0xff set FAILED",
                           "slurmstepd: cpu-bind=NULL - nid001, task  9  1 [147695]: mask 0xff"}) {
    INFO(line);
    const auto bound = topo::parse_verbose_line(line);
    REQUIRE(bound);
    CHECK(bound->node == "nid001");
    CHECK(bound->task == 9);
    CHECK(bound->local == 1);
    CHECK(bound->cpus.to_list() == "0-7");
  }
  CHECK_FALSE(topo::parse_verbose_line("mem-bind=LOC - nid001, task  9  1 [147695]: mask 0x1 set"));
}

TEST_CASE("A list of visible devices is read as the runtimes read it: it ends at the first invalid entry") {
  const std::vector<std::string> uuids = {"GPU-aa11", "GPU-aa22", "GPU-bb33"};
  struct Entry {
    const char* list;
    unsigned local;
    std::optional<unsigned> device;
  };
  for (const auto& entry : std::vector<Entry>{
           {"4,5", 1, 5u},
           {" 4 , 5 ", 1, 5u},
           {"4,5", 2, {}},
           {"0,-1,2", 0, 0u},
           {"0,-1,2", 2, {}},
           {"-1", 0, {}},
           {"GPU-bb33,GPU-aa11", 0, 2u},
           {"GPU-bb", 0, 2u},
           {"GPU-aa", 0, {}},
           {"GPU-cc,GPU-bb33", 1, {}},
           {"0,x,2", 2, {}},
       }) {
    INFO(entry.list << " " << entry.local);
    CHECK(topo::resolve_visible(std::string(entry.list), entry.local, uuids) == entry.device);
  }
}

TEST_CASE("nvidia-smi's NUMA affinity names the CPUs' node first, then memory of GPUs") {
  const auto affinity = topo::parse_numa_affinity("0,2-17");
  REQUIRE(affinity);
  CHECK(affinity->cpu == 0u);
  CHECK(affinity->gpu_memory.to_list() == "2-17");
  CHECK_FALSE(topo::parse_numa_affinity("N/A")->cpu);
  CHECK_FALSE(topo::parse_numa_affinity("x"));
}
