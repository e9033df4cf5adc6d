// SPDX-License-Identifier: MIT
#include "run/store/store_watch.hpp"

#include "hpcml/rank_label.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "run/store/key_meaning.hpp"

namespace hpcml::store {
namespace {

constexpr std::size_t k_most_clashes = 16;
constexpr std::size_t k_most_first_members = 1 << 12;
constexpr std::size_t k_most_setters = 1 << 17; ///< a program that makes ever new keys costs no more
constexpr std::size_t k_longest_trace = 200;    ///< bytes of a key that are kept for each client
constexpr auto k_still_polls = std::chrono::seconds(3);

bool ends_with_number(std::string_view key) { return !key.empty() && key.back() >= '0' && key.back() <= '9'; }

} // namespace

/// Returns the client that set a member's key before `client` and is still connected.
std::optional<ClientId> StoreWatch::first_setter(ClientId client, const Trace& trace,
                                                 std::string_view key) const {
  const auto known = x_setters.find(std::hash<std::string_view>{}(key));
  if (known == x_setters.end() || known->second.client == client) return std::nullopt;
  const Trace& first = x_traces[known->second.client];
  if (!first.used || first.number != known->second.connection) return std::nullopt;
  // A program may have several connections.
  if ((first.rank && first.rank == trace.rank) ||
      (first.pid && first.pid == trace.pid && first.peer == trace.peer))
    return std::nullopt;
  return known->second.client;
}

/// NCCL's groups set no members' keys: who asks for the default group's unique id is not its first member.
void StoreWatch::on_key_requested(const Trace& trace, std::string_view key) {
  if (x_joined || !key.starts_with("/default_pg/") || trace.mark == key) return;
  const auto meaning = read_key(key);
  x_joined = meaning.kind == KeyMeaning::Kind::unique_id && meaning.is_default && meaning.is_torchs;
}

/// Notes a member's key. If it exists, another client has set it, and two ranks believe to be the same
/// member.
void StoreWatch::entered(ClientId client, Trace& trace, std::string_view key) {
  if (!ends_with_number(key)) return;
  const auto meaning = read_key(key);
  if (meaning.kind != KeyMeaning::Kind::member || !meaning.is_torchs) return;
  if (x_table && x_table->find(key) && x_clashes.size() < k_most_clashes)
    if (const auto setter = first_setter(client, trace, key))
      x_clashes.push_back(
          {std::string(key), {*setter, client}, {name_of(*setter), name_of(client)}, trace.spoke});
  if (meaning.is_default && !trace.rank) trace.rank = meaning.member;
  if (meaning.is_default && *meaning.member > 0) x_joined = true;
  // Without its number a process that connects again looks like another.
  if (meaning.is_default && *meaning.member == 0 && trace.pid &&
      x_first_members.size() < k_most_first_members)
    x_first_members.emplace(trace.peer, *trace.pid);
  if (x_setters.size() < k_most_setters)
    x_setters[std::hash<std::string_view>{}(key)] = {client, trace.number};
}

void StoreWatch::note_wait(Trace& trace, std::string_view key, bool polls, Time now) {
  // Clients that wait in short turns wait since the first of them.
  key = key.substr(0, k_longest_trace);
  if (trace.awaits != key) {
    trace.awaits = key;
    trace.waits_since = now;
  }
  trace.polls = polls;
}

void StoreWatch::connected(ClientId client, const std::string& peer) {
  if (client >= x_traces.size()) x_traces.resize(client + 64);
  x_traces[client] = Trace();
  x_traces[client].peer = peer;
  x_traces[client].number = ++x_connections;
}

void StoreWatch::on_message(ClientId client, const TcpStoreMessage& message, Time now) {
  if (client >= x_traces.size()) return;
  Trace& trace = x_traces[client];
  trace.used = true;
  trace.spoke = now;
  const auto key = message.keys.empty() ? std::string_view() : message.keys.front();
  if (message.op == StoreOpcode::wait || message.op == StoreOpcode::get) on_key_requested(trace, key);
  switch (message.op) {
  case StoreOpcode::ping: trace.pid = message.number; return;
  case StoreOpcode::wait: {
    for (const auto new_key : message.keys)
      if (x_table && !x_table->find(new_key)) return note_wait(trace, new_key, false, now);
    return;
  }
  case StoreOpcode::cancel_wait:
  case StoreOpcode::get:
  case StoreOpcode::check:
  case StoreOpcode::validate: return;
  case StoreOpcode::add:
    if (message.number == 0) return note_wait(trace, key, true, now);
    break;
  case StoreOpcode::set: entered(client, trace, key); break;
  default: break;
  }
  trace.awaits.clear();
  trace.polls = false;
  if (message.op == StoreOpcode::set || message.op == StoreOpcode::add)
    trace.mark = key.substr(0, k_longest_trace);
}

void StoreWatch::left(ClientId client, const RankRegistry& registry, Time now) {
  if (client >= x_traces.size() || !x_traces[client].used) return;
  const auto rank = rank_of(client, registry);
  x_traces[client] = Trace();
  if (rank) x_lost[*rank] = now;
}

std::optional<unsigned> StoreWatch::rank_of(ClientId client, const RankRegistry& registry) const {
  if (const auto known = registry.rank_of_client(client)) return known;
  return x_traces[client].rank;
}

std::string StoreWatch::name_of(ClientId client) const {
  const Trace& trace = x_traces[client];
  const auto program = trace.pid ? fmt::format("process {}", *trace.pid) : "a program";
  return trace.peer.empty() ? program : fmt::format("{} at {}", program, trace.peer);
}

std::string StoreWatch::name_of(ClientId client, const RankRegistry& registry) const {
  if (const auto rank = registry.rank_of_client(client)) return registry.name(*rank);
  const auto rank = x_traces[client].rank;
  auto process = name_of(client);
  if (!rank) return process;
  return registry.begun() && *rank < registry.members().size() ? registry.name(*rank)
                                                               : rank_label({*rank}, process);
}

RankStatus StoreWatch::status_of(ClientId client, Time now) const {
  const Trace& trace = x_traces[client];
  RankStatus rank_status;
  rank_status.since = trace.spoke;
  rank_status.mark = trace.mark;
  if (trace.polls) {
    if (now - trace.spoke < k_still_polls) rank_status.waits_for = trace.awaits;
  } else if (x_table) {
    for (const auto& key : x_table->awaited_by(client))
      if (!x_table->find(key)) {
        rank_status.waits_for = key;
        break;
      }
  }
  rank_status.waits_since = rank_status.waits_for == trace.awaits ? trace.waits_since : trace.spoke;
  return rank_status;
}

/// Ranks of which nothing but others' waits is known.
void StoreWatch::add_members(const RankRegistry& registry, StoreSnapshot& snapshot) const {
  if (registry.begun()) return;
  std::vector<unsigned> wanted;
  for (const auto& rank_status : snapshot.ranks)
    if (const auto meaning = read_key(rank_status.waits_for); meaning.is_default && meaning.member)
      wanted.push_back(*meaning.member);
  for (const auto& [rank, since] : x_lost) wanted.push_back(rank);
  for (const unsigned rank : wanted) {
    if (std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(),
                    [&](const auto& rank_status) { return rank_status.rank == rank; }))
      continue;
    RankStatus rank_status;
    const auto lost = x_lost.find(rank);
    rank_status.state = lost == x_lost.end() ? RankStatus::State::absent : RankStatus::State::lost;
    if (lost != x_lost.end()) rank_status.since = lost->second;
    rank_status.rank = rank;
    rank_status.short_name = std::to_string(rank);
    rank_status.name = rank_label({rank});
    snapshot.ranks.push_back(std::move(rank_status));
  }
}

