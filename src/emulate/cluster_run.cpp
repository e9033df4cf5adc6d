// SPDX-License-Identifier: MIT
#include "emulate/cluster_run.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/model/gpu_vendor.hpp"
#include "core/slurm/variables.hpp"
#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_start.hpp"
#include "emulate/fault_driver.hpp"
#include "emulate/job_cgroups.hpp"
#include "emulate/login_files.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

/// Variables of another job or of another site's modules would change what Slurm and the stand-ins do.
bool belongs_elsewhere(const std::string& name) {
  if (slurm::classify_variable(name) != slurm::SlurmVariableKind::none) return true;
  for (const auto& prefix : model::engine_variables({"_"}))
    if (name.starts_with(prefix)) return true;
  for (const auto* variable : model::k_visible_devices_variables)
    if (name == variable) return true;
  for (const auto* variable : {"MODULEPATH", "LOADEDMODULES", "_LMFILES_", "BASH_ENV"})
    if (name == variable) return true;
  return false;
}

/// Returns the user's name. If this machine has none (a container's user often has none, and Slurm requires
/// one), the nodes get an /etc/passwd with a name.
util::Result<std::string> name_user(Sandbox& sandbox, const util::EnvSnapshot& env) {
  if (const passwd* entry = ::getpwuid(sandbox.user_id()); entry != nullptr)
    return std::string(entry->pw_name);
  TRY(const auto known, util::read_file("/etc/passwd"));
  std::string name = "user";
  while (::getpwnam(name.c_str()) != nullptr) name += "_";
  const auto id = std::to_string(sandbox.user_id());
  const auto entry = name + ":x:" + id + ":" + id + "::" + env.get_or("HOME", "/") + ":/bin/bash\n";
  const auto file = sandbox.state_dir() + "/passwd";
  const bool whole = known.empty() || known.back() == '\n';
  TRY_DONE(util::write_file(file, known + (whole ? "" : "\n") + entry));
  TRY_DONE(sandbox.mount_on_login({file, "/etc/passwd"}));
  return name;
}

util::Status write_stand_ins(const ClusterRunOptions& run, const std::string& state_dir) {
  StandInOptions options{state_dir,         util::find_program("python3", run.env).value_or(""),
                         run.slurm.srun,    run.slurm.salloc,
                         run.slurm.mpi,     run.keeps_accounts(),
                         run.limit_devices, !util::find_program("python", run.env)};
  for (const auto& [name, file] : make_stand_ins(*run.site, run.layout, options)) {
    const fs::path path = fs::path(state_dir) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    TRY_DONE(util::write_file(path, file.text, file.mode));
  }
  return util::write_file(fs::path(state_dir) / "record.jsonl", "");
}

util::Error cannot_keep(const ClusterRunOptions& run, const std::string& why) {
  return {fmt::format("cannot write Slurm's logs to {} (--keep-logs): {}", run.logs_dir, why),
          "use --keep-logs with a directory that you can write to"};
}

/// Login files of the site in the place of this machine's, whose `module` would win over the site's, and
/// empty ones in the place of the user's: what those set up is of this machine.
util::Status cover_login_files(Sandbox& sandbox, const ClusterRunOptions& run, const std::string& user) {
  TRY(const auto directory, write_login_profile(*run.site, sandbox.state_dir(), user));
  for (const std::string place : {"/etc/profile.d", "/etc/bash.bashrc.d"})
    if (std::error_code error; fs::is_directory(place, error))
      TRY_DONE(sandbox.mount_on_login({directory, place}));
  const auto empty = sandbox.state_dir() + "/login_file";
  TRY_DONE(util::write_file(empty, ""));
  for (const auto* name : {".bashrc", ".bash_profile", ".bash_login", ".profile"}) {
    const auto file = fs::path(run.env.get_or("HOME", "/")) / name;
    if (std::error_code error; fs::is_regular_file(file, error))
      TRY_DONE(sandbox.mount_on_login({empty, fs::canonical(file, error).string()}));
  }
  return util::Success{};
}

/// What a user requires to have afterwards must have a place before an hour of jobs.
util::Status check_places(const ClusterRunOptions& run) {
  if (!run.record_file.empty()) TRY_DONE(util::check_output(run.record_file));
  if (run.logs_dir.empty()) return util::Success{};
  std::error_code error;
  fs::create_directories(run.logs_dir, error);
  if (error) return cannot_keep(run, error.message());
  if (::access(run.logs_dir.c_str(), W_OK | X_OK) != 0) return cannot_keep(run, std::strerror(errno));
  return util::Success{};
}

util::Status save_record(const ClusterRunOptions& run, const std::string& state_dir) {
  if (run.record_file.empty()) return util::Success{};
  const auto record = util::read_file(fs::path(state_dir) / "record.jsonl");
  const auto written = record ? util::write_output(run.record_file, *record) : util::Status(record.error());
  return written ? written : util::with_context(written.error(), "cannot save the record of --record");
}

