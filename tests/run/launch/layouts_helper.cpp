// SPDX-License-Identifier: MIT
#include "run/launch/layouts_helper.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "core/util/text.hpp"

namespace hpcml::testing {

namespace {

constexpr unsigned k_nodes = 6;
const std::string k_rank = " $H launch --bind none -- ./show.sh";

std::string node_name(unsigned number) { return "node00" + std::to_string(number); }

/// Draws that are the same on every machine.
class Dice {
public:
  explicit Dice(unsigned seed) : x_engine(seed) {}
  /// From `low` to `high`.
  unsigned number(unsigned low, unsigned high) {
    return low + static_cast<unsigned>(x_engine() % (high - low + 1));
  }
  bool once_in(unsigned times) { return number(1, times) == 1; }
  std::string one_of(const std::vector<std::string>& words) {
    return words[number(0, static_cast<unsigned>(words.size()) - 1)];
  }
  template <class Item> std::vector<Item> some(std::vector<Item> items, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      std::swap(items[i], items[number(i, static_cast<unsigned>(items.size()) - 1)]);
    items.resize(count);
    return items;
  }

private:
  std::mt19937 x_engine;
};

std::vector<std::string> numbered_nodes(unsigned first, unsigned last) {
  std::vector<std::string> names;
  for (unsigned number = first; number <= last; ++number) names.push_back(node_name(number));
  return names;
}

/// The options of a step on some of `nodes` (names in the job), and its tasks.
struct DrawnStep {
  std::string options;
  unsigned nodes = 1;
  unsigned tasks = 1;
};

std::string draw_nodes(Dice& dice, const std::vector<std::string>& nodes, unsigned count) {
  const auto all = static_cast<unsigned>(nodes.size());
  const std::string plain = " -N" + std::to_string(count);
  switch (dice.number(0, 4)) {
  case 0: return plain + " -w " + util::join(dice.some(nodes, count), ",");
  case 1: return plain + " -w " + util::join(dice.some(nodes, dice.number(1, count)), ",");
  case 2: return plain + " -r" + std::to_string(dice.number(0, all - count));
  case 3:
    if (count < all) return plain + " -x " + util::join(dice.some(nodes, dice.number(1, all - count)), ",");
    break;
  default: break;
  }
  return plain;
}

DrawnStep draw_step(Dice& dice, const std::vector<std::string>& nodes) {
  DrawnStep step;
  step.nodes = dice.number(1, static_cast<unsigned>(nodes.size()));
  step.options = draw_nodes(dice, nodes, step.nodes);
  if (dice.once_in(3)) {
    const unsigned per_node = dice.number(1, 3);
    step.tasks = step.nodes * per_node;
    step.options += " --ntasks-per-node=" + std::to_string(per_node);
  } else {
    step.tasks = dice.number(step.nodes, std::min(12U, step.nodes * 4));
  }
  step.options += " -n" + std::to_string(step.tasks);
  if (dice.once_in(4)) step.options += " -c" + std::to_string(dice.number(1, 2));
  step.options += dice.one_of({"", "", " -m block", " -m cyclic", " -m cyclic", " -m plane=1", " -m plane=2",
                               " -m plane=3", " -m block:cyclic", " -m cyclic:block", " -m cyclic:fcyclic",
                               " -m block,Pack", " -m block,NoPack"});
  return step;
}

/// Whether the step shares the job's CPUs with others, and what changes no layout.
std::string draw_manner(Dice& dice, DrawnLayout& layout) {
  layout.alone = dice.once_in(5);
  return std::string(layout.alone ? "" : " --overlap") +
         dice.one_of({"", "", "", " -E", " --mpi=pmi2", " --cpu-bind=none", " --kill-on-bad-exit=1", " -u"});
}

DrawnLayout draw_plain(Dice& dice, const std::vector<std::string>& nodes) {
  DrawnLayout layout;
  const auto step = draw_step(dice, nodes);
  layout.tasks = step.tasks;
  layout.line = "srun -l" + draw_manner(dice, layout) + step.options;
  layout.line += dice.once_in(4) ? " sh -c '$H launch --bind none -- ./show.sh; exit $?'" : k_rank;
  return layout;
}

/// Hosts in the words of a file for SLURM_HOSTFILE.
std::string draw_host_file(Dice& dice, const std::vector<std::string>& hosts) {
  const unsigned form = dice.number(0, 3);
  if (form == 0) return util::join(hosts, ",") + "\\n";
  std::string text = form == 1 ? "# the nodes\\n" : "";
  for (std::size_t i = 0; i < hosts.size();) {
    std::size_t end = i + 1;
    while (form == 2 && end < hosts.size() && hosts[end] == hosts[i]) ++end;
    text += hosts[i] + (end > i + 1 ? "*" + std::to_string(end - i) : "") + "\\n";
    i = end;
  }
  return text;
}

DrawnLayout draw_arbitrary(Dice& dice, const std::vector<std::string>& nodes, const std::string& name) {
  DrawnLayout layout;
  auto some = dice.some(nodes, dice.number(1, static_cast<unsigned>(nodes.size())));
  layout.hosts = some;
  const bool starts = dice.once_in(4);
  while (!starts && layout.hosts.size() < 10 && !dice.once_in(4)) layout.hosts.push_back(dice.one_of(some));
  layout.tasks = static_cast<unsigned>(layout.hosts.size());
  const auto list = util::join(layout.hosts, ",");
  const std::string file = "./hosts-" + name + "-$SLURM_ARRAY_TASK_ID";
  const std::string write = "printf '" + draw_host_file(dice, layout.hosts) + "' > " + file + "; ";
  const std::string count = " -n" + std::to_string(layout.tasks);
  const auto manner = draw_manner(dice, layout);
  switch (dice.number(0, 3)) {
  case 0: layout.line = "srun -l" + manner + count + " -m arbitrary -w " + list; break;
  case 1: layout.line = write + "srun -l" + manner + count + " -m arbitrary -F " + file; break;
  case 2: // a file that this step does not use
    layout.line = "printf '" + nodes.front() + "\\n" + nodes.back() + "\\n' > " + file +
                  "; SLURM_HOSTFILE=" + file + " srun -l" + manner + count + " -m arbitrary -w " + list;
    break;
  default: layout.line = write + "SLURM_HOSTFILE=" + file + " srun -l" + manner + count; break;
  }
  if (starts) {
    layout.per_task = dice.number(1, 3);
    layout.line += " $H launch --nproc-per-node " + std::to_string(layout.per_task) + " -- ./show.sh";
  } else {
    layout.line += k_rank;
  }
  return layout;
}

/// One task per node that starts the node's ranks.
DrawnLayout draw_spawn(Dice& dice, const std::vector<std::string>& nodes) {
  DrawnLayout layout;
  layout.tasks = dice.number(1, static_cast<unsigned>(nodes.size()));
  layout.per_task = dice.number(1, 3);
  layout.line = "srun -l" + draw_manner(dice, layout) + draw_nodes(dice, nodes, layout.tasks) + " -n" +
                std::to_string(layout.tasks) +
                " --ntasks-per-node=1 $H launch --bind none --nproc-per-node " +
                std::to_string(layout.per_task) + " -- ./show.sh";
  return layout;
}

/// A step that a rank of another one starts.
DrawnLayout draw_nested(Dice& dice, const std::vector<std::string>& nodes, const std::string& name) {
  DrawnLayout layout;
  const auto step = draw_step(dice, nodes);
  layout.tasks = step.tasks;
  std::string inner = "srun -l --overlap" + step.options;
  if (inner.find(" -m ") == std::string::npos) inner += " -m block"; // else the outer step's
  const bool starts = dice.once_in(3) && inner.find("--ntasks-per-node=1 ") != std::string::npos;
  if (starts) layout.per_task = 2;
  inner += starts ? " $H launch --bind none --nproc-per-node 2 -- ./show.sh" : k_rank;
  const std::string outer = dice.once_in(2) ? " -N2 -n2 --ntasks-per-node=1" : " -N1 -n1";
  const std::string several = dice.once_in(2) ? " --nproc-per-node 2" : "";
  // In a file of its own: launch reads the words of a command, and refuses one that starts tasks in each
  // rank.
  const std::string file = "./nested-" + name + "-$SLURM_ARRAY_TASK_ID";
  layout.line = "echo '[ $RANK != 0 ] || " + inner + "' > " + file + "; srun --overlap" + outer +
                " -m block $H launch --bind none" + several + " -- sh " + file + " | sed 's/^\\[0\\] //'";
  return layout;
}

/// Components of one step in a plain job.
DrawnLayout draw_step_components(Dice& dice, const std::vector<std::string>& nodes) {
  DrawnLayout layout;
  const unsigned parts = dice.number(2, std::min<unsigned>(3, static_cast<unsigned>(nodes.size())));
  auto left = dice.some(nodes, static_cast<unsigned>(nodes.size()));
  layout.alone = true; // components of a step do not overlap
  for (unsigned part = 0; part < parts; ++part) {
    const auto free = static_cast<unsigned>(left.size()) - (parts - part - 1);
    const auto mine = dice.number(1, std::min(2U, free));
    const unsigned tasks = dice.number(mine, mine * 3);
    layout.tasks += tasks;
    layout.line += (part == 0 ? "srun -l -N" : " : -N") + std::to_string(mine) + " -n" +
                   std::to_string(tasks) + " -w " +
                   util::join(std::vector<std::string>(left.begin(), left.begin() + mine), ",") +
                   " $H launch --bind none -- ./late.sh";
    left.erase(left.begin(), left.begin() + mine);
  }
  return layout;
}

/// mpirun, in blocks, round the nodes, or so many on each.
DrawnLayout draw_mpi(Dice& dice, unsigned nodes) {
  DrawnLayout layout;
  layout.mpi = true;
  layout.alone = true;
  const unsigned each = dice.number(1, 3);
  layout.tasks = dice.number(1, nodes * 3);
  const auto how = dice.one_of({"slot", "node", "node", "ppr:" + std::to_string(each) + ":node"});
  if (how[0] == 'p') layout.tasks = nodes * each;
  layout.line = "mpirun --allow-run-as-root --bind-to none --tag-output --map-by " + how + " -np " +
                std::to_string(layout.tasks) + k_rank;
  return layout;
}

DrawnLayout draw_in_plain_job(Dice& dice, const std::vector<std::string>& nodes, const std::string& name,
                              bool with_mpi) {
  const unsigned kind = dice.number(0, 19);
  if (kind < 4) return draw_arbitrary(dice, nodes, name);
  if (kind < 6) return draw_spawn(dice, nodes);
  if (kind < 8) return draw_nested(dice, nodes, name);
  if (kind < 10 && nodes.size() > 1) return draw_step_components(dice, nodes);
  if (kind < 11 && with_mpi) return draw_mpi(dice, static_cast<unsigned>(nodes.size()));
  return draw_plain(dice, nodes);
}

/// A step over some components of a job.
DrawnLayout draw_over_components(Dice& dice, const std::vector<std::vector<std::string>>& components) {
  DrawnLayout layout;
  std::vector<unsigned> groups(components.size());
  std::iota(groups.begin(), groups.end(), 0U);
  groups = dice.some(groups, dice.number(1, static_cast<unsigned>(groups.size())));
  if (dice.once_in(2)) { // each with options of its own
    for (const auto group : groups) {
      auto step = draw_step(dice, components[group]);
      if (step.options.find(" -r") != std::string::npos) // refused beside another component's -x
        step.options.erase(step.options.find(" -r"), 4);
      layout.line += (layout.line.empty() ? "srun -l" : " :") + std::string(" --overlap --het-group=") +
                     std::to_string(group) + step.options + k_rank;
      layout.tasks += step.tasks;
    }
    return layout;
  }
  std::vector<std::string> names;
  std::size_t smallest = k_nodes;
  for (const auto group : groups) {
    names.push_back(std::to_string(group));
    smallest = std::min(smallest, components[group].size());
  }
  const unsigned nodes = dice.number(1, static_cast<unsigned>(smallest));
  const bool starts = dice.once_in(4);
  const unsigned tasks = starts ? nodes : dice.number(nodes, nodes * 3);
  layout.tasks = tasks * static_cast<unsigned>(groups.size());
  if (starts) layout.per_task = 2;
  layout.line = "srun -l --overlap --het-group=" + util::join(names, ",") + " -N" + std::to_string(nodes) +
                " -n" + std::to_string(tasks) + dice.one_of({"", " -m cyclic", " -m plane=2"}) +
                (starts ? " --ntasks-per-node=1 $H launch --nproc-per-node 2 -- ./show.sh" : k_rank);
  return layout;
}

DrawnJob draw_components_job(Dice& dice, unsigned count) {
  DrawnJob job;
  job.script = dice.once_in(2);
  const unsigned parts = dice.number(2, 3);
  std::vector<std::vector<std::string>> components;
  auto left = dice.some(numbered_nodes(1, k_nodes), k_nodes);
  for (unsigned part = 0; part < parts; ++part) {
    const auto mine = dice.number(1, part + 1 == parts ? static_cast<unsigned>(left.size()) : 2);
    components.emplace_back(left.begin(), left.begin() + mine);
    std::sort(components.back().begin(), components.back().end());
    left.erase(left.begin(), left.begin() + mine);
    job.request += (part == 0 ? " " : " : ") + std::string("--exclusive -N") + std::to_string(mine) + " -w " +
                   util::join(components.back(), ",");
  }
  for (unsigned i = 0; i < count; ++i) job.layouts.push_back(draw_over_components(dice, components));
  return job;
}

} // namespace

std::vector<DrawnJob> draw_layouts(unsigned seed, unsigned count, bool with_mpi) {
  Dice dice(seed);
  std::vector<DrawnJob> jobs;
  unsigned drawn = 0;
  while (drawn < count) {
    const unsigned kind = static_cast<unsigned>(jobs.size()) % 4;
    const unsigned size = std::min(count - drawn, kind == 3 ? 6U : 12U);
    if (kind == 1) {
      jobs.push_back(draw_components_job(dice, size));
    } else {
      DrawnJob job;
      const unsigned first = kind == 0 ? 1 : dice.number(1, 3),
                     last = kind == 0 ? k_nodes : dice.number(4, 6);
      const auto nodes = numbered_nodes(first, last);
      job.request = " --exclusive -N" + std::to_string(nodes.size()) + " -w " + util::join(nodes, ",");
      if (kind == 2) job.request += " --ntasks-per-node=4";
      job.script = kind == 3;
      if (job.script) job.array = dice.number(0, 2);
      for (unsigned i = 0; i < size; ++i)
        job.layouts.push_back(
            draw_in_plain_job(dice, nodes, std::to_string(jobs.size()) + "-" + std::to_string(i), with_mpi));
      jobs.push_back(job);
    }
    drawn += size;
  }
  return jobs;
}

} // namespace hpcml::testing
