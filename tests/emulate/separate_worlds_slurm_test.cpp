// SPDX-License-Identifier: MIT
// Jobs whose programs do not train together, on an emulated cluster: who reports it, and with which exit
// code.
#include <catch2/catch.hpp>

#include "emulate/cluster_helper.hpp"
#include "enter_group.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;

TEST_CASE("job with separate worlds fails for its watcher", "[slurm]") {
  const bool agent = GENERATE(false, true);
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet"});
  // The watcher of rank 0 asks the store after a second.
  cluster.write("rank.py", std::string(test::k_enter_group) + "time.sleep(3)\n");
  const auto run = [&](const std::string& world) {
    return cluster.run(
        "hpcml submit --watch --site generic --nodes 2 --tasks-per-node 2 --gpus-per-node 0 --time 5 "
        "--mem 1G --store own " +
        std::string(agent ? "--agent " : "") + "--output " + world + ".out -- python3 rank.py " + world +
        " > /dev/null; echo code $?; hpcml why " + world + ".out; echo why $?");
  };
  const auto separate = run("alone");
  const auto log = cluster.read("alone.out");
  INFO(separate.err << separate.out << log);
  CHECK_THAT(separate.out, Contains("code 125\n") && Contains("why 1\n"));
  CHECK_THAT(log, Contains("hpcml: error: 4 programs each set up a world of 1 although WORLD_SIZE is 4"));
  if (!agent)
    CHECK_THAT(separate.err, Contains("job 1 ended with exit code 0, but its ranks did not train together"));
  const auto together = run("together");
  INFO(together.err << together.out << cluster.read("together.out"));
  CHECK_THAT(together.out, Contains("code 0\n") && Contains("why 0\n"));
}
