// SPDX-License-Identifier: MIT
#include "cli/run/submit_where.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/chosen_site.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/run/submit_run.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_store.hpp"
#include "core/site_rules/facts.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/date.hpp"
#include "core/util/embedded.hpp"
#include "core/util/process.hpp"
#include "core/util/text_table.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::cli {

namespace {

/// Returns the message of the first error, without its sources.
std::string first_error(const diag::Diagnostics& findings) {
  for (const auto& finding : findings)
    if (finding.severity == diag::Severity::error)
      return finding.message.substr(0, finding.message.find(" ["));
  return "";
}

/// Removes the rules of accounts and QoS: those of the request belong to one site, and whether a job fits
/// does not depend on them.
model::Site without_accounts(model::Site site) {
  for (const char* name : {"account", "qos"}) site.flags.erase(name);
  return site;
}

site_rules::JobFacts make_facts(const model::Site& site, const model::Plan& plan) {
  site_rules::JobFactsInput job;
  job.nodes = plan.layout.nodes_requested();
  job.gpus_per_node = plan.layout.gpus_per_node;
  job.partition = plan.partition;
  job.launcher = plan.launcher.choice.name();
  job.container = plan.container && !model::row_of(plan.container->engine).keeps_host;
  job.node_type = plan.node_type;
  job.gpu_type = plan.gpu_type;
  job.qos = plan.qos;
  return site_rules::make_facts(site, job);
}

/// Returns the form of an account under the rule that applies to the job: " <project>@v100".
std::string hint_of(const model::SbatchOptionRule& rule, const site_rules::JobFacts& facts) {
  const auto* held = site_rules::first_that_holds(rule, facts);
  return held == nullptr || held->pattern_hint.empty() ? "" : fmt::format(" {}", held->pattern_hint);
}

class Survey {
public:
  Survey(const MergedRequest& request, bool elsewhere, const Context& context)
      : x_request(request), x_context(context), x_elsewhere(elsewhere) {}

  void visit(const model::Site& site) {
    std::vector<std::string> names;
    for (const auto& partition : site.partitions)
      if (partition.nameable && (!partition.cpu_only || without_gpus())) names.push_back(partition.name);
    if (!names.empty() && site.flag("partition").takes()) {
      for (const auto& name : names) places.push_back(evaluate(site, name, {}));
      return;
    }
    for (const auto& qos : open_qos(site)) places.push_back(evaluate(site, {}, qos));
  }

  std::vector<PartitionCandidate> places;
  bool is_alone = false; ///< Slurm does not answer: only the profile is used

private:
  bool without_gpus() const {
    const auto& gpus = x_request.parts.front().job.gpus_per_node;
    return gpus && gpus->value == 0;
  }

  /// Returns the QoS that a request can use if the site chooses the partition; one empty name stands for the
  /// request's own QoS.
  std::vector<std::string> open_qos(const model::Site& site) const {
    std::vector<std::string> names;
    const bool is_requested = x_request.parts.front().job.qos && !x_elsewhere;
    for (const auto& qos : site.qos)
      if (!is_requested && !qos.on_request && site.flag("qos").takes()) names.push_back(qos.name);
    return names.empty() ? std::vector<std::string>{""} : names;
  }

  PartitionCandidate evaluate(const model::Site& site, const std::string& partition, const std::string& qos) {
    PartitionCandidate place{site.id, partition, false, {}, {}, {}, {}, qos};
    auto job = config::merge_jobs(config::job_from_config(x_request.config, site.id, x_request.config_file),
                                  x_request.parts.front().job);
    const model::Origin origin{model::OriginKind::flag, "--where", {}, {}, {}};
    job.partition.reset();
    if (!partition.empty()) job.partition = model::Sourced<std::string>{partition, origin};
    if (job.command.empty()) job.command = {"true"};
    const bool named = job.account.has_value() && !x_elsewhere;
    if (!named) job.account.reset();
    if (x_elsewhere) job.qos.reset();
    if (!qos.empty()) job.qos = model::Sourced<std::string>{qos, origin};
    const auto& account = site.flag("account");
    const bool unpaid = !named && account.policy == model::OptionPolicy::required;
    const auto result = plan_job(job, unpaid || x_elsewhere ? without_accounts(site) : site, x_context);
    if (!result.plan) {
      place.note = first_error(result.diagnostics);
      return place;
    }
    place.fits = true;
    place.gpu_hours = gpu_hours(*result.plan);
    const auto* node = site.find_node_type(result.plan->node_type);
    if (const unsigned gpus = result.plan->layout.nodes_requested() * result.plan->layout.gpus_per_node;
        gpus > 0)
      place.hardware = fmt::format("{} x {}", gpus,
                                   node && node->gpu && !node->gpu->model.empty() ? node->gpu->model : "GPU");
    if (unpaid)
      place.note = fmt::format("requires --account{}", hint_of(account, make_facts(site, *result.plan)));
    else if (!x_elsewhere)
      ask(*result.plan, place);
    return place;
  }

