// SPDX-License-Identifier: MIT
#include "cli/run/submit_run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "cli/user_key.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_layout.hpp"
#include "generate/plan/site_violations.hpp"
#include "generate/render/render_script.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::cli {

namespace {

namespace fs = std::filesystem;

slurm::SanitizedEnvironment environment_for(const model::Plan& plan, const Context& context) {
  std::vector<std::string> names;
  for (const auto& directive : plan.directives) names.push_back(directive.name);
  return slurm::make_submit_environment(context.env, names);
}

/// Returns the site's own submit command if it exists. In some of its jobs, and in a rehearsal, only sbatch
/// does.
std::string program_for(const model::Plan& plan, const Context& context) {
  return util::find_program(plan.submit_command.value, context.env) ? plan.submit_command.value : "sbatch";
}

/// Reports how the call differs from the user's environment and from the profile.
void print_differences(const model::Plan& plan, const Context& context) {
  if (const auto left_out = environment_for(plan, context).left_out; !left_out.empty())
    print_note(fmt::format(
        "variables not passed to sbatch, as they would override the script: {} (use options of hpcml submit)",
        util::join(left_out, ", ")));
  const auto program = program_for(plan, context);
  if (const auto& wanted = plan.submit_command.value; program != wanted)
    print_note(fmt::format(
        "{}, the site's submit command, is not in PATH: using {}; add its directory to PATH if {} fails",
        wanted, program, program));
}

std::string absolute_log(const std::string& log, const model::Plan& plan) {
  if (log.empty() || log.front() == '/') return log;
  std::error_code ignored;
  const auto directory = directive_of(plan, "--chdir");
  return (fs::path(directory ? fs::absolute(*directory, ignored) : fs::current_path(ignored)) / log)
      .lexically_normal()
      .string();
}

/// Returns the path of the log as reported by Slurm; for an array, and if Slurm reports none, the script's
/// pattern.
std::string find_log(const slurm::Commands& commands, const SubmitCall& call,
                     const slurm::SubmittedJob& submitted, const Context& context) {
  const bool array = directive_of(call.plan, "--array").has_value();
  const slurm::LogPatternValues names{submitted.id, array ? "*" : "", call.name,
                                      context.env.get_or("USER", "")};
  if (!array) {
    const auto records = slurm::find_job(commands, submitted.id, submitted.cluster);
    // Slurm has expanded the pattern. A remaining % may be part of the job's name, which is not expanded.
    if (records && records->size() == 1 && !records->front().log.empty() &&
        records->front().log.find('%') == std::string::npos)
      return records->front().log;
  }
  const auto pattern = directive_of(call.plan, "--output");
  return absolute_log(
      slurm::expand_log_pattern(pattern.value_or(array ? "slurm-%A_%a.out" : "slurm-%j.out"), names),
      call.plan);
}

/// Creates the log directory: without it, Slurm ends a job silently.
util::Status make_log_directory(const SubmitCall& call) {
  const auto pattern = directive_of(call.plan, "--output");
  if (!pattern) return util::Success{};
  const auto directory = fs::path(absolute_log(*pattern, call.plan)).parent_path();
  std::error_code error;
  if (directory.string().find('%') != std::string::npos || fs::exists(directory, error))
    return util::Success{};
  if (!fs::create_directories(directory, error) || error)
    return util::Error{
        fmt::format("cannot create the log directory '{}': {}", directory.string(), error.message()),
        "use --output with a directory that you can write to"};
  print_note(fmt::format("created the log directory '{}': without it, Slurm would end the job silently",
                         directory.string()));
  return util::Success{};
}

std::vector<std::string> dependency_option(const SubmitCall& call,
                                           const std::vector<AcceptedBatchJob>& jobs) {
  if (call.after.empty()) return {};
  auto text = fmt::format("--dependency={}", call.after_state == "ok" ? "afterok" : "afterany");
  for (const auto index : call.after) text += fmt::format(":{}", jobs[index].id);
  // On the command line it replaces the script's own, which is about other jobs; alternatives ("?") cannot be
  // joined with it.
  const auto own = directive_of(call.plan, "--dependency");
  if (own && call.chain_number == 0 && own->find('?') == std::string::npos) text += fmt::format(",{}", *own);
  return {text};
}

/// The script contains the first job of its chain, from whose checkpoints it resumes.
std::string script_of(const SubmitCall& call, const std::vector<AcceptedBatchJob>& jobs) {
  if (call.chain_number == 0 || !call.plan.requeue) return render::render_script(call.plan);
  auto plan = call.plan;
  plan.requeue->chain = model::JobChainPosition{jobs.at(call.chain_first).id, call.chain_number};
  return render::render_script(plan);
}

void print_submitted(const SubmitCall& call, const AcceptedBatchJob& job, const model::Site& site) {
  const auto& partition = call.plan.partition;
  std::string text = fmt::format("job {} is in the queue of {}{}{}: {}", job.id, site.short_name(),
                                 job.cluster.empty() ? "" : fmt::format(", cluster {}", job.cluster),
                                 partition.empty() ? "" : fmt::format(", partition {}", partition),
                                 describe_request(call.plan));
  if (!job.after.empty()) text += fmt::format(", after {}", util::join(job.after, ", "));
  print_note(text);
}

// Two parts of one line of standard output.
void print_job_number(const AcceptedBatchJob& job) {
  std::printf("job %s", job.id.c_str());
  std::fflush(stdout);
}
void print_job_log(const AcceptedBatchJob& job) {
  std::printf("%s\n", job.log.empty() ? "" : (fmt::format(" log {}", job.log)).c_str());
  std::fflush(stdout);
}

void refuse(const util::Error& error, const std::vector<AcceptedBatchJob>& jobs, const Context& context) {
  print_error(error, context.colour);
  if (jobs.empty()) return;
  std::vector<std::string> ids;
  for (const auto& job : jobs) ids.push_back(job.id);
  print_note(fmt::format("jobs submitted before the error remain queued: {}; to remove them: {} {}",
                         util::join(ids, ", "), reach(jobs.front(), "scancel"), util::join(ids, " ")));
}

} // namespace

