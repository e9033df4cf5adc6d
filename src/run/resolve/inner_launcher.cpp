// SPDX-License-Identifier: MIT
#include "run/resolve/inner_launcher.hpp"

#include <fmt/format.h>

#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"
#include "run/resolve/launch_request.hpp"

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

/// Returns whether each of several nodes has one agent that does not know the others.
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
  if (inner.row->counts_nodes) // else each needs its own number, which one line for all nodes cannot contain
    line = inner.written + " --" + std::string(inner.row->option_for(OptionMeaning::nodes)) + "=" + nodes +
           " " + util::replace_all(std::string(inner.row->address_option), ":PORT", ":$MASTER_PORT") + " …";
  return {
      fmt::format(
          "{0} on each of {1} nodes has no rendezvous endpoint and number of nodes: {1} separate trainings "
          "instead of one",
          inner.written, nodes),
      fmt::format(
          "{}{}; or use hpcml gen --launcher {}, which sets it up (for separate trainings: --array)", plain,
          line.empty() ? "" : fmt::format("; or connect the nodes: hpcml launch … -- bash -c '{}'", line),
          inner.row->ranks == model::RankStartMethod::agent ? inner.name : "torchrun")};
}

/// An agent in a world of several ranks, or with options for several, that starts one separate rank.
bool is_alone_on_cpus(const launch_chain::StartedLauncher& inner, const World& world) {
  if (!inner.row->alone_without_gpus || !inner.has({OptionMeaning::no_gpus}) ||
      inner.has({OptionMeaning::hosts}))
    return false;
  const auto ranks = inner.value(OptionMeaning::ranks), nodes = inner.value(OptionMeaning::nodes);
  return world.layout.world_size > 1 || ranks.value_or("1") != "1" || nodes.value_or("1") != "1";
}

/// Some launchers read the nodes from a file in the home directory, and a shell command may name them as
/// well.
bool is_refused(const launch_chain::StartedLauncher& inner) { return inner.sure && !inner.row->reads_config; }

} // namespace

InnerLauncher find_inner_launcher(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                                  const NodeQueries& queries) {
  auto inner = launch_chain::find_started_launcher(command);
  if (!inner) return inner;
  auto outer = *inner; // options nearer to the launcher in the command have priority
  outer.options.clear();
  outer.take_variables([&](const std::string& name) {
    for (const auto& engine : model::engine_variables({"ENV_"}))
      if (auto value = env.get(engine + name)) return value;
    return env.get(name);
  });
  inner->options.insert(inner->options.begin(), outer.options.begin(), outer.options.end());
  const std::string hosts(inner->row->hosts_file); // read if no other file is given
  if (!hosts.empty() && !inner->has({OptionMeaning::hosts}) && queries.has_file(hosts))
    inner->options.emplace_back(inner->row->option_for(OptionMeaning::hosts), hosts);
  return inner;
}

std::string agent_warning(const launch_chain::StartedLauncher& inner, const World& world) {
  if (is_refused(inner) || !is_alone_on_each_node(inner, world)) return {};
  const auto error = alone_on_each_node(inner, world, "");
  return inner.sure ? fmt::format("{}, unless the configuration file of {} sets them", error.what, inner.name)
                    : fmt::format("{}, unless other commands set them", error.what);
}

util::Status check_inner_launcher(const launch_chain::StartedLauncher& inner, const World& world) {
  const auto& layout = world.layout;
  const bool agent = inner.role == launch_chain::Role::agent;
  const unsigned started_count = agent ? layout.local_world_size : layout.world_size;

  const auto command = "hpcml launch … -- " + program_after(inner);
  if (is_alone_on_cpus(inner, world))
    return util::Error{
        fmt::format(
            "{} --{} starts one process per node, which trains separately regardless of other options",
            inner.written, inner.row->option_for(OptionMeaning::no_gpus)),
        fmt::format("remove {}, because hpcml launch starts the ranks: {}", inner.written, command)};
  if (is_refused(inner) && is_alone_on_each_node(inner, world))
    return alone_on_each_node(
        inner, world,
        fmt::format("use one task per GPU and remove {}, because hpcml launch starts the ranks: {}",
                    inner.written, command));
  if (started_count <= 1 || (agent && is_agent_of_each_task(inner, world))) return util::Success{};
  if (!agent)
    return util::Error{
        fmt::format(
            "{0} starts tasks itself, and each of the {1} ranks would run it: {1} worlds instead of one",
            inner.written, started_count),
        fmt::format("remove {}, because hpcml launch starts the ranks: {}", inner.written, command)};
  return util::Error{
      fmt::format(
          "{0} starts the ranks of a node itself, and each of the {1} ranks on this node would run it: {1} "
          "worlds on the same GPUs instead of one",
          inner.written, started_count),
      fmt::format("remove {0}, because hpcml launch starts the ranks: {1}; or use one task per node: srun "
                  "--ntasks-per-node=1 hpcml launch … -- {0} …",
                  inner.written, command)};
}

util::Status check_outer_launcher(const util::EnvSnapshot& env) {
  const auto world = util::parse_unsigned(env.get_or("WORLD_SIZE", ""));
  const bool ours = env.get(k_launch_variable).has_value(),
             theirs = env.get("TORCHELASTIC_RUN_ID").has_value();
  if (!(ours || theirs) || world.value_or(1) < 2) return util::Success{};
  const std::string outer = ours ? "hpcml launch" : "torchrun";
  return util::Error{
      fmt::format("this process is already rank {0}/{1} of {2}: its ranks would be a separate world in each "
                  "of the {1} ranks",
                  env.get_or("RANK", "?"), *world, outer),
      "remove one of the two launchers, or use `env -u WORLD_SIZE hpcml launch …` for a separate world"};
}

} // namespace hpcml::launch
