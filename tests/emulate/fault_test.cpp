// SPDX-License-Identifier: MIT
// Faults on emulated clusters: what Slurm and jobs make of them.
#include <catch2/catch.hpp>

#include "cli/page_blocks.hpp"
#include "emulate/cluster_helper.hpp"
#include "temp_folder.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;

TEST_CASE("a job whose node goes down is requeued by Slurm and runs on a spare one, as the page says",
          "[slurm]") {
  const test::TempFolder folder;
  std::string commands, shown;
  for (const auto& block : test::page_blocks("rehearsal.md")) {
    if (block.mark == "file survivor.sh")
      REQUIRE(util::write_file(folder.path() / "survivor.sh", block.text));
    if (block.mark == "slurm") commands += block.text;
    if (block.kind == "text") shown += block.text;
  }
  const auto ran = util::run_process({"env", "-C", folder.path().string(),
                                      std::string("PATH=" HPCML_BINARY_DIR "/bin:") + ::getenv("PATH"),
                                      "bash", "-c", "exec 2>&1; " + commands + "cat survivor.out"},
                                     util::EnvSnapshot::of_process(), std::chrono::seconds(900));
  REQUIRE(ran);
  INFO(ran->out);
  REQUIRE_FALSE(shown.empty());
  CHECK(test::missing_line(shown, ran->out).empty());
  CHECK_THAT(ran->out, Contains("Node failure on node002"));
}

TEST_CASE("a job outlives a cut of its node's links and a restart of slurmctld", "[slurm]") {
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "link-cut:2@1s..3s",
                         "--fault", "slurmctld-restart@2s", "--fault", "link-cut:3@9h"});
  const auto result = cluster.run(
      "booted() { scontrol show config | grep BOOT_TIME; }; before=$(booted); "
      "srun -t 5 -w node002 bash -c 'name=$(ls /sys/class/net | grep -v ^lo); "
      "until [ $(cat /sys/class/net/$name/carrier) = 0 ]; do sleep 0.1; done; echo cut; "
      "until [ $(cat /sys/class/net/$name/carrier) = 1 ]; do sleep 0.1; done; echo whole'; "
      "echo code $?; "
      "for i in {1..600}; do now=$(booted) && [ \"$now\" != \"$before\" ] && break; sleep 0.1; done; "
      "[ \"$now\" != \"$before\" ] && echo restarted");
  INFO(result.err);
  CHECK(result.out == "cut\nwhole\ncode 0\nrestarted\n");
  CHECK_THAT(result.err,
             Contains("fault: node002's links are cut, ") &&
                 Contains("fault: node002's links are whole again, ") &&
                 Contains("fault: slurmctld has been restarted, ") &&
                 Contains("hpcml emulate: fault: link-cut:3@9h never happened: the command ended "));
}

TEST_CASE("faults that were waited for in vain are said, and wrong ones before anything starts", "[slurm]") {
  const auto idle = Cluster({"--site", "generic", "--quiet", "--fault", "node-down:1@0s"}).run("exit 3");
  CHECK(idle.exit_code == 3);
  CHECK(idle.err == "hpcml emulate: fault: node-down:1@0s never happened: no job began\n");
  const auto wrong = Cluster({"--site", "generic", "--fault", "node-down:2@1s"}).run("echo ran");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.out.empty());
  CHECK_THAT(wrong.err, Contains("there is no node 2, the cluster has 1 node"));
}
