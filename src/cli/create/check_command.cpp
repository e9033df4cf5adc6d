// SPDX-License-Identifier: MIT
// hpcml check: what sbatch and the rules have against batch scripts and job files, and their fixes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "check/check_script.hpp"
#include "check/report_writer.hpp"
#include "check/rule.hpp"
#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/create/check_files.hpp"
#include "cli/create/check_sites.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/create/request_flags.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"
#include "core/diag/line_table.hpp"
#include "core/slurm/version.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/render/render_script.hpp"

namespace hpcml::cli {

namespace {

// hpcml check on a job file: the file, the plan of its jobs on the site, and the scripts that they become.

/// What was found, with the text that places point into.
struct JobCheck {
  check::Findings findings;
  std::string source;
  bool is_valid = true; ///< false: not a job file, or one with wrong values
};

class JobChecker {
public:
  JobChecker(const std::string& path, std::optional<slurm::Version> version, const Context& context)
      : x_path(path), x_version(version), x_context(context) {}

  JobCheck run(const std::optional<std::string>& named) {
    const auto file = config::load_job_file(x_path);
    x_result.source = file.source;
    add(file.diagnostics, {});
    const auto variables = config::job_from_environment(x_context.env);
    const auto config_file = config::config_path(x_context.env);
    const auto config = config::load_config(config_file);
    add(variables.diagnostics, {});
    add(config.diagnostics, {});
    x_result.is_valid = !diag::has_errors(file.diagnostics) && !diag::has_errors(variables.diagnostics) &&
                        !diag::has_errors(config.diagnostics);
    if (!x_result.is_valid) return std::move(x_result);
    x_root = config::parse_json(file.source, x_path, "job").root;
    const auto id = named            ? named
                    : variables.site ? variables.site
                    : file.site      ? file.site
                                     : config.config.site;
    const auto site = load_site(id);
    if (!site) return std::move(x_result);
    const auto usual = config::job_from_config(config.config, site->id, config_file);
    for (const auto& part : parts_of(file)) {
      auto job = config::merge_jobs(file.job.value_or(model::JobSpec{}), part.job);
      job = config::merge_jobs(config::merge_jobs(usual, job), variables.job.value_or(model::JobSpec{}));
      diag::Diagnostics findings;
      resolve_paths(job, x_context.env, findings);
      add(findings, part.name);
      check(job, part.name, *site);
    }
    return std::move(x_result);
  }

private:
  std::optional<model::Site> load_site(const std::optional<std::string>& id) {
    if (!id) {
      add({{diag::Severity::error,
            "job/site",
            "no site is named, so the limits and rules of the cluster are unknown",
            {x_path},
            "add \"site\" to the file, or --site NAME"}},
          {});
      return std::nullopt;
    }
    auto load = config::load_site(*id, config::site_directories(x_context.sites_dirs, x_context.env));
    add(load.diagnostics, {});
    if (!load.site || diag::has_errors(load.diagnostics)) return std::nullopt;
    return std::move(load.site);
  }

  /// The plan's findings, and those of the rules in the script that the plan becomes.
  void check(const model::JobSpec& job, const std::string& part, const model::Site& site) {
    const auto result = plan_job(job, site, x_context);
    add(result.diagnostics, part);
    if (!result.plan || diag::has_errors(result.diagnostics)) return;
    const auto script = render::render_script(*result.plan);
    for (auto& finding : check::check_script(x_path, script, {x_version, &site})) {
      auto& what = finding.what;
      if (what.location.line > 0)
        what.message = fmt::format("line {} of the generated script: {}", what.location.line, what.message);
      what.location = {};
      add({what}, part);
    }
  }

  void add(const diag::Diagnostics& list, const std::string& part) {
    for (auto what : list) {
      if (what.location.line == 0) what.location = place_of(what.code, part);
      if (!part.empty()) what.message = fmt::format("job {}: {}", part, what.message);
      const auto place = diag::LineTable(x_result.source).place_of(what.location); // JSON's places are lines
      x_result.findings.push_back({std::move(what), place});
    }
  }

  /// Returns the place of the value that "request/gpus-per-node" is about: the key of that name, in the part
  /// of the job or of the whole file.
  diag::SourceLocation place_of(const std::string& code, const std::string& part) const {
    const auto key = code.substr(code.find('/') + 1);
    const auto* jobs = x_root ? x_root->find("jobs") : nullptr;
    const config::JsonNode* value = nullptr;
    if (jobs != nullptr)
      for (const auto& item : jobs->items)
        if (const auto* name = item.find("name"); name != nullptr && name->text == part)
          value = item.find(key);
    if (value == nullptr && x_root) value = x_root->find(key);
    return value ? value->place.location() : diag::SourceLocation{x_path, 0, 0, 0};
  }

