// SPDX-License-Identifier: MIT
// hpcml submit: passes scripts to Slurm and prints job numbers and logs.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/run/accepted_batch_job.hpp"
#include "core/slurm/jobs.hpp"

namespace hpcml::cli {

/// One call of sbatch, and which earlier calls its job waits for.
struct SubmitCall {
  std::string name; ///< the job's name
  model::Plan plan;
  std::vector<std::size_t> after;  ///< indices of earlier calls
  std::string after_state = "any"; ///< "any" or "ok": how those must have ended
  std::size_t chain_first = 0;     ///< index of its chain's first call
  unsigned chain_number = 0;       ///< number of earlier calls of its chain; for the first call the script's
                                   ///< own dependency applies as well
};

/// Returns the calls of a request: its jobs in order, once for each link of their chains, with dependencies.
std::vector<SubmitCall> make_calls(const std::vector<PlannedRequestJob>& parts);
/// Returns why the site does not let one user queue all of them; nothing if it does, or the limit is unknown.
std::optional<util::Error> find_queue_fault(const PlannedRequest& request);
/// The value of a directive of the plan ("--output"), or nothing.
std::optional<std::string> directive_of(const model::Plan& plan, const std::string& name);
/// "2 nodes, 16 GPUs, up to 00:10:00 (2.7 GPU-hours at most)".
std::string describe_request(const model::Plan& plan);
/// GPU-hours if the job runs to its limit; nothing without a limit.
std::optional<double> gpu_hours(const model::Plan& plan);

/// Returns when and where Slurm would start the plan's script; nothing is submitted.
util::Result<slurm::StartEstimate> estimate_plan(const model::Plan& plan, const Context& context);
/// Asks Slurm what it would do with each call; prints the answers.
int run_test_only(const std::vector<SubmitCall>& calls, const Context& context);
/// The submitted jobs.
struct SubmitResult {
  std::vector<AcceptedBatchJob> jobs;
  int exit_code = k_ok;
};
/// Submits the calls in order; stops at the first error, and then lists the queued jobs. With format "text"
/// prints each job as print_jobs does, its number as soon as Slurm has returned it.
SubmitResult run_submit(const std::vector<SubmitCall>& calls, const model::Site& site,
                        const std::string& format, const Context& context);

/// Prints the jobs on standard output: "job NUMBER log PATH" a line, or JSON.
void print_jobs(const std::vector<AcceptedBatchJob>& jobs, const std::string& format);
/// Prints the jobs on standard output as JSON.
void print_jobs_as_json(const std::vector<AcceptedBatchJob>& jobs);

} // namespace hpcml::cli
