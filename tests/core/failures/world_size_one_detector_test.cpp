// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/failures/world_size_one_detector.hpp"

using namespace hpcml::failures;

TEST_CASE("world reports of frameworks are recognised") {
  CHECK(reports_world_of_one("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1\n"));
  CHECK(reports_world_of_one("[3] Distributed environment: DistributedType.NO\r\n"));
  CHECK(reports_world_of_one("Distributed environment: NO  Backend: gloo\n"));
  for (const char* text : {"", "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/16\n",
                           "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1", // not complete yet
                           "Distributed environment: DistributedType.MULTI_CPU\n",
                           "Distributed environment: NONE\n", "MEMBER: 1/1\n"})
    CHECK_FALSE(reports_world_of_one(text));
}

TEST_CASE("world report is found wherever its stream is cut") {
  const std::string before(200, 'x');
  const auto text = before + "\nGLOBAL_RANK: 0, MEMBER: 1/1\n" + before;
  const auto larger = before + "\nGLOBAL_RANK: 0, MEMBER: 1/12\n" + before;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    WorldSizeOneDetector report, larger_world, single;
    report.add(text.substr(0, cut));
    report.add(text.substr(cut));
    CHECK(report.found());
    larger_world.add(larger.substr(0, cut));
    larger_world.add(larger.substr(cut));
    CHECK_FALSE(larger_world.found());
    if (cut > 0) continue;
    for (const char c : text) single.add({&c, 1});
    CHECK(single.found());
  }
}

TEST_CASE("world report ignores what follows the first MiB") {
  const std::string line = "GLOBAL_RANK: 0, MEMBER: 1/1\n";
  for (const bool is_late : {false, true}) {
    WorldSizeOneDetector report;
    report.add(std::string(WorldSizeOneDetector::k_search_limit - (is_late ? 0 : 1), 'x'));
    report.add(line);
    CHECK(report.found() != is_late);
  }
}
