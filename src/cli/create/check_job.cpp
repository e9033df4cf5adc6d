// SPDX-License-Identifier: MIT
#include "cli/create/check_job.hpp"

#include <fmt/format.h>

#include "check/check_script.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/create/request_flags.hpp"
#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"
#include "core/diag/lines.hpp"
#include "generate/render/render_script.hpp"

namespace hpcml::cli {
namespace {

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
            "no site is named, so that nothing is known of the cluster",
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
      if (what.span.line > 0)
        what.message = fmt::format("line {} of the script that it becomes: {}", what.span.line, what.message);
      what.span = {};
      add({what}, part);
    }
  }

  void add(const diag::Diagnostics& list, const std::string& part) {
    for (auto what : list) {
      if (what.span.line == 0) what.span = place_of(what.code, part);
      if (!part.empty()) what.message = "job " + part + ": " + what.message;
      const auto place = diag::Lines(x_result.source).place_of(what.span); // JSON's places are lines
      x_result.findings.push_back({std::move(what), place});
    }
  }

  /// Where the value stands that "request/gpus-per-node" is about: the key of that name, in the job's own
  /// part or the whole file's.
  diag::Span place_of(const std::string& code, const std::string& part) const {
    const auto key = code.substr(code.find('/') + 1);
    const auto* jobs = x_root ? x_root->find("jobs") : nullptr;
    const config::JsonNode* value = nullptr;
    if (jobs != nullptr)
      for (const auto& item : jobs->items)
        if (const auto* name = item.find("name"); name != nullptr && name->text == part)
          value = item.find(key);
    if (value == nullptr && x_root) value = x_root->find(key);
    return value ? value->place.span() : diag::Span{x_path, 0, 0, 0};
  }

  const std::string& x_path;
  std::optional<slurm::Version> x_version;
  const Context& x_context;
  std::optional<config::JsonNode> x_root;
  JobCheck x_result;
};

} // namespace

JobCheck check_job_file(const std::string& path, const std::optional<std::string>& site,
                        std::optional<slurm::Version> version, const Context& context) {
  return JobChecker(path, version, context).run(site);
}

} // namespace hpcml::cli
