// SPDX-License-Identifier: MIT
#include "emulate/cluster_start.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/result.hpp"
#include "core/util/text.hpp"
#include "emulate/accounting.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/gpu_files.hpp"
#include "emulate/job_cgroups.hpp"
#include "emulate/preemption.hpp"
#include "emulate/sandbox.hpp"
#include "emulate/slurm_files.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

// What nodes have for their GPUs: devices, and what drivers and slurmd find of them.

namespace fs = std::filesystem;

/// The directory that nodes of one kind see the GPUs' files of.
std::string gpu_directory(const std::string& state_dir, const ClusterNode& node) {
  return state_dir + "/gpus/" + node.type->id + (node.slices ? "/parts" : "/whole");
}

constexpr const char* k_detected_gpus = "/fake_gpus.conf"; // slurmd's name for it

bool has_slices(const ClusterLayout& layout) {
  return std::any_of(layout.nodes.begin(), layout.nodes.end(), [](const auto& node) { return node.slices; });
}

/// Creates separate devices, one for each path of gpu_device_path. They have no driver: opening one fails
/// with ENXIO if the process may use it, else with EPERM.
util::Status make_gpu_devices(const std::string& state_dir, unsigned count) {
  constexpr unsigned k_major = 60; // for local use: Linux, Documentation/admin-guide/devices.txt
  const auto directory = state_dir + "/dev";
  const auto cannot = [](const std::string& what) {
    return util::Error{
        fmt::format(
            "cannot limit the devices of jobs (--limit-devices): cannot create device files in {}: {}", what,
            std::strerror(errno)),
        "run the container with docker run --privileged, or remove --limit-devices"};
  };
  // The sandbox's own files are on a file system without devices.
  if (::mount("tmpfs", directory.c_str(), "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755") != 0)
    return cannot(directory);
  for (unsigned gpu = 0; gpu < count; ++gpu) {
    const auto path = gpu_device_path(state_dir, gpu);
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(k_major, gpu)) != 0 || ::chmod(path.c_str(), 0666) != 0)
      return cannot(path);
  }
  return util::Success{};
}

/// Makes it, for all nodes, in the state directory.
util::Status make_gpu_state(const std::string& state_dir, const ClusterRunOptions& run) {
  std::map<std::string, std::string> files;
  unsigned devices = 0;
  for (const auto& kind : group_by_kind(run.layout)) {
    const auto& first = *kind.front();
    for (const auto& [name, text] : make_gpu_files(*first.type, first.slices))
      files[gpu_directory(state_dir, first) + "/" + name] = text;
    devices = std::max(devices, count_devices(first));
  }
  if (has_slices(run.layout)) {
    files[state_dir + k_detected_gpus] = "";
    for (const auto& node : run.layout.nodes)
      files[state_dir + "/nodes/" + node.name + k_detected_gpus] =
          make_detected_gpus(*run.site, node, state_dir, wants_whole_sockets(run.slurm));
  }
  if (run.limit_devices) TRY_DONE(make_gpu_devices(state_dir, devices));
  for (unsigned gpu = 0; gpu < devices && !run.limit_devices; ++gpu)
    files[gpu_device_path(state_dir, gpu)] = "";
  for (const auto& [path, text] : files) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    TRY_DONE(util::write_file(path, text));
  }
  return util::Success{};
}

/// Shows a node its part.
void add_gpu_mounts(SandboxNode& made, const ClusterRunOptions& run, const ClusterNode& node,
                    const std::string& state_dir) {
  if (has_slices(run.layout))
    made.mounts.push_back({state_dir + "/nodes/" + node.name + k_detected_gpus, state_dir + k_detected_gpus});
  // A bound /dev/null is a character device without the right to make one.
  for (unsigned gpu = 0; gpu < count_devices(node) && !run.limit_devices; ++gpu)
    made.mounts.push_back({"/dev/null", gpu_device_path(state_dir, gpu)});
  for (const auto& mount : gpu_mounts(*node.type, gpu_directory(state_dir, node)))
    made.mounts.push_back(mount);
}

