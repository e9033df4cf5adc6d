// SPDX-License-Identifier: MIT
#include "cli/job_plan.hpp"

#include <filesystem>

#include "cli/chosen_site.hpp"
#include "render/script.hpp"
#include "util/file.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::cli {

namespace {

std::string request_line(const Context& context) {
  std::string line = "hpcml";
  for (std::size_t i = 1; i < context.argv.size(); ++i) line += " " + util::shell_quote(context.argv[i]);
  return line;
}

} // namespace

std::optional<model::Site> find_site(const Request& request, const Context& context, int& exit_code) {
  return choose_site(request.site, context, exit_code);
}

int exit_code_of(const diag::Diagnostics& findings) {
  int code = k_ok;
  for (const auto& finding : findings) {
    if (finding.severity != diag::Severity::error) continue;
    if (util::starts_with(finding.code, "usage/")) return k_usage;
    code = k_cannot_satisfy;
  }
  return code;
}

plan::PlanResult plan_job(model::JobSpec job, const model::Site& site, const Context& context) {
  if (!job.hpcml_path)
    job.hpcml_path = model::Sourced<std::string>{
        util::own_executable().string(), {model::OriginKind::rule, "the program that wrote the script", {}, {}, {}}};
  auto result = plan::make_plan(job, site);
  if (!result.plan) return result;
  result.plan->request_line = request_line(context);
  std::error_code ignored;
  for (const auto& folder : context.sites_dirs) result.plan->sites_dirs.push_back(std::filesystem::absolute(folder, ignored).string());
  for (auto& finding : render::find_unwritable(*result.plan)) result.diagnostics.push_back(std::move(finding));
  return result;
}

std::optional<PlannedJob> plan_request(const Request& request, const Context& context, int& exit_code) {
  const auto site = find_site(request, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // said before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  auto result = plan_job(request.job, *site, context);
  print_diagnostics(result.diagnostics, {}, context.colour);
  exit_code = exit_code_of(result.diagnostics);
  if (exit_code == k_ok && !result.plan) exit_code = k_cannot_satisfy;
  if (exit_code != k_ok) return std::nullopt;
  return PlannedJob{*site, std::move(*result.plan)};
}

} // namespace hpcml::cli
