// SPDX-License-Identifier: MIT
#include "cli/create/gen_setup.hpp"

#include "cli/chosen_site.hpp"
#include "cli/create/job_plan.hpp"
#include "generate/render/environment_script.hpp"

namespace hpcml::cli {

std::optional<std::string> run_setup_planning(const MergedRequest& request, const SetupOptions& options,
                                              const Context& context, int& exit_code) {
  const auto site = choose_site(request.site, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // said before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  if (request.parts.size() != 1) {
    print_error("the job file has several jobs, and this is about one environment", "choose one with --only",
                context.colour);
    exit_code = k_usage;
    return std::nullopt;
  }
  const auto usual = config::job_from_config(request.config, site->id, request.config_file);
  auto wanted = options.spec;
  wanted.request_line = request_line(context);
  const auto result = plan::plan_setup(wanted, config::merge_jobs(usual, request.parts.front().job), *site);
  print_diagnostics(result.diagnostics, {}, context.colour);
  exit_code = exit_code_of(result.diagnostics);
  if (!result.plan) return std::nullopt;
  return render::render_environment_script(*result.plan);
}

} // namespace hpcml::cli
