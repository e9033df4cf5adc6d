// SPDX-License-Identifier: MIT
#include "run/launch/exec_rank.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/bind_check.hpp"
#include "run/launch/cpu_bind.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/separate_worlds.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/rank_report.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// Returns what to use instead of a program's name if it is a script, or is in the working directory.
std::string suggested_command(System& system, const std::string& name) {
  if (name.ends_with(".py")) return fmt::format("use python {}", name);
  if (name.find('/') == std::string::npos && system.access(name, X_OK) == 0)
    return fmt::format("use ./{0}: {0} is in the working directory, which is not in PATH", name);
  return {};
}

Error exec_error(System& system, const std::string& name, int code) {
  struct stat found {};
  if (code == ENOENT && system.stat(name, found) == 0)
    return Error{fmt::format("cannot execute '{}': its interpreter does not exist", name),
                 "check the #! line of the script, or the loader that the program was built for"};
  if (code == ENOEXEC)
    return Error{
        fmt::format(
            "cannot execute '{}': it is neither a program for this machine nor a script with a #! line",
            name),
        fmt::format("add a #! line, or use `-- bash {}`: hpcml launch starts programs without a shell",
                    name)};
  if (code == EACCES && system.stat(name, found) == 0 && S_ISDIR(found.st_mode))
    return Error{fmt::format("cannot execute '{}': it is a directory", name),
                 "use the path of a program in this directory"};
  return Error{fmt::format("cannot execute '{}': {}", name, std::strerror(code)),
               code != EACCES          ? fmt::format("check the file {} on this node", name)
               : name.ends_with(".py") ? suggested_command(system, name)
                                       : fmt::format("run chmod +x {} if it is a program", name)};
}

/// A file of this name that is in PATH but may not be executed.
std::optional<std::string> unexecutable(System& system, const std::string& name,
                                        const util::EnvSnapshot& env) {
  if (name.find('/') != std::string::npos)
    return system.access(name, F_OK) == 0 ? std::optional(name) : std::nullopt;
  for (const auto& directory : util::split(env.get_or("PATH", ""), ':'))
    if (const std::string path = directory + "/" + name; !directory.empty() && system.access(path, F_OK) == 0)
      return path;
  return std::nullopt;
}

/// What is wrong with the CPUs that the kernel gives after binding: said, or an error. Unasked only srun's
/// masks are compared.
util::Status check_bound_rank(const RankSetup& setup, const LaunchRequest& request,
                              const RuntimeContext& context, const Result<model::IdSet>& cpus) {
  std::vector<std::string> faults;
  const BindMode mode = setup.node->binding.mode;
  const auto check = model::value_or(request.rank_settings.bind_check, BindCheckAction::none);
  if (check == BindCheckAction::none && mode == BindMode::verify)
    faults = compare_masks(setup.node->mask, setup.plan.binding.cpus);
  if (check != BindCheckAction::none && !setup.node->agent) {
    if (!cpus) return cpus.error();
    faults = check_binding(setup, {*cpus, context.system->memory_policy()}, request.cpus_per_task);
  }
  if (check == BindCheckAction::fail && !faults.empty())
    return Error{
        fmt::format("the binding check (--bind-check) failed, so that the program does not start: {}",
                    util::join(faults, "; ")),
        fmt::format("set --bind-check warn to start anyway, or {}",
                    mode == BindMode::none ? "use --bind apply to bind the rank"
                                           : "run hpcml affinity to see the plan")};
  for (const auto& fault : faults)
    log_message(*context.system, util::LogLevel::warning,
                fmt::format("{}: {}", rank_label(location_of(setup.world.layout, context.host)), fault));
  return util::Success{};
}

/// What rank 0 says for all, and the first rank of each node for its node.
void report_warnings(const RankSetup& setup, const RuntimeContext& context) {
  const auto warn = [&](const std::string& text) {
    log_message(*context.system, util::LogLevel::warning, text);
  };
  if (setup.world.layout.rank == 0)
    for (const auto* list : {&setup.node->warnings, &setup.node->plan.warnings, &setup.warnings})
      for (const auto& warning : *list) warn(warning);
  if (setup.world.layout.local_rank == 0)
    for (const auto& warning : setup.node->node_warnings) warn(fmt::format("{}: {}", context.host, warning));
}

