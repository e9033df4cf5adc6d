// SPDX-License-Identifier: MIT
// Scripts ported and written, for the tests of gen --from.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "generate/import_script/import_script.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_script.hpp"
#include "shipped_site.hpp"

namespace hpcml::test {

/// Sites that the scripts of these tests were written for.
inline const std::vector<model::Site>& catalogue() {
  static const auto c_sites = [] {
    std::vector<model::Site> sites;
    for (const char* id :
         {"lumi", "narval", "vista", "zurada", "juwels_booster", "jupiter", "kempner", "frontier"})
      sites.push_back(shipped_site(id));
    return sites;
  }();
  return c_sites;
}

inline import_script::ImportResult ported(const std::string& text, const std::string& id = "narval",
                                          const import_script::RequestOverrides& chosen = {}) {
  return import_script::import_slurm_script("old.sh", text, shipped_site(id), chosen, catalogue());
}

/// Whether a finding of that code holds the words.
inline bool reports(const import_script::ImportResult& result, const std::string& code,
                    const std::string& words) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const auto& finding) {
    return finding.code == code && finding.message.find(words) != std::string::npos;
  });
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The plan for the other site; its script is render::render_script's.
inline model::Plan planned(const std::string& text, const std::string& id) {
  auto result = ported(text, id);
  for (const auto& finding : result.findings) {
    INFO(finding.message);
    REQUIRE(finding.severity != diag::Severity::error);
  }
  const bool alliance = id == "narval" || id == "rorqual";
  result.job.account = model::Sourced<std::string>{alliance ? "def-me" : "project_1", {}};
  if (!result.job.time) result.job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("10"), {}};
  const auto target = shipped_site(id);
  const auto plan = plan::make_plan(result.job, target);
  for (const auto& finding : plan.diagnostics) UNSCOPED_INFO(finding.message);
  REQUIRE(plan.plan);
  return *plan.plan;
}

inline std::string written(const std::string& text, const std::string& id) {
  return render::render_script(planned(text, id));
}

/// A script with these directives and lines.
inline std::string job(const std::string& directives, const std::string& lines) {
  return "#!/bin/bash\n#SBATCH --time=10 " + directives + "\n" + lines + "\n";
}

} // namespace hpcml::test