  const std::string& x_path;
  std::optional<slurm::Version> x_version;
  const Context& x_context;
  std::optional<config::JsonNode> x_root;
  JobCheck x_result;
};

/// `site`: the one that --site names; else that of the file, of HPCML_SITE or of the configuration, as gen
/// takes it.
JobCheck check_job_file(const std::string& path, const std::optional<std::string>& site,
                        std::optional<slurm::Version> version, const Context& context) {
  return JobChecker(path, version, context).run(site);
}

struct CheckOptions {
  std::vector<std::string> files;
  std::optional<std::string> site;
  std::optional<std::string> version;
  std::string format = "text";
  std::string fail_on = "error";
  bool all_sites = false;
  bool only_scripts = false;
  bool fix = false;
  bool diff = false;
};

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool is_job_file(const std::string& name) { return name.ends_with(".json"); }

class Checker {
public:
  Checker(const CheckOptions& options, const check::TargetCluster& target, const Context& context)
      : x_options(options), x_target(target), x_context(context),
        x_report(
            check::make_report(options.format, ::isatty(STDOUT_FILENO) != 0 && takes_colour(context.env))) {}

  int run() {
    if (!x_options.diff) put(x_report->begin());
    const bool good =
        visit_files(x_options.files, x_options.only_scripts, x_context,
                    [this](const std::string& name, std::string text) { visit(name, std::move(text)); });
    if (!x_options.diff) put(x_report->end());
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      print_error("cannot write to the standard output, so the list of findings is incomplete",
                  "check whether the disk or your quota is full, or redirect the output to another file",
                  x_context.colour);
      return k_world_failed;
    }
    summarise();
    if (x_failure != k_ok) return x_failure;
    if (!good || x_invalid) return k_invalid_file;
    if (x_options.fail_on == "never") return k_ok;
    if (x_options.diff) return x_fixed_files > 0 ? k_findings : k_ok;
    return x_errors > 0 || (x_options.fail_on == "warning" && x_warnings > 0) ? k_findings : k_ok;
  }

private:
  void visit(const std::string& name, std::string text) {
    ++x_files;
    x_target.read_file = [name](const std::string& file) { return read_named_file(name, file); };
    if (is_job_file(name)) {
      const auto job = check_job_file(name, x_options.site, x_target.version, x_context);
      x_invalid = x_invalid || !job.is_valid;
      return x_options.diff ? void() : add(job.source, job.findings);
    }
    if (x_options.fix || x_options.diff) {
      auto fixed = check::fix_script(text, x_target);
      if (fixed.text != text && (x_options.diff || write(name, fixed.text))) {
        x_fixes += fixed.findings;
        ++x_fixed_files;
        if (x_options.diff) put(check::unified_diff(text, fixed.text, name));
        text = std::move(fixed.text);
      }
      if (x_options.diff) return;
    }
    add(text, check::check_script(name, text, x_target));
  }

  /// Whether the file has the new text now; else the old one stays what is reported on.
  bool write(const std::string& name, const std::string& text) {
    std::error_code ignored;
    auto status = std::filesystem::is_regular_file(name, ignored)
                      ? util::rewrite_file(name, text)
                      : util::Status(util::Error{
                            fmt::format("--fix cannot change '{}', because it is not a regular file", name),
                            "use --diff to print what --fix would change"});
    if (status) return true;
    print_error(status.error(), x_context.colour);
    x_failure = k_world_failed;
    return false;
  }

  void add(std::string_view text, const check::Findings& findings) {
    put(x_report->add(text, findings));
    x_files_with += findings.empty() ? 0 : 1;
    for (const auto& finding : findings) {
      const auto severity = finding.what.severity;
      ++(severity == diag::Severity::error     ? x_errors
         : severity == diag::Severity::warning ? x_warnings
                                               : x_notes);
      x_fixable += finding.fix.empty() ? 0 : 1;
    }
  }

  /// "hpcml: 3 errors, 2 warnings in 2 of 14 files; 1 fixable with --fix".
  void summarise() const {
    const auto files = util::counted(x_files, "file"), fixed_findings = util::counted(x_fixes, "finding");
    std::string text;
    if (x_options.fix) text = fmt::format("fixed {} in {} of {}; ", fixed_findings, x_fixed_files, files);
    if (x_options.diff)
      text = fmt::format("--fix would fix {} in {} of {}", fixed_findings, x_fixed_files, files);
    else if (x_files_with == 0)
      text += "no findings in " + files;
    else
      text +=
          check::count_text(x_errors, x_warnings, x_notes) + fmt::format(" in {} of {}", x_files_with, files);
    if (x_fixable > 0 && !x_options.fix) text += fmt::format("; {} fixable with --fix", x_fixable);
    print_note(text);
  }

