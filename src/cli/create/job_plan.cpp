// SPDX-License-Identifier: MIT
#include "cli/create/job_plan.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "check/check_script.hpp"
#include "cli/chosen_site.hpp"
#include "core/config/job_file.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/components.hpp"
#include "generate/render/render_script.hpp"

namespace hpcml::cli {

std::string request_line(const Context& context) {
  std::string line = "hpcml";
  for (std::size_t i = 1; i < context.argv.size(); ++i) line += " " + util::shell_quote(context.argv[i]);
  return line;
}

int exit_code_of(const diag::Diagnostics& findings) {
  int code = k_ok;
  for (const auto& finding : findings) {
    if (finding.severity != diag::Severity::error) continue;
    if (finding.code.starts_with("usage/")) return k_usage;
    code = k_cannot_satisfy;
  }
  return code;
}

namespace {

/// Which programs are read for hints: those of usual size.
constexpr util::InputFileRule k_program_file{1 << 20, true};

/// The shell script that a command runs: `./run.sh` by its first line, or `bash run.sh`; empty where it is
/// neither, or not here.
std::string script_of(const std::vector<std::string>& command) {
  static constexpr std::array<std::string_view, 5> c_shells = {"bash", "sh", "dash", "zsh", "ksh"};
  if (command.empty()) return {};
  const auto is_shell = [](std::string_view name) {
    return std::find(c_shells.begin(), c_shells.end(), util::base_name(name)) != c_shells.end();
  };
  std::size_t at = 0;
  if (is_shell(command[0])) {
    at = 1;
    while (at < command.size() && command[at].starts_with("-") && command[at].find('c') == std::string::npos)
      ++at;
  }
  if (at >= command.size()) return {};
  const auto text = util::read_input(command[at], k_program_file);
  if (!text) return {};
  const auto first = text->substr(0, text->find('\n'));
  const bool by_line = first.starts_with("#!") &&
                       (is_shell(util::trim(first)) || is_shell(first.substr(first.rfind(' ') + 1)));
  return at == 1 || by_line ? *text : std::string();
}

/// The Python program that a command runs, `python [OPTIONS] train.py`; empty where it is none, or not here.
std::string python_program_of(const std::vector<std::string>& command) {
  const auto found =
      std::find_if(command.begin(), command.end(), [](const auto& word) { return word.ends_with(".py"); });
  return found == command.end() ? "" : util::read_input(*found, k_program_file).value_or("");
}

/// Warns of a program that the node cannot execute: a script without the permission, or a Python script
/// without python before it.
void warn_of_program(const model::Plan& plan, diag::Diagnostics& findings) {
  if (plan.command.empty() || plan.launcher.choice.is_agent() || plan.body) return;
  const auto& program = plan.command.front();
  std::error_code unseen;
  if (program.find(' ') != std::string::npos && !std::filesystem::exists(program, unseen)) {
    findings.push_back(
        {diag::Severity::warning,
         "request/command",
         fmt::format(
             "the program \"{}\" is one quoted word, and no such file exists: the job could not start it",
             program),
         {},
         fmt::format("remove the quotes: -- {}", program)});
    return;
  }
  const bool python = program.ends_with(".py");
  const bool is_path = program.find('/') != std::string::npos || python;
  std::error_code ignored;
  const bool found = is_path && std::filesystem::is_regular_file(program, ignored);
  if (found ? ::access(program.c_str(), X_OK) == 0 && program.find('/') != std::string::npos : !python)
    return;
  const bool no_path = program.find('/') == std::string::npos;
  findings.push_back(
      {diag::Severity::warning,
       "request/command",
       found && !no_path
           ? fmt::format("the program {} is not executable: the job could not start it", program)
           : fmt::format("the job starts {} directly, so it must be executable and in PATH on the nodes",
                         program),
       {},
       python ? fmt::format("use python {}", program)
              : fmt::format("run chmod +x {0}, or use bash {0}", program)});
}

/// Returns the directories, absolute, where launch finds the site's profile on compute nodes: those of
/// --sites-dir, and those of HPCML_SITES_PATH if one of them has the profile, because a job need not inherit
/// variables (sbatch --export). Launch searches the other places itself.
std::vector<std::string> profile_directories(const model::Site& site, const Context& context) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<std::string> found;
  for (const auto& directory : context.sites_dirs) found.push_back(fs::absolute(directory, ignored).string());
  const auto own = fs::path(site.file).parent_path();
  const auto has_profile = [&](const std::string& directory) {
    return fs::equivalent(directory, own, ignored);
  };
  const auto named = config::named_site_directories(context.env);
  if (std::ranges::any_of(named, has_profile) && std::ranges::none_of(found, has_profile))
    found.insert(found.end(), named.begin(), named.end());
  return found;
}

} // namespace