StoreSnapshot StoreWatch::snapshot(const RankRegistry& registry, Time now) const {
  StoreSnapshot snapshot;
  snapshot.now = now;
  snapshot.world_size = static_cast<unsigned>(registry.members().size());
  for (const auto& clash : x_clashes) {
    const auto lasts = [&](std::size_t i) {
      return clash.clients[i] < x_traces.size() && x_traces[clash.clients[i]].used &&
             name_of(clash.clients[i]) == clash.names[i];
    };
    const auto name = [&](std::size_t i) {
      return lasts(i) ? name_of(clash.clients[i], registry) : clash.names[i];
    };
    if (!lasts(0) && !lasts(1)) continue;
    const auto number = [&](std::size_t i) {
      return lasts(i) ? rank_of(clash.clients[i], registry) : std::nullopt;
    };
    const std::size_t low = number(1) && number(1) < number(0) ? 1 : 0; // the one that connected first
    snapshot.clashes.push_back({clash.key, name(low), name(1 - low), clash.since});
  }
  snapshot.has_key = [this](const std::string& key) { return x_table && x_table->find(key) != nullptr; };
  std::map<unsigned, std::size_t> at; // a rank's place in the scene
  for (ClientId client = 0; client < x_traces.size(); ++client) {
    if (!x_traces[client].used) continue;
    RankStatus rank_status = status_of(client, now);
    rank_status.rank = rank_of(client, registry);
    const auto process = name_of(client);
    rank_status.short_name = rank_status.rank ? std::to_string(*rank_status.rank) : process;
    rank_status.name = name_of(client, registry);
    // Of a rank's several connections, the waiting one is the most informative.
    const auto known = rank_status.rank ? at.find(*rank_status.rank) : at.end();
    if (known != at.end() && registry.begun()) {
      auto& known_status = snapshot.ranks[known->second];
      if (known_status.waits_for.empty() &&
          (!rank_status.waits_for.empty() || rank_status.since > known_status.since))
        known_status = std::move(rank_status);
      continue;
    }
    if (rank_status.rank) at.emplace(*rank_status.rank, snapshot.ranks.size());
    snapshot.ranks.push_back(std::move(rank_status));
  }
  for (unsigned rank = 0; rank < registry.members().size(); ++rank) {
    if (at.count(rank) > 0) continue;
    const KnownRank& member = registry.members()[rank];
    RankStatus rank_status;
    const auto lost = x_lost.find(rank);
    rank_status.state = lost != x_lost.end() ? RankStatus::State::lost
                        : member.announced   ? RankStatus::State::started
                                             : RankStatus::State::absent;
    rank_status.since = lost != x_lost.end() ? lost->second : member.since;
    rank_status.rank = rank;
    rank_status.short_name = std::to_string(rank);
    rank_status.name = registry.name(rank);
    snapshot.ranks.push_back(std::move(rank_status));
  }
  add_members(registry, snapshot);
  std::sort(snapshot.ranks.begin(), snapshot.ranks.end(), [](const RankStatus& a, const RankStatus& b) {
    return a.rank.value_or(~0U) < b.rank.value_or(~0U);
  });
  return snapshot;
}

