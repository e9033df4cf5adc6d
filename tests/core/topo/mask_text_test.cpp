// SPDX-License-Identifier: MIT
// CPU masks and device lists as other programs write them.
#include "core/topo/mask_text.hpp"

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