plan::PlanResult plan_job(model::JobSpec job, const model::Site& site, const Context& context) {
  if (!job.hpcml_path)
    job.hpcml_path = model::Sourced<std::string>{
        util::own_executable().string(),
        {model::OriginKind::rule, "the program that wrote the script", {}, {}, {}}};
  auto components = config::component_jobs(job);
  for (auto& component : components) {
    component.command_script = script_of(component.command);
    component.program_text = python_program_of(component.command);
  }
  plan::CommandLineContext caller{request_line(context)};
  caller.sites_dirs = profile_directories(site, context);
  auto result = plan::make_plan(components, site, caller);
  if (!result.plan) return result;
  warn_of_program(*result.plan, result.diagnostics);
  for (const auto& component : result.plan->components)
    if (component.command != result.plan->command) warn_of_program(component, result.diagnostics);
  for (auto& finding : render::find_unwritable(*result.plan))
    result.diagnostics.push_back(std::move(finding));
  return result;
}

std::optional<PlannedRequest> run_planning(const MergedRequest& request, const Context& context,
                                           int& exit_code) {
  auto site = choose_site(request.site, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // said before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  PlannedRequest planned{std::move(*site), {}};
  const auto usual = config::job_from_config(request.config, planned.site.id, request.config_file);
  diag::Diagnostics all;
  for (const auto& part : request.parts) {
    auto result = plan_job(config::merge_jobs(usual, part.job), planned.site, context);
    for (auto finding : result.diagnostics) {
      if (request.parts.size() > 1) finding.message = "job " + part.name + ": " + finding.message;
      all.push_back(std::move(finding));
    }
    if (result.plan) planned.parts.push_back({part, std::move(*result.plan), std::move(result.diagnostics)});
  }
  print_diagnostics(all, {}, context.colour);
  exit_code = exit_code_of(all);
  if (exit_code == k_ok && planned.parts.size() < request.parts.size()) exit_code = k_cannot_satisfy;
  if (exit_code != k_ok) return std::nullopt;
  return planned;
}

namespace {

/// Whether the planner has said something of the option on this line of the script, in its own words.
bool is_reported(std::string_view line, const diag::Diagnostics& findings) {
  if (!line.starts_with("#SBATCH --")) return false;
  const auto name = line.substr(10, line.find_first_of("= ", 10) - 10);
  return std::any_of(findings.begin(), findings.end(), [&](const diag::Diagnostic& finding) {
    const auto key = std::string_view(finding.code).substr(finding.code.find('/') + 1);
    return finding.severity != diag::Severity::note && name.ends_with(key);
  });
}

} // namespace

void print_script_findings(PlannedRequest& planned, const Context& context, std::string_view seen_to) {
  diag::Diagnostics all;
  for (auto& part : planned.parts) {
    part.script = render::render_script(part.plan);
    const auto lines = util::split(part.script, '\n');
    for (auto& [what, place, fix] : check::check_script("", part.script, {{}, &planned.site})) {
      // How the site changes the request is reported also if it is only a note.
      const bool note = what.severity == diag::Severity::note;
      if (what.code == seen_to || (note && !what.code.starts_with("site/"))) continue;
      if (const auto at = what.location.line; at > 0 && at <= lines.size()) {
        if (is_reported(lines[at - 1], part.findings)) continue;
        const auto line = std::string(util::trim(lines[at - 1]));
        what.message = fmt::format("line {} of the script, {}: {}", at,
                                   line.size() > 60 ? line.substr(0, 57) + "..." : line, what.message);
      }
      if (planned.parts.size() > 1) what.message = fmt::format("job {}: {}", part.part.name, what.message);
      if (!note) what.severity = diag::Severity::warning;
      what.location = {};
      all.push_back(std::move(what));
    }
  }
  print_diagnostics(all, {}, context.colour);
}

std::optional<PlannedJob> run_planning_of_one(const MergedRequest& request, const Context& context,
                                              int& exit_code, bool for_script) {
  auto planned = run_planning(request, context, exit_code);
  if (!planned) return std::nullopt;
  if (planned->parts.size() == 1 && for_script) print_script_findings(*planned, context);
  if (planned->parts.size() == 1)
    return PlannedJob{std::move(planned->site), std::move(planned->parts.front().plan),
                      std::move(planned->parts.front().script)};
  std::vector<std::string> names;
  for (const auto& part : planned->parts) names.push_back(part.part.name);
  print_error("hpcml gen needs one job, but the job file has several",
              fmt::format("use --only {}", util::join(names, " or --only ")), context.colour);
  exit_code = k_usage;
  return std::nullopt;
}

} // namespace hpcml::cli