util::Status save_logs(const ClusterRunOptions& run, const std::string& state_dir) {
  if (run.logs_dir.empty()) return util::Success{};
  std::error_code error;
  fs::create_directories(run.logs_dir, error);
  // Without `recursive` the standard lets this option copy no directory at all.
  fs::copy(fs::path(state_dir) / "log", run.logs_dir,
           fs::copy_options::overwrite_existing | fs::copy_options::recursive, error);
  for (const auto* name : {"slurm.conf", "gres.conf", "job_submit.lua"})
    if (std::error_code none; !error && fs::exists(fs::path(state_dir) / name, none))
      fs::copy_file(fs::path(state_dir) / name, fs::path(run.logs_dir) / name,
                    fs::copy_options::overwrite_existing, error);
  if (error) return cannot_keep(run, error.message());
  return util::Success{};
}

/// What is worth keeping from the state directory, which is gone with the sandbox; false, and said, where
/// that failed.
bool save_results(const ClusterRunOptions& run, const std::string& state_dir) {
  bool kept = true;
  for (const auto& saved : {save_record(run, state_dir), save_logs(run, state_dir)}) {
    if (saved) continue;
    run.narrator.failure(saved.error());
    kept = false;
  }
  return kept;
}

std::string ready_sentence(const ClusterRunOptions& run, std::chrono::milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  const auto count = run.layout.nodes.size();
  const auto seconds = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  if (run.layout.is_whole_site())
    return fmt::format(
        "{}: all nodes are known to Slurm, and none runs, so only sbatch --test-only works; ready in {}",
        run.site->short_name(), seconds);
  std::string text = fmt::format("{}: {} of {}", run.site->short_name(), util::counted(count, "node"),
                                 run.layout.partition->name);
  const auto kinds = group_by_kind(run.layout);
  std::vector<std::string> each;
  for (const auto& kind : kinds)
    each.push_back(std::to_string(kind.size()) + " " + kind.front()->type->id +
                   (kind.front()->slices ? " with MIG instances" : ""));
  if (kinds.size() > 1)
    text += " (" + util::join(each, ", ") + ")";
  else if (run.layout.type->node_count)
    text += fmt::format(" (the site has {})", *run.layout.type->node_count);
  return fmt::format("{}, ready in {}", text, seconds);
}

/// What is to serve port 22 of the nodes; nothing where this machine cannot. It is for the run's caller.
std::optional<SshAccess> choose_ssh(const Sandbox& sandbox, const ClusterRunOptions& run,
                                    const std::string& user) {
  if (!sandbox.has_networks() || run.layout.nodes.empty()) return std::nullopt;
  auto access = find_ssh(run.env);
  if (!access) return std::nullopt;
  access->user = user;
  access->uid = sandbox.user_id();
  access->home = run.env.get_or("HOME", "/");
  access->shell = run.env.get_or("SHELL", "/bin/bash");
  access->path =
      make_login_environment(*run.site, run.env, sandbox.state_dir(), user).get_or("PATH", "/usr/bin:/bin");
  return access;
}

void forgo_ssh(ClusterRunOptions& run, const util::Error& why) {
  run.narrator.note(fmt::format("ssh to the emulated nodes does not work (use srun): {}{}{}", why.what,
                                why.hint.empty() ? "" : "; ", why.hint));
  run.ssh.reset();
}

/// Decides what serves port 22 of the nodes; the process that makes its keys.
std::optional<pid_t> begin_port_22(Sandbox& sandbox, ClusterRunOptions& run, const std::string& user) {
  run.ssh = choose_ssh(sandbox, run, user);
  if (!run.ssh) return std::nullopt;
  const auto keys = begin_ssh(sandbox, *run.ssh, run.layout);
  if (keys) return *keys;
  forgo_ssh(run, keys.error());
  return std::nullopt;
}

/// A cluster whose nodes are ready.
struct ReadyCluster {
  std::string user; ///< the name on it
  SlurmDaemons daemons;
};

