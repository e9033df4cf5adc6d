// SPDX-License-Identifier: MIT
#include "cli/surroundings.hpp"

#include <unistd.h>

#include "cli/chosen_site.hpp"
#include "launch/agreement.hpp"
#include "launch/process_limits.hpp"
#include "launch/starter.hpp"
#include "slurm/jobs.hpp"
#include "torch_build/preflight_program.hpp"
#include "util/file.hpp"
#include "util/host_names.hpp"

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

launch::Surroundings surroundings_of(const Context& context) {
  launch::Surroundings here;
  here.env = launch::without_outer_rank(context.env);
  here.machine = util::read_host_name();
  here.host = context.env.get_or("SLURMD_NODENAME", here.machine);
  here.ancestors = launch::read_ancestors();
  here.program = util::own_executable().string();
  // Reading a profile takes as long as the rest of launch, and is needed only where a limit may be too low.
  if (launch::read_limits().locked_memory.soft < launch::k_enough_locked_memory)
    here.fabric = find_own_fabric(context);
  here.stdout_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  here.stderr_is_terminal = ::isatty(STDERR_FILENO) != 0;
  here.choose_preflight = [program = here.program](const auto& command, const auto& env) {
    return torch_build::choose_preflight(program, command, env);
  };
  here.ask_slurm = [env = context.env] { return why_job_ends(env); };
  return here;
}

} // namespace hpcml::cli
