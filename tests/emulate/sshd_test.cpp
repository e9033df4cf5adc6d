// SPDX-License-Identifier: MIT
// Port 22 of emulated nodes, for programs that speak SSH themselves: this machine's sshd lets the user in
// where his job is, each session is a step of it, and nothing of the machine is touched.
#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "core/util/file.hpp"
#include "emulate/cluster_helper.hpp"
#include "emulate/slurm_install.hpp"
#include "holds.hpp"
#include "python_packages.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::Cluster;
using test::holds;
namespace fs = std::filesystem;

namespace {

// Each says its name, what the command printed, its errors and its exit code; or how it was refused.
const char* const k_paramiko = R"TEXT(import sys, paramiko
client = paramiko.SSHClient()
client.load_host_keys("/etc/ssh/ssh_known_hosts")
try:
    client.connect(sys.argv[1])
except paramiko.AuthenticationException:
    sys.exit("paramiko refused: " + client.get_transport().get_banner().decode().strip())
_, out, err = client.exec_command(sys.argv[2])
print("paramiko", out.read().decode().strip(), "[%s]" % err.read().decode(), out.channel.recv_exit_status())
)TEXT";
const char* const k_asyncssh = R"TEXT(import sys, asyncio, warnings
warnings.simplefilter("ignore")
import asyncssh
class Client(asyncssh.SSHClient):
    def auth_banner_received(self, text, language):
        self.banner = text.strip()
async def main():
    client = Client()
    known = "/etc/ssh/ssh_known_hosts"
    try:
        async with asyncssh.connect(sys.argv[1], known_hosts=known, client_factory=lambda: client) as there:
            ran = await there.run(sys.argv[2])
            print("asyncssh", ran.stdout.strip(), "[%s]" % ran.stderr, ran.exit_status)
    except asyncssh.PermissionDenied:
        sys.exit("asyncssh refused: " + client.banner)
asyncio.run(main())
)TEXT";

const char* const k_clients = R"TEXT(cd "$(dirname "$0")"
far=node002 none=node003
/usr/bin/ssh $far 'hostname; exit 5' >out 2>err
code=$?
echo "openssh $(<out) [$(<err)] $code"
echo given | /usr/bin/ssh $far cat
/usr/bin/ssh $far 'squeue -s -h -o "step %i on %N"; echo "rank=$SLURM_PROCID in $PWD"'
/usr/bin/ssh -tt $far 'tty; hostname' </dev/null
/usr/bin/ssh $none hostname
echo code $?
/usr/bin/ssh -N $none
echo code $?
echo content >sent
scp -q sent $far:/tmp/received && /usr/bin/ssh $far cat /tmp/received
for client in paramiko asyncssh; do
  for node in $far $none; do
    /usr/bin/python3 client_$client.py $node 'hostname; exit 3'
  done
done
)TEXT";

bool has_sshd() {
  return util::find_program("sshd", emulate::with_daemon_directories(util::EnvSnapshot::of_process()))
      .has_value();
}

void check_clients(const util::ProcessOutput& result, const std::string& home) {
  INFO(result.err << result.out);
  CHECK(holds(result.out, "openssh node002 [] 5\ngiven\nstep 1."));
  CHECK(holds(result.out, " on node002\nrank= in " + home + "\n"));
  CHECK(holds(result.out, "/dev/pts/"));
  CHECK(holds(result.out, "\ncontent\n"));
  CHECK(holds(result.err, "Access denied by pam_slurm_adopt: you have no active jobs on node003\n"));
  CHECK(holds(result.err, "Permission denied (publickey)"));
  CHECK(holds(result.out, "code 255\ncode 255\n"));
  for (const std::string client : {"paramiko", "asyncssh"}) {
    if (!test::module_version(test::k_system_python, client)) {
      test::skip_missing("python3-" + client);
      continue;
    }
    CHECK(holds(result.out, client + " node002 [] 3\n"));
    CHECK(holds(result.err,
                client + " refused: Access denied by pam_slurm_adopt: you have no active jobs on node003\n"));
  }
}

/// What sshd writes down of sessions, and its folders.
std::string traces() {
  return util::run_process({"bash", "-c",
                            "grep -ac '10[.]66[.]' /var/log/wtmp /var/log/btmp /var/log/lastlog /run/utmp "
                            "2>/dev/null; ls -lR --time-style=full-iso /etc/ssh; ls -d /run/sshd 2>&1"},
                           util::EnvSnapshot::of_process())
      ->out;
}