/// The cluster up to its nodes being ready.
util::Result<ReadyCluster> bring_up(Sandbox& sandbox, ClusterRunOptions& run) {
  const std::string& state_dir = sandbox.state_dir();
  run.layout.login_name = util::read_host_name(); // slurmctld compares it with the kernel's
  if (!sandbox.has_networks() && run.keeps_accounts())
    return util::Error{
        "--accounts and --accounting need a network namespace, which this machine does not allow",
        "use a machine that allows network namespaces with bridges and veth pairs, or remove these options"};
  if (!sandbox.has_networks()) {
    TRY(const auto port,
        find_free_ports(static_cast<unsigned>(run.layout.nodes.size()) + 1, util::fnv1a(state_dir)));
    run.layout = on_loopback(std::move(run.layout), port);
  }
  TRY_DONE(check_faults(sandbox, run));
  if (run.constrained_resources().any() && sandbox.user_id() != 0)
    return util::Error{
        "cannot limit the memory and devices of jobs (--limit-memory, --limit-devices, --fault "
        "oom): the emulated Slurm does not run as root",
        "run hpcml emulate as root, and in a container with docker run --privileged; or remove these "
        "options"};
  for (const auto& node : run.layout.nodes)
    if (run.constrained_resources().any())
      TRY_DONE(make_group_view(sandbox.job_groups(), node.name, state_dir));
  ReadyCluster ready;
  TRY(ready.user, name_user(sandbox, run.env));
  TRY_DONE(write_stand_ins(run, state_dir));
  TRY_DONE(cover_login_files(sandbox, run, ready.user));
  const auto keys = begin_port_22(sandbox, run, ready.user);
  TRY(ready.daemons, start_slurm(sandbox, run, ready.user));
  if (!keys) return ready;
  if (const auto served = finish_ssh(sandbox, *keys); !served) forgo_ssh(run, served.error());
  return ready;
}

/// Jobs of a site with RDMA may lock memory. The limit of this machine says nothing about the site, and
/// only root can raise it.
void allow_locked_memory() {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  (void)::setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

int run_body(Sandbox& sandbox, ClusterRunOptions run, std::chrono::steady_clock::time_point start,
             int failure_code) {
  const std::string& state_dir = sandbox.state_dir();
  allow_locked_memory();
  std::error_code ignored;
  run.temporary = find_temporary_places(run.env, fs::current_path(ignored).string());
  for (const auto& note : run.temporary.notes) run.narrator.note(note);
  for (const auto& limit : sandbox.limits()) run.narrator.note(limit);
  const auto ready = bring_up(sandbox, run);
  if (!ready) {
    // What this machine did not allow may be why; quiet runs have not said it.
    auto error = ready.error();
    const auto limits = util::join(sandbox.limits(), " ");
    error.hint += (error.hint.empty() || limits.empty() ? "" : "; ") + limits;
    run.narrator.failure(error);
    save_results(run, state_dir);
    return failure_code;
  }
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  run.narrator.progress("");
  run.narrator.note(ready_sentence(run, time));
  FaultDriver faults(sandbox, run, ready->daemons);
  auto env = make_login_environment(*run.site, run.env, state_dir, ready->user);
  if (run.ssh)
    for (const auto& [name, value] : ssh_variables(state_dir)) env.set(name, value);
  const int code = sandbox.run_command(run.command, env);
  for (const auto& sentence : faults.finish()) run.narrator.event(sentence);
  const bool kept = save_results(run, state_dir);
  return code == 0 && !kept ? failure_code : code;
}

} // namespace

util::EnvSnapshot make_login_environment(const model::Site& site, const util::EnvSnapshot& caller,
                                         const std::string& state_dir, const std::string& user) {
  util::EnvSnapshot env;
  for (const auto& [name, value] : caller.variables())
    if (!belongs_elsewhere(name)) env.set(name, value);
  for (const auto& [name, value] : make_login_variables(site, state_dir, user)) env.set(name, value);
  // Who runs hpcml by its path types its name there anyway.
  env.set("PATH", state_dir + "/bin:" + caller.get_or("PATH", "/usr/local/bin:/usr/bin:/bin") + ":" +
                      util::own_executable().parent_path().string());
  env.set("SLURM_CONF", state_dir + "/login.conf");
  env.set("USER", user);
  env.set("XDG_STATE_HOME", state_dir + "/state"); // numbers of jobs here are not those of a real cluster
  env.set("HPCML_SITE", site.id);                  // what a real login node is known by, this machine is not
  return env;
}

util::Result<int> run_cluster(const ClusterRunOptions& run, int failure_code) {
  const auto start = std::chrono::steady_clock::now();
  TRY_DONE(check_places(run));
  SandboxOptions options;
  options.isolate_network = run.isolate_network;
  options.constrained_resources = run.constrained_resources();
  options.login_name = run.layout.login_name;
  options.login_interfaces = run.layout.login_interfaces;
  options.places = {"/tmp", "/var/tmp"};
  if (const auto requested = run.env.get("TMPDIR"); requested && !requested->empty())
    options.places.insert(options.places.begin(), *requested);
  run.narrator.progress(fmt::format("creating {} nodes", run.layout.nodes.size()));
  return run_in_sandbox(options,
                        [&](Sandbox& sandbox) { return run_body(sandbox, run, start, failure_code); });
}

} // namespace hpcml::emulate
