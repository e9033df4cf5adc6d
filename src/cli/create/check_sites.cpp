// SPDX-License-Identifier: MIT
#include "cli/create/check_sites.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "check/check_script.hpp"
#include "check/report_writer.hpp"
#include "check/rule.hpp"
#include "cli/create/check_files.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_store.hpp"
#include "core/site_rules/resource_request.hpp"
#include "core/slurm/job_reading.hpp"
#include "core/util/date.hpp"
#include "core/util/embedded.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "generate/plan/planner.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::cli {
namespace {

/// In the order of the output.
enum class SiteResult { runs, changes, no };

struct Row {
  std::string site;
  SiteResult violation = SiteResult::runs;
  check::Findings findings;
  unsigned errors = 0, warnings = 0;
  std::string obstacle; ///< why no change of the script helps
};

/// What the script asks for, whatever its partition, account and other names are called: the same job
/// elsewhere.
model::JobSpec job_of(std::string_view text, slurm::Version version) {
  slurm::LocatedFindings ignored("", text);
  model::JobSpec job;
  job.command = {"true"};
  const auto read = slurm::read_job(text, version, ignored);
  if (read.requests.size() != 1) return job;
  const auto& request = read.requests[0];
  const auto& size = read.sizes[0];
  const model::Origin origin{model::OriginKind::flag, "the script", {}, {}, {}};
  const auto demand = site_rules::demand_of(request, size);
  job.nodes = model::Sourced<unsigned>{std::clamp(demand.nodes, 1U, 1000000U), origin};
  job.gpus_per_node = model::Sourced<unsigned>{std::min(demand.gpus_per_node, 1000000U), origin};
  if (const auto time = model::Walltime::parse(request.text("time")))
    job.time = model::Sourced<model::Walltime>{*time, origin};
  return job;
}

/// Returns why no partition of the site accepts such a job; empty if one does. What a script only has to add
/// ("usage/…") is not a reason.
std::string obstacle_at(model::JobSpec job, model::Site site) {
  for (const char* name : {"account", "qos"}) site.flags.erase(name); // each site has its own ones
  std::vector<std::string> partitions;
  for (const auto& partition : site.partitions)
    if (partition.nameable) partitions.push_back(partition.name);
  if (partitions.empty() || !site.flag("partition").takes()) partitions = {""};
  std::string first;
  for (const auto& partition : partitions) {
    job.partition.reset();
    if (!partition.empty())
      job.partition =
          model::Sourced<std::string>{partition, {model::OriginKind::rule, "every partition", {}, {}, {}}};
    const auto result = plan::make_plan(job, site);
    const auto refusal = std::find_if(
        result.diagnostics.begin(), result.diagnostics.end(), [](const diag::Diagnostic& finding) {
          return finding.severity == diag::Severity::error && finding.code.starts_with("request/");
        });
    if (refusal == result.diagnostics.end()) return {};
    if (first.empty()) first = refusal->message.substr(0, refusal->message.find(" ["));
  }
  return first;
}

/// Notes are none, but of a rule that has no more to say than notes.
bool is_likely_refusal(const diag::Diagnostic& finding) {
  const auto* rule = check::find_rule(finding.code);
  if (!rule || !rule->likely_refusal) return false;
  return finding.severity != diag::Severity::note || rule->severity == diag::Severity::note;
}

Row evaluate(const std::string& file, std::string_view text, const check::TargetCluster& target,
             const model::JobSpec& job) {
  Row row{target.site->id, SiteResult::runs, check::check_script(file, text, target), 0, 0, {}};
  for (const auto& finding : row.findings) {
    row.errors += finding.what.severity == diag::Severity::error ? 1 : 0;
    row.warnings += finding.what.severity == diag::Severity::warning ? 1 : 0;
  }
  const bool refused = row.errors > 0 || std::any_of(row.findings.begin(), row.findings.end(),
                                                     [](const check::Finding& finding) {
                                                       return is_likely_refusal(finding.what);
                                                     });
  if (!refused) return row;
  row.obstacle = obstacle_at(job, *target.site);
  row.violation = row.obstacle.empty() ? SiteResult::changes : SiteResult::no;
  return row;
}

bool is_same(const check::Finding& a, const check::Finding& b) {
  return a.what.code == b.what.code && a.what.location.line == b.what.location.line &&
         a.what.message == b.what.message;
}

bool has(const Row& row, const check::Finding& finding) {
  return std::any_of(row.findings.begin(), row.findings.end(),
                     [&](const check::Finding& candidate) { return is_same(finding, candidate); });
}

/// What is found whatever the site.
check::Findings common_findings(const std::vector<Row>& rows) {
  check::Findings list;
  if (rows.empty()) return list;
  for (const auto& finding : rows.front().findings)
    if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return has(row, finding); }))
      list.push_back(finding);
  return list;
}