  const CheckOptions& x_options;
  check::TargetCluster x_target;
  const Context& x_context;
  std::unique_ptr<check::ReportWriter> x_report;
  unsigned x_files = 0, x_files_with = 0, x_fixed_files = 0, x_fixes = 0, x_fixable = 0;
  unsigned x_errors = 0, x_warnings = 0, x_notes = 0;
  bool x_invalid = false;
  int x_failure = k_ok;
};

/// The site to check for; sets the exit code where it cannot be one.
std::optional<model::Site> named_site(const CheckOptions& options, const Context& context, int& exit_code) {
  if (!options.site) return std::nullopt;
  auto site = choose_site(*options.site == "auto" ? std::nullopt : options.site, context, exit_code);
  if (!site) return std::nullopt;
  if (site->scheduler == model::Scheduler::slurm) return site;
  print_error(fmt::format("scripts cannot be checked for site '{}', because it has no Slurm", site->id),
              "use --site with another name of 'hpcml sites list', or remove --site", context.colour);
  exit_code = k_cannot_satisfy;
  return std::nullopt;
}

int run_check(CheckOptions options, const Context& context) {
  int exit_code = k_ok;
  check::TargetCluster target;
  if (options.version) {
    target.version = slurm::parse_version(*options.version);
    if (!target.version) {
      print_error(fmt::format("unknown version of Slurm '{}'", *options.version),
                  "use a series from 20.11 to 26.05, such as --slurm-version 23.11", context.colour);
      return k_usage;
    }
  }
  if (options.fix && std::find(options.files.begin(), options.files.end(), "-") != options.files.end()) {
    print_error("--fix cannot be used with standard input (-): it changes files",
                "use --diff to print what --fix would change, or use the name of a file in place of -",
                context.colour);
    return k_usage;
  }
  if (options.all_sites)
    return run_check_sites(options.files, target.version, options.format, options.fail_on, context);
  const auto site = named_site(options, context, exit_code);
  if (exit_code != k_ok) return exit_code;
  if (site) {
    target.site = &*site;
    options.site = site->id;
  }
  return Checker(options, target, context).run();
}

constexpr CommandHelp k_check_help = {
    .summary = "Check batch scripts and job files without the cluster",
    .examples = R"(# Check for one cluster and its version of Slurm
hpcml check --site lumi job.sh
# Find the sites that a script runs on
hpcml check --all-sites job.sh
# Check all job scripts of a repository in CI
hpcml check --format github .)",
    .notes =
        R"('hpcml rules' lists the rules. The comment "# hpcml: disable=RULE because REASON" disables a rule on its
line and on the next one.

Exit codes: 0 no findings at or above --fail-on, 1 findings, 2 invalid command line or file.)",
};

} // namespace

void add_check(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "check", k_check_help);
  const auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("FILE", options->files, "Scripts, job files (.json), directories, or - for standard input")
      ->required();
  auto* site =
      command->add_option("--site", options->site, "Check for this site and its Slurm; auto detects it")
          ->type_name("SITE");
  auto* all = command->add_flag("--all-sites", options->all_sites, "Compare the script with all sites")
                  ->excludes(site);
  command->add_option("--slurm-version", options->version, "Check for this version of Slurm")
      ->type_name("VERSION")
      ->default_str(std::string("the site's, else ") + slurm::k_version_names.front().data() + " to " +
                    slurm::k_version_names.back().data());
  add_format(*command, options->format, {"text", "json", "sarif", "github"});
  command->add_option("--fail-on", options->fail_on, "Least severity that makes the exit code 1")
      ->type_name("SEVERITY")
      ->check(one_of({"error", "warning", "never"}))
      ->capture_default_str();
  auto* fix =
      command->add_flag("--fix", options->fix, "Apply safe fixes in place and report the other findings")
          ->excludes(all);
  command->add_flag("--diff", options->diff, "Print what --fix changes as a patch, without changing files")
      ->excludes(fix)
      ->excludes(all);
  command->add_flag("--job-scripts-only", options->only_scripts, "Skip named files that are not job scripts")
      ->excludes(all);
  command->callback([options, &context, &exit_code] { exit_code = run_check(*options, context); });
}

} // namespace hpcml::cli
