// SPDX-License-Identifier: MIT
#include "run/batch/job_nodes.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

#include "core/model/hostlist.hpp"
#include "core/util/input_file.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/node_files.hpp"
#include "run/launch/report_bad_node.hpp"

namespace hpcml::batch {

namespace {

constexpr std::chrono::seconds k_check_limit(80);

/// A check on each node. Slurm cannot end its step if a node does not answer: `timeout` does then, and what
/// the other nodes have answered is kept.
std::vector<std::string> check_words(const BatchRequest& request, const std::vector<std::string>& nodes,
                                     const util::EnvSnapshot& env) {
  const auto step = on_each_node(
      {.nodes = nodes, .is_independent = true},
      {request.hpcml, "internal", "healthy-nodes", "--gpus", std::to_string(request.gpus_per_node)}, env);
  std::vector<std::string> words = {"timeout", "--kill-after=10", "60"};
  words.insert(words.end(), step.begin(), step.end());
  return words;
}

void report_choice(const slurm::HealthyNodeSelection& choice, unsigned need) {
  for (const auto& [node, why] : choice.bad)
    util::log_warning(fmt::format("{0} is not used, because it is faulty: {1}\n"
                                  "hint: request a repair of {0} from the site's administrators",
                                  node, why));
  if (!choice.was_informed)
    util::log_warning("no node answered the health check: using the first nodes of the job unchecked\n"
                      "hint: check that srun can start a step on each node of the job");
  if (choice.chosen.size() < need)
    return util::log_error(
        fmt::format("the program requires {}, but only {} of this job's nodes are healthy\n"
                    "hint: request more spare nodes (--spare-nodes)",
                    util::counted(need, "node"), choice.chosen.size()));
  util::log_info(fmt::format("the program runs on {} (spare nodes: {})",
                             model::compress_hostlist(choice.chosen),
                             choice.spare.empty() ? "none" : model::compress_hostlist(choice.spare)));
}

/// True for sinfo's short words of states in which a node runs no step: "down*", "fail", "drng*". The
/// star stands for a node that does not answer.
bool is_lost_state(std::string_view state) {
  return state.starts_with("down") || state.starts_with("fail") || state.ends_with('*');
}

} // namespace

util::Result<std::vector<node_health::BadNode>> read_bad_nodes(const std::string& file) {
  if (file.empty() || (::access(file.c_str(), F_OK) != 0 && errno == ENOENT))
    return std::vector<node_health::BadNode>{};
  TRY(const auto text, util::read_input(file, {node_health::k_bad_nodes_limit, true, k_own_file_hint}));
  return node_health::parse_bad_nodes(text);
}

util::Result<slurm::ExcludeListUpdate> find_exclusion(const slurm::Commands& commands, const std::string& job,
                                                      const std::vector<node_health::BadNode>& bad) {
  if (bad.empty()) return slurm::ExcludeListUpdate{};
  const auto record = commands.ask({"scontrol", "-o", "show", "job", job});
  if (!record.ok()) return util::Error{fmt::format("{}: {}", record.command(), record.why_not)};
  const auto partition = slurm::partition_of(record.output.out);
  const auto nodes = commands.ask({"sinfo", "-h", "-N", "-p", partition, "-o", "%N %t"});
  if (!nodes.ok()) return util::Error{fmt::format("{}: {}", nodes.command(), nodes.why_not)};
  TRY(const auto choice, slurm::parse_choice(record.output.out, nodes.output.out));
  auto exclusion = slurm::leave_out(bad, choice);
  exclusion.before = choice.excluded;
  return exclusion;
}

bool concerns(const std::string& nodes, const slurm::ExcludeListUpdate& exclusion) {
  const auto list = model::Hostlist::parse(nodes);
  if (!list) return false;
  const auto holds = [](const auto& all, const std::string& node) {
    return std::find(all.begin(), all.end(), node) != all.end();
  };
  return std::any_of(list->names().begin(), list->names().end(), [&](const auto& node) {
    return holds(exclusion.exclude, node) && !holds(exclusion.before, node);
  });
}

bool has_lost_node(const slurm::Commands& commands, const std::string& nodes) {
  const auto answer = commands.ask({"sinfo", "-h", "-N", "-n", nodes, "-o", "%N %t"});
  if (!answer.ok()) return false;
  for (const auto& line : util::split(answer.output.out, '\n'))
    if (const auto at = line.find(' '); at != std::string::npos && is_lost_state(util::trim(line.substr(at))))
      return true;
  return false;
}

std::string choose_program_nodes(const BatchRequest& request, const util::EnvSnapshot& env) {
  const auto nodes = model::Hostlist::parse(env.get_or("SLURM_JOB_NODELIST", ""));
  if (!nodes) {
    util::log_error(fmt::format("cannot read the nodes of the job from SLURM_JOB_NODELIST: {}\n"
                                "hint: remove what changes this variable, which Slurm sets",
                                nodes.error().what));
    return {};
  }
  const auto file = env.get_or(node_health::k_bad_nodes_variable, "");
  auto known = read_bad_nodes(file);
  if (!known) {
    util::log_warning(fmt::format("cannot read the list of faulty nodes, so that none is excluded: {}\n"
                                  "hint: remove '{}', which hpcml then creates again",
                                  known.error().what, file));
    known = std::vector<node_health::BadNode>{};
  }
  std::string answers;
  if (const auto checked = slurm::without_bad(nodes->names(), *known); !checked.empty())
    answers =
        slurm::run_command(check_words(request, checked, env), env, k_check_limit).output.out;
  const auto choice = slurm::choose_nodes(nodes->names(), answers, *known, request.program_nodes);
  for (const auto& bad : choice.bad) launch::report_bad_node(bad, env);
  report_choice(choice, request.program_nodes);
  return choice.chosen.size() < request.program_nodes ? std::string()
                                                      : model::compress_hostlist(choice.chosen);
}

} // namespace hpcml::batch
