// SPDX-License-Identifier: MIT
// Folders for temporary files that each node has for itself.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "emulate/node_directories.hpp"

using namespace hpcml;
using test::Cluster;
namespace fs = std::filesystem;

namespace {

util::EnvSnapshot with(const std::string& name, const std::string& value) {
  util::EnvSnapshot env;
  env.set(name, value);
  return env;
}

} // namespace

TEST_CASE("folders in the places for temporary files are kept, files are not") {
  const test::TempDirectory directory;
  fs::create_directories(directory / "tmp" / "work");
  fs::create_directory_symlink("work", directory / "tmp" / "link");
  REQUIRE(util::write_file(directory / "tmp" / "model.checkpoint", "stale"));
  const auto place = (directory / "tmp").string();
  const auto found = emulate::find_temporary_places(with("TMPDIR", place + "/"), "/");
  REQUIRE(found.directories.size() >= 2);
  CHECK(found.notes.empty());
  CHECK(found.directories.front().target == "/tmp"); // outer ones first: $TMPDIR may lie below
  CHECK(found.directories.back().target == place);
  CHECK(found.directories.back().kept == std::vector<std::string>{"link", "work"});
  const auto made = emulate::own_directories_of(found, "/state", "n1");
  CHECK(made.back().source == "/state/nodes/n1/tmp" + std::to_string(made.size() - 1));
}

TEST_CASE("a place in which the person works or lives stays shared, and that is said") {
  using Case = std::tuple<util::EnvSnapshot, const char*, const char*>;
  for (const auto& [env, where, expected] :
       {Case{util::EnvSnapshot(), "/tmp", "share /tmp, the working directory"},
        Case{with("HOME", "/tmp"), "/", "share /tmp, your home directory"}}) {
    const auto found = emulate::find_temporary_places(env, where);
    for (const auto& directory : found.directories) CHECK(directory.target != "/tmp");
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes.front().find(expected) != std::string::npos);
  }
  for (const auto* odd : {"", "/", "relative", "/no/such/place", "/etc/passwd"}) {
    const auto found = emulate::find_temporary_places(with("TMPDIR", odd), "/");
    for (const auto& directory : found.directories) CHECK(directory.target != odd);
  }
}

TEST_CASE("a checkpoint in the node's temporary folder is on no other node and in no later job", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2", "--quiet"});
  const test::TempDirectory kept; // the machine's own, with something in it
  REQUIRE(util::write_file(kept / "data", "mine\n"));
  const auto name = "model-" + std::to_string(::getpid()) + ".checkpoint";
  lumi.write("save.sh",
             "#!/bin/bash\nfor place in /tmp /var/tmp; do\n  [ $SLURM_PROCID = 0 ] && echo $place > $place/" +
                 name + "\ndone\nsleep 0.3\ncat /tmp/" + name + " /var/tmp/" + name + "\ntrue\n");
  const auto result =
      lumi.run("options='-A project_1 -p small-g -t 5'; export TMPDIR=/var/tmp\n"
               "srun $options -N2 --ntasks-per-node=1 ./save.sh 2> /dev/null; echo later\n"
               "srun $options -w nid000001 ls /tmp | grep checkpoint; srun $options -w nid000001 cat " +
               kept.path().string() + "/data; ls /tmp /var/tmp | grep " + name +
               "; srun $options -N2 bash -c 'pwd; touch made-$(hostname)'; ls made-*\n"
               "cd $(mktemp -d -p /tmp hpcml-XXXXXX) && srun $options true; rmdir $PWD");
  INFO(result.err);
  const auto directory_path = lumi.directory().path().string();
  CHECK(result.out == "/tmp\n/var/tmp\nlater\nmine\n" + directory_path + "\n" + directory_path +
                          "\nmade-nid000001\nmade-nid000002\n");
  CHECK(util::read_file(kept / "data").value_or("") == "mine\n"); // nobody emptied it
  const auto expected =
      result.err.find(" lies in the login node's own /tmp: the job's nodes have no such folder.");
  CHECK(expected != std::string::npos);
  CHECK(result.err.find("login node's own", expected + 20) ==
        std::string::npos); // the others were in shared ones
}