bool is_there() {
  if (has_sshd()) return true;
  test::skip("openssh-server is not installed: tests/run.sh installs it only where that starts no service");
  return false;
}

} // namespace

TEST_CASE("programs that speak SSH themselves reach the nodes of the user's job, and no others", "[slurm]") {
  if (!is_there()) return;
  const std::vector<std::pair<const char*, std::vector<std::string>>> users = {
      {"as who runs this", {}},
      {"as a user whom /etc/passwd does not know",
       {"setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"}},
      {"as root of a user namespace, who may not set groups", {"unshare", "--user", "--map-root-user"}}};
  for (const auto& [who, before] : users) {
    DYNAMIC_SECTION(who) {
      if (!before.empty() && ::geteuid() != 0) {
        test::skip(std::string(who) + ": only root can become another user");
        continue;
      }
      std::string directory = "/var/tmp/hpcml-test-XXXXXX";
      REQUIRE(::mkdtemp(directory.data()) != nullptr);
      for (const auto& place : {directory, directory + "/home"}) {
        fs::create_directories(place);
        fs::permissions(place, fs::perms::all);
      }
      fs::copy_file(HPCML_BINARY, directory + "/hpcml");
      for (const auto& [name, text] : {std::pair{"/clients.sh", k_clients},
                                       {"/client_paramiko.py", k_paramiko},
                                       {"/client_asyncssh.py", k_asyncssh}})
        REQUIRE(util::write_file(directory + name, text));
      // The clients log in as $USER, which belongs to who runs the tests.
      std::vector<std::string> words = {"env",     "-u", "USER",    "-u",
                                        "LOGNAME", "-C", directory, "HOME=" + directory + "/home"};
      words.insert(words.end(), before.begin(), before.end());
      for (const auto* word :
           {"./hpcml", "emulate", "-q", "--site", "generic", "--nodes", "3", "--cpus-per-node", "4", "--",
            "salloc", "-Q", "-N2", "-t5", "bash", "clients.sh"})
        words.emplace_back(word);
      const auto machine = traces();
      const auto result =
          util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(600));
      const bool untouched = fs::is_empty(directory + "/home");
      fs::remove_all(directory);
      REQUIRE(result);
      check_clients(*result, directory + "/home");
      CHECK(untouched);
      CHECK(traces() == machine);
    }
  }
}

TEST_CASE("of sshd, its sessions and the agent nothing is left when emulate is killed", "[slurm]") {
  if (!is_there()) return;
  const Cluster cluster({});
  cluster.write("kill.sh", R"TEXT(#!/bin/bash
programs() { # of the rehearsal, by its folder, which is mounted in all its namespaces
  local entry name
  for entry in /proc/[0-9]*; do
    ! grep -q " $folder " "$entry/mounts" || { read -r name <"$entry/comm" && printf ' %s' "$name"; }
  done 2>/dev/null
}
"$1" emulate -q --site generic --nodes 2 --cpus-per-node 4 -- bash -c '
  echo "$SSH_AUTH_SOCK" >socket
  salloc -Q -N2 -t5 bash -c "/usr/bin/ssh node002 \"touch $PWD/there; sleep 300\" & wait"' &
pid=$!
for i in $(seq 600); do [ ! -e there ] || break; sleep 0.1; done
folder=$(dirname "$(dirname "$(<socket)")")
echo "before:$(programs) ;"
kill -9 $pid
for i in $(seq 300); do [[ -n $(programs) || -e $folder ]] || break; sleep 0.1; done
echo "after:$(programs) ;"
[ -e "$folder" ] || echo gone
)TEXT");
  const auto result =
      util::run_process({"env", "-C", cluster.directory().path().string(), "bash", "kill.sh", HPCML_BINARY},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  REQUIRE(result);
  INFO(result->err << result->out);
  if (::geteuid() == 0) { // others are shown nothing of programs that hold keys
    CHECK(holds(result->out, " sshd "));
    CHECK(holds(result->out, " ssh-agent "));
  }
  CHECK(holds(result->out, "after: ;\ngone\n"));
}
