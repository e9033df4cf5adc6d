// SPDX-License-Identifier: MIT
#include "run/launch/exec_rank.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/bind_check.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/rank_report.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/separate_worlds.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// Tells this step's caches from those of other steps, restarts and (where nodes share the place) nodes.
std::string cache_tag(const World& world) {
  const auto& id = world.identity;
  std::string tag = "job" + std::to_string(id.job) + "-step" + std::to_string(id.step);
  if (id.restart > 0) tag += "-restart" + std::to_string(id.restart);
  if (!world.in_job) tag += "-pid" + std::to_string(::getpid());
  return tag + "-node" + std::to_string(world.layout.node_rank);
}

/// What to say instead of a program's name where it is a script, or lies in this folder.
std::string suggested_command(const std::string& name) {
  if (name.ends_with(".py")) return "say python " + name;
  if (name.find('/') == std::string::npos && ::access(name.c_str(), X_OK) == 0)
    return "it lies in this folder, which is not in PATH: say ./" + name;
  return {};
}

Error exec_error(const std::string& name, int code) {
  struct stat found {};
  if (code == ENOENT && ::stat(name.c_str(), &found) == 0)
    return Error{"cannot execute " + name + ": its interpreter is not there",
                 "look at its first line (#!…), or at the loader that it was built for"};
  if (code == ENOEXEC)
    return Error{
        "cannot execute " + name + ": it is neither a program for this machine nor a script with a #! line",
        "hpcml launch starts programs without a shell; add a #! line, or write `-- bash " + name + "`"};
  if (code == EACCES && ::stat(name.c_str(), &found) == 0 && S_ISDIR(found.st_mode))
    return Error{"cannot execute " + name + ": it is a directory"};
  return Error{"cannot execute " + name + ": " + std::strerror(code),
               code != EACCES          ? ""
               : name.ends_with(".py") ? suggested_command(name)
                                       : "chmod +x " + name + " if it is a program"};
}

/// A file of this name that is in PATH but may not be executed.
std::optional<std::string> unexecutable(const std::string& name, const util::EnvSnapshot& env) {
  if (name.find('/') != std::string::npos)
    return ::access(name.c_str(), F_OK) == 0 ? std::optional(name) : std::nullopt;
  for (const auto& directory : util::split(env.get_or("PATH", ""), ':'))
    if (const std::string path = directory + "/" + name;
        !directory.empty() && ::access(path.c_str(), F_OK) == 0)
      return path;
  return std::nullopt;
}

/// What is wrong with the CPUs that the kernel gives after binding: said, or an error. Unasked only srun's
/// masks are compared.
util::Status check_bound_rank(const RankSetup& setup, const LaunchRequest& request, const std::string& host,
                              const Result<model::IdSet>& cpus) {
  std::vector<std::string> faults;
  const BindMode mode = setup.node->binding.mode;
  const auto check = model::value_or(request.rank_request.bind_check, BindCheck::none);
  if (check == BindCheck::none && mode == BindMode::verify)
    faults = compare_masks(setup.node->mask, setup.plan.binding.cpus);
  if (check != BindCheck::none && !setup.node->agent) {
    if (!cpus) return cpus.error();
    faults = check_binding(setup, {*cpus, topo::read_memory_policy()}, request.cpus_per_task);
  }
  if (check == BindCheck::fail && !faults.empty())
    return Error{"its placement is not what it should be: " + util::join(faults, "; "),
                 std::string(mode == BindMode::none ? "nobody has bound it: --bind apply does; " : "") +
                     "hpcml affinity shows the plan; --bind-check warn starts the program in spite of it"};
  for (const auto& fault : faults)
    util::log_warning("hpcml launch: warning: rank " + std::to_string(setup.world.layout.rank) + " on " +
                      host + ": " + fault);
  return util::Done{};
}

/// What rank 0 says for all, and the first rank of each node for its node.
void report_warnings(const RankSetup& setup, const std::string& host) {
  if (setup.world.layout.rank == 0)
    for (const auto* list : {&setup.node->warnings, &setup.node->plan.warnings, &setup.warnings})
      for (const auto& warning : *list) util::log_warning("hpcml launch: warning: " + warning);
  if (setup.world.layout.local_rank == 0)
    for (const auto& warning : setup.node->node_warnings)
      util::log_warning("hpcml launch: warning: " + host + ": " + warning);
}

