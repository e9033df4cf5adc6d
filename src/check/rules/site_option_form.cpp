// SPDX-License-Identifier: MIT
// Accounts and other names that are not of the form that the site has.
#include <algorithm>
#include <array>

#include "check/site_rule.hpp"
#include "model/pattern.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_option_form {

/// What authors leave for others to fill in: with a value of their own in its place such a script is right.
bool is_placeholder(const std::string& value) {
  static constexpr std::array<std::string_view, 9> k_signs = {"xxx", "<",    "{",          "your",   "change",
                                                              "...", "todo", "project_id", "account"};
  const auto lower = util::to_lower(value);
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](const auto sign) { return lower.find(sign) != std::string::npos; });
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& [name, any] : part.site.flags) {
      const auto value = part.request.text(name);
      const auto& rule = part.flag(name);
      if (value.empty() || !rule.takes()) continue;
      const auto place = part.place({name});
      const auto hint = with_source(
          rule.pattern_hint.empty() ? "" : "write --" + name + "=" + rule.pattern_hint, rule.origin);
      const bool with_gpus = part.fit.facts.gpus; // suffixes tell kinds of GPU apart
      if (!rule.suffix.empty() && with_gpus && !util::ends_with(value, rule.suffix)) {
        Hit hit{place,
                "--" + name + "=" + value + " does not end with " + rule.suffix +
                    (rule.why.empty() ? "" : ": " + rule.why),
                hint};
        hit.severity = diag::Severity::warning; // enough for those who have hours of one kind only
        if (value.find('@') == std::string::npos && !part.fit.nodes.empty())
          hit.fix = replace_in(subject, place, value, value + rule.suffix);
        hits.push_back(std::move(hit));
      }
      // Slurm compares accounts without regard to capitals.
      const bool fits = model::matches_pattern(value, rule.pattern) ||
                        (name == "account" && model::matches_pattern(util::to_lower(value), rule.pattern));
      if (!rule.pattern.empty() && !fits) {
        Hit hit{place,
                "--" + name + "=" + value + " is not what " + part.site.name + " expects" +
                    (rule.why.empty() ? "" : ": " + rule.why),
                hint};
        if (rule.policy != model::Policy::required || is_placeholder(value))
          hit.severity = diag::Severity::warning;
        hits.push_back(std::move(hit));
      }
    }
  return hits;
}

} // namespace site_option_form

Rule rule_site_option_form() {
  using namespace site_option_form;
  return {
      "site/option-form",
      diag::Severity::error,
      "An account of another form",
      "An account that does not exist is refused at submission: invalid account or account/partition "
      "combination. Placeholders left in a script are found so, too.",
      "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/batch-job/",
      {{"#!/bin/bash\n#SBATCH --account=myproject\n#SBATCH -t 10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH --account=project_xxxxxxxxx\n#SBATCH -t 10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=l40s:1\nsrun true\n",
        "vulcan"},
       {"#!/bin/bash\n#SBATCH -A abc\n#SBATCH -t 60\n#SBATCH -p gpu_p6\n#SBATCH -C h100\n#SBATCH "
        "--gres=gpu:1\n#SBATCH --hint=nomultithread\nsrun true\n",
        "jean_zay"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=h100:1\nsrun true\n", "fir"}},
      {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -A abc@h100\n#SBATCH -t 60\n#SBATCH -p gpu_p6\n#SBATCH -C h100\n#SBATCH "
        "--gres=gpu:1\n#SBATCH --hint=nomultithread\nsrun true\n",
        "jean_zay"},
       {"#!/bin/bash\n#SBATCH --account=aip-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=l40s:1\nsrun true\n",
        "vulcan"}},
      find,
      nullptr,
      k_likely_refusal};
}

} // namespace hpcml::check
