// SPDX-License-Identifier: MIT
#include "run/launch/step_model_helper.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

#include "core/util/text.hpp"

namespace hpcml::testing {

namespace {

using Names = std::vector<std::string>;

/// Returns the value of "-N4", "-m cyclic" or "--het-group=0,1" in a line; empty if the option is missing.
std::string option(const std::string& line, const std::string& name) {
  std::smatch found;
  const bool is_long = name.starts_with("--");
  const std::regex pattern("(?:^| )" + name + (is_long ? "=" : " ?") + "([^ ;']+)");
  return std::regex_search(line, found, pattern) ? found[1].str() : std::string();
}

unsigned number_option(const std::string& line, const std::string& name, unsigned fallback) {
  const auto text = option(line, name);
  return text.empty() ? fallback : static_cast<unsigned>(std::stoul(text));
}

Names split_by(const std::string& text, const std::string& separator) {
  Names parts;
  std::size_t at = 0;
  for (auto end = text.find(separator); end != std::string::npos; end = text.find(separator, at)) {
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

/// The nodes of the step of one component: named ones, then others that are not excluded.
Names choose_nodes(const std::string& line, const Names& job) {
  const auto count = number_option(line, "-N", 1);
  auto nodes = util::split(option(line, "-w"), ',');
  nodes.erase(std::remove(nodes.begin(), nodes.end(), std::string()), nodes.end());
  const auto excluded = util::split(option(line, "-x"), ',');
  for (std::size_t i = number_option(line, "-r", 0); i < job.size() && nodes.size() < count; ++i)
    if (!util::contains(nodes, job[i]) && !util::contains(excluded, job[i])) nodes.push_back(job[i]);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// The host of each task.
Names distribute(const std::string& line, const Names& nodes, unsigned tasks) {
  const auto distribution = option(line, "-m");
  const auto count = static_cast<unsigned>(nodes.size());
  Names hosts;
  for (unsigned task = 0; task < tasks; ++task) {
    if (distribution.starts_with("cyclic"))
      hosts.push_back(nodes[task % count]);
    else if (distribution.starts_with("plane"))
      hosts.push_back(nodes[task / static_cast<unsigned>(std::stoul(distribution.substr(6))) % count]);
    else // blocks as even as possible, the first ones larger
      hosts.push_back(
          nodes[task < tasks % count * (tasks / count + 1) ? task / (tasks / count + 1)
                                                           : (task - tasks % count) / (tasks / count)]);
  }
  return hosts;
}

/// One component of a step.
struct Component {
  Names nodes; ///< with tasks, by their names
  Names hosts; ///< of each task
};

Component make_component(const std::string& line, const Names& job, const Names& hosts, unsigned tasks) {
  Component component;
  component.hosts = hosts.empty() ? distribute(line, choose_nodes(line, job), tasks) : hosts;
  component.nodes = component.hosts;
  std::sort(component.nodes.begin(), component.nodes.end());
  component.nodes.erase(std::unique(component.nodes.begin(), component.nodes.end()), component.nodes.end());
  return component;
}

std::string counts_of(const Names& nodes, const Names& hosts) {
  Names counts;
  for (const auto& node : nodes)
    counts.push_back(std::to_string(std::count(hosts.begin(), hosts.end(), node)));
  return util::join(counts, ",");
}

/// Nodes and tasks of all components.
struct StepShape {
  Names nodes;        ///< by their numbers
  Names hosts;        ///< of each task
  bool apart = false; ///< srun A : B in one job: each component has a step daemon of its own
};

StepShape shape_of(const std::vector<Names>& job, const DrawnLayout& layout, const std::string& line) {
  const auto parts = split_by(line, " : ");
  const auto groups = option(parts.front(), "--het-group");
  std::vector<Component> components;
  if (groups.empty()) {
    for (const auto& part : parts)
      components.push_back(
          make_component(part, job.front(), layout.hosts, number_option(part, "-n", layout.tasks)));
  } else {
    std::map<unsigned, Component> by_group; // Slurm numbers them in the job's order
    for (const auto& part : parts)
      for (const auto& group : util::split(option(part, "--het-group"), ',')) {
        const auto index = static_cast<unsigned>(std::stoul(group));
        by_group[index] = make_component(part, job[index], {}, number_option(part, "-n", 1));
      }
    for (const auto& [index, component] : by_group) components.push_back(component);
  }
  StepShape shape;
  shape.apart = groups.empty() && components.size() > 1;
  for (const auto& component : components) {
    shape.nodes.insert(shape.nodes.end(), component.nodes.begin(), component.nodes.end());
    shape.hosts.insert(shape.hosts.end(), component.hosts.begin(), component.hosts.end());
  }
  return shape;
}

/// The text that the line writes to its file of hosts.
std::string host_file_of(const std::string& line) {
  const auto begin = line.find("printf '");
  if (begin == std::string::npos) return {};
  return util::replace_all(line.substr(begin + 8, line.find('\'', begin + 8) - begin - 8), "\\n", "\n");
}

/// The variables that all tasks of the step get.
util::EnvSnapshot common_variables(const std::vector<Names>& job, const StepShape& shape,
                                   const std::string& line, unsigned number) {
  auto sorted = shape.nodes;
  std::sort(sorted.begin(), sorted.end());
  const auto tasks = std::to_string(shape.hosts.size());
  util::EnvSnapshot env({{"SLURM_JOB_ID", "12"},
                         {"SLURM_STEP_ID", std::to_string(number)},
                         {"SLURM_JOB_NODELIST", util::join(job.front(), ",")},
                         {"SLURM_JOB_NUM_NODES", std::to_string(job.front().size())},
                         {"SLURM_STEP_NODELIST", util::join(sorted, ",")},
                         {"SLURM_STEP_NUM_TASKS", tasks},
                         {"SLURM_NTASKS", tasks},
                         {"SLURM_STEP_TASKS_PER_NODE", counts_of(sorted, shape.hosts)}});
  const bool has_file = line.find("SLURM_HOSTFILE=") != std::string::npos;
  const auto distribution = option(line, "-m");
  env.set("SLURM_DISTRIBUTION", !distribution.empty() ? distribution : has_file ? "arbitrary" : "block");
  if (has_file) env.set("SLURM_HOSTFILE", "./hosts");
  for (std::size_t i = 0; job.size() > 1 && i < job.size(); ++i) {
    const auto group = "_HET_GROUP_" + std::to_string(i);
    env.set("SLURM_HET_SIZE", std::to_string(job.size()));
    env.set("SLURM_JOB_ID" + group, std::to_string(12 + i));
    env.set("SLURM_JOB_NODELIST" + group, util::join(job[i], ","));
  }
  return env;
}

} // namespace

ModelledStep model_step(const DrawnJob& job, const DrawnLayout& layout, unsigned number) {
  std::vector<Names> nodes;
  for (const auto& part : split_by(job.request, " : ")) nodes.push_back(util::split(option(part, "-w"), ','));
  ModelledStep step;
  std::string line = layout.line;
  step.host_file = host_file_of(line);
  if (line.starts_with("echo '[ $RANK != 0 ] || ")) {
    step.is_nested = true;
    line = line.substr(24, line.find("' > ") - 24);
  }
  const auto shape = shape_of(nodes, layout, line);
  if (shape.hosts.size() != layout.tasks) throw std::runtime_error("no model of: " + layout.line);
  step.ancestors = {shape.apart ? "slurmstepd: [12.1+1]" : "slurmstepd: [12.1]"};
  step.nodes = {shape.nodes, {}, shape.hosts.front()};
  for (const auto& node : shape.nodes)
    step.nodes.tasks.push_back(
        static_cast<unsigned>(std::count(shape.hosts.begin(), shape.hosts.end(), node)));
  const auto common = common_variables(nodes, shape, line, number);
  std::map<std::string, Names> tasks_of;
  for (unsigned rank = 0; rank < shape.hosts.size(); ++rank)
    tasks_of[shape.hosts[rank]].push_back(std::to_string(rank));
  std::map<std::string, unsigned> next;
  for (unsigned rank = 0; rank < shape.hosts.size(); ++rank) {
    const auto& host = shape.hosts[rank];
    ModelledTask task{rank, next[host]++, static_cast<unsigned>(tasks_of[host].size()), 0, host, common};
    task.node_rank =
        static_cast<unsigned>(std::find(shape.nodes.begin(), shape.nodes.end(), host) - shape.nodes.begin());
    task.env.set("SLURM_PROCID", std::to_string(rank));
    task.env.set("SLURM_LOCALID", std::to_string(task.local_rank));
    task.env.set("SLURM_NODEID", std::to_string(task.node_rank));
    task.env.set("SLURM_GTIDS", util::join(tasks_of[host], ","));
    task.env.set("SLURMD_NODENAME", host);
    step.tasks.push_back(std::move(task));
  }
  return step;
}

} // namespace hpcml::testing