void print_jobs(const std::vector<AcceptedBatchJob>& jobs, const std::string& format) {
  if (format == "json") return print_jobs_as_json(jobs);
  for (const auto& job : jobs) {
    print_job_number(job);
    print_job_log(job);
  }
}

void print_jobs_as_json(const std::vector<AcceptedBatchJob>& jobs) {
  std::string text = "[";
  for (const auto& job : jobs) {
    JsonLine line;
    line.add("job", job.id);
    if (!job.cluster.empty()) line.add("cluster", job.cluster);
    text += (text.size() > 1 ? ",\n " : "") +
            line.add("name", job.name).add("log", job.log).add("after", job.after).text();
  }
  std::fputs((text + "]\n").c_str(), stdout);
}

std::vector<SubmitCall> make_calls(const std::vector<PlannedRequestJob>& parts) {
  std::vector<SubmitCall> calls;
  std::map<std::string, std::size_t> last; // of each job's chain
  for (const auto& [part, plan, findings, script] : parts) {
    for (unsigned i = 0; i < part.chain; ++i) {
      SubmitCall call{directive_of(plan, "--job-name").value_or("job"), plan, {}, part.after_if, true};
      if (i == 0)
        for (const auto& name : part.after) call.after.push_back(last.at(name));
      else {
        call.after = {calls.size() - 1};
        call.after_state = part.chain_if;
      }
      call.chain_first = calls.size() - i;
      call.chain_number = i;
      calls.push_back(std::move(call));
    }
    last[part.name] = calls.size() - 1;
  }
  return calls;
}

/// Returns why one user cannot have this number of jobs in the queue of a partition or QoS, including the
/// tasks of arrays; nothing if no limit is known.
static std::optional<util::Error> find_count_fault(const model::Site& site, const std::string& partition,
                                                   const std::string& qos, unsigned long long jobs) {
  site_rules::ResourceRequest demand;
  demand.stage = site_rules::RequestStage::submitted;
  if (!partition.empty()) demand.partitions = {partition};
  demand.qos = qos;
  demand.array_tasks = jobs;
  const auto place = site_rules::place(site, demand);
  for (const auto& violation : site_rules::evaluate_policy(site, place, demand))
    if (violation.rule == site_rules::SiteRule::jobs_over)
      return util::Error{site_rules::describe(violation, site, place, demand),
                         site_rules::row_of(violation.rule)
                             .hint({violation, site, place, demand}, site_rules::OptionForm::request)};
  return std::nullopt;
}

std::optional<util::Error> find_queue_fault(const PlannedRequest& request) {
  std::map<std::pair<std::string, std::string>, unsigned long long> jobs;
  for (const auto& [part, plan, findings, script] : request.parts) {
    const auto array = directive_of(plan, "--array");
    jobs[{plan.partition, plan.qos}] +=
        part.chain * (array ? std::max(1ULL, slurm::count_array_tasks(*array)) : 1ULL);
  }
  for (const auto& [place, count] : jobs)
    if (auto fault = find_count_fault(request.site, place.first, place.second, count)) return fault;
  return std::nullopt;
}

