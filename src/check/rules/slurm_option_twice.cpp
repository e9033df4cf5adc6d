// SPDX-License-Identifier: MIT
// An option that is given twice with different values.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_option_twice {

/// Options whose values add up.
bool adds_up(std::string_view option) { return option == "verbose" || option == "export-file"; }

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (std::size_t c = 0; c < subject.settings.size(); ++c) {
    const auto& settings = subject.settings[c];
    // A component starts with what the one before it had; to override that is not a typo.
    std::size_t begin = 0;
    for (const auto& directive : subject.header.directives)
      if (directive.component == c && !directive.words.empty()) {
        begin = directive.words.front().place.offset;
        break;
      }
    // The next setting of the same option after each.
    std::vector<const slurm::OptionSetting*> nexts(settings.size());
    std::map<std::string_view, const slurm::OptionSetting*> seen;
    for (std::size_t i = settings.size(); i-- > 0;) {
      if (settings[i].place.length == 0) continue;
      auto& later = seen[settings[i].option];
      nexts[i] = std::exchange(later, &settings[i]);
    }
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const auto& setting = settings[i];
      if (setting.place.length == 0 || setting.place.offset < begin || adds_up(setting.option) ||
          subject.text.substr(setting.place.offset, 1) != "-")
        continue;
      if (!nexts[i] || nexts[i]->value == setting.value) continue;
      // Up to 24.11 the events of all --mail-type add up.
      const bool mail = setting.option == "mail-type";
      if (mail && !subject.may_be("25.05-")) continue;
      if (mail) {
        hits.push_back({setting.place,
                        "--mail-type is set again below: Slurm 25.05 and later uses only the last one, "
                        "earlier versions joined them",
                        "use one option: --mail-type=A,B",
                        {},
                        subject.version_known ? std::nullopt : std::optional(diag::Severity::note)});
        continue;
      }
      hits.push_back(
          {setting.place,
           fmt::format("--{} is set again below with another value, so this one has no effect",
                       setting.option),
           setting.option == "gres" ? "use one option for both: --gres=A,B" : "remove one of them"});
    }
  }
  return hits;
}

} // namespace slurm_option_twice

Rule rule_slurm_option_twice() {
  using namespace slurm_option_twice;
  return {
      .id = "slurm/option-twice",
      .severity = diag::Severity::warning,
      .title = "Option given twice",
      .why = "The last one wins silently, wherever the first one is: also --gres=gpu:4 followed by "
             "--gres=nvme:100 leaves no GPU.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH --nodes=4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