namespace fs = std::filesystem;
using std::chrono::milliseconds, std::chrono::steady_clock;

struct Daemon {
  pid_t pid = -1;
  std::string what; ///< "slurmctld", "slurmd on nid000001"
  std::vector<std::string> logs;
};

std::string slurmd_log(const std::string& state_dir, const std::string& node) {
  return state_dir + "/log/slurmd." + node + ".log";
}

/// The end of the daemon's logs: what it printed before its log file was open, then that file.
std::string tail(const Daemon& daemon) {
  std::string text;
  for (const auto& file : daemon.logs) {
    const auto log = util::read_file(file);
    if (!log || log->empty()) continue;
    auto lines = util::split(std::string(util::trim(*log)), '\n');
    for (std::size_t i = lines.size() > 12 ? lines.size() - 12 : 0; i < lines.size(); ++i)
      text += "\n  " + lines[i];
  }
  return text.empty() ? " (its log is empty)" : text;
}

util::Status make_state(const Sandbox& sandbox, const ClusterRunOptions& run, const std::string& user) {
  const auto& state_dir = sandbox.state_dir();
  std::error_code error;
  std::vector<std::string> directories = {"slurmctld", "log", "dev", "local", "root"};
  for (const auto& node : run.layout.nodes) {
    directories.push_back("slurmd/" + node.name);
    directories.push_back("nodes/" + node.name + "/local");
    TRY_DONE(make_own_directories(own_directories_of(run.temporary, state_dir, node.name)));
  }
  for (auto& directory : directories) directory = state_dir + "/" + directory;
  for (auto& directory : storage_directories(*run.site, state_dir, user))
    directories.push_back(std::move(directory));
  for (const auto& directory : directories) {
    fs::create_directories(directory, error);
    if (error)
      return util::Error{
          fmt::format("cannot create {} for the emulated cluster: {}", directory, error.message()),
          "check the free memory of this machine (free -h), which holds the files of the cluster"};
  }
  SlurmFileOptions options{state_dir,
                           sandbox.user_id(),
                           run.slurm.has_lua,
                           run.keeps_accounts(),
                           !run.accounts.empty(),
                           run.evaluate_command,
                           run.faults,
                           wants_whole_sockets(run.slurm),
                           run.constrained_resources().any(),
                           make_cgroup_conf(sandbox.job_groups(), state_dir, run.slurm)};
  auto files = make_slurm_files(*run.site, run.layout, options);
  for (auto& [name, text] : make_kept_lists(run.temporary)) files[name] = std::move(text);
  // Not in /tmp, which nodes may have to share: two of them would make the same directory there.
  if (run.slurm.mpi == "pmix") files["mpi.conf"] = "PMIxCliTmpDirBase=" + state_dir + "/local\n";
  for (const auto& [name, text] : files) TRY_DONE(util::write_file(fs::path(state_dir) / name, text));
  // slurmdbd reads no file that others can.
  if (options.accounting)
    TRY_DONE(util::write_file(fs::path(state_dir) / "slurmdbd.conf",
                              make_slurmdbd_conf(run.layout, state_dir, user), 0600));
  return make_gpu_state(state_dir, run);
}

SandboxNode make_node(const ClusterRunOptions& run, const ClusterNode& node, const std::string& state_dir) {
  SandboxNode made;
  made.name = node.name;
  made.cpu = node.type->cpu;
  if (node.type->memory) made.mem_mib = node.type->memory->value.mib();
  made.interfaces = node.interfaces;
  made.own_directories = own_directories_of(run.temporary, state_dir, node.name);
  made.mounts.push_back({state_dir + "/hosts", "/etc/hosts"});
  made.mounts.push_back({state_dir + "/nodes/" + node.name + "/local", state_dir + "/local"});
  add_gpu_mounts(made, run, node, state_dir);
  if (run.ssh) made.services.push_back(make_ssh_service(state_dir));
  made.argv = {run.slurm.slurmd, "-D", "-N", node.name};
  made.env = daemon_environment(state_dir);
  // Each slurmstepd reads the topology of the node before its first task, from thousands of files in /sys. It
  // is what slurmd read at its start and wrote here, where hwloc finds it for slurmstepd in one file.
  made.env.set("HWLOC_XMLFILE", state_dir + "/slurmd/" + node.name + "/hwloc_topo_whole.xml");
  made.env.set("HWLOC_THISSYSTEM", "1");
  // Plugins look for devices of this machine by OpenCL, X servers and PCI, which the node does not have.
  made.env.set("HWLOC_PLUGINS_PATH", state_dir + "/lib");
  made.log_file = state_dir + "/log/slurmd." + node.name + ".out";
  return made;
}

