// SPDX-License-Identifier: MIT
// hpcml gen: a request and a site as a script.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/request_flags.hpp"
#include "plan/planner.hpp"
#include "render/interactive.hpp"
#include "render/script.hpp"
#include "spec/site_store.hpp"
#include "util/file.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::cli {

namespace {

struct GenOptions {
  RequestFlags request;
  std::string output_file;
  std::string format = "script";
  bool explain = false;
  bool interactive = false;
};

const char* const k_footer = R"(Examples:
  hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 -- train_ddp
  hpcml gen --site zurada --partition gpu2h100 --time 1h --mem 64G --conda pytorch --launcher torchrun -- train.py --epochs 3
  hpcml gen --site narval --account def-me --time 3h --wheelhouse "torch numpy" -o job.sh -- python train.py
  hpcml gen --site lumi --account project_1 --time 10 --explain -- python train.py
Flags beat HPCML_* variables (HPCML_ACCOUNT), those beat the job file, that beats the site's defaults.)";

std::string request_line(const Context& context) {
  std::string line = "hpcml";
  for (std::size_t i = 1; i < context.argv.size(); ++i) line += " " + util::shell_quote(context.argv[i]);
  return line;
}

std::string render(const model::Plan& plan, const GenOptions& options) {
  if (options.format == "json") return render::render_json(plan);
  if (options.explain) return render::render_explain(plan);
  return options.interactive ? render::render_interactive(plan) : render::render_script(plan);
}

/// "usage/…" findings are mistakes in how hpcml was called, all others are about what the site can do.
int exit_code_of(const diag::Diagnostics& findings) {
  int code = k_ok;
  for (const auto& finding : findings) {
    if (finding.severity != diag::Severity::error) continue;
    if (util::starts_with(finding.code, "usage/")) return k_usage;
    code = k_cannot_satisfy;
  }
  return code;
}

std::optional<model::Site> find_site(const Request& request, const Context& context, int& exit_code) {
  const auto folders = spec::site_directories(context.sites_dirs, context.env);
  if (!request.site) {
    print_error("no site is named", "add --site NAME, one of: " + util::join(spec::list_sites(folders), ", "), context.colour);
    exit_code = k_usage;
    return std::nullopt;
  }
  auto load = spec::load_site(*request.site, folders);
  print_diagnostics(load.diagnostics, load.source, context.colour);
  if (!load.site || diag::has_errors(load.diagnostics)) {
    exit_code = load.not_found ? k_usage : k_invalid_file;
    return std::nullopt;
  }
  return load.site;
}

int write_result(const std::string& text, const GenOptions& options, bool colour) {
  if (options.output_file.empty()) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) print_error("cannot write to the standard output", "", colour);
    return written ? k_ok : k_world_failed;
  }
  const auto status = util::write_file(options.output_file, text, 0755);
  if (status) return k_ok;
  print_error(status.error().what, status.error().hint, colour);
  return k_world_failed;
}

int run_gen(const GenOptions& options, const Context& context) {
  auto request = make_request(options.request, context);
  int site_code = k_ok;
  const auto site = find_site(request, context, site_code);
  if (request.exit_code != k_ok) return request.exit_code;
  if (!site) return site_code;
  if (!request.job.hpcml_path)
    request.job.hpcml_path = model::Sourced<std::string>{
        util::own_executable().string(), {model::OriginKind::rule, "the program that wrote the script", {}, {}, {}}};
  auto result = plan::make_plan(request.job, *site);
  if (result.plan) {
    result.plan->request_line = request_line(context);
    std::error_code ignored;
    for (const auto& folder : context.sites_dirs) result.plan->sites_dirs.push_back(std::filesystem::absolute(folder, ignored).string());
    for (auto& finding : render::find_unwritable(*result.plan)) result.diagnostics.push_back(std::move(finding));
  }
  print_diagnostics(result.diagnostics, {}, context.colour);
  if (const int code = exit_code_of(result.diagnostics); code != k_ok) return code;
  if (!result.plan) return k_cannot_satisfy;
  if (options.interactive) {
    const auto findings = render::find_unsaid(render::make_interactive(*result.plan));
    print_diagnostics(findings, {}, context.colour);
    if (const int code = exit_code_of(findings); code != k_ok) return code;
  }
  return write_result(render(*result.plan, options), options, context.colour);
}

} // namespace

void add_gen(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("gen", "Print the sbatch script for a program on a site.");
  const auto options = std::make_shared<GenOptions>();
  command->add_option("-o", options->output_file, "write to FILE, and only if all is well")->type_name("FILE");
  command->add_option("--format", options->format, "script, or json: the plan with the origin of each value, the explained script and the interactive line")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"script", "json"}));
  auto* explain = command->add_flag("--explain", options->explain, "say why each line is what it is");
  command->add_flag("--interactive", options->interactive, "print the line for an interactive job instead")->excludes(explain);
  add_request_flags(*command, options->request);
  command->footer(k_footer);
  command->callback([options, &context, &exit_code] { exit_code = run_gen(*options, context); });
}

} // namespace hpcml::cli
