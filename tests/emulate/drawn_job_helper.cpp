// SPDX-License-Identifier: MIT
#include "emulate/drawn_job_helper.hpp"

#include <vector>

#include "random_numbers.hpp"

namespace hpcml::test {
namespace {

void draw_gpus(std::mt19937& random, const model::Site& site, DrawnJob& job) {
  std::vector<std::string> types = {""};
  for (const auto& node : site.node_types)
    if (node.gpu && !node.gpu->slurm_type.empty()) types.push_back(node.gpu->slurm_type + ":");
  const auto& type = types[pick(random, 0, static_cast<unsigned>(types.size()) - 1)];
  const auto text = type + std::to_string(chance(random, 90) ? pick(random, 1, 4) : 99);
  if (chance(random, 50))
    job.add("gres", "gpu:" + text, "tres_per_node", "gres:gpu:" + text);
  else
    job.add("gpus-per-node", text, "tres_per_node", "gres:gpu:" + text);
}

/// Most sites of the profiles are known well enough that 99999 of anything exceeds a limit.
std::string draw_number(std::mt19937& random, const char* usual) {
  return chance(random, 85) ? usual : "99999";
}

} // namespace

void DrawnJob::add(const std::string& option, const std::string& value, const std::string& field,
                   const std::string& in_field) {
  script += "#SBATCH --" + option + "=" + value + "\n";
  fields[field] = in_field;
}

DrawnJob draw_job(std::mt19937& random, const model::Site& site, bool named) {
  DrawnJob job;
  if (named) {
    const auto& name =
        site.partitions[pick(random, 0, static_cast<unsigned>(site.partitions.size()) - 1)].name;
    job.add("partition", name, "partition", name);
  }
  if (chance(random, 50)) job.add("account", "project", "account", "project");
  if (chance(random, 70)) {
    const auto minutes = draw_number(random, chance(random, 70) ? "10" : "2000");
    job.add("time", minutes, "time_limit", minutes);
  }
  if (chance(random, 50)) {
    const auto nodes = std::to_string(pick(random, 1, chance(random, 80) ? 2 : 50));
    job.add("nodes", nodes, "min_nodes", nodes);
    job.fields["max_nodes"] = nodes;
  }
  if (chance(random, 50)) job.add("ntasks", "2", "num_tasks", "2");
  if (chance(random, 40)) {
    const auto memory = draw_number(random, chance(random, 50) ? "4096" : "500000");
    const auto mib = memory == "99999" ? "3000000" : memory; // less than nodes of unknown memory have
    job.add("mem", mib, "pn_min_memory", mib);
  }
  if (chance(random, 60)) draw_gpus(random, site, job);
  job.script += "true\n";
  job.fields["script"] = job.script;
  return job;
}

} // namespace hpcml::test