  void ask(const model::Plan& plan, PartitionCandidate& place) {
    if (!util::find_program("sbatch", x_context.env)) return;
    if (is_alone) return;
    const auto estimate = estimate_plan(plan, x_context);
    is_alone = !estimate && slurm::is_unreachable(estimate.error().what);
    if (is_alone) return;
    place.fits = estimate.ok();
    if (estimate)
      place.start = estimate->start;
    else
      place.note = estimate.error().what;
  }

  const MergedRequest& x_request;
  const Context& x_context;
  bool x_elsewhere;
};

std::string hours_text(const std::optional<double>& hours) {
  return hours ? fmt::format("{:.1f}", *hours) : "-";
}

std::string json_of(const PartitionCandidate& place) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  return JsonLine()
      .add("site", place.site)
      .add("partition", place.partition)
      .add("qos", text_or_null(place.qos))
      .add("fits", place.fits)
      .add("start", text_or_null(place.start))
      .add_json("gpu_hours", place.gpu_hours ? fmt::format("{}", *place.gpu_hours) : "null")
      .add("hardware", place.hardware)
      .add("note", place.note)
      .text();
}

} // namespace

void sort_places(std::vector<PartitionCandidate>& places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const PartitionCandidate& a, const PartitionCandidate& b) {
                     if (a.fits != b.fits) return a.fits;
                     if (a.start != b.start)
                       return !a.start.empty() && (b.start.empty() || a.start < b.start);
                     return a.gpu_hours.value_or(1e18) < b.gpu_hours.value_or(1e18);
                   });
}

std::string render_places(const std::vector<PartitionCandidate>& places, const std::string& format) {
  if (format == "json") {
    std::string text = "[";
    for (const auto& place : places) text += (text.size() > 1 ? ",\n " : "") + json_of(place);
    return text + "]\n";
  }
  std::vector<std::vector<std::string>> rows{
      {"SITE", "PARTITION", "FITS", "STARTS", "GPU-HOURS", "GPUS", "NOTE"}};
  for (const auto& place : places)
    rows.push_back({place.site,
                    !place.qos.empty()        ? fmt::format("--qos {}", place.qos)
                    : place.partition.empty() ? "(Slurm's choice)"
                                              : place.partition,
                    place.fits ? "yes" : "no", place.start.empty() ? "-" : place.start,
                    place.fits ? hours_text(place.gpu_hours) : "-",
                    place.hardware.empty() ? "-" : place.hardware, place.note});
  return util::render_columns(rows);
}

int run_where(const MergedRequest& request, const PartitionSearchOptions& options, const Context& context) {
  if (request.exit_code != k_ok) return request.exit_code;
  if (request.parts.size() > 1) {
    print_error("--where applies to one job, but the job file has several",
                "add --only NAME to choose one of its jobs", context.colour);
    return k_usage;
  }
  if (!request.parts.front().job.components.empty()) {
    print_error("--where compares partitions for one node type, but the job has several components",
                "remove --where, or use options with the values of one component in place of the job file",
                context.colour);
    return k_usage;
  }
  Survey survey(request, options.all_sites, context);
  if (options.all_sites) {
    const auto directories = config::site_directories(context.sites_dirs, context.env);
    const auto day = util::today(context.env);
    for (const auto& id : config::list_sites(directories)) {
      auto load = config::load_site(id, directories, embedded::merged_sites());
      if (load.site) load.site = config::as_of(std::move(*load.site), day);
      // No job can be planned for a site without known nodes.
      if (load.site && load.site->state == model::SiteState::production &&
          load.site->scheduler == model::Scheduler::slurm && !load.site->node_types.empty())
        survey.visit(*load.site);
    }
  } else {
    int exit_code = k_ok;
    const auto site = choose_site(request.site, context, exit_code);
    if (!site) return exit_code;
    survey.visit(*site);
  }
  sort_places(survey.places);
  const auto text = render_places(survey.places, options.format);
  if (options.format == "json") // whose control characters are escaped already
    std::fputs(text.c_str(), stdout);
  else
    print_output(text);
  if (survey.is_alone)
    print_note("no Slurm answers on this machine: the table uses only the site profile, without start times");
  const bool any = std::any_of(survey.places.begin(), survey.places.end(),
                               [](const PartitionCandidate& place) { return place.fits; });
  return any ? k_ok : k_cannot_satisfy;
}

} // namespace hpcml::cli
