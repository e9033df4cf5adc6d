// SPDX-License-Identifier: MIT
// hpcml gen: a request and a site as a script.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "check/check_script.hpp"
#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/create/request_flags.hpp"
#include "cli/create/write_script.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/user_key.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_store.hpp"
#include "core/model/script_provenance.hpp"
#include "core/util/embedded.hpp"
#include "core/util/input_file.hpp"
#include "generate/import_script/import_script.hpp"
#include "generate/render/interactive.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::cli {

namespace {

// hpcml gen --from: an existing script as the lowest layer of a request.

/// All sites, for one of which the script was written.
std::vector<model::Site> load_catalogue(const Context& context) {
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  std::vector<model::Site> sites;
  for (const auto& id : config::list_sites(directories))
    if (auto load = config::load_site(id, directories, embedded::merged_sites()); load.site)
      sites.push_back(std::move(*load.site));
  return sites;
}

/// What the script does, for the report.
struct ScriptImport {
  import_script::JobIntent intent;
  bool compare = false; ///< the request leaves all numbers to the script
};

/// A line for each finding, errors and warnings first.
void print_report(diag::Diagnostics findings, bool colour) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  for (auto& finding : findings)
    if (!finding.hint.empty()) {
      finding.message += " (" + finding.hint + ")";
      finding.hint.clear();
    }
  print_diagnostics(findings, {}, colour);
}

/// What the request itself says of what the script says.
import_script::RequestOverrides choices_of(const model::JobSpec& job) {
  const auto is_set = [](const model::Known<std::string>& known) {
    return known ? known->value : std::string();
  };
  import_script::RequestOverrides chosen;
  chosen.environment = job.container    ? "--container"
                       : job.venv       ? "--venv"
                       : job.conda      ? "--conda"
                       : job.wheelhouse ? "--wheelhouse"
                                        : "";
  chosen.container = job.container.has_value();
  chosen.partition = is_set(job.partition);
  chosen.account = is_set(job.account);
  chosen.qos = is_set(job.qos);
  chosen.nodes = job.nodes || job.gpus_per_node;
  chosen.node_count = job.nodes && !job.gpus_per_node ? job.nodes->value : 0;
  chosen.launcher = job.launcher           ? std::string(job.launcher->value.name())
                    : model::is_agent(job) ? "hpcml"
                                           : "";
  for (const auto& [name, value] : job.env) chosen.variables.emplace(name, value.value);
  chosen.gpu_visibility = job.gpu_visibility.has_value();
  return chosen;
}

/// Whether the request leaves all numbers to the script: those that it names are wanted.
bool leaves_numbers(const model::JobSpec& job) {
  return !job.nodes && !job.gpus_per_node && !job.tasks_per_node && !job.gpus_per_task;
}

/// Reads the script for the request's site and puts what it asks for below the request; says on standard
/// error what changes. False, with the exit code, where that cannot be done.
bool add_script(MergedRequest& request, const std::string& file, const Context& context,
                ScriptImport& imported, int& exit_code) {
  const auto text = util::read_input(file, {check::k_largest_script});
  if (!text) {
    print_error(text.error(), context.colour);
    exit_code = k_invalid_file;
    return false;
  }
  const auto site = choose_site(request.site, context, exit_code);
  if (!site) return false;
  if (model::find_script_head(*text)) {
    print_error(
        fmt::format(
            "cannot import {} with --from: hpcml gen wrote this script, and --from is for other scripts",
            file),
        fmt::format(
            "run the command in the script's first comment again with --site {} and values of that site",
            site->id),
        context.colour);
    exit_code = k_invalid_file;
    return false;
  }
  request.site = site->id;
  auto& job = request.parts.front().job;
  if (!job.command.empty() || request.parts.size() > 1) {
    print_error("--from cannot be used with a program or several jobs: its script has a program already",
                "remove the program after --, or --job if the job file has a program or several jobs",
                context.colour);
    exit_code = k_usage;
    return false;
  }
  if (job.nnodes && !job.nodes)
    job.nodes = model::Sourced<unsigned>{job.nnodes->value.most, job.nnodes->origin};
  auto ported =
      import_script::import_slurm_script(file, *text, *site, choices_of(job), load_catalogue(context));
  print_report(ported.findings, context.colour);
  if (diag::has_errors(ported.findings)) {
    exit_code = k_invalid_file;
    return false;
  }
  imported.compare = leaves_numbers(job);
  imported.intent = std::move(ported.intent);
  job = config::merge_jobs(ported.job, job);
  return true;
}

/// Prints what the script and the plan do side by side. False if the plan does something else.
bool report_intents(const std::string& file, const ScriptImport& imported, const model::Plan& plan,
                    bool colour) {
  print_report(import_script::find_added_options(file, imported.intent, plan), colour);
  const auto after = import_script::intent_of(plan, imported.intent);
  std::fputs(import_script::render_intents(file, imported.intent, plan.site_id, after).c_str(), stderr);
  const auto differences =
      imported.compare ? import_script::compare_intents(file, imported.intent, after) : diag::Diagnostics{};
  print_diagnostics(differences, {}, colour);
  return differences.empty();
}

struct GenOptions {
  RequestFlags request;
  std::string from;
  std::string output_file;
  std::string format = "script";
  bool explain = false;
  bool interactive = false;
};

