// SPDX-License-Identifier: MIT
// One of four ranks alters what it sends, receives or brings: that rank and no other is named.
#include <catch2/catch.hpp>

#include <filesystem>

#include "diagnose/preflight/preflight_report.hpp"
#include "ranks_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace torch_test;
using Catch::Contains;

namespace {

struct Fault {
  std::string library;
  std::string what; ///< ALTER_WHAT
  int rank;
  std::string peer; ///< empty: with all
};

std::string name_of(const Fault& fault) {
  return fault.what + " by rank " + std::to_string(fault.rank) +
         (fault.peer.empty() ? "" : " with rank " + fault.peer);
}

Run four_ranks_with(const Fault& fault) {
  const test::TempDirectory directory;
  return run_ranks(4, {0, 1, 2, 3},
                   [](int) -> std::vector<std::string> {
                     return {helper_path(), "preflight", "--timeout", "20",
                             "--backend",   "gloo",      "--bytes",   "262144"};
                   },
                   {{"LD_PRELOAD", fault.library},
                    {"ALTER_RANK", std::to_string(fault.rank)},
                    {"ALTER_WHAT", fault.what},
                    {"ALTER_PEER", fault.peer},
                    {"ALTER_FOLDER", directory.path().string()}});
}

nlohmann::json result(const Run& run) {
  for (int rank = 0; rank < 4; ++rank) CHECK(run.ranks.at(rank).exit_code == 6);
  const auto events = run.events(0, "cause");
  REQUIRE(events.size() == 1);
  return events[0];
}

} // namespace

TEST_CASE("the rank that alters what it sends, receives or brings is named, and no other") {
  const auto fault = GENERATE(values<Fault>({{tested_build().altering_socket, "send", 2, ""},
                                             {tested_build().altering_socket, "send", 0, ""},
                                             {tested_build().altering_socket, "receive", 3, ""},
                                             {tested_build().altering_group, "sum", 1, ""},
                                             {tested_build().altering_group, "message", 2, ""}}));
  const auto run = four_ranks_with(fault);
  INFO(name_of(fault) << "\n" << run.transcript());
  const auto found = result(run);
  CHECK(found.at("ranks") == nlohmann::json({fault.rank}));
  CHECK(found.at("hosts").size() == 1);
  CHECK(found.at("phase") == (fault.what == "message" ? "send_recv" : "all_reduce"));
  CHECK_THAT(found.at("what").get<std::string>(), Contains("instead of"));
  const auto output = preflight::read_preflight(run.ranks.at(0).out);
  CHECK_THAT(output.faulty_rank.value_or(""),
             Contains("--exclude=" + found.at("hosts")[0].get<std::string>()));
}

TEST_CASE("a fault between two ranks alone names the two, and neither as guilty") {
  // A sum goes round a ring and may not pass there: the messages do.
  const auto fault = GENERATE(values<Fault>(
      {{tested_build().altering_socket, "send", 1, "3"}, {tested_build().altering_socket, "send", 0, "1"}}));
  const auto run = four_ranks_with(fault);
  INFO(name_of(fault) << "\n" << run.transcript());
  const auto found = result(run);
  CHECK(found.at("ranks").empty());
  CHECK(found.at("hosts").empty());
  CHECK_THAT(found.at("what").get<std::string>(),
             Contains("cannot be determined") && Contains("only rank " + std::to_string(fault.rank) + " (") &&
                 Contains("and rank " + fault.peer + " (") && Contains("the path between them"));
  CHECK_THAT(preflight::read_preflight(run.ranks.at(0).out).faulty_rank.value_or(""), !Contains("--exclude"));
}
