// SPDX-License-Identifier: MIT
#include "run/store/rank_registry.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "hpcml/rank_label.hpp"

namespace hpcml::store {

namespace {

/// Up to this number of ranks, each is named; more are named by node.
constexpr std::size_t k_named = 4;
constexpr std::size_t k_named_nodes = 8;

std::string seconds_text(RankRegistry::Time from, RankRegistry::Time to) {
  return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(to - from).count());
}

/// "8-11,14"
std::string ranges(const std::vector<unsigned>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

} // namespace

std::vector<std::string> RankRegistry::announce(const JoinRequest& request, const std::string& peer,
                                                Time now) {
  if (!begun()) {
    x_members.resize(request.world_size);
    x_first = now;
  }
  if (request.rank >= x_members.size()) return {};
  if (!request.nodes.empty()) {
    x_nodes = request.nodes;
    x_tasks_per_node = request.tasks_per_node;
  }
  KnownRank& member = x_members[request.rank];
  member.failed = request.failed;
  member.pid = request.pid;
  member.host = request.host;
  member.local_rank = request.local_rank;
  if (!request.failed.empty())
    return {fmt::format(
        "{} could not start: {}",
        rank_label({request.rank, request.world_size, request.host, static_cast<int>(request.local_rank)}),
        request.failed)};
  const bool missed = member.missed && !member.announced;
  if (!member.announced) {
    member.since = now;
    ++x_announced;
  }
  member.announced = true;
  member.peer = peer;
  member.missed = false;
  x_by_process[{peer, request.pid}] = request.rank;
  if (!missed) return {};
  return {
      fmt::format("{} connected, {} after the first rank", name(request.rank), seconds_text(x_first, now))};
}

std::optional<unsigned> RankRegistry::rank_of(const std::string& peer, std::int64_t pid) const {
  const auto found = x_by_process.find({peer, pid});
  if (found == x_by_process.end()) return std::nullopt;
  return found->second;
}

std::optional<unsigned> RankRegistry::rank_of_client(ClientId client) const {
  const auto found = x_clients.find(client);
  if (found == x_clients.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> RankRegistry::program_came(ClientId client, const std::string& peer,
                                                    std::int64_t pid, Time now) {
  const auto rank = rank_of(peer, pid);
  if (!rank) return {};
  x_clients[client] = *rank;
  KnownRank& member = x_members[*rank];
  const bool missed = member.missed;
  member.program = client;
  member.came = true;
  member.missed = false;
  if (!x_any_program) x_first_program = now;
  x_any_program = true;
  if (!missed) return {};
  return {fmt::format("the program of {} connected, {} after the first program", name(*rank),
                      seconds_text(x_first_program, now))};
}

void RankRegistry::client_left(ClientId client) {
  const auto found = x_clients.find(client);
  if (found == x_clients.end()) return;
  if (auto& member = x_members[found->second]; member.program == client) member.program.reset();
  x_clients.erase(found);
}

/// Where each rank is if they were dealt in this order over the nodes.
std::vector<RankRegistry::Slot> RankRegistry::slots(Order order) const {
  std::vector<Slot> result;
  if (order == Order::block) {
    for (std::size_t node = 0; node < x_nodes.size(); ++node)
      for (unsigned local = 0; local < x_tasks_per_node[node]; ++local)
        result.push_back({x_nodes[node], local});
  } else if (order == Order::cyclic) {
    for (unsigned local = 0, dealt = 1; dealt > 0; ++local) {
      dealt = 0;
      for (std::size_t node = 0; node < x_nodes.size(); ++node)
        if (local < x_tasks_per_node[node]) {
          result.push_back({x_nodes[node], local});
          ++dealt;
        }
    }
  }
  result.resize(x_members.size());
  return result;
}

/// Returns the order that matches all registered ranks. Without one, the nodes of the others are unknown.
RankRegistry::Order RankRegistry::order() const {
  for (const Order order : {Order::block, Order::cyclic}) {
    const auto wanted = slots(order);
    bool agree = !x_nodes.empty();
    for (std::size_t rank = 0; rank < x_members.size() && agree; ++rank)
      if (const KnownRank& member = x_members[rank]; member.announced)
        agree = member.host == wanted[rank].host && member.local_rank == wanted[rank].local_rank;
    if (agree) return order;
  }
  return Order::unknown;
}

std::vector<RankRegistry::Slot> RankRegistry::known_slots() const {
  auto result = slots(order());
  for (std::size_t rank = 0; rank < x_members.size(); ++rank)
    if (x_members[rank].announced) result[rank] = {x_members[rank].host, x_members[rank].local_rank};
  return result;
}

/// The nodes whose tasks have not all come.
std::string RankRegistry::free_hosts() const {
  std::map<std::string, unsigned> ranks_per_host;
  for (const KnownRank& member : x_members)
    if (member.announced) ++ranks_per_host[member.host];
  std::vector<std::string> hosts;
  for (std::size_t node = 0; node < x_nodes.size(); ++node)
    if (ranks_per_host[x_nodes[node]] < x_tasks_per_node[node]) hosts.push_back(x_nodes[node]);
  if (hosts.size() > k_named_nodes) return fmt::format("{} nodes", hosts.size());
  return util::join(hosts, ", ");
}

std::string RankRegistry::name(unsigned rank) const { return name(rank, known_slots()); }

std::string RankRegistry::name(unsigned rank, const std::vector<Slot>& slots) const {
  RankLocation location{rank, static_cast<unsigned>(x_members.size())};
  if (rank < slots.size() && !slots[rank].host.empty()) {
    location.host = slots[rank].host;
    location.local_rank = static_cast<int>(slots[rank].local_rank);
    return rank_label(location);
  }
  const auto hosts = free_hosts();
  return rank_label(location, hosts.empty() ? "" : fmt::format("tasks are missing on {}", hosts));
}

std::string RankRegistry::range_text(const std::vector<unsigned>& ranks,
                                     const std::vector<Slot>& slots) const {
  const std::string& host = slots[ranks.front()].host;
  return fmt::format("{} {}/{}{}", ranks.size() == 1 ? "rank" : "ranks", ranges(ranks), x_members.size(),
                     host.empty() ? "" : fmt::format(" ({})", host));
}

/// A sentence for each rank, or, of many, for each node.
std::vector<std::string> RankRegistry::describe_missing(const std::vector<unsigned>& ranks,
                                                        const std::string& what,
                                                        const std::string& what_of_one) const {
  std::vector<std::string> lines;
  const auto where = known_slots();
  if (ranks.size() <= k_named) {
    for (const unsigned rank : ranks) lines.push_back(fmt::format("{} {}", name(rank, where), what_of_one));
    return lines;
  }
  std::map<std::string, std::vector<unsigned>> by_host;
  for (const unsigned rank : ranks) by_host[where[rank].host].push_back(rank);
  std::vector<unsigned> rest;
  for (const auto& [host, mine] : by_host) {
    if (lines.size() < k_named_nodes)
      lines.push_back(fmt::format("{} {}", range_text(mine, where), mine.size() == 1 ? what_of_one : what));
    else
      rest.insert(rest.end(), mine.begin(), mine.end());
  }
  std::sort(rest.begin(), rest.end());
  if (!rest.empty())
    lines.push_back(
        fmt::format("and ranks {} on {} other nodes {}", ranges(rest), by_host.size() - k_named_nodes, what));
  return lines;
}

std::vector<unsigned> RankRegistry::unannounced() const {
  std::vector<unsigned> ranks;
  for (unsigned rank = 0; rank < x_members.size(); ++rank)
    if (!x_members[rank].announced && x_members[rank].failed.empty()) ranks.push_back(rank);
  return ranks;
}

/// Returns the ranks whose program has not connected, unless a client with an unknown rank may be theirs.
std::vector<unsigned> RankRegistry::ranks_without_program(std::size_t unknown) const {
  std::vector<unsigned> ranks;
  if (!x_any_program || unknown > 0) return ranks;
  // The program of rank 0, whose launcher serves the store, starts when all launchers have connected.
  for (unsigned rank = complete() ? 0 : 1; rank < x_members.size(); ++rank)
    if (x_members[rank].announced && !x_members[rank].came) ranks.push_back(rank);
  return ranks;
}

std::vector<std::string> RankRegistry::missing(Time now, std::size_t unknown) const {
  const auto waited = seconds_text(x_first, now);
  auto lines = describe_missing(
      unannounced(),
      fmt::format("have not connected for {}: their tasks have not started, have exited, or have not reached "
                  "hpcml launch",
                  waited),
      fmt::format(
          "has not connected for {}: its task has not started, has exited, or has not reached hpcml launch",
          waited));
  const auto program_waited = seconds_text(x_first_program, now);
  for (auto& line : describe_missing(
           ranks_without_program(unknown),
           fmt::format("have not connected to the store {} after the first program: their tasks are running",
                       program_waited),
           fmt::format("has not connected to the store {} after the first program: its task is running",
                       program_waited)))
    lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> RankRegistry::due_messages(Time now, std::size_t unknown) {
  if (!begun()) return {};
  const bool launchers = !complete() && now - x_first >= x_next;
  const bool programs =
      x_any_program && now - x_first_program >= x_next_program && !ranks_without_program(unknown).empty();
  if (!launchers && !programs) return {};
  auto lines = missing(now, unknown);
  for (const unsigned rank : unannounced()) x_members[rank].missed = true;
  if (programs)
    for (const unsigned rank : ranks_without_program(unknown)) x_members[rank].missed = true;
  if (launchers) x_next *= 3;
  if (programs) x_next_program *= 3;
  return lines;
}

} // namespace hpcml::store