int fail(const RankSetup& setup, const RuntimeContext& context, const std::string& phase, const Error& error,
         int code = k_cannot_set_up) {
  return report_failure({code, phase, error, setup.world.layout.rank, context.host}, context.env);
}

} // namespace

Result<std::vector<std::string>> cache_paths(const RankSetup& setup) {
  std::vector<std::string> paths;
  for (const auto& cache : setup.node->plan.caches) {
    const auto base = expand_variables(cache.base, setup.env);
    TRY(auto path, cache_path(cache, base.value_or(""), cache_tag(setup.world)));
    paths.push_back(std::move(path));
  }
  return paths;
}

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
  if (const auto watched = start_watcher(opened); !watched)
    util::log_error("hpcml launch: " + watched.error().what);
  return opened;
}

util::Status bind_rank(const RankSetup& setup) {
  const auto& planned = setup.plan.binding.cpus;
  if (setup.node->binding.mode != BindMode::apply || planned.empty()) return util::Done{};
  if (!(planned == setup.node->mask)) TRY_DONE(apply_affinity(planned));
  // Of all NUMA nodes alike the kernel's default is the better choice: the node of the CPU that asks.
  if (setup.plan.binding.memory.size() < setup.node->cpus.numa.size())
    prefer_memory(setup.plan.binding.memory);
  return util::Done{};
}

Failure exec_command(const std::vector<std::string>& command, const util::EnvSnapshot& env) {
  const auto program = util::find_program(command.front(), env);
  if (!program) {
    if (const auto file = unexecutable(command.front(), env))
      return {k_cannot_execute, "exec", exec_error(*file, EACCES), {}, {}};
    const bool path = command.front().find('/') != std::string::npos;
    const auto suggestion = suggested_command(command.front());
    return {k_not_found,
            "exec",
            Error{"cannot find " + command.front() + (path ? "" : " in PATH"),
                  path                 ? "is it there on the compute node, too?"
                  : suggestion.empty() ? "give its path, or load what provides it before the step"
                                       : suggestion},
            {},
            {}};
  }
  auto words = command, variables = env.to_envp();
  ::execve(program->c_str(), util::exec_pointers(words).data(), util::exec_pointers(variables).data());
  const int code = errno;
  return {code == ENOENT ? k_not_found : k_cannot_execute, "exec", exec_error(*program, code), {}, {}};
}

int exec_rank(RankSetup setup, const LaunchRequest& request, const RuntimeContext& context,
              store::Activity* activity) {
  report_warnings(setup, context.host);
  apply_limits(setup.node->limits);
  if (const auto bound = bind_rank(setup); !bound) {
    notify_failure(setup.world, request, context, bound.error().what);
    return fail(setup, context, "bind", bound.error());
  }
  const bool report = model::is_on(request.rank_request.report);
  const bool looks = report || request.rank_request.bind_check;
  const auto cpus = looks ? read_status_cpus() : Result<model::IdSet>(model::IdSet());
  if (const auto checked = check_bound_rank(setup, request, context.host, cpus); !checked) {
    notify_failure(setup.world, request, context, checked.error().what);
    return fail(setup, context, "bind", checked.error());
  }
  if (const auto rendezvous = join_rendezvous(setup, request, context); !rendezvous)
    return fail(setup, context, "meet", rendezvous.error());
  if (activity != nullptr) activity->touch(std::chrono::steady_clock::now());
  if (report) util::write_stderr_line(render_report(setup, context.host, cpus ? *cpus : model::IdSet()));
  if (model::is_on(request.rank_request.preflight))
    if (const auto failure = run_preflight(setup, request, context))
      return report_failure(*failure, context.env);
  set_container_variables(setup, request);
  leave_world_watch(setup, request);
  reset_save_signal(find_save_signal(context.env));
  Failure failure = exec_command(request.command, setup.env);
  failure.rank = setup.world.layout.rank;
  failure.host = context.host;
  return report_failure(failure, context.env);
}

} // namespace hpcml::launch