bool port_answers(const std::string& address, unsigned port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &target.sin_addr);
  const bool answered = ::connect(fd, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0;
  ::close(fd);
  return answered;
}

/// Waits until `ready`, as long as all daemons live; `what` completes "timed out waiting for".
template <class Ready>
util::Status wait_until(const Sandbox& sandbox, const std::vector<Daemon>& daemons, const std::string& what,
                        std::chrono::seconds limit, milliseconds pause, Ready ready) {
  const auto end = steady_clock::now() + limit;
  while (!ready()) {
    for (const auto& daemon : daemons)
      if (!sandbox.is_alive(daemon.pid))
        return util::Error{
            fmt::format("{} exited unexpectedly; the last lines of its log:{}", daemon.what, tail(daemon)),
            "run hpcml emulate again with --keep-logs DIR to read the complete logs"};
    if (steady_clock::now() > end) {
      std::string text = fmt::format(
          "timed out after {} s waiting for {}; the last lines of the logs:", limit.count(), what);
      for (const auto& daemon : daemons) text += "\n " + daemon.what + ":" + tail(daemon);
      return util::Error{text, "run hpcml emulate again with --keep-logs DIR to read the complete logs"};
    }
    std::this_thread::sleep_for(pause);
  }
  return util::Success{};
}

util::Result<util::ProcessOutput> ask_sacctmgr(const ClusterRunOptions& run, const std::string& state_dir,
                                               std::vector<std::string> words) {
  words.insert(words.begin(),
               {run.accounting->sacctmgr, "--immediate", "--quiet", "--noheader", "--parsable2"});
  return util::run_process(words, daemon_environment(state_dir), std::chrono::seconds(30));
}

/// The database, slurmdbd on it, and the cluster in that: slurmctld does not start without.
util::Status start_accounting(Sandbox& sandbox, const ClusterRunOptions& run, std::vector<Daemon>& daemons) {
  run.narrator.progress("starting slurmdbd");
  const std::string& state_dir = sandbox.state_dir();
  const fs::path directory = fs::path(state_dir) / "accounting";
  std::error_code error;
  fs::create_directories(directory / "data", error);
  TRY(const auto tables, util::read_file(run.accounting->system_tables));
  const auto command = make_database_command(run.accounting->mariadbd, state_dir);
  auto bootstrap = command;
  bootstrap.push_back("--bootstrap");
  // It takes one statement a line until it is in a database.
  const auto made = util::run_process(bootstrap, daemon_environment(state_dir), std::chrono::seconds(60),
                                      "CREATE DATABASE mysql;\nUSE mysql;\n" + tables);
  if (!made || made->exit_code != 0)
    return util::Error{fmt::format("mariadbd cannot create the database of slurmdbd: {}",
                                   made ? made->err : made.error().what),
                       "remove the options that need it: --accounts, --accounting and --fault preempt:qos"};
  const std::string database_log = state_dir + "/log/mariadbd.out", log = state_dir + "/log/slurmdbd";
  const auto database = sandbox.start_service(command, daemon_environment(state_dir), database_log);
  if (!database) return util::with_context(database.error(), "cannot start mariadbd");
  daemons.push_back({*database, "mariadbd", {database_log}});
  TRY_DONE(wait_until(sandbox, daemons, "mariadbd to open its socket", std::chrono::seconds(30),
                      milliseconds(5),
                      [&] { return ::access(database_socket(state_dir).c_str(), F_OK) == 0; }));
  auto env = daemon_environment(state_dir);
  env.set("MYSQL_UNIX_PORT", database_socket(state_dir));
  const auto keeper = sandbox.start_service({run.accounting->slurmdbd, "-D"}, env, log + ".out");
  if (!keeper) return util::with_context(keeper.error(), "cannot start slurmdbd");
  daemons.push_back({*keeper, "slurmdbd", {log + ".out", log + ".log"}});
  return wait_until(sandbox, daemons, "slurmdbd to add the cluster", std::chrono::seconds(60),
                    milliseconds(20), [&] {
                      if (!port_answers(run.layout.login_address, k_accounting_port)) return false;
                      const auto added = ask_sacctmgr(run, state_dir, {"add", "cluster", run.site->id});
                      return added && added->exit_code == 0;
                    });
}

