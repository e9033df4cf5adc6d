// SPDX-License-Identifier: MIT
// An agent whose node's kernel tells of a GPU while the ranks run: a file lies in the place of the kernel's
// log.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// Rank 1 ends so after that message; `before` the ranks start another one comes.
util::ProcessOutput run_with(const std::string& directory, const std::string& message,
                             const std::string& before = "boot", const std::string& end = "exit 9",
                             const std::string& flags = "") {
  const auto log_fault = [](const std::string& text) { return "echo '3,1,1,-;" + text + "' >> /dev/kmsg"; };
  REQUIRE(util::write_file(directory + "/rank.sh", "if [ \"$RANK\" = 0 ]; then exec sleep 60; fi\n" +
                                                       log_fault(message) + "\n" + end + "\n"));
  REQUIRE(util::write_file(
      directory + "/node.sh",
      "set -e; cd " + directory + "; : > kmsg; mount --bind kmsg /dev/kmsg\n" + log_fault(before) +
          "\nmkdir bin; ln -s /usr/bin/bash /usr/bin/sleep bin; export PATH=$PWD/bin # no tool that looks "
          "into programs\n"
          "exec " HPCML_BINARY " launch --agent --log-dir logs --bind none --nproc-per-node 2 " +
          flags + " -- bash rank.sh\n"));
  return run_line("unshare --mount bash " + directory + "/node.sh");
}

/// As root, and not in a container that has no /dev/kmsg.
bool can_cover_the_log() {
  if (run_line("unshare --mount mount --bind /dev/null /dev/kmsg").exit_code == 0) return true;
  test::skip("only root can mount a file over /dev/kmsg, where there is one");
  return false;
}

const std::string k_fault = "NVRM: Xid (PCI:0000:41:00): 79, pid=7, GPU has fallen off the bus.";

} // namespace

TEST_CASE("a node whose kernel tells of a GPU that failed is why the run ended, and left out") {
  if (!can_cover_the_log()) return;
  const test::TempDirectory with_fault, without;
  const auto bad = with_fault.path().string();
  const auto failed = run_with(bad, k_fault);
  INFO(failed.err);
  CHECK(failed.exit_code == 9);
  CHECK_THAT(failed.err, Contains("rank 1/2 (") && Contains("kernel of the node: " + k_fault + "\n") &&
                             Contains("use --exclude=") && Contains("the run exited with code 9: node\n"));
  CHECK_THAT(run_line("cat " + bad + "/logs/*/record-0.jsonl").out,
             Contains("\"event\":\"bad_node\"") && Contains("rank 1 failed: " + k_fault));
  const auto innocent =
      run_with(without.path().string(), "NVRM: Xid (PCI:0000:41:00): 31, pid=7, MMU Fault", k_fault);
  INFO(innocent.err);
  CHECK(innocent.exit_code == 9);
  CHECK_THAT(innocent.err, !Contains("kernel") && Contains("the run exited with code 9: program\n"));
}

TEST_CASE("where all ranks stall, what the kernel tells of a GPU is said") {
  if (!can_cover_the_log()) return;
  const test::TempDirectory directory;
  const auto stalled =
      run_with(directory.path().string(), k_fault, "boot", "exec sleep 60", "--stall-timeout 2");
  INFO(stalled.err);
  CHECK(stalled.exit_code == 124);
  CHECK_THAT(stalled.err,
             Contains("hpcml: error: the kernel of ") && Contains(" reports a GPU error: " + k_fault + "\n"));
}
