// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/sandbox.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;

namespace {

const std::string k_probe = std::string(HPCML_BINARY_DIR) + "/bin/sandbox_probe";

/// A folder outside the sandbox for what its processes print.
class LogDirectory {
public:
  std::string file(const std::string& name) const { return (x_directory / name).string(); }
  std::string text(const std::string& name) const { return util::read_file(file(name)).value_or("(no log)"); }

private:
  test::TempDirectory x_directory;
};

emulate::SandboxNode make_node(const LogDirectory& logs, unsigned number, const std::string& script) {
  emulate::SandboxNode node;
  node.name = "nid00000" + std::to_string(number);
  node.cpu = model::make_regular_cpus(1, 64, 2, 4, 8);
  node.mem_mib = 480 * 1024;
  node.env = util::EnvSnapshot::of_process();
  node.env.set("PROBE", k_probe);
  node.env.set("LC_ALL", "C");
  node.interfaces = {{"hsn0", "10.66.1." + std::to_string(number)}};
  node.argv = {"/bin/bash", "-c", script};
  node.log_file = logs.file(node.name);
  return node;
}

void wait_for(const emulate::Sandbox& sandbox, pid_t pid) {
  while (sandbox.is_alive(pid)) ::usleep(5000);
}

/// A login node in the network of the nodes' hsn0.
const emulate::SandboxOptions k_login{true, "login1", {{"hsn0", "10.66.0.1"}}};

/// What `script` prints on a LUMI-like node.
std::string run_on_node(const std::string& script) {
  const LogDirectory logs;
  const auto result = emulate::run_in_sandbox(k_login, [&](emulate::Sandbox& sandbox) {
    auto node = make_node(logs, 1, script);
    if (!sandbox.has_networks()) node.interfaces.clear();
    const auto pid = sandbox.start_node(node);
    if (!pid) return 9;
    wait_for(sandbox, *pid);
    return 0;
  });
  REQUIRE(result.ok());
  REQUIRE(*result == 0);
  return logs.text("nid000001");
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string numbers(unsigned first, unsigned last) {
  std::string text;
  for (unsigned id = first; id <= last; ++id) text += " " + std::to_string(id);
  return text;
}

} // namespace

TEST_CASE("a node shows its CPUs to every kind of program") {
  const auto text = run_on_node(
      "nproc; nproc --all; $PROBE mask; $PROBE raw 16; $PROBE raw 128; $PROBE raw 8; $PROBE raw 20;"
      "grep -h -E '^(Cpus|Mems)_allowed' /proc/self/status /proc/thread-self/status; grep -c ^processor "
      "/proc/cpuinfo;"
      "head -1 /proc/meminfo; cat /sys/devices/system/cpu/online /sys/devices/system/node/online");
  INFO(text);
  CHECK(text.starts_with("128\n128\nmask" + numbers(0, 127) + "\n"));
  CHECK(has_line(text, "raw 16"));
  CHECK(text.find("raw 16\nraw 16\nraw -1\nraw -1\n") !=
        std::string::npos); // as the kernel: too short, not a multiple of 8
  CHECK(has_line(text, "Cpus_allowed:\tffffffff,ffffffff,ffffffff,ffffffff"));
  CHECK(has_line(text, "Cpus_allowed_list:\t0-127"));
  CHECK(has_line(text, "Mems_allowed_list:\t0-3"));
  CHECK(has_line(text, "128"));
  CHECK(text.find("MemTotal:       503316480 kB") != std::string::npos);
  CHECK(text.ends_with("0-127\n0-3\n"));
}

TEST_CASE("hwloc and lscpu find the node's topology") {
  const auto env = util::EnvSnapshot::of_process();
  const auto text = run_on_node(
      "lscpu; lstopo-no-graphics --of console --no-io > /tmp/.topo.$$; for t in NUMANode L3 Core 'PU L'; do"
      " echo \"$t $(grep -o \"$t\" /tmp/.topo.$$ | wc -l)\"; done; rm -f /tmp/.topo.$$");
  INFO(text);
  for (const char* pattern : {"CPU(s):", "NUMA node3 CPU(s):"})
    CHECK(text.find(pattern) != std::string::npos);
  CHECK(text.find("NUMA node3 CPU(s):   48-63,112-127") != std::string::npos);
  CHECK(text.find("(8 instances)") != std::string::npos); // L3
  if (!util::find_program("lstopo-no-graphics", env)) return test::skip_missing("hwloc-nox");
  for (const char* line : {"NUMANode 4", "L3 8", "Core 64", "PU L 128"}) CHECK(has_line(text, line));
}

TEST_CASE(
    "masks are kept per thread, inherited by children and orphans, and refused as the kernel refuses them") {
  const auto text = run_on_node(
      "taskset -p -c 3,100-102 $$ >/dev/null; grep Cpus_allowed_list /proc/$$/status; $PROBE mask; $PROBE "
      "threads;"
      "taskset -c 1 grep Cpus_allowed_list /proc/self/status; (cd /proc/$$ && cat status | grep "
      "Cpus_allowed:);"
      "sleep 5 & taskset -p -c 9 $! > /dev/null; grep -h Cpus_allowed_list /proc/$!/task/$!/status; kill $!;"
      "(setsid bash -c 'sleep 0.2; echo orphan $(nproc)' &); sleep 2;"
      "taskset -c 128-200 true 2>/dev/null; echo outside $?; taskset -p -c 1 999999 2>/dev/null; echo nobody "
      "$?");
  INFO(text);
  CHECK(text.starts_with("Cpus_allowed_list:\t3,100-102\nmask 3 100 101 102\n"));
  CHECK(has_line(text, "made-before 100"));
  CHECK(has_line(text, "made-after 101"));
  CHECK(has_line(text, "thread-own 7"));
  CHECK(has_line(text, "main 101"));
  CHECK(has_line(text, "Cpus_allowed_list:\t1"));
  CHECK(has_line(text, "Cpus_allowed:\t00000070,00000000,00000000,00000008"));
  CHECK(has_line(text, "Cpus_allowed_list:\t9"));
  CHECK(has_line(text, "orphan 4"));
  CHECK(has_line(text, "outside 1"));
  CHECK(has_line(text, "nobody 1"));
}

TEST_CASE("memory policies are those of the node's memory domains, kept per thread and inherited") {
  // 2 is MPOL_BIND, 1 MPOL_PREFERRED, 3 MPOL_INTERLEAVE, 0 MPOL_DEFAULT, 4 MPOL_LOCAL; the node has domains 0
  // to 3.
  const auto text = run_on_node(
      "echo bind; $PROBE policy 2 c; echo prefer; $PROBE policy 1 a; echo none; $PROBE policy 2 f0; echo "
      "some; $PROBE policy 3 ff;"
      "echo local; $PROBE policy 1 0; echo default; $PROBE policy 0 1; echo relative; $PROBE policy 16386 20;"
      "echo memory; taskset -c 40-42 $PROBE memory");
  INFO(text);
  const auto shown = [](const std::string& set, const std::string& policy) {
    return "set " + set + "\nown 0 " + policy + "\nchild 0 " + policy + "\nthread 0 " + policy + "\nnext 0 " +
           policy + "\n";
  };
  CHECK(text.starts_with("bind\n" + shown("0", "mode 2 nodes c")));
  CHECK(text.find("prefer\n" + shown("0", "mode 1 nodes 2")) != std::string::npos);
  CHECK(text.find("none\n" + shown("-1", "mode 0 nodes 0")) != std::string::npos);
  CHECK(text.find("some\n" + shown("0", "mode 3 nodes f")) != std::string::npos);
  CHECK(text.find("local\n" + shown("0", "mode 4 nodes 0")) != std::string::npos);
  CHECK(text.find("default\n" + shown("-1", "mode 0 nodes 0")) != std::string::npos);
  CHECK(text.find("relative\n" + shown("0", "mode 16386 nodes 20")) !=
        std::string::npos); // any number is a node, counted around
  CHECK(text.ends_with("memory\nallowed 0 mode 0 nodes f\npage 0 node 2\nmbind 0 -1\nsmall -1\n"));
}

TEST_CASE("nodes reach one another and the login node by their interfaces") {
  const LogDirectory logs;
  const auto result = emulate::run_in_sandbox(k_login, [&](emulate::Sandbox& sandbox) {
    if (!sandbox.has_networks()) return 77;
    std::map<unsigned, pid_t> pids;
    const std::map<unsigned, std::string> scripts{
        {1, "hostname; ls /sys/class/net; test -e /sys/fs/cgroup || echo lost; $PROBE serve 4000"},
        {2, "hostname; $PROBE reach 10.66.1.1 4000; touch /dev/shm/mine; $PROBE serve 4001; ls /dev/shm"}};
    for (const auto& [number, script] : scripts) {
      const auto pid = sandbox.start_node(make_node(logs, number, script));
      if (!pid) return 9;
      pids[number] = *pid;
    }
    const int code =
        sandbox.run_command({k_probe, "reach", "10.66.1.2", "4001"}, util::EnvSnapshot::of_process());
    for (const auto& [number, pid] : pids) wait_for(sandbox, pid);
    return code;
  });
  REQUIRE(result.ok());
  if (*result == 77) return test::skip("this machine allows no network namespaces");
  CHECK(*result == 0);
  CHECK(logs.text("nid000001") == "nid000001\nhsn0\nlo\nfrom 10.66.1.2\n");
  CHECK(logs.text("nid000002") == "nid000002\nreached\nfrom 10.66.0.1\nmine\n");
}

TEST_CASE("mounts and names stay in the sandbox; a program that cannot start is an error that names it") {
  const LogDirectory logs;
  REQUIRE(util::write_file(logs.file("hosts"), "10.66.1.1 nid000001\n").ok());
  const auto result = emulate::run_in_sandbox(k_login, [&](emulate::Sandbox& sandbox) {
    if (!sandbox.limits().empty()) return 77;
    if (!sandbox.mount_on_login({logs.file("hosts"), "/etc/hosts"}).ok()) return 1;
    auto node =
        make_node(logs, 1, "cat /etc/hostname; cat /etc/hosts; touch " + sandbox.state_dir() + "/from-node");
    node.mounts = {{logs.file("hosts"), "/etc/hostname"}};
    const auto pid = sandbox.start_node(node);
    if (!pid) return 2;
    wait_for(sandbox, *pid);
    if (!std::filesystem::exists(sandbox.state_dir() + "/from-node")) return 3;
    node.argv = {"no-such-daemon"};
    const auto none = sandbox.start_node(node);
    if (none ||
        none.error().what.find("nid000001: cannot find the program 'no-such-daemon'") == std::string::npos)
      return 4;
    return sandbox.run_command({"/bin/sh", "-c", "kill -SEGV $$"}, util::EnvSnapshot::of_process());
  });
  REQUIRE(result.ok());
  if (*result == 77) return test::skip("this machine allows no network namespaces");
  CHECK(*result == 128 + SIGSEGV);
  CHECK(logs.text("nid000001") == "10.66.1.1 nid000001\n10.66.1.1 nid000001\n");
  CHECK(util::read_file("/etc/hosts").value_or("").find("nid000001") == std::string::npos);
}