int fail(const RankSetup& setup, const RuntimeContext& context, const std::string& phase, const Error& error,
         int code = k_cannot_set_up) {
  return report_failure({code, phase, error, location_of(setup.world.layout, context.host), context.host},
                        context.env, *context.system);
}

} // namespace

Result<std::vector<CacheDir>> open_caches(const std::vector<model::PlannedCache>& caches,
                                          const std::vector<std::string>& paths) {
  std::vector<CacheDir> opened;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto cache = open_cache(caches[i], paths[i]);
    if (!cache) {
      for (auto& earlier : opened) release_cache(earlier);
      return cache.error();
    }
    opened.push_back(std::move(*cache));
  }
  if (const auto watched = start_watcher(opened); !watched) util::log_error(watched.error());
  return opened;
}

util::Status bind_rank(System& system, const RankSetup& setup) {
  const auto& planned = setup.plan.binding.cpus;
  if (setup.node->binding.mode != BindMode::apply || planned.empty()) return util::Success{};
  if (!(planned == setup.node->mask)) TRY_DONE(apply_affinity(system, planned));
  // Of all NUMA nodes alike the kernel's default is the better choice: the node of the CPU that asks.
  if (setup.plan.binding.memory.size() < setup.node->cpus.numa.size())
    prefer_memory(system, setup.plan.binding.memory);
  return util::Success{};
}

LauncherFailure exec_command(System& system, const std::vector<std::string>& command,
                             const util::EnvSnapshot& env) {
  const auto program = util::find_program(
      command.front(), env, [&](const std::string& path) { return system.access(path, X_OK) == 0; });
  if (!program) {
    if (const auto file = unexecutable(system, command.front(), env))
      return {k_cannot_execute, "exec", exec_error(system, *file, EACCES), {}, {}};
    const bool path = command.front().find('/') != std::string::npos;
    const auto suggestion = suggested_command(system, command.front());
    return {k_not_found,
            "exec",
            Error{path ? fmt::format("cannot find '{}'", command.front())
                       : fmt::format("cannot find '{}' in PATH", command.front()),
                  path                 ? "check that it exists on the compute node"
                  : suggestion.empty() ? "use its path, or load the module that provides it before the step"
                                       : suggestion},
            {},
            {}};
  }
  system.execve(*program, command, env.to_envp());
  const int code = errno;
  return {
      code == ENOENT ? k_not_found : k_cannot_execute, "exec", exec_error(system, *program, code), {}, {}};
}

int exec_rank(RankSetup setup, const LaunchRequest& request, const RuntimeContext& context,
              store::SharedStoreActivity* activity) {
  System& system = *context.system;
  report_warnings(setup, context);
  apply_limits(system, setup.node->limits);
  if (const auto bound = bind_rank(system, setup); !bound) {
    notify_failure(setup.world, request, context, bound.error().what);
    return fail(setup, context, "bind", bound.error());
  }
  const bool report = model::is_on(request.rank_settings.report);
  const bool looks = report || request.rank_settings.bind_check;
  const auto cpus = looks ? read_status_cpus(system) : Result<model::IdSet>(model::IdSet());
  if (const auto checked = check_bound_rank(setup, request, context, cpus); !checked) {
    notify_failure(setup.world, request, context, checked.error().what);
    return fail(setup, context, "bind", checked.error());
  }
  if (const auto rendezvous = join_rendezvous(setup, request, context); !rendezvous)
    return fail(setup, context, "rendezvous", rendezvous.error());
  if (activity != nullptr) activity->touch(system.now());
  if (report) write_stderr_line(system, render_report(setup, context.host, cpus ? *cpus : model::IdSet()));
  if (model::is_on(request.rank_settings.preflight))
    if (const auto failure = run_preflight(setup, request, context))
      return report_failure(*failure, context.env, system);
  set_container_variables(setup, request);
  leave_world_watch(setup, request);
  reset_save_signal(system, find_save_signal(context.env));
  LauncherFailure failure = exec_command(system, request.command, setup.env);
  failure.rank = location_of(setup.world.layout, context.host);
  failure.host = context.host;
  return report_failure(failure, context.env, system);
}

} // namespace hpcml::launch