/// The first things to change at this site, errors before warnings.
std::string first_changes(const Row& row, const check::Findings& everywhere) {
  if (!row.obstacle.empty()) return row.obstacle;
  constexpr std::size_t k_most = 2;
  std::vector<std::string> list;
  std::size_t more = 0;
  for (const auto severity : {diag::Severity::error, diag::Severity::warning})
    for (const auto& finding : row.findings) {
      const bool refusal_note =
          finding.what.severity == diag::Severity::note && is_likely_refusal(finding.what);
      const auto weight = refusal_note ? diag::Severity::warning : finding.what.severity;
      if (weight != severity || std::any_of(everywhere.begin(), everywhere.end(),
                                            [&](const auto& common) { return is_same(finding, common); }))
        continue;
      const auto text =
          (finding.what.location.line > 0 ? fmt::format("line {}: ", finding.what.location.line) : "") +
          finding.what.message;
      if (list.size() < k_most)
        list.push_back(text);
      else
        ++more;
    }
  if (list.empty() && row.errors > 0) return "nothing else";
  return util::join(list, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

const char* name_of(SiteResult violation) {
  return violation == SiteResult::runs ? "runs" : violation == SiteResult::changes ? "changes" : "no";
}

std::string render_text(const std::vector<Row>& rows, std::string_view source) {
  const auto everywhere = common_findings(rows);
  std::string text =
      everywhere.empty()
          ? ""
          : "At every site:\n" + check::make_report("text", false)->add(source, everywhere) + "\n";
  std::vector<std::vector<std::string>> table = {{"SITE", "RUNS", "ERRORS", "WARNINGS", "WHAT TO CHANGE"}};
  for (const auto& row : rows)
    table.push_back({row.site,
                     row.violation == SiteResult::runs      ? "yes"
                     : row.violation == SiteResult::changes ? "after changes"
                                                            : "no",
                     std::to_string(row.errors), std::to_string(row.warnings),
                     first_changes(row, everywhere)});
  return text + util::render_columns(table, {2, 3});
}

std::string render_json(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const auto& row : rows) {
    std::vector<JsonLine> findings;
    for (const auto& [what, place, fix] : row.findings)
      findings.push_back(JsonLine()
                             .add("severity", check::level_name(what.severity))
                             .add("code", what.code)
                             .add("message", what.message)
                             .add("line", what.location.line)
                             .add("hint", what.hint));
    text += (text.size() > 1 ? ",\n " : "") + JsonLine()
                                                  .add("site", row.site)
                                                  .add("result", name_of(row.violation))
                                                  .add("errors", row.errors)
                                                  .add("warnings", row.warnings)
                                                  .add("obstacle", row.obstacle)
                                                  .add("findings", findings)
                                                  .text();
  }
  return text + "]\n";
}

} // namespace

int run_check_sites(const std::vector<std::string>& files, std::optional<slurm::Version> version,
                    const std::string& format, const std::string& fail_on, const Context& context) {
  if (files.size() != 1 || files[0].ends_with(".json") || (format != "text" && format != "json")) {
    print_error("--all-sites requires exactly one batch script, and --format text or json",
                "use one script in each call, or hpcml submit --where --all-sites --job FILE for a job file",
                context.colour);
    return k_usage;
  }
  const auto text = read_script_file(files[0] == "-" ? "/dev/stdin" : files[0]);
  if (!text) {
    print_error(text.error(), context.colour);
    return k_invalid_file;
  }
  const auto job = job_of(*text, version.value_or(slurm::k_newest_version));
  std::vector<Row> rows;
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  const auto day = util::today(context.env);
  for (const auto& id : config::list_sites(directories)) {
    auto load = config::load_site(id, directories, embedded::merged_sites());
    if (load.site) load.site = config::as_of(std::move(*load.site), day);
    // A site without known nodes is none to send a job to.
    if (!load.site || load.site->state != model::SiteState::production ||
        load.site->scheduler != model::Scheduler::slurm || load.site->node_types.empty())
      continue;
    rows.push_back(evaluate(files[0], *text, {version, &*load.site}, job));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.violation, a.errors, a.warnings) < std::tie(b.violation, b.errors, b.warnings);
  });
  std::fputs((format == "json" ? render_json(rows) : render_text(rows, *text)).c_str(), stdout);
  const auto count = [&](SiteResult violation) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Row& row) { return row.violation == violation; });
  };
  print_note(
      fmt::format("the script runs unchanged at {} of {} sites, and at {} more after the listed changes",
                  count(SiteResult::runs), rows.size(), count(SiteResult::changes)));
  return count(SiteResult::runs) > 0 || fail_on == "never" ? k_ok : k_findings;
}

} // namespace hpcml::cli
