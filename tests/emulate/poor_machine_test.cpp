// SPDX-License-Identifier: MIT
// Machines that allow less than root has: containers, users without a name, no room in /tmp. The cluster
// comes up there, or one sentence says what to do.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// A machine, as words before the program: root without rights, a user without a name …
struct Machine {
  const char* name;
  const char* before; ///< for bash; ends in "exec" and takes the program's words as "$@"
  const char* flags;
  int code;
  const char* expected; ///< on standard error; empty: nothing need be
};

// A user namespace that forbids further ones, as a container's seccomp filter does.
#define FORBID                                                                                               \
  "for kind in user mnt uts ipc pid net; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done; "

const Machine k_machines[] = {
    {"root of a user namespace, who may not set groups", "exec unshare --user --map-root-user \"$@\"", "", 0,
     ""},
    {"root without the right to administrate",
     "exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \"$@\"", "", 0, ""},
    {"a user whom /etc/passwd does not know",
     "exec setpriv --reuid=54321 --regid=54321 --clear-groups \"$@\"", "", 0, ""},
    {"a container without a file of hosts",
     "cp -a /etc etc; rm etc/hosts; mount --bind etc /etc; exec \"$@\"", "", 0, ""},
    {"/tmp can only be read", "mount -t tmpfs -o ro none /tmp; exec \"$@\"", "", 0, ""},
    {"only $TMPDIR can be written",
     "mkdir here; for place in /tmp /var/tmp; do mount -t tmpfs -o ro none $place; done; export "
     "TMPDIR=$PWD/here; "
     "exec \"$@\"",
     "", 0, ""},
    {"no place can be written",
     "for place in /tmp /var/tmp; do mount -t tmpfs -o ro none $place; done; exec \"$@\"", "-q", 5,
     "cannot create a directory for the emulated cluster: /tmp: Read-only file system; /var/tmp: Read-only "
     "file system\n  hint: set TMPDIR to a directory that you can write to: TMPDIR="},
    {"no namespaces", FORBID "exec \"$@\"", "-q", 5,
     "this machine allows no namespaces (No space left on device), which the emulated nodes need\n  hint: "
     "run as root to raise their number: sysctl -w user.max_user_namespaces"},
    {"no namespaces, one network", FORBID "exec \"$@\"", "--shared-network", 5,
     "this machine allows no namespaces"},
    {"a container's filter forbids them",
     "exec /usr/bin/python3 " HPCML_SOURCE_DIR "/tests/emulate/container_filter.py \"$@\"", "-q", 5,
     "this machine allows no namespaces (Operation not permitted), which the emulated nodes need\n  hint: "
     "run the container with docker run --privileged"},
    {"no slurmdbd, in which QoS live",
     "mount --bind /dev/null \"$(PATH=$PATH:/usr/sbin command -v slurmdbd)\"; exec \"$@\"",
     "--fault=preempt:qos@9h", 5,
     "cannot run --fault preempt:qos, which requires accounting (slurmdbd and MariaDB): accounts need "
     "Slurm's database daemon "
     "and MariaDB, but this machine lacks slurmdbd\n  hint: run apt-get install"},
    {"parts of /proc are hidden",
     "mount -t tmpfs none /proc/acpi; exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"", "-q",
     5,
     "cannot mount /proc for the emulated cluster: Operation not permitted\n  hint: run the container "
     "with docker run --security-opt systempaths=unconfined"},
};

} // namespace

TEST_CASE("a machine that allows less gets its cluster, or one sentence that says what to do", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can take these rights away");
  fs::path work = "/var/lib"; // not in the places that are taken away
  for (const auto& machine : k_machines) {
    DYNAMIC_SECTION(machine.name) {
      std::string directory = (work / "hpcml-test-XXXXXX").string();
      REQUIRE(::mkdtemp(directory.data()) != nullptr);
      fs::permissions(directory, fs::perms::all);
      fs::copy_file(HPCML_BINARY, directory + "/hpcml");
      const bool forbids = std::string(machine.before).find("max_") != std::string::npos;
      // Limits are of a user namespace, and these mounts of a mount namespace of their own.
      std::vector<std::string> words = {"env", "-C", directory, "HOME=" + directory, "unshare", "--mount"};
      if (forbids) words.insert(words.end(), {"--user", "--map-root-user"});
      words.insert(words.end(), {"bash", "-ec", machine.before, "_", "./hpcml", "emulate", "--site", "lumi"});
      if (*machine.flags != '\0') words.push_back(machine.flags);
      words.insert(words.end(), {"--", "srun", "-A", "project_1", "-p", "small-g", "-t", "5", "bash", "-c",
                                 "hostname; touch /tmp/can-be-written"});
      const auto result =
          util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(600));
      std::error_code ignored;
      const bool left = fs::exists(directory + "/here") && !fs::is_empty(directory + "/here", ignored);
      fs::remove_all(directory, ignored);
      REQUIRE(result);
      INFO(result->err);
      CHECK(result->exit_code == machine.code);
      CHECK(result->out == (machine.code == 0 ? "nid000001\n" : ""));
      CHECK(result->err.find(machine.expected) != std::string::npos);
      CHECK_FALSE(left);
    }
  }
}

TEST_CASE("what cannot be written is said before the cluster starts", "[slurm]") {
  const test::Cluster cluster({"--site", "lumi", "--quiet"});
  cluster.write("file", "");
  for (const auto& [option, place, expected] :
       {std::tuple{"--record", "none/calls.jsonl",
                   "cannot write none/calls.jsonl: No such file or directory"},
        std::tuple{"--record", ".", "cannot write .: Is a directory"},
        std::tuple{"--keep-logs", "file", "cannot write Slurm's logs to file (--keep-logs): Not a directory"},
        std::tuple{"--keep-logs", "file/logs",
                   "cannot write Slurm's logs to file/logs (--keep-logs): Not a directory"}}) {
    const auto result =
        util::run_process({"env", "-C", cluster.directory().path().string(), HPCML_BINARY, "emulate",
                           "--site", "lumi", "-q", option, place, "--", "touch", "started"},
                          util::EnvSnapshot::of_process(), std::chrono::seconds(600));
    REQUIRE(result);
    CAPTURE(option, place, result->err);
    CHECK(result->exit_code == 5);
    CHECK(result->err.find(expected) != std::string::npos);
    CHECK_FALSE(fs::exists(cluster.directory() / "started"));
  }
}

TEST_CASE("the record goes into a pipe or device as it is, and a full one is an error", "[slurm]") {
  const test::TempDirectory directory;
  const auto pipe = (directory / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  REQUIRE(reader >= 0);
  const auto result =
      test::Cluster({"--site", "lumi", "--record", pipe}).run("rocm-smi; module load nothing; true");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  REQUIRE(fs::is_fifo(pipe));
  char text[256] = {};
  CHECK(::read(reader, text, sizeof text - 1) > 0);
  CHECK(std::string(text).find("\"tool\":\"module\"") != std::string::npos);
  ::close(reader);
  const auto full =
      test::Cluster({"--site", "lumi", "--quiet", "--record", "/dev/full"}).run("module load nothing; true");
  CHECK(full.exit_code == 5);
  CHECK(
      full.err.find("cannot save the record of --record: cannot write /dev/full: No space left on device") !=
      std::string::npos);
  CHECK(fs::is_character_file("/dev/full"));
}
