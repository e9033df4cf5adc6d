// SPDX-License-Identifier: MIT
// Nodes that hpcml finds bad are told to the job's next start.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/report_bad_node.hpp"
#include "temp_directory.hpp"

using namespace hpcml;

TEST_CASE("a bad node is a line in the file that the script names, whose folder need not be there yet") {
  const test::TempDirectory directory;
  const auto file = (directory / "logs/bad-nodes-7").string();
  util::EnvSnapshot env;
  launch::report_bad_node({"n1", "its agent died"}, env);
  env.set(node_health::k_bad_nodes_variable, file);
  launch::report_bad_node({"n1", "its agent died"}, env);
  launch::report_bad_node({"n2", "it failed the preflight"}, env);
  CHECK(util::read_file(file).value() == "n1 its agent died\nn2 it failed the preflight\n");
}

TEST_CASE("the preflight's hosts at fault are those of its verdict, and none of a phase before the network "
          "was used") {
  const std::string result =
      R"({"event":"cause","phase":"all_reduce","ranks":[2,3],"hosts":["n2","n2"],"what":"w"})";
  CHECK(launch::faulty_hosts("no JSON\n" + result + "\n") == std::vector<std::string>{"n2"});
  CHECK(launch::faulty_hosts(R"({"event":"failed","phase":"all_reduce","hosts":["n2"]})").empty());
  CHECK(launch::faulty_hosts(R"({"event":"cause","phase":"rendezvous","hosts":["n2"]})").empty());
  CHECK(launch::faulty_hosts(R"({"event":"cause","phase":"all_reduce","hosts":[]})").empty());
}
