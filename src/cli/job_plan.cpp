// SPDX-License-Identifier: MIT
#include "cli/job_plan.hpp"

#include <filesystem>

#include "cli/chosen_site.hpp"
#include "render/script.hpp"
#include "util/file.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

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
    if (util::starts_with(finding.code, "usage/")) return k_usage;
    code = k_cannot_satisfy;
  }
  return code;
}

plan::PlanResult plan_job(model::JobSpec job, const model::Site& site, const Context& context) {
  if (!job.hpcml_path)
    job.hpcml_path = model::Sourced<std::string>{
        util::own_executable().string(),
        {model::OriginKind::rule, "the program that wrote the script", {}, {}, {}}};
  auto result = plan::make_plan(job, site);
  if (!result.plan) return result;
  result.plan->request_line = request_line(context);
  std::error_code ignored;
  for (const auto& folder : context.sites_dirs)
    result.plan->sites_dirs.push_back(std::filesystem::absolute(folder, ignored).string());
  for (auto& finding : render::find_unwritable(*result.plan))
    result.diagnostics.push_back(std::move(finding));
  return result;
}

std::optional<PlannedRequest> run_planning(const Request& request, const Context& context, int& exit_code) {
  auto site = choose_site(request.site, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // said before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  PlannedRequest planned{std::move(*site), {}};
  const auto usual = spec::job_from_config(request.config, planned.site.id, request.config_file);
  diag::Diagnostics all;
  for (const auto& part : request.parts) {
    auto result = plan_job(spec::merge_jobs(usual, part.job), planned.site, context);
    for (auto& finding : result.diagnostics) {
      if (request.parts.size() > 1) finding.message = "job " + part.name + ": " + finding.message;
      all.push_back(std::move(finding));
    }
    if (result.plan) planned.parts.push_back({part, std::move(*result.plan)});
  }
  print_diagnostics(all, {}, context.colour);
  exit_code = exit_code_of(all);
  if (exit_code == k_ok && planned.parts.size() < request.parts.size()) exit_code = k_cannot_satisfy;
  if (exit_code != k_ok) return std::nullopt;
  return planned;
}

std::optional<PlannedJob> run_planning_of_one(const Request& request, const Context& context,
                                              int& exit_code) {
  auto planned = run_planning(request, context, exit_code);
  if (!planned) return std::nullopt;
  if (planned->parts.size() == 1)
    return PlannedJob{std::move(planned->site), std::move(planned->parts.front().plan)};
  std::vector<std::string> names;
  for (const auto& part : planned->parts) names.push_back(part.part.name);
  print_error("the job file has several jobs, and this is about one script",
              "choose one: --only " + util::join(names, ", --only "), context.colour);
  exit_code = k_usage;
  return std::nullopt;
}

} // namespace hpcml::cli
