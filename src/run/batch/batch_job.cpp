// SPDX-License-Identifier: MIT
#include "run/batch/batch_job.hpp"

#include <fmt/format.h>

#include "core/node_health/bad_node_file.hpp"
#include "core/slurm/run_id.hpp"
#include "core/util/text.hpp"
#include "run/batch/node_files.hpp"

namespace hpcml::batch {

namespace {

struct Continuation {
  std::string first;
  unsigned restarts = 0;
  bool by_user = false;
};

/// "FIRST:RESTARTS".
util::Result<Continuation> parse_continuation(std::string_view text, bool by_user) {
  const auto colon = text.rfind(':');
  const auto restarts = colon == std::string_view::npos
                            ? std::nullopt
                            : util::parse_unsigned(std::string(text.substr(colon + 1)));
  if (colon == 0 || !restarts || *restarts > 1'000'000)
    return util::Error{
        fmt::format("the script's argument {}{} is not valid: it must be JOB:RESTARTS",
                    by_user ? k_continue_argument : k_successor_argument, text),
        "use the first job and its number of restarts, such as 4711:2, or remove the argument"};
  return Continuation{std::string(text.substr(0, colon)), static_cast<unsigned>(*restarts), by_user};
}

/// The argument after the script, which hpcml itself has submitted; it is removed from `command`.
util::Result<Continuation> take_continuation(std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    for (const std::string_view argument : {k_successor_argument, k_continue_argument}) {
      if (!command[i].starts_with(argument)) continue;
      const auto text = command[i].substr(argument.size());
      command.erase(command.begin() + static_cast<std::ptrdiff_t>(i));
      return parse_continuation(text, argument == k_continue_argument);
    }
  }
  return Continuation{};
}

std::string absolute(const std::string& path, const util::EnvSnapshot& env) {
  return path.starts_with("/") ? path : env.get_or("PWD", ".") + "/" + path;
}

/// All starts of the work share the file: next to the checkpoints, the logs, or where the job runs.
std::string bad_nodes_file(const BatchRequest& request, const BatchJob& job, const util::EnvSnapshot& env) {
  if (!request.requeues && request.program_nodes == 0) return {};
  if (!job.checkpoint_directory.empty()) return job.checkpoint_directory + "/bad-nodes";
  return absolute(request.log_dir.empty() ? "." : request.log_dir, env) + "/bad-nodes-" + job.first;
}

unsigned number_of(const util::EnvSnapshot& env, const char* name) {
  return static_cast<unsigned>(util::parse_unsigned(env.get_or(name, "0")).value_or(0));
}

} // namespace

util::Result<BatchJob> make_batch_job(const BatchRequest& request, const util::EnvSnapshot& env) {
  BatchJob job;
  job.command = request.command;
  const auto id = env.get_or("SLURM_JOB_ID", "");
  if (id.empty())
    return util::Error{"this is not a Slurm job: SLURM_JOB_ID is not set",
                       "use sbatch to submit the script that runs 'hpcml internal batch'"};
  job.array_task = env.get_or("SLURM_ARRAY_TASK_ID", "");
  job.name = slurm::job_name(env);
  TRY(const auto continuation, take_continuation(job.command));
  const auto restarted = number_of(env, "SLURM_RESTART_COUNT");
  unsigned before = 0;
  job.first = job.name;
  if (!continuation.first.empty()) {
    job.first = continuation.first;
    before = continuation.restarts;
  } else if (!request.chain_first.empty()) {
    job.first = request.chain_first + (job.array_task.empty() ? "" : "_" + job.array_task);
    before = request.chain_position;
  }
  job.restarts = before + restarted;
  const bool is_new_budget = continuation.by_user || (continuation.first.empty() && before > 0);
  job.max_restarts = request.max_requeues + (is_new_budget ? before : 0);
  if (!request.checkpoint_dir.empty())
    job.checkpoint_directory = absolute(request.checkpoint_dir, env) + "/" + job.first;
  job.bad_nodes_file = bad_nodes_file(request, job, env);
  return job;
}

util::EnvSnapshot make_script_environment(const BatchRequest& request, const BatchJob& job,
                                          util::EnvSnapshot env) {
  env.set(slurm::k_run_id_variable, slurm::make_run_id(env, job.first)); // reads k_batch_variable
  env.set(k_batch_variable, env.get_or("SLURM_JOB_ID", ""));
  if (request.requeues || !job.checkpoint_directory.empty())
    env.set("HPCML_RESTART_COUNT", std::to_string(job.restarts));
  if (!request.stage_dir.empty())
    env.set(k_stage_variable, stage_directory(request.stage_dir, job.restarts, env));
  if (!job.checkpoint_directory.empty()) env.set("HPCML_CHECKPOINT_DIR", job.checkpoint_directory);
  if (!job.bad_nodes_file.empty()) env.set(node_health::k_bad_nodes_variable, job.bad_nodes_file);
  if (request.save_before.count() > 0) env.set(model::k_save_variable, request.save_signal.text());
  return env;
}

} // namespace hpcml::batch