constexpr std::string_view k_gen_flags = "--job -o --from --explain";

constexpr CommandHelp k_gen_help = {
    .summary = "Generate a batch script for a program",
    .examples = R"(# Two nodes of LUMI with 8 GPUs each, for one hour
hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 \
    --time 1h -o job.sh -- python train.py
# A conda environment, started by torchrun
hpcml gen --site zurada --partition gpu2h100 --time 1h --mem 64G \
    --conda pytorch --launcher torchrun -- train.py --epochs 3
# Convert a script of another cluster
hpcml gen --site narval --account def-me --from lumi_job.sh -o narval_job.sh)",
    .notes =
        R"(Options beat HPCML_* variables (HPCML_ACCOUNT), which beat the job file, which beats saved defaults
(hpcml config) and the site's defaults.

If the file of -o exists and was edited, or hpcml did not write it, it is kept as FILE.old.

Scripts with options below "Checkpoint, requeue and restart" run hpcml on the compute nodes. With the
options that use agents, one hpcml process per node starts and supervises its ranks.)",
    .common = model::ConcatenatedText<k_gen_flags, k_common_request_flags>::text,
    .usage = "[OPTIONS] -- COMMAND [ARGS]...",
};

std::string render(const PlannedJob& job, const GenOptions& options) {
  if (options.format == "json") return render::render_json(job.plan);
  if (options.explain) return render::render_explain(job.plan);
  return options.interactive ? render::render_interactive(job.plan) : job.script;
}

/// Whether the output is a batch script, not an explanation of one.
bool prints_script(const GenOptions& options) {
  return options.format == "script" && !options.explain && !options.interactive;
}

/// Reports that a script for another machine names this machine's hpcml: its nodes may have it elsewhere.
void report_path(const PlannedJob& job, const GenOptions& options, const Context& context) {
  const auto& file = options.output_file;
  const bool to_file = !file.empty() && file != "-" && options.format == "script";
  if (to_file && job.plan.hpcml_path.origin.kind == model::OriginKind::rule &&
      render::runs_in_batch(job.plan) && is_for_other_machine(job.site, context))
    print_note(fmt::format("{} runs hpcml as {}, its path on this machine: use --hpcml-path PATH if it "
                           "is elsewhere on {}",
                           file, job.plan.hpcml_path.value, job.plan.site_id));
}

/// Gives parts without a program the name of an interactive job. True if there are any.
bool name_shells(MergedRequest& request) {
  bool any = false;
  for (auto& part : request.parts)
    if (part.job.command.empty() && part.job.steps.empty()) {
      part.job.command = {"interactive"};
      any = true;
    }
  return any;
}

int run_gen(const GenOptions& options, const Context& context) {
  int exit_code = k_ok;
  auto flags = options.request;
  flags.without_job_file = !options.from.empty();
  auto request = read_request(flags, context);
  ScriptImport imported;
  if (!options.from.empty() && !add_script(request, options.from, context, imported, exit_code))
    return exit_code;
  const bool no_program = options.interactive && name_shells(request);
  auto job = run_planning_of_one(request, context, exit_code, !options.interactive);
  if (!job) return exit_code;
  if (!options.from.empty() && !report_intents(options.from, imported, job->plan, context.colour))
    return k_cannot_satisfy;
  if (options.interactive) {
    auto findings = render::find_unset(render::make_interactive(job->plan));
    if (!job->plan.components.empty())
      findings.push_back(
          {diag::Severity::error,
           "request/interactive",
           fmt::format("--interactive requires a job with one component, but this job has {}",
                       job->plan.components.size() + 1),
           {},
           "remove --interactive to write a batch script, or use a job file with one component"});
    if (no_program && job->plan.container)
      findings.push_back({diag::Severity::warning,
                          "request/interactive",
                          fmt::format("the interactive shell runs on the node, not in the image {}",
                                      job->plan.container->image),
                          {},
                          "add a program after --, and hpcml prints the line that starts it in the image"});
    print_diagnostics(findings, {}, context.colour);
    if (exit_code = exit_code_of(findings); exit_code != k_ok) return exit_code;
    if (options.format != "json")
      std::fputs(render::render_interactive_lines(job->plan, !no_program).c_str(), stderr);
  }
  const int code =
      write_script(render(*job, options), options.output_file, context.colour, prints_script(options));
  if (code != k_ok) return code;
  report_path(*job, options, context);
  ensure_user_key(context);
  return code;
}

} // namespace

void add_gen(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "gen", k_gen_help);
  const auto options = std::make_shared<GenOptions>();
  command->add_option("-o", options->output_file, "Write to FILE; - is standard output")
      ->type_name("FILE")
      ->default_str("-");
  command->add_option("--from", options->from, "Convert this batch script to the site")->type_name("SCRIPT");
  auto* explain = command->add_flag("--explain", options->explain, "Explain where each value comes from");
  command->add_flag("--interactive", options->interactive, "Print the command for an interactive job instead")
      ->excludes(explain);
  add_format(*command, options->format, {"script", "json"},
             "Output format; json has the origin of each value");
  add_request_flags(*command, options->request, context);
  command->get_option("--from")->excludes("--job");
  command->callback([options, &context, &exit_code] { exit_code = run_gen(*options, context); });
}

} // namespace hpcml::cli
