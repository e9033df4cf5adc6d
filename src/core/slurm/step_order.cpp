// SPDX-License-Identifier: MIT
#include "core/slurm/step_order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/model/hostlist.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

using util::Error;
using util::Result;

namespace {

std::string of_component(const util::EnvSnapshot& env, const char* name, unsigned long long component) {
  return env.get_or(std::string(name) + "_HET_GROUP_" + std::to_string(component), "");
}

/// Components of the job that these variables describe; 0 where it is not the job of this task.
unsigned long long component_count(const util::EnvSnapshot& env) {
  constexpr unsigned long long k_most = 1000;
  const auto first = of_component(env, "SLURM_JOB_ID", 0), job = env.get_or("SLURM_JOB_ID", "");
  if (!first.empty() && !job.empty() && first != job) return 0;
  return std::min(k_most, util::parse_unsigned(env.get_or("SLURM_HET_SIZE", "")).value_or(0));
}

std::vector<std::string> nodes_of_component(const util::EnvSnapshot& env, unsigned long long component) {
  const auto list = model::Hostlist::parse(of_component(env, "SLURM_JOB_NODELIST", component));
  return list ? list->names() : std::vector<std::string>();
}

/// The first component's own job, whose step has task 0.
std::string job_of_first_task(const util::EnvSnapshot& env, const std::vector<std::string>& nodes) {
  for (unsigned long long component = 0; component < component_count(env); ++component)
    for (const auto& name : nodes_of_component(env, component))
      if (std::find(nodes.begin(), nodes.end(), name) != nodes.end())
        return of_component(env, "SLURM_JOB_ID", component);
  return {};
}

} // namespace

void put_components_in_order(const util::EnvSnapshot& env, StepTaskPosition& layout) {
  if (component_count(env) == 0) return; // the usual step: its ten thousand nodes are not listed again
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) places.emplace(layout.nodes[i], i);
  if (places.size() != layout.nodes.size() || layout.tasks_per_node.size() != layout.nodes.size()) return;
  std::vector<std::string> nodes;
  std::vector<unsigned> counts;
  for (unsigned long long component = 0; component < component_count(env); ++component)
    for (const auto& name : nodes_of_component(env, component))
      if (const auto place = places.find(name); place != places.end()) {
        nodes.push_back(name);
        counts.push_back(layout.tasks_per_node[place->second]);
        places.erase(place);
      }
  if (!places.empty()) return;
  layout.nodes = std::move(nodes);
  layout.tasks_per_node = std::move(counts);
}

bool spans_components(const util::EnvSnapshot& env, const StepTaskPosition& layout) {
  unsigned count = 0;
  for (unsigned long long component = 0; component < component_count(env); ++component) {
    const auto mine = nodes_of_component(env, component);
    count += std::any_of(mine.begin(), mine.end(), [&](const std::string& name) {
      return std::find(layout.nodes.begin(), layout.nodes.end(), name) != layout.nodes.end();
    });
  }
  return count > 1;
}

std::vector<std::string> read_host_file(std::string_view text) {
  constexpr std::size_t k_most = 10000000;
  std::vector<std::string> hosts;
  for (const auto& whole : util::split(std::string(text), '\n')) {
    const auto line = std::string(util::trim(whole.substr(0, whole.find('#'))));
    if (line.empty()) continue;
    if (line.find('[') != std::string::npos) {
      const auto list = model::Hostlist::parse(line);
      if (!list) return {};
      hosts.insert(hosts.end(), list->names().begin(), list->names().end());
      continue;
    }
    for (const auto& word : util::split(line, ',')) {
      const auto star = word.find('*');
      const auto times = star == std::string::npos ? std::optional(1ULL)
                                                   : util::parse_unsigned(util::trim(word.substr(star + 1)));
      if (!times || *times > k_most - hosts.size()) return {};
      hosts.insert(hosts.end(), static_cast<std::size_t>(*times),
                   std::string(util::trim(word.substr(0, star))));
    }
  }
  return hosts;
}

Result<StepNodes> parse_step_nodes(std::string_view text) {
  StepNodes nodes;
  for (const auto& whole : util::split(std::string(text), '\n')) {
    // "Node 1 (nid002), 2 task(s): 0 3": the task numbers of each component of a step begin at 0.
    const std::string line(util::trim(whole));
    if (!line.starts_with("Node ")) continue;
    const auto open = line.find('('), close = line.find("), "), colon = line.find(": ", close);
    if (open == std::string::npos || close == std::string::npos)
      return Error{fmt::format("sattach --layout printed '{}', which does not name a node", line),
                   "run sattach --layout JOB.STEP, and report its output as a bug in hpcml"};
    const auto count = util::parse_unsigned(line.substr(close + 3, line.find(' ', close + 3) - close - 3));
    if (!count || *count > 10000000)
      return Error{fmt::format("sattach --layout printed '{}', which has no number of tasks", line),
                   "run sattach --layout JOB.STEP, and report its output as a bug in hpcml"};
    nodes.names.push_back(line.substr(open + 1, close - open - 1));
    nodes.tasks.push_back(static_cast<unsigned>(*count));
    if (!nodes.first.empty() || colon == std::string::npos) continue;
    const auto numbers = util::split(line.substr(colon + 2), ' ');
    if (std::find(numbers.begin(), numbers.end(), "0") != numbers.end()) nodes.first = nodes.names.back();
  }
  if (nodes.first.empty())
    return Error{"sattach --layout does not list task 0 of the step",
                 "run sattach --layout JOB.STEP to see its whole output"};
  return nodes;
}

Result<StepNodes> ask_step_nodes(const util::EnvSnapshot& env) {
  const auto list = model::Hostlist::parse(env.get_or("SLURM_STEP_NODELIST", ""));
  auto job = list ? job_of_first_task(env, list->names()) : std::string();
  if (job.empty()) job = env.get_or("SLURM_JOB_ID", "");
  const auto step = env.get_or("SLURM_STEP_ID", "");
  if (job.empty() || step.empty())
    return Error{"SLURM_JOB_ID or SLURM_STEP_ID is not set, so sattach cannot list the nodes of the step",
                 "use srun to start hpcml launch, and keep Slurm's variables"};
  const auto answer =
      LiveCommands(env, std::chrono::seconds(60)).ask({"sattach", "--layout", job + "." + step});
  if (!answer.ok())
    return Error{fmt::format("sattach --layout {}.{} failed: {}", job, step, answer.why_not),
                 "check that the commands of Slurm work on this node"};
  auto nodes = parse_step_nodes(answer.output.out);
  if (!nodes) return util::with_context(nodes.error(), answer.command());
  return nodes;
}

} // namespace hpcml::slurm
