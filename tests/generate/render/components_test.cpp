// SPDX-License-Identifier: MIT
// A script of several components against the scripts of each alone, as Slurm reads them.
#include <catch2/catch.hpp>

#include "core/config/site_store.hpp"
#include "core/slurm/job_reading.hpp"
#include "generate/plan/components.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;

namespace {

/// Every option that took effect, by component; not the job's name, which is the first component's.
std::vector<std::map<std::string, std::string>> options_of(const model::Plan& plan) {
  const auto script = render::render_script(plan);
  slurm::LocatedFindings findings("", script);
  const auto read = slurm::read_job(script, slurm::k_newest_version, findings);
  std::vector<std::map<std::string, std::string>> all;
  for (const auto& request : read.requests) {
    auto& options = all.emplace_back();
    for (const auto& [name, setting] : request.settings)
      if (name != "job-name") options[name] = request.text(name);
  }
  return all;
}

model::JobSpec with_nodes(model::JobSpec job, unsigned nodes) {
  job.nodes = model::Sourced<unsigned>{nodes, {model::OriginKind::flag, "--nodes", {}, {}, {}}};
  return job;
}

} // namespace

TEST_CASE("at every site Slurm reads each component as it reads a job of that component alone") {
  unsigned written = 0;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    const auto& site = *load.site;
    std::vector<model::JobSpec> jobs = {with_nodes(test::request_for(site), 1),
                                        with_nodes(test::request_for(site), 2)};
    for (const auto& partition : site.partitions) { // and one elsewhere, where there is a place for it
      auto changed = with_nodes(test::request_for(site), 1);
      changed.partition =
          model::Sourced<std::string>{partition.name, {model::OriginKind::flag, "--partition", {}, {}, {}}};
      if (jobs.size() == 2 && partition.nameable && plan::make_plan(changed, site).plan)
        jobs.push_back(changed);
    }
    const auto result = plan::make_plan(jobs, site);
    if (!result.plan) continue; // no srun, one node, other modules: said
    INFO(id << "\n" << render::render_script(*result.plan));
    const auto together = options_of(*result.plan);
    REQUIRE(together.size() == jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      INFO("component " << i + 1);
      const auto alone = plan::make_plan(jobs[i], site);
      REQUIRE(alone.plan);
      CHECK(together[i] == options_of(*alone.plan).front());
    }
    CHECK(test::script_faults(render::render_script(*result.plan)).empty());
    ++written;
  }
  CHECK(written >= 25);
}
