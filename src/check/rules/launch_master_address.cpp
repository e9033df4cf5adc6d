// SPDX-License-Identifier: MIT
// Addresses of the first rank at which the other nodes cannot find it.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "check/rendezvous_argument.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_master_address {

using model::OptionMeaning;

struct Fault {
  std::string message;
  diag::Severity severity = diag::Severity::warning;
};

/// An address, or an address and a port.
bool is_loopback(std::string_view text) {
  return util::is_loopback_address(text) || util::is_loopback_address(text.substr(0, text.rfind(':')));
}

/// What an unknown piece is made of: of "$IP" the last line above that sets it, else the piece itself.
std::string_view address_source(const LintContext& subject, const shell::ArgumentPiece& piece,
                                std::size_t offset) {
  std::string_view name = piece.text;
  if (name.size() < 2 || name[0] != '$' || name[1] == '(') return name;
  name.remove_prefix(name[1] == '{' ? 2 : 1);
  name = name.substr(
      0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"));
  // Far above is something else of that name.
  constexpr std::size_t k_far = 65536;
  offset = std::min(offset, subject.text.size());
  const auto begin = offset - std::min(offset, k_far);
  const auto text = subject.text.substr(begin, offset - begin);
  const auto assignment = std::string(name) + "=$(";
  std::size_t at =
      std::string_view::npos; // forward: for a search from the end the library compares at every byte
  for (auto next = name.empty() ? at : text.find(assignment); next != std::string_view::npos;
       next = text.find(assignment, next + 1))
    at = next;
  if (at == std::string_view::npos) return piece.text;
  const auto found = begin + at;
  const auto line = line_at(subject.text, found);
  const auto before = util::trim(subject.text.substr(line.offset, found - line.offset));
  if (!before.empty() && before != "export") return piece.text;
  return subject.text.substr(found + name.size() + 1, line.offset + line.length - found - name.size() - 1);
}

/// Whether the text looks up the name of the node itself: "getent hosts $(hostname)".
bool resolves_host_name(std::string_view text) {
  for (const std::string_view name : {"$(hostname", "`hostname", "$HOSTNAME", "${HOSTNAME", "$(uname -n"})
    if (text.find(name) != std::string_view::npos) return true;
  return false;
}

std::optional<Fault> fault_of(const LintContext& subject, const shell::Argument& value, std::size_t offset) {
  if (is_loopback(value.prefix()) || (value.known() && is_loopback(value.text())))
    return Fault{fmt::format("the other nodes look for the first rank at {}, which is their own address",
                             value.text())};
  for (const auto& piece : value.pieces) {
    if (piece.known) continue;
    const std::string_view text = address_source(subject, piece, offset);
    const bool cut = text.find('|') != std::string_view::npos;
    if (!cut && (text.find("hostname -I") != std::string_view::npos ||
                 text.find("--all-ip-addresses") != std::string_view::npos))
      return Fault{fmt::format("{} gives all addresses of the node, not one", text)};
    if (text.find("hostname -i") != std::string_view::npos ||
        text.find("hostname --ip-address") != std::string_view::npos)
      return Fault{fmt::format("{} is 127.0.1.1 or several addresses on some clusters", text),
                   diag::Severity::note};
    if (text.find("getent hosts") != std::string_view::npos && resolves_host_name(text))
      return Fault{"getent finds 127.0.1.1 for a node's own name on many clusters", diag::Severity::note};
    if (reads(text, "SLURM_LAUNCH_NODE_IPADDR"))
      return Fault{"SLURM_LAUNCH_NODE_IPADDR is the node that ran srun, not that of the first rank",
                   diag::Severity::note};
  }
  return std::nullopt;
}

void check_value(const LintContext& subject, const shell::Argument& value, diag::TextRange place,
                 RuleMatches& hits) {
  if (auto fault = fault_of(subject, value, place.offset))
    add_match(
        hits,
        {place,
         std::move(fault->message),
         "use the first host: MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)",
         {},
         fault->severity});
}

/// Reports agents of several nodes without an address. torchrun reads PET_*, not MASTER_ADDR.
void check_missing(const LintContext& subject, const Launch& launch, const Link& agent, RuleMatches& hits) {
  const auto* launcher = model::find_launcher(agent.program);
  if (!launcher || launcher->without_address.empty() || !agent.complete) return;
  for (const auto meaning : {OptionMeaning::alone, OptionMeaning::address, OptionMeaning::endpoint,
                             OptionMeaning::config, OptionMeaning::settings})
    if (agent.find(meaning)) return;
  for (const auto meaning : {OptionMeaning::address, OptionMeaning::endpoint, OptionMeaning::config})
    if (launch.variable(agent, meaning)) return;
  const auto* nodes = agent.find(OptionMeaning::nodes);
  if (!nodes || !nodes->value) return;
  const auto count = number_of(*nodes->value, shape_of_job(subject));
  if (!count || *count < 2) return;
  add_match(hits, {agent.place,
                   fmt::format("{} on {} nodes gets no address: {}", agent.program, *count,
                               launcher->without_address),
                   fmt::format("add {}", launcher->address_option)});
}

/// Checks the variables in which programs look for the first rank.
void check_variables(const LintContext& subject, const Launch& launch, RuleMatches& hits) {
  for (const auto* name : {"MASTER_ADDR", "JAX_COORDINATOR_IP", "JAX_COORDINATOR_ADDRESS"})
    if (const auto* value = launch.variable(name)) check_value(subject, *value, value->place, hits);
}

/// Checks the address that a program gets by an argument, which every task of the step reads.
void check_arguments(const Launch& launch, RuleMatches& hits) {
  const auto* python = launch.python();
  if (!python || launch.agent()) return;
  for (const auto& argument : rendezvous_arguments(*python))
    if (util::is_loopback_address(argument.host))
      add_match(hits,
                {argument.place,
                 fmt::format("the other nodes look for the first rank at {}, which is their own address",
                             argument.host),
                 "use the first host: scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1"});
}

/// Whether this start is the first node's own, of several that the script writes out: it is at localhost.
bool is_first_node(const Launch& launch, const Link& agent) {
  const auto* rank = agent.find(OptionMeaning::node_rank);
  return !launch.step() && rank && rank->value && rank->value->known() && rank->value->text() == "0";
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches)
    if (const auto* agent = launch.agent()) check_missing(subject, launch, *agent, hits);
  if (!shape_of_job(subject).several_nodes) return hits;
  for (const auto& launch : subject.launches) {
    if ((!launch.agent() && !launch.python()) || (launch.step() && !shape_of(subject, launch).several_nodes))
      continue;
    if (const auto* agent = launch.agent()) {
      if (agent->find(OptionMeaning::alone)) continue;
      if (const auto* nodes = agent->find(OptionMeaning::nodes);
          nodes && nodes->value && nodes->value->known() && nodes->value->text() == "1")
        continue;
      if (const auto* endpoint = agent->find_any({OptionMeaning::endpoint, OptionMeaning::address});
          endpoint && endpoint->value && !is_first_node(launch, *agent))
        check_value(subject, *endpoint->value, endpoint->place, hits);
    }
    if (!launch.step()) continue;
    check_variables(subject, launch, hits);
    check_arguments(launch, hits);
  }
  return hits;
}

} // namespace launch_master_address

Rule rule_launch_master_address() {
  using namespace launch_master_address;
  return {
      .id = "launch/master-address",
      .severity = diag::Severity::warning,
      .title = "Unreachable address of the first rank",
      .why =
          "All ranks connect to the first one. localhost is another machine on every node; hostname -i gives "
          "127.0.x.x where the host's name is in /etc/hosts, and "
          "several addresses where there are several networks: the job hangs in init_process_group.",
      .link = "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=localhost
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun python train.py
)"},
      .find = find,
      .yields_to = {{"launch/node-rank"}},
  };
}

} // namespace hpcml::check
