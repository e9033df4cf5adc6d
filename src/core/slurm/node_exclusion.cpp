// SPDX-License-Identifier: MIT
#include "core/slurm/node_exclusion.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/hostlist.hpp"
#include "core/slurm/records.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

std::vector<std::string> nodes_of(const std::string& list) {
  auto parsed = model::Hostlist::parse(list);
  return parsed ? std::move(*parsed).take() : std::vector<std::string>{};
}

bool holds(const std::vector<std::string>& all, const std::string& item) {
  return std::find(all.begin(), all.end(), item) != all.end();
}

/// Whether sinfo's short word for a state ("idle", "mix", "down*", "drng") lets jobs begin there.
bool is_usable(std::string_view state) {
  for (const std::string_view bad :
       {"down", "drain", "drng", "fail", "maint", "unk", "inval", "futr", "pow_dn"})
    if (state.starts_with(bad)) return false;
  return true;
}

/// The name that the partition has for it: Slurm's own, or the part of a host's name before its first dot.
std::string name_in(const std::vector<std::string>& nodes, const std::string& node) {
  if (holds(nodes, node)) return node;
  const auto brief = node.substr(0, node.find('.'));
  return holds(nodes, brief) ? brief : std::string();
}

} // namespace

std::string partition_of(std::string_view job) {
  const auto records = read_records(job, "JobId");
  return records.empty() ? std::string() : records.front().get("Partition").value_or("");
}

util::Result<NodeCandidates> parse_choice(std::string_view job, std::string_view nodes) {
  const auto records = read_records(job, "JobId");
  if (records.empty())
    return util::Error{"scontrol show job printed no record of this job, which may have ended",
                       "check the state of the job with sacct -j JOB"};
  const auto& record = records.front();
  NodeCandidates choice;
  choice.excluded = nodes_of(record.get("ExcNodeList").value_or(""));
  choice.required = nodes_of(record.get("ReqNodeList").value_or(""));
  const auto needed = record.get("NumNodes").value_or("1"); // "2", of a job that waits "2-2"
  choice.needed = static_cast<unsigned>(util::parse_unsigned(needed.substr(0, needed.find('-'))).value_or(1));
  for (const auto& line : util::split(nodes, '\n')) {
    const auto words = util::split(util::trim(line), ' ');
    if (words.size() < 2 || holds(choice.nodes, words[0])) continue;
    choice.nodes.push_back(words[0]);
    if (is_usable(words.back())) choice.usable.push_back(words[0]);
  }
  return choice;
}

ExcludeListUpdate leave_out(const std::vector<node_health::BadNode>& bad, const NodeCandidates& choice) {
  ExcludeListUpdate left;
  auto exclude = choice.excluded;
  const auto remaining = [&](const std::vector<std::string>& nodes) {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const auto& node) { return !holds(exclude, node); }));
  };
  for (const auto& [node, why] : bad) {
    const auto name = name_in(choice.nodes, node);
    if (!name.empty() && holds(choice.excluded, name)) continue;
    const auto stays = [&left, &node = node, &why = why](const std::string& reason) {
      left.words.push_back(
          fmt::format("node {} is not excluded from the next start, although it may be faulty ({}): {}", node,
                      why, reason));
    };
    if (name.empty()) {
      stays("the job's partition has no node of that name");
    } else if (holds(choice.required, name)) {
      stays("the job requests it with --nodelist");
    } else if (remaining(choice.nodes) <= choice.needed) {
      stays(fmt::format("the job needs {}, and its partition has no other",
                        util::counted(choice.needed, "node")));
    } else {
      exclude.push_back(name);
      left.words.push_back(fmt::format("node {} is excluded from the next start: {}", node, why));
    }
  }
  if (exclude.size() == choice.excluded.size()) return left;
  if (const auto usable = remaining(choice.usable); usable < choice.needed)
    left.words.push_back(
        fmt::format("Slurm starts the job again when {} of its partition can run it (now {}: the others are "
                    "excluded or down)",
                    util::counted(choice.needed, "node"), usable));
  left.exclude = std::move(exclude);
  return left;
}

} // namespace hpcml::slurm
