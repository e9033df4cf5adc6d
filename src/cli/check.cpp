// SPDX-License-Identifier: MIT
// hpcml check: what sbatch and the rules have against batch scripts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "check/check_script.hpp"
#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "util/file.hpp"

namespace hpcml::cli {
namespace {

struct Args {
  std::vector<std::string> files;
  std::optional<std::string> site;
  std::optional<std::string> version;
  std::string format = "text";
  std::string fail_on = "error";
};

bool is_counted(diag::Severity severity, const std::string& fail_on) {
  if (fail_on == "never") return false;
  return severity == diag::Severity::error || (fail_on == "warning" && severity == diag::Severity::warning);
}

/// The version to check for: the one that is named, else the site's; sets the exit code where it cannot be known.
std::optional<slurm::Version> chosen_version(const Args& args, const Context& context, int& exit_code) {
  std::optional<std::string> text = args.version;
  if (args.site) {
    const auto site = choose_site(args.site, context, exit_code);
    if (!site) return std::nullopt;
    if (!text && site->slurm_version) text = site->slurm_version->value;
  }
  if (!text) return std::nullopt;
  const auto version = slurm::parse_version(*text);
  if (!version && args.version) {
    print_error("'" + *text + "' is no version of Slurm that hpcml knows", "write a series, 20.11 to 26.05, for example --slurm-version 23.11", context.colour);
    exit_code = k_usage;
  }
  return version;
}

void run_check(const Args& args, const Context& context, int& exit_code) {
  const auto version = chosen_version(args, context, exit_code);
  if (exit_code != k_ok) return;
  diag::Diagnostics all;
  for (const auto& file : args.files) {
    const auto text = util::read_file(file);
    if (!text) {
      print_error(text.error(), context.colour);
      exit_code = k_invalid_file;
      continue;
    }
    auto list = check::diagnostics_of(check::check_script(file, *text, {version, nullptr}));
    if (args.format == "text")
      for (const auto& finding : list) std::cout << diag::render_text(finding, *text, false);
    all.insert(all.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
  }
  if (args.format == "json") std::cout << diag::render_json(all);
  const bool found = std::any_of(all.begin(), all.end(), [&](const diag::Diagnostic& d) { return is_counted(d.severity, args.fail_on); });
  if (found && exit_code == k_ok) exit_code = k_findings;
}

} // namespace

void add_check(CLI::App& app, Context& context, int& exit_code) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("check", "Find what is wrong with sbatch scripts, without the cluster");
  command->add_option("FILE", args->files, "batch scripts")->required();
  command->add_option("--site", args->site, "check for the Slurm of this site")->type_name("ID");
  command->add_option("--slurm-version", args->version, "check for this version of Slurm; without it and without --site for all from 20.11 to 26.05")->type_name("V");
  command->add_option("--format", args->format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  command->add_option("--fail-on", args->fail_on, "exit with 1 at findings of this severity: error, warning or never")
      ->check(CLI::IsMember({"error", "warning", "never"}))
      ->capture_default_str();
  command->callback([args, &context, &exit_code] { run_check(*args, context, exit_code); });
}

} // namespace hpcml::cli
