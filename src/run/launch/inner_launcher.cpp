// SPDX-License-Identifier: MIT
#include "run/launch/inner_launcher.hpp"

#include <filesystem>
#include <system_error>

#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"
#include "run/launch/orphan_reaper.hpp"

namespace hpcml::launch {

namespace {

using model::OptionMeaning;

/// `torchrun --nproc-per-node=1 --nnodes=TASKS`: an agent for each task, and one world of all.
bool is_agent_of_each_task(const launch_chain::StartedLauncher& inner, const World& world) {
  const auto processes = inner.value(OptionMeaning::ranks_per_node),
             nodes = inner.value(OptionMeaning::nodes);
  return processes == "1" && nodes && nodes == std::to_string(world.layout.world_size);
}

std::string program_after(const launch_chain::StartedLauncher& inner) {
  if (inner.command.empty()) return "PROGRAM";
  const auto& first = inner.command.front();
  return (first.ends_with(".py") ? "python " : "") + util::join(inner.command, " ");
}

/// One agent for each of several nodes, and none is told of the others.
bool is_alone_on_each_node(const launch_chain::StartedLauncher& inner, const World& world) {
  const auto& layout = world.layout;
  if (inner.role != launch_chain::Role::agent || inner.is_hpcml()) return false;
  if (layout.local_world_size != 1 || layout.world_size <= 1) return false;
  const auto nodes = inner.value(OptionMeaning::nodes);
  if (inner.has({OptionMeaning::alone}) || nodes == "1" || nodes == "1:1") return true;
  return !inner.joins_other_nodes();
}

util::Error alone_on_each_node(const launch_chain::StartedLauncher& inner, const World& world,
                               const std::string& plain) {
  const auto nodes = std::to_string(world.layout.world_size);
  std::string line;
  if (inner.row->counts_nodes) // else each must hear its number, which one line for all cannot tell
    line = inner.written + " --" + std::string(inner.row->option_for(OptionMeaning::nodes)) + "=" + nodes +
           " " + util::replace_all(std::string(inner.row->address_option), ":PORT", ":$MASTER_PORT") + " …";
  return {inner.written + " on each of " + nodes +
              " nodes is told of no other (no meeting place and number of nodes): " + nodes +
              " trainings instead of one",
          plain +
              (line.empty() ? "" : "; or tell each of the others: hpcml launch … -- bash -c '" + line + "'") +
              "; hpcml gen --launcher " +
              (inner.row->ranks == model::RankStartMethod::agent ? inner.name : "torchrun") +
              " writes all of it; where each node is to train by itself, give each a job (--array)"};
}

/// An agent in a world of several ranks, or with options for several, that starts one separate rank.
bool is_alone_on_cpus(const launch_chain::StartedLauncher& inner, const World& world) {
  if (!inner.row->alone_without_gpus || !inner.has({OptionMeaning::no_gpus}) ||
      inner.has({OptionMeaning::hosts}))
    return false;
  const auto ranks = inner.value(OptionMeaning::ranks), nodes = inner.value(OptionMeaning::nodes);
  return world.layout.world_size > 1 || ranks.value_or("1") != "1" || nodes.value_or("1") != "1";
}

/// A file in the user's home folder may name the nodes where a launcher reads one; a shell's text may do it,
/// too.
bool is_refused(const launch_chain::StartedLauncher& inner) { return inner.sure && !inner.row->reads_config; }

} // namespace

launch_chain::StartedLauncher read_launcher_config(launch_chain::StartedLauncher inner,
                                                   const util::EnvSnapshot& env, const std::string& root) {
  auto outer = inner; // what stands nearer to it in the command goes before
  outer.options.clear();
  outer.take_variables([&](const std::string& name) {
    for (const auto& engine : model::engine_variables({"ENV_"}))
      if (auto value = env.get(engine + name)) return value;
    return env.get(name);
  });
  std::error_code none;
  inner.options.insert(inner.options.begin(), outer.options.begin(), outer.options.end());
  const std::string hosts(inner.row->hosts_file); // read where it is told of no other
  if (!hosts.empty() && !inner.has({OptionMeaning::hosts}) && std::filesystem::exists(root + hosts, none))
    inner.options.emplace_back(inner.row->option_for(OptionMeaning::hosts), hosts);
  return inner;
}

std::string agent_warning(const launch_chain::StartedLauncher& inner, const World& world) {
  if (is_refused(inner) || !is_alone_on_each_node(inner, world)) return {};
  const auto error = alone_on_each_node(inner, world, "");
  return error.what + (inner.sure ? ", unless " + inner.name + "'s configuration file names them"
                                  : ", unless what stands beside it names them");
}

util::Status check_inner_launcher(const launch_chain::StartedLauncher& inner, const World& world) {
  const auto& layout = world.layout;
  const bool agent = inner.role == launch_chain::Role::agent;
  const unsigned started_count = agent ? layout.local_world_size : layout.world_size;
  const std::string count = std::to_string(started_count);
  const std::string plain = "leave " + inner.written +
                            " out, since hpcml launch has made the ranks: hpcml launch … -- " +
                            program_after(inner);
  if (is_alone_on_cpus(inner, world))
    return util::Error{inner.written + " --" + std::string(inner.row->option_for(OptionMeaning::no_gpus)) +
                           " starts one process on each node, which trains alone whatever its options are",
                       plain};
  if (is_refused(inner) && is_alone_on_each_node(inner, world))
    return alone_on_each_node(inner, world, "start a task for each GPU, and " + plain);
  if (started_count <= 1 || (agent && is_agent_of_each_task(inner, world))) return util::Done{};
  if (!agent)
    return util::Error{inner.written + " starts tasks itself, and each of the " + count +
                           " ranks would start it: " + count + " worlds instead of one",
                       plain};
  return util::Error{inner.written + " starts the ranks of a node itself, and each of the " + count +
                         " ranks on this node would start it: " + count +
                         " worlds on the same GPUs instead of one",
                     plain + "; or give it one task per node: srun --ntasks-per-node=1 hpcml launch … -- " +
                         inner.written + " …"};
}

util::Status check_outer_launcher(const util::EnvSnapshot& env) {
  const auto world = util::parse_unsigned(env.get_or("WORLD_SIZE", ""));
  const bool ours = env.get(k_launch_variable).has_value(),
             theirs = env.get("TORCHELASTIC_RUN_ID").has_value();
  if (!(ours || theirs) || world.value_or(1) < 2) return util::Done{};
  const std::string outer = ours ? "hpcml launch" : "torchrun";
  return util::Error{
      "this process is rank " + env.get_or("RANK", "?") + " of " + std::to_string(*world) + " of " + outer +
          " already: the ranks that it would start were a world of their own, one in each of "
          "the " +
          std::to_string(*world),
      "leave one of the two launchers out; where a second world is meant, env -u WORLD_SIZE hpcml "
      "launch …"};
}

} // namespace hpcml::launch