/// Enters QoS, accounts and the user in them, once slurmctld has reported to slurmdbd that GPUs exist.
util::Status enter_accounts(const Sandbox& sandbox, const ClusterRunOptions& run, const std::string& user,
                            const std::vector<Daemon>& daemons) {
  const std::string& state_dir = sandbox.state_dir();
  TRY_DONE(wait_until(
      sandbox, daemons, "slurmctld to connect to slurmdbd", std::chrono::seconds(30), milliseconds(20), [&] {
        const auto kinds = ask_sacctmgr(run, state_dir, {"show", "tres", "format=type,name"});
        const auto port = ask_sacctmgr(run, state_dir, {"show", "cluster", "format=controlport"});
        return kinds && kinds->out.find("gres|gpu") != std::string::npos && port &&
               util::trim(port->out) != "0";
      }));
  auto entries = make_accounting_entries(*run.site, run.accounts, user);
  const auto more = make_preemption_entries(*run.site, run.faults, !run.accounts.empty());
  entries.insert(entries.end(), more.begin(), more.end());
  for (const auto& words : entries) {
    const auto done = ask_sacctmgr(run, state_dir, words);
    if (!done || done->exit_code != 0)
      return util::Error{
          fmt::format("cannot set up the accounts of the emulated cluster: 'sacctmgr {}' failed: {}",
                      util::join(words, " "),
                      done ? std::string(util::trim(done->out + done->err)) : done.error().what),
          "check the names of --accounts, or use --keep-logs DIR and read slurmdbd.log"};
  }
  return util::Success{};
}

/// Returns the number of nodes that accept jobs according to sinfo.
std::size_t count_ready(const ClusterRunOptions& run, const std::string& state_dir) {
  const auto answer =
      util::run_process({run.slurm.sinfo, "-h", "-N", "-o", "%N %T", "-p", run.layout.partition->name},
                        daemon_environment(state_dir), std::chrono::seconds(20));
  if (!answer || answer->exit_code != 0) return 0;
  const auto lines = util::split(answer->out, '\n');
  const auto is_idle = [](const std::string& line) { return line.ends_with(" idle"); };
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_idle));
}

/// The cluster's file of hosts in the place of the machine's; where that has none, next to what is in /etc.
util::Status show_hosts(Sandbox& sandbox) {
  const std::string& state_dir = sandbox.state_dir();
  if (::access("/etc/hosts", F_OK) == 0) return sandbox.mount_on_login({state_dir + "/hosts", "/etc/hosts"});
  const auto directory = state_dir + "/etc";
  ::mkdir(directory.c_str(), 0755);
  TRY(const auto hosts, util::read_file(state_dir + "/hosts"));
  TRY_DONE(util::write_file(directory + "/hosts", hosts));
  auto added = sandbox.mount_on_login({directory, "/etc", true});
  if (added) return added;
  return util::Error{fmt::format("cannot set the host names of the emulated nodes: this machine has no "
                                 "/etc/hosts, and {}",
                                 added.error().what),
                     "run touch /etc/hosts as root to create an empty one"};
}

} // namespace

