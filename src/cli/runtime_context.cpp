// SPDX-License-Identifier: MIT
#include "cli/runtime_context.hpp"

#include <unistd.h>

#include "cli/chosen_site.hpp"
#include "core/slurm/jobs.hpp"
#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "diagnose/preflight/preflight_program.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/agreement.hpp"

namespace hpcml::cli {

namespace {

/// A bounded question to the controller, at the end of a run that Slurm has ended, by one process of it.
std::optional<model::FailureClass> why_job_ends(const util::EnvSnapshot& env) {
  constexpr auto k_limit = std::chrono::seconds(2);
  const auto id = env.get_or("SLURM_JOB_ID", "");
  const auto records = slurm::find_job(slurm::LiveCommands(env, k_limit), id);
  if (!records) return std::nullopt;
  for (const auto& job : *records)
    if (job.id == id) return slurm::why_ended(job);
  return std::nullopt;
}

} // namespace

launch::RuntimeContext runtime_context_of(const Context& context) {
  launch::RuntimeContext runtime;
  runtime.find_fabric = [&context] { return find_own_fabric(context); };
  runtime.env = launch::without_outer_rank(context.env);
  runtime.machine = util::read_host_name();
  runtime.host = context.env.get_or("SLURMD_NODENAME", runtime.machine);
  runtime.ancestors = launch::read_ancestors();
  runtime.process_id = ::getpid();
  runtime.program = util::own_executable().string();
  runtime.stdout_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  runtime.stderr_is_terminal = ::isatty(STDERR_FILENO) != 0;
  runtime.choose_preflight = [program = runtime.program](const auto& command, const auto& env) {
    return preflight::choose_preflight(program, command, env);
  };
  runtime.ask_slurm = [&context] { return why_job_ends(context.env); };
  return runtime;
}

} // namespace hpcml::cli
