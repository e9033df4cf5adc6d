// SPDX-License-Identifier: MIT
// What the job filter of an emulated site rejects, check reports for the same script.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "check/check_script.hpp"
#include "core/config/site_store.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/submitted_job.hpp"
#include "random_numbers.hpp"
#include "samples.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::emulate;

namespace {

/// A job as a script and as Slurm passes it to the filter.
struct DrawnJob {
  std::string script = "#!/bin/bash\n";
  SubmittedFields fields;

  void add(const std::string& option, const std::string& value, const std::string& field,
           const std::string& in_field) {
    script += "#SBATCH --" + option + "=" + value + "\n";
    fields[field] = in_field;
  }
};

void draw_gpus(std::mt19937& random, const model::Site& site, DrawnJob& job) {
  std::vector<std::string> types = {""};
  for (const auto& node : site.node_types)
    if (node.gpu && !node.gpu->slurm_type.empty()) types.push_back(node.gpu->slurm_type + ":");
  const auto& type = types[test::pick(random, 0, static_cast<unsigned>(types.size()) - 1)];
  const auto text = type + std::to_string(test::pick(random, 1, 4));
  if (test::chance(random, 50))
    job.add("gres", "gpu:" + text, "tres_per_node", "gres:gpu:" + text);
  else
    job.add("gpus-per-node", text, "tres_per_node", "gres:gpu:" + text);
}

DrawnJob draw(std::mt19937& random, const model::Site& site) {
  DrawnJob job;
  // Without a partition the emulated cluster has its own default, of which a script shows nothing.
  const auto last = static_cast<unsigned>(site.partitions.size()) - 1;
  const auto& name = site.partitions[test::pick(random, 0, last)].name;
  job.add("partition", name, "partition", name);
  if (test::chance(random, 50)) job.add("account", "project", "account", "project");
  if (test::chance(random, 70)) {
    const auto minutes = std::to_string(test::chance(random, 80) ? 10 : 500000);
    job.add("time", minutes, "time_limit", minutes);
  }
  if (test::chance(random, 50)) {
    job.add("nodes", "1", "min_nodes", "1");
    job.fields["max_nodes"] = "1";
  }
  if (test::chance(random, 50)) job.add("ntasks", "2", "num_tasks", "2");
  if (test::chance(random, 40)) job.add("mem", "4096", "pn_min_memory", "4096");
  if (test::chance(random, 60)) draw_gpus(random, site, job);
  job.script += "true\n";
  job.fields["script"] = job.script;
  return job;
}

/// The rejections by the site's rules; others follow from the size of the emulated cluster.
std::vector<std::string> rejections(const model::Site& site, const ClusterLayout& layout,
                                    const DrawnJob& job) {
  auto list = evaluate_submission(site, layout, job.fields).refusals;
  std::erase_if(list, [](const std::string& sentence) {
    return sentence.starts_with("hint: ") || sentence.find("are not emulated") != std::string::npos ||
           sentence.find("exceed the emulated nodes") != std::string::npos;
  });
  return list;
}

} // namespace

TEST_CASE("check reports what an emulated site rejects") {
  std::mt19937 random(44);
  unsigned rejected = 0;
  for (const auto& id : config::list_sites({})) {
    const auto site = test::shipped_site(id);
    const auto layout = make_cluster_layout(site, {"", 1});
    if (!layout || site.partitions.empty()) continue; // nothing of it can be emulated
    for (unsigned i = 0; i < test::sampled(200); ++i) {
      const auto job = draw(random, site);
      const auto reasons = rejections(site, *layout, job);
      if (reasons.empty()) continue;
      ++rejected;
      const auto findings = check::check_script("job.sh", job.script, {std::nullopt, &site});
      INFO(id << "\n" << job.script << reasons[0]);
      CHECK(std::any_of(findings.begin(), findings.end(), [](const check::Finding& finding) {
        return finding.what.severity != diag::Severity::note;
      }));
    }
  }
  CHECK(rejected > 100);
}
