// SPDX-License-Identifier: MIT
// Options that the site refuses.
#include "check/site_options.hpp"
#include "check/site_rule.hpp"
#include <algorithm>

namespace hpcml::check {
namespace site_option_refused {

/// Whether --gres asks for nothing but GPUs. An empty value and "none" have no items.
bool is_for_gpus_only(const slurm::JobOptions& request) {
  const auto items = request.gres.find("gres");
  return items == request.gres.end() || std::all_of(items->second.begin(), items->second.end(),
                                                    [](const auto& item) { return item.name == "gpu"; });
}

/// Whether the job gets the same without it.
bool is_idle(const ComponentSiteEvaluation& part, const std::string& name) {
  if (name == "mem") return true;
  const bool for_gpus = name == "gres" ? is_for_gpus_only(part.request)
                                       : name == "gpus" || name == "gpus-per-node" || name == "gpus-per-task";
  return (for_gpus && part.site.gpu_request.style == model::GpuOptionStyle::none) ||
         (name == "export" && part.request.text(name) == "ALL");
}

/// The same request in the form that the site takes; none where it is not the same.
std::vector<Edit> in_other_words(const LintContext& subject, const ComponentSiteEvaluation& part,
                                 const std::string& name) {
  if (is_idle(part, name)) return remove_option(subject, part.place({name}));
  const auto value = part.request.text(name);
  const bool one_type = value.find(',') == std::string::npos;
  const bool same =
      name == "gpus-per-node" || (name == "gpus" && part.size.nodes_given && part.demand.nodes == 1);
  const auto place = part.place({name});
  if (!same || !one_type || part.site.gpu_request.style != model::GpuOptionStyle::gres ||
      part.request.has("gres") || remove_option(subject, place).empty())
    return {};
  return {{place.offset, place.length, "--gres=gpu:" + value}};
}

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (part.request.has(violation.name))
    match.fix = in_other_words(subject, part, violation.name);
  else
    match.place = plugin_word(subject.header, violation.name);
  return true;
}

} // namespace site_option_refused

Rule rule_site_option_refused() {
  using namespace site_option_refused;
  return {
      .id = "site/option-refused",
      .severity = diag::Severity::error,
      .title = "Option that the site rejects",
      .why = "Sites check jobs at submission and refuse options that do not suit their machine; what works "
             "elsewhere is rejected here.",
      .link = "https://slurm.schedmd.com/job_submit_plugins.html",
      .bad = {R"(#!/bin/bash
#SBATCH -p gh
#SBATCH -N1
#SBATCH --ntasks-per-node=1
#SBATCH -t 10
#SBATCH --mem=100G
ibrun true
)",
              "vista"},
      .good = {R"(#!/bin/bash
#SBATCH -p gh
#SBATCH -N1
#SBATCH --ntasks-per-node=1
#SBATCH -t 10
ibrun true
)",
               "vista"},
      .find =
          [](const LintContext& subject) {
            return match_violations(subject, "site/option-refused", complete);
          },
  };
}

} // namespace hpcml::check
