// SPDX-License-Identifier: MIT
#include "cli/run/submit_continue.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "core/slurm/jobs.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/saved_job.hpp"

namespace hpcml::cli {

namespace {

/// Two jobs on one directory of checkpoints would overwrite each other's.
util::Status check_has_ended(const slurm::Commands& commands, const std::string& job) {
  TRY(const auto records, slurm::find_job(commands, job));
  for (const auto& record : records)
    if (record.phase() != slurm::JobPhase::ended)
      return util::Error{
          fmt::format("job {} cannot be continued before it ends (state: {})", job, record.state),
          fmt::format("run scancel {} to end it, or run hpcml submit --continue again after its end", job)};
  return util::Done{};
}

std::vector<std::string> submit_words(const batch::SavedJob& kept) {
  std::vector<std::string> words = {fmt::format("--chdir={}", kept.directory)};
  if (!kept.array_task.empty()) words.push_back(fmt::format("--array={}", kept.array_task));
  words.push_back(kept.script);
  words.push_back(fmt::format("{}{}:{}", batch::k_continue_argument, kept.first, kept.restarts + 1));
  words.insert(words.end(), kept.arguments.begin(), kept.arguments.end());
  return words;
}

/// Where Slurm writes the job's log; empty if it does not answer, or the job is an array's.
std::string log_of(const slurm::Commands& commands, const slurm::SubmittedJob& submitted) {
  const auto records = slurm::find_job(commands, submitted.id, submitted.cluster);
  return records && records->size() == 1 ? records->front().log : std::string();
}

SubmitResult fail(const util::Error& error, int exit_code, const Context& context) {
  print_error(error, context.colour);
  return {{}, exit_code};
}

} // namespace

SubmitResult run_continue(const std::string& job, const std::string& format, const Context& context) {
  std::error_code ignored;
  const auto directories =
      batch::saved_job_directories(context.env, std::filesystem::current_path(ignored).string());
  const auto kept = batch::load_saved_job(job, directories);
  if (!kept) return fail(kept.error(), k_usage, context);
  const slurm::LiveCommands commands(context.env);
  if (const auto ended = check_has_ended(commands, job); !ended)
    return fail(ended.error(), k_world_failed, context);
  const auto words = submit_words(*kept);
  const auto submitted = slurm::submit_job(kept->submit_command, {}, words,
                                           slurm::make_submit_environment(context.env, words).env);
  if (!submitted) return fail(submitted.error(), k_world_failed, context);
  for (const auto& message : submitted->messages) print_note(message);
  print_note(fmt::format("submitted job {}, which continues the work of job {} (restart {})", submitted->id,
                         kept->first, kept->restarts + 1));
  RunningJob running;
  running.id = submitted->id;
  running.cluster = submitted->cluster;
  running.log = log_of(commands, *submitted);
  SubmitResult result{{running}, k_ok};
  if (format == "text") print_jobs(result.jobs, format);
  return result;
}

} // namespace hpcml::cli
