// SPDX-License-Identifier: MIT
// Text of others on a terminal: no control character of it reaches the terminal.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

void check_clean(const util::ProcessOutput& output, const std::string& shown) {
  INFO(util::visible(output.out + output.err));
  CHECK(util::visible(output.out) == output.out);
  CHECK(util::visible(output.err) == output.err);
  CHECK(holds(output.out + output.err, shown));
}

} // namespace

TEST_CASE("reasons and names of bad nodes are escaped") {
  const Workspace workspace;
  workspace.put("bad", "n1 its \033]0;title\007 agent died\nn2\033[2J it failed\n");
  std::filesystem::create_directories(workspace / "bin");
  workspace.put(
      "bin/scontrol",
      "#!/bin/sh\ncase \"$*\" in *partition*) echo 'PartitionName=p Nodes=n[1-9] TotalNodes=9';; *) echo "
      "'JobId=1 JobName=x NumNodes=2 NodeList=n[1-2] Partition=p ExcNodeList=(null)';; esac\n",
      0755);
  workspace.put("bin/sinfo", "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo \"n$i idle\"; done\n", 0755);
  const auto output = workspace.program({"env", "PATH=" + (workspace / "bin").string() + ":/usr/bin:/bin",
                                         HPCML_BINARY, "internal", "bad-nodes", "--job", "1", "bad"});
  check_clean(output, "\\x1b]0;title\\x07");
  CHECK(output.out == "n1\n");
}

TEST_CASE("the state that Slurm reports is escaped") {
  const Workspace workspace;
  std::filesystem::create_directories(workspace / "bin");
  workspace.put(
      "bin/scontrol",
      "#!/bin/sh\nprintf 'JobId=7 JobName=x JobState=FAI\\033[31mLED Reason=\\033[5mNone ExitCode=1:0 "
      "StdOut=/nowhere Partition=p\\n'\n",
      0755);
  const auto output = workspace.program({"env", "PATH=" + (workspace / "bin").string() + ":/usr/bin:/bin",
                                         "timeout", "5", HPCML_BINARY, "watch", "7"});
  check_clean(output, "job 7");
}

TEST_CASE("names of files and jobs are escaped in messages") {
  const Workspace workspace;
  check_clean(workspace.hpcml({"check", "a\033[2Jb"}), "a\\x1b[2Jb");
  check_clean(workspace.hpcml({"checkpoint", "latest", "a\033[2Jb"}), "a\\x1b[2Jb");
  check_clean(workspace.hpcml({"gen", "--site", "a\033[2Jb", "--", "true"}), "a\\x1b[2Jb");
  check_clean(workspace.hpcml({"init", "--site", "lumi", "-o", "a\033[2Jb.json"}), "a\\x1b[2Jb.json");
  check_clean(workspace.program({"env", "HPCML_LOG=trace", HPCML_BINARY, "sites", "validate", "a\033[2Jb"}),
              "a\\x1b[2Jb");
}

TEST_CASE("commands print messages by the functions that escape them") {
  // Each of these writes to the terminal itself: a line that is rewritten, or text that is escaped already.
  const std::set<std::string> allowed = {"print.cpp",
                                         "submit_watch.cpp",
                                         "emulate_run.cpp",
                                         "gen_command.cpp",
                                         "preflight_command.cpp",
                                         "affinity_verify.cpp",
                                         "config_command.cpp",
                                         "submit_where.cpp",
                                         "check_sites.cpp",
                                         "checkpoint_command.cpp",
                                         "site_rows_main.cpp"};
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(HPCML_SOURCE_DIR) + "/src/cli")) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(".cpp") || allowed.contains(name)) continue;
    const auto text = util::read_file(entry.path()).value_or("");
    CAPTURE(name);
    CHECK(text.find("fprintf(stderr") == std::string::npos);
    CHECK(text.find(", stderr)") == std::string::npos);
  }
}
