// SPDX-License-Identifier: MIT
// hpcml init: a job file to start from.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/create/init_text.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/help/command_help.hpp"

namespace hpcml::cli {

namespace {

struct InitOptions {
  RequestFlags request;
  std::string file = "hpcml.json";
};

constexpr std::string_view k_init_flags = "-o";

constexpr CommandHelp k_init_help = {
    .summary = "Create a job file with comments on the site's limits",
    .examples = R"(# Create hpcml.json for LUMI
hpcml init --site lumi -- python train.py
# Create another file, with some values set
hpcml init --site narval --account def-me --nodes 2 --time 4h -o train.json \
    -- python train.py --epochs 3)",
    .notes =
        R"(An existing file is not changed. Next: 'hpcml submit --test-only', then 'hpcml submit --watch'.)",
    .common = model::ConcatenatedText<k_init_flags, k_common_request_flags>::text,
    .usage = "[OPTIONS] [-- COMMAND [ARGS]...]",
    .described_in = "gen",
};

/// Creates the file with "x", which fails if it exists, without a race.
int write_new(const std::string& path, const std::string& text, const Context& context) {
  const bool standard = path == "-";
  std::FILE* file = standard ? stdout : std::fopen(path.c_str(), "wx");
  if (file == nullptr) {
    const bool exists = errno == EEXIST;
    print_error(exists ? fmt::format("the job file '{}' already exists and is not changed", path)
                       : fmt::format("cannot create the job file '{}': {}", path, std::strerror(errno)),
                exists ? "use -o FILE for another file, or remove the existing one"
                       : "use -o FILE with a directory that you can write to",
                context.colour);
    return exists ? k_usage : k_world_failed;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((standard ? std::fflush(file) : std::fclose(file)) == 0 && written) return k_ok;
  print_error(fmt::format("cannot write the whole job file '{}'", path),
              standard ? "check whether the disk or your quota is full, or use -o FILE"
                       : "check whether the disk or your quota is full, then remove the file and run "
                         "hpcml init again",
              context.colour);
  return k_world_failed;
}

/// What `hpcml gen` would refuse because of the request; what any job still lacks here is for its author to
/// fill in.
diag::Diagnostics faults_of(model::JobSpec job, model::JobSpec usual, const model::Site& site,
                            const Context& context) {
  for (auto* input : {&job, &usual})
    if (input->command.empty()) input->command = {"python", "train.py"};
  const auto lacking = plan_job(usual, site, context).diagnostics;
  diag::Diagnostics faults;
  for (auto& finding : plan_job(job, site, context).diagnostics)
    if (finding.severity == diag::Severity::error &&
        std::none_of(lacking.begin(), lacking.end(), [&](const auto& part) {
          return part.code == finding.code && part.message == finding.message;
        }))
      faults.push_back(std::move(finding));
  return faults;
}

int run(const InitOptions& options, const Context& context) {
  // The values of an existing job file in this directory are not used.
  MergedRequest request;
  request.config_file = config::config_path(context.env);
  const auto config = config::load_config(request.config_file);
  print_diagnostics(config.diagnostics, config.source, context.colour);
  if (diag::has_errors(config.diagnostics)) return k_invalid_file;
  diag::Diagnostics findings;
  auto job = job_from_flags(options.request, findings);
  print_diagnostics(findings, {}, context.colour);
  if (diag::has_errors(findings)) return k_usage;
  if (context.has_program) job.command = context.program;
  request.site = options.request.site ? options.request.site : config.config.site;
  int exit_code = k_ok;
  const auto site = choose_site(request.site, context, exit_code);
  if (!site) return exit_code;
  resolve_paths(job, context.env, findings);
  const auto usual = config::job_from_config(config.config, site->id, request.config_file);
  job = config::merge_jobs(usual, job);
  for (auto& fault : faults_of(job, usual, *site, context)) findings.push_back(std::move(fault));
  print_diagnostics(findings, {}, context.colour);
  if (diag::has_errors(findings)) return exit_code_of(findings);
  exit_code = write_new(options.file, render_job_file(*site, job), context);
  if (exit_code == k_ok && options.file != "-")
    print_note(fmt::format("wrote the job file {}; next: edit it, then run hpcml submit --test-only{}",
                           options.file,
                           options.file == "hpcml.json" ? "" : fmt::format(" --job {}", options.file)));
  return exit_code;
}

} // namespace

void add_init(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "init", k_init_help);
  const auto options = std::make_shared<InitOptions>();
  command->add_option("-o", options->file, "File to write; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_request_flags(*command, options->request, context);
  for (const char* name : {"--job", "--only"}) command->remove_option(command->get_option(name));
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