bool StoreWatch::lasts_long(std::chrono::seconds warn_after, Time now) const {
  // The ranks of a clash may wait for each other elsewhere than in the store.
  for (const auto& clash : x_clashes)
    if (now - clash.since >= warn_after) return true;
  const auto since = [&](ClientId client) {
    return client < x_traces.size() && x_traces[client].used && !x_traces[client].awaits.empty() &&
           now - x_traces[client].waits_since >= warn_after;
  };
  if (x_table)
    for (const ClientId client : x_table->waiting())
      if (since(client)) return true;
  for (ClientId client = 0; client < x_traces.size(); ++client)
    if (x_traces[client].polls && since(client)) return true;
  return false;
}

std::vector<std::string> StoreWatch::due_messages(const RankRegistry& registry,
                                                  std::chrono::seconds warn_after, Time now) {
  std::vector<std::string> lines;
  if (x_reported.empty() && !lasts_long(warn_after, now)) return lines;
  std::map<std::string, WaitReport> still;
  for (const auto& stall : find_stalls(snapshot(registry, now))) {
    if (stall.waited < warn_after) continue;
    const auto place =
        read_key(stall.key).kind == KeyMeaning::Kind::other ? stall.key : read_key(stall.key).place;
    const auto known = x_reported.find(place);
    WaitReport report = known == x_reported.end() ? WaitReport{stall.what, warn_after} : known->second;
    // The registry reports ranks that have not connected.
    const bool is_counted =
        !stall.missing.empty() && std::all_of(stall.missing.begin(), stall.missing.end(), [&](unsigned rank) {
          return rank < registry.members().size() && registry.members()[rank].missed;
        });
    if (stall.waited >= report.next && !is_counted) {
      lines.push_back(stall.text);
      report.next = stall.waited * 3;
    }
    still[place] = std::move(report);
  }
  for (const auto& [place, report] : x_reported)
    if (still.count(place) == 0 && report.next > warn_after)
      lines.push_back(fmt::format("no rank waits for {} any more", report.what));
  x_reported = std::move(still);
  return lines;
}

StoreReport StoreWatch::report(const RankRegistry& registry, std::size_t unknown, Time now) const {
  const auto all = snapshot(registry, now);
  StoreReport report;
  report.ranks = registry.members().size();
  report.worlds = worlds();
  for (const auto& rank_status : all.ranks) {
    report.connected += rank_status.state == RankStatus::State::connected ? 1 : 0;
    report.lost += rank_status.state == RankStatus::State::lost ? 1 : 0;
    report.waiting += rank_status.waits_for.empty() ? 0 : 1;
  }
  for (const auto& member : registry.members()) report.announced += member.announced ? 1 : 0;
  if (x_table) {
    report.keys = x_table->key_count();
    report.bytes = x_table->bytes();
  }
  if (registry.begun()) report.missing = registry.missing(now, unknown);
  report.stalls = find_stalls(all);
  return report;
}

} // namespace hpcml::store