std::optional<std::string> directive_of(const model::Plan& plan, const std::string& name) {
  // As in Slurm, the last line of a name applies.
  for (auto directive = plan.directives.rbegin(); directive != plan.directives.rend(); ++directive)
    if (directive->name == name) return directive->value.value_or("");
  return std::nullopt;
}

std::optional<double> gpu_hours(const model::Plan& plan) {
  const auto text = directive_of(plan, "--time");
  if (!text) return std::nullopt;
  const auto time = model::Walltime::parse(*text);
  if (!time) return std::nullopt;
  const auto array = directive_of(plan, "--array");
  const auto jobs = array ? std::max(1ULL, slurm::count_array_tasks(*array)) : 1ULL;
  return static_cast<double>(time->seconds().count()) / 3600.0 * plan.layout.nodes_requested() *
         plan.layout.gpus_held * static_cast<double>(jobs);
}

std::string describe_request(const model::Plan& plan) {
  const auto count = [](unsigned number, const char* singular, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? singular : many);
  };
  std::string text = count(plan.layout.nodes_requested(), "node", "nodes");
  if (const unsigned gpus = plan.layout.nodes_requested() * plan.layout.gpus_per_node; gpus > 0)
    text += fmt::format(", {}", count(gpus, "GPU", "GPUs"));
  if (const auto array = directive_of(plan, "--array"))
    text += fmt::format(", for each of the array {}", *array);
  if (const auto time = directive_of(plan, "--time")) text += fmt::format(", up to {}", *time);
  if (const auto hours = gpu_hours(plan); hours && *hours > 0)
    text += fmt::format(" ({:.1f} GPU-hours at most)", *hours);
  return text;
}

util::Result<slurm::StartEstimate> estimate_plan(const model::Plan& plan, const Context& context) {
  return slurm::estimate_start(program_for(plan, context), render::render_script(plan),
                               environment_for(plan, context).env);
}

int run_test_only(const std::vector<SubmitCall>& calls, const Context& context) {
  for (const auto& call : calls) {
    // To Slurm all jobs of a chain are alike, and the job to wait for does not exist yet.
    if (&call != &calls.front() &&
        render::render_script(call.plan) == render::render_script(calls.front().plan))
      continue;
    print_differences(call.plan, context);
    const auto estimate = estimate_plan(call.plan, context);
    if (!estimate) {
      print_error(estimate.error(), context.colour);
      return k_world_failed;
    }
    print_output(fmt::format("{}: would start at {} in partition {} on {}\n", call.name, estimate->start,
                             estimate->partition, estimate->nodes));
  }
  std::fflush(stdout); // before the note, also in a file
  print_note("Slurm accepts the request; nothing was submitted, because of --test-only");
  return k_ok;
}

SubmitResult run_submit(const std::vector<SubmitCall>& calls, const model::Site& site,
                        const std::string& format, const Context& context) {
  ensure_user_key(context);
  const slurm::LiveCommands commands(context.env);
  SubmitResult result;
  for (const auto& call : calls) {
    if (const auto made = make_log_directory(call); !made) {
      refuse(made.error(), result.jobs, context);
      result.exit_code = k_world_failed;
      return result;
    }
    if (&call == &calls.front()) print_differences(call.plan, context);
    const auto submitted =
        slurm::submit_job(program_for(call.plan, context), script_of(call, result.jobs),
                          dependency_option(call, result.jobs), environment_for(call.plan, context).env);
    if (!submitted) {
      refuse(submitted.error(), result.jobs, context);
      result.exit_code = k_world_failed;
      return result;
    }
    for (const auto& message : submitted->messages) print_line(fmt::format("sbatch: {}", message));
    AcceptedBatchJob job{
        submitted->id, submitted->cluster, call.name, {}, directive_of(call.plan, "--array").has_value(), {}};
    for (const auto index : call.after) job.after.push_back(result.jobs[index].id);
    // Printed before the controller is asked again, which may not answer: the job is queued already.
    print_submitted(call, job, site);
    if (format == "text") print_job_number(job);
    job.log = find_log(commands, call, *submitted, context);
    if (format == "text") print_job_log(job);
    result.jobs.push_back(std::move(job));
  }
  return result;
}

} // namespace hpcml::cli
