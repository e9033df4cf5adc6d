// SPDX-License-Identifier: MIT
#include "emulate/cluster_run.hpp"

#include <chrono>
#include <filesystem>
#include <pwd.h>
#include <unistd.h>

#include "emulate/cluster_start.hpp"
#include "emulate/stand_in_files.hpp"
#include "model/gpu_vendor.hpp"
#include "slurm/variables.hpp"
#include "util/file.hpp"
#include "util/host_names.hpp"
#include "util/process.hpp"
#include "util/text.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

/// Variables of another job or of another site's modules would change what Slurm and the stand-ins do.
bool belongs_elsewhere(const std::string& name) {
  if (slurm::use_of_variable(name) != slurm::VariableUse::none) return true;
  for (const auto* prefix : {"SINGULARITY_", "APPTAINER_"})
    if (util::starts_with(name, prefix)) return true;
  for (const auto* other : model::k_visible_devices_variables)
    if (name == other) return true;
  for (const auto* other : {"MODULEPATH", "LOADEDMODULES", "_LMFILES_", "BASH_ENV"})
    if (name == other) return true;
  return false;
}

std::string user_name(unsigned id) {
  const passwd* entry = ::getpwuid(id);
  return entry != nullptr ? entry->pw_name : std::to_string(id);
}

util::Status write_stand_ins(const ClusterRun& run, const std::string& state_dir) {
  StandInOptions options{state_dir, util::find_program("python3", run.env).value_or(""), run.slurm.srun,
                         run.slurm.salloc};
  for (const auto& [name, file] : make_stand_ins(*run.site, run.layout, options)) {
    const fs::path path = fs::path(state_dir) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (auto written = util::write_file(path, file.text, file.mode); !written) return written.error();
  }
  return util::write_file(fs::path(state_dir) / "record.jsonl", "");
}

/// What is worth keeping from the state directory, which is gone with the sandbox.
void save_results(const ClusterRun& run, const std::string& state_dir) {
  if (!run.record_file.empty()) {
    const auto record = util::read_file(fs::path(state_dir) / "record.jsonl");
    const auto written = record ? util::write_file(run.record_file, *record) : util::Status(record.error());
    if (!written) run.narrator.note("the record is lost: " + written.error().what);
  }
  if (run.logs_dir.empty()) return;
  std::error_code error;
  fs::create_directories(run.logs_dir, error);
  // Without `recursive` the standard lets this option copy no folder at all.
  fs::copy(fs::path(state_dir) / "log", run.logs_dir,
           fs::copy_options::overwrite_existing | fs::copy_options::recursive, error);
  for (const auto* name : {"slurm.conf", "gres.conf", "job_submit.lua"})
    if (!error && fs::exists(fs::path(state_dir) / name))
      fs::copy_file(fs::path(state_dir) / name, fs::path(run.logs_dir) / name,
                    fs::copy_options::overwrite_existing, error);
  if (error) run.narrator.note("cannot keep the logs in " + run.logs_dir + ": " + error.message());
}

std::string ready_sentence(const ClusterRun& run, std::chrono::milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  const auto count = run.layout.nodes.size();
  const auto seconds = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  if (run.layout.is_whole_site())
    return run.site->short_name() +
           ": all its nodes, none of which runs: ask with sbatch --test-only; ready in " + seconds;
  std::string text = run.site->short_name() + ": " + std::to_string(count) +
                     (count == 1 ? " node" : " nodes") + " of " + run.layout.partition->name;
  const auto kinds = group_by_kind(run.layout);
  std::vector<std::string> each;
  for (const auto& kind : kinds)
    each.push_back(std::to_string(kind.size()) + " " + kind.front()->type->id +
                   (kind.front()->slices ? " with parts of GPUs" : ""));
  if (kinds.size() > 1)
    text += " (" + util::join(each, ", ") + ")";
  else if (run.layout.type->node_count)
    text += " (the site has " + std::to_string(*run.layout.type->node_count) + ")";
  return text + ", ready in " + seconds;
}

int run_body(Sandbox& sandbox, ClusterRun run, std::chrono::steady_clock::time_point start,
             int failure_code) {
  const std::string& state_dir = sandbox.state_dir();
  run.layout.login_name = util::read_host_name(); // slurmctld compares it with the kernel's
  for (const auto& limit : sandbox.limits()) run.narrator.note(limit);
  if (!sandbox.has_networks() && !run.accounts.empty()) {
    run.narrator.failure(
        {"accounts need a network of their own, which this machine does not allow", "leave --accounts out"});
    return failure_code;
  }
  if (!sandbox.has_networks()) {
    const auto port =
        find_free_ports(static_cast<unsigned>(run.layout.nodes.size()) + 1, util::fnv1a(state_dir));
    if (!port) {
      run.narrator.failure(port.error());
      return failure_code;
    }
    run.layout = on_loopback(std::move(run.layout), *port);
  }
  const std::string user = user_name(sandbox.user_id());
  if (auto written = write_stand_ins(run, state_dir); !written) {
    run.narrator.failure(written.error());
    return failure_code;
  }
  if (auto started = start_slurm(sandbox, run, user); !started) {
    run.narrator.failure(started.error());
    save_results(run, state_dir);
    return failure_code;
  }
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  run.narrator.progress("");
  run.narrator.note(ready_sentence(run, time));
  const int code =
      sandbox.run_command(run.command, make_login_environment(*run.site, run.env, state_dir, user));
  save_results(run, state_dir);
  return code;
}

} // namespace

util::EnvSnapshot make_login_environment(const model::Site& site, const util::EnvSnapshot& caller,
                                         const std::string& state_dir, const std::string& user) {
  util::EnvSnapshot env;
  for (const auto& [name, value] : caller.variables())
    if (!belongs_elsewhere(name)) env.set(name, value);
  StandInOptions options;
  options.state_dir = state_dir;
  for (const auto& [name, value] : make_login_variables(site, options, user)) env.set(name, value);
  env.set("PATH", state_dir + "/bin:" + caller.get_or("PATH", "/usr/local/bin:/usr/bin:/bin"));
  env.set("SLURM_CONF", state_dir + "/slurm.conf");
  env.set("USER", user);
  return env;
}

util::Result<int> run_cluster(const ClusterRun& run, int failure_code) {
  const auto start = std::chrono::steady_clock::now();
  SandboxOptions options;
  options.isolate_network = run.isolate_network;
  options.login_name = run.layout.login_name;
  options.login_interfaces = run.layout.login_interfaces;
  run.narrator.progress("making " + std::to_string(run.layout.nodes.size()) + " nodes");
  return run_in_sandbox(options,
                        [&](Sandbox& sandbox) { return run_body(sandbox, run, start, failure_code); });
}

} // namespace hpcml::emulate
