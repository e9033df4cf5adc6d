// SPDX-License-Identifier: MIT
// A request for GPUs or other generic resources that sbatch cannot read.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/value_fix.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_gres {

/// "gpu=4", "gres/gpu:4", "gres:gpu:4".
std::optional<std::string> respell(std::string_view value) {
  std::string text(value);
  for (const std::string_view head : {"gres/", "gres:"})
    if (text.starts_with(head)) text.erase(0, head.size());
  std::replace(text.begin(), text.end(), '=', ':');
  return text == value ? std::nullopt : std::optional(text);
}

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  return fix_value(subject, place, respell);
}

/// Signs that sbatch lets pass and the controller then refuses as part of a name.
bool is_odd(const slurm::GresItem& item) {
  return item.name.find_first_of("=/") != std::string::npos || item.name == "gres" ||
         item.type.find('=') != std::string::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests) {
    const auto gres = request.gres.find("gres");
    if (gres == request.gres.end() || request.place("gres").length == 0) continue;
    for (const auto& item : gres->second)
      if (is_odd(item)) {
        const auto place = request.place("gres");
        const auto text = request.text("gres");
        const auto respelled = respell(text);
        const auto at = subject.text.substr(place.offset, place.length).find(text);
        std::vector<Edit> edits;
        if (respelled && at != std::string_view::npos)
          edits.push_back({place.offset + at, text.size(), *respelled});
        hits.push_back({place,
                        fmt::format("this Slurm has no resource '{}{}'", item.name,
                                    item.type.empty() ? "" : ":" + item.type),
                        "use NAME[:TYPE]:NUMBER, for example gpu:4", std::move(edits)});
        break;
      }
  }
  return hits;
}

} // namespace slurm_gres

Rule rule_slurm_gres() {
  using namespace slurm_gres;
  return {
      .id = "slurm/gres",
      .severity = diag::Severity::error,
      .title = "Invalid GPU request",
      .why =
          "--gres takes NAME[:TYPE]:COUNT; --gpus and its kin take [TYPE:]COUNT without the name. gpu=4 and "
          "gres/gpu:4 are known "
          "from 23.11 only. What cannot be read is fatal: \"Invalid generic resource (gres) specification\".",
      .link = "https://slurm.schedmd.com/gres.html",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu=4
)",
              "", "22.05"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:4
)"},
      .find = find,
      .fix = fix,
  };
}

} // namespace hpcml::check