util::EnvSnapshot daemon_environment(const std::string& state_dir) {
  // Not the caller's: a real slurmd does not know it, and srun and sbatch bring the user's along with each
  // job.
  return util::EnvSnapshot({{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                            {"SLURM_CONF", state_dir + "/slurm.conf"},
                            {"LANG", "C.UTF-8"}});
}

util::Result<pid_t> start_controller(Sandbox& sandbox, const ClusterRunOptions& run, bool clears_state) {
  const std::string& state_dir = sandbox.state_dir();
  const std::string out = state_dir + "/log/slurmctld.out";
  std::vector<std::string> words = {run.slurm.slurmctld, "-D"};
  if (clears_state) words.emplace_back("-c");
  const auto started = sandbox.start_service(words, daemon_environment(state_dir), out);
  if (!started) return util::with_context(started.error(), "cannot start slurmctld");
  // A slurmd that finds no controller waits seconds before it asks again.
  TRY_DONE(wait_until(sandbox, {{*started, "slurmctld", {out, state_dir + "/log/slurmctld.log"}}},
                      "slurmctld to answer on its port", std::chrono::seconds(30), milliseconds(5),
                      [&] { return port_answers("127.0.0.1", run.layout.controller_port); }));
  return *started;
}

std::string job_mark(const std::string& state_dir) { return state_dir + "/job_began"; }

util::Result<SlurmDaemons> start_slurm(Sandbox& sandbox, const ClusterRunOptions& run,
                                       const std::string& user) {
  const std::string& state_dir = sandbox.state_dir();
  TRY_DONE(make_state(sandbox, run, user));
  TRY_DONE(show_hosts(sandbox));
  std::vector<Daemon> daemons;
  if (run.keeps_accounts()) TRY_DONE(start_accounting(sandbox, run, daemons));
  run.narrator.progress("starting slurmctld");
  SlurmDaemons slurm;
  TRY(slurm.controller, start_controller(sandbox, run, true));
  daemons.push_back(
      {slurm.controller, "slurmctld", {state_dir + "/log/slurmctld.out", state_dir + "/log/slurmctld.log"}});
  if (run.keeps_accounts()) TRY_DONE(enter_accounts(sandbox, run, user, daemons));
  for (const auto& node : run.layout.nodes) {
    run.narrator.progress(fmt::format("starting slurmd on {} (node {} of {})", node.name,
                                      slurm.nodes.size() + 1, run.layout.nodes.size()));
    auto made = make_node(run, node, state_dir);
    if (run.constrained_resources().any()) show_group_view(made, sandbox.job_groups(), state_dir);
    const auto started = sandbox.start_node(made);
    if (!started)
      return util::with_context(started.error(), fmt::format("cannot start slurmd on {}", node.name));
    daemons.push_back({*started,
                       fmt::format("slurmd on {}", node.name),
                       {made.log_file, slurmd_log(state_dir, node.name)}});
    slurm.nodes.push_back(*started);
  }
  const auto limit = std::chrono::seconds(30 + 2 * run.layout.nodes.size());
  TRY_DONE(wait_until(sandbox, daemons, "all nodes to become ready", limit, milliseconds(30), [&] {
    const auto ready = count_ready(run, state_dir);
    run.narrator.progress(
        fmt::format("waiting for slurmd: {} of {} nodes are ready for jobs", ready, run.layout.nodes.size()));
    return ready >= run.layout.nodes.size();
  }));
  return slurm;
}

util::Result<unsigned> find_free_ports(unsigned count, unsigned long long seed) {
  const auto is_free = [](unsigned port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool is = fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (fd >= 0) ::close(fd);
    return is;
  };
  // Below the range that the kernel hands out.
  for (unsigned first = 10000 + static_cast<unsigned>(seed % 20000), tries = 0; tries < 200;
       ++tries, first += count) {
    if (first + count > 32000) first = 10000;
    bool all = true;
    for (unsigned i = 0; i < count && all; ++i) all = is_free(first + i);
    if (all) return first;
  }
  return util::Error{fmt::format("the emulated cluster needs {} consecutive free ports from 10000 to 32000, "
                                 "which this machine lacks",
                                 count),
                     "use fewer --nodes, or end other hpcml emulate commands on this machine"};
}

} // namespace hpcml::emulate
