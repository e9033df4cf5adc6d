// SPDX-License-Identifier: MIT
// `check` and the planner judge alike: what is written for a site is clean there, what steps over one of its
// limits is found.
#include <catch2/catch.hpp>

#include "check/check_script.hpp"
#include "core/config/site_store.hpp"
#include "generate/render/site_cases_helper.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("what is written for a site is clean on it, and a script over a limit of the site is found") {
  unsigned scripts = 0, over = 0, refused = 0;
  Coverage coverage;
  for (const auto& id : config::list_sites({})) {
    const auto site = shipped_site(id);
    if (site.state == model::SiteState::retired || site.scheduler != model::Scheduler::slurm) continue;
    for (const auto& test_case : cases_of(site, refused, coverage)) {
      // A name of the right form that nobody has: only the site's accounting knows.
      if (test_case.over == "wrong account" || (test_case.over == "wrong QoS" && site.qos.empty())) continue;
      bool by_site = false;
      std::string text;
      for (const auto& finding : check::check_script("job.sh", test_case.script, {std::nullopt, &site})) {
        if (finding.what.severity == diag::Severity::note) continue;
        by_site = by_site || finding.what.code.starts_with("site/");
        text += finding.what.code + ": " + finding.what.message + "\n";
      }
      CAPTURE(id, test_case.name, test_case.script, text);
      CHECK(by_site == !test_case.over.empty());
      if (test_case.over.empty()) CHECK(text.empty());
      ++(test_case.over.empty() ? scripts : over);
    }
  }
  CHECK(scripts >= 1000);
  CHECK(over >= 150);
}
