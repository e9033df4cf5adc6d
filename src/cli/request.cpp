// SPDX-License-Identifier: MIT
// Flags, variables and job file as one request.
#include <filesystem>

#include "cli/request_flags.hpp"
#include "spec/job_file.hpp"
#include "util/text.hpp"

namespace hpcml::cli {

namespace {

const char* const k_default_job_file = "hpcml.json";

/// Reads texts into a request and keeps count of what is wrong.
class FlagReader {
public:
  FlagReader(const RequestFlags& flags, diag::Diagnostics& findings) : x_flags(flags), x_findings(findings) {}

  void text(const char* name, model::Known<std::string>& target) {
    if (const auto* value = find(name)) target = model::Sourced<std::string>{*value, origin(name)};
  }
  void count(const char* name, model::Known<unsigned>& target) {
    const auto* value = find(name);
    if (value == nullptr) return;
    const auto number = util::parse_unsigned(*value);
    if (number && *number <= 1000000) target = model::Sourced<unsigned>{static_cast<unsigned>(*number), origin(name)};
    else wrong(name, "'" + *value + "' is not a number of them", "give a whole number");
  }
  template <class T>
  void parsed(const char* name, model::Known<T>& target) {
    const auto* value = find(name);
    if (value == nullptr) return;
    const auto result = T::parse(*value);
    if (result) target = model::Sourced<T>{*result, origin(name)};
    else wrong(name, result.error().what, result.error().hint);
  }
  std::vector<model::Sourced<std::string>> list(const char* name) {
    std::vector<model::Sourced<std::string>> values;
    const auto found = x_flags.lists.find(name);
    if (found == x_flags.lists.end()) return values;
    for (const auto& value : found->second) values.push_back({value, origin(name)});
    return values;
  }
  void variables(model::JobSpec& job) {
    for (const auto& entry : list("--env")) {
      const auto equals = entry.value.find('=');
      if (equals == std::string::npos || equals == 0) wrong("--env", "'" + entry.value + "' is not NAME=VALUE", "for example --env OMP_PLACES=cores");
      else job.env.emplace_back(entry.value.substr(0, equals), model::Sourced<std::string>{entry.value.substr(equals + 1), entry.origin});
    }
  }
  static model::Origin origin(const char* name) { return {model::OriginKind::flag, name, {}, {}, {}}; }

private:
  const std::string* find(const char* name) const {
    const auto found = x_flags.values.find(name);
    return found == x_flags.values.end() ? nullptr : &found->second;
  }
  void wrong(const std::string& name, const std::string& what, const std::string& hint) {
    x_findings.push_back({diag::Severity::error, "usage/" + name.substr(2), name + ": " + what, {}, hint});
  }
  const RequestFlags& x_flags;
  diag::Diagnostics& x_findings;
};

void read_texts(FlagReader& reader, model::JobSpec& job) {
  reader.text("--partition", job.partition);
  reader.text("--account", job.account);
  reader.text("--qos", job.qos);
  reader.text("--job-name", job.job_name);
  reader.text("--output", job.output);
  reader.text("--launcher", job.launcher);
  reader.text("--backend", job.backend);
  reader.text("--gpu-visibility", job.gpu_visibility);
  reader.text("--gpu-type", job.gpu_type);
  reader.text("--venv", job.venv);
  reader.text("--conda", job.conda);
  reader.text("--wheelhouse", job.wheelhouse);
  reader.text("--container", job.container);
  reader.text("--signal", job.signal);
  reader.text("--array", job.array);
  reader.text("--dependency", job.dependency);
  reader.text("--hpcml-path", job.hpcml_path);
}

/// Prints what is wrong with one source of the request; remembers the first exit code.
void settle(Request& request, const diag::Diagnostics& findings, const std::string& source, int code, bool colour) {
  print_diagnostics(findings, source, colour);
  if (diag::has_errors(findings) && request.exit_code == k_ok) request.exit_code = code;
}

} // namespace

model::JobSpec job_from_flags(const RequestFlags& flags, diag::Diagnostics& findings) {
  model::JobSpec job;
  FlagReader reader(flags, findings);
  read_texts(reader, job);
  reader.count("--nodes", job.nodes);
  reader.count("--gpus-per-node", job.gpus_per_node);
  reader.count("--gpus-per-task", job.gpus_per_task);
  reader.count("--tasks-per-node", job.tasks_per_node);
  reader.count("--cpus-per-task", job.cpus_per_task);
  reader.parsed("--mem", job.mem);
  reader.parsed("--time", job.time);
  job.modules = reader.list("--module");
  job.binds = reader.list("--bind");
  job.sbatch = reader.list("--sbatch");
  job.srun = reader.list("--srun");
  reader.variables(job);
  if (flags.requeue || flags.no_requeue)
    job.requeue = model::Sourced<bool>{flags.requeue, FlagReader::origin(flags.requeue ? "--requeue" : "--no-requeue")};
  if (flags.no_container_enter) job.container_enter = model::Sourced<bool>{false, FlagReader::origin("--no-container-enter")};
  job.nccl_debug = flags.nccl_debug;
  job.report = flags.report;
  job.preflight = flags.preflight;
  return job;
}

Request make_request(const RequestFlags& flags, const Context& context) {
  Request request;
  std::error_code ignored;
  std::optional<std::string> path = flags.job_file;
  if (!path && std::filesystem::exists(k_default_job_file, ignored)) path = k_default_job_file;
  if (path) {
    const auto file = spec::load_job_file(*path);
    settle(request, file.diagnostics, file.source, k_invalid_file, context.colour);
    if (file.job) request.job = *file.job;
    request.site = file.site;
  }
  const auto variables = spec::job_from_environment(context.env);
  settle(request, variables.diagnostics, variables.source, k_usage, context.colour);
  if (variables.job) request.job = spec::merge_jobs(request.job, *variables.job);
  if (variables.site) request.site = variables.site;
  diag::Diagnostics findings;
  auto typed = job_from_flags(flags, findings);
  settle(request, findings, {}, k_usage, context.colour);
  if (context.has_program) typed.command = context.program;
  request.job = spec::merge_jobs(request.job, typed);
  if (flags.site) request.site = flags.site;
  return request;
}

} // namespace hpcml::cli
