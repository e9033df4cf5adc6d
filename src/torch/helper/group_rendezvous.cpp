// SPDX-License-Identifier: MIT
#include "torch/helper/group_rendezvous.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

#include "ddp/format_message.hpp"
#include "ddp/network.hpp"
#include "torch/helper/faulty_rank.hpp"

namespace hpcml::helper {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_poll{10};
/// How long rank 0 waits for what the others have to say after it has failed itself.
constexpr milliseconds k_grace{4000};
constexpr const char* k_arrival = "arrival";
// A result is one of these words, or the packed ranks at fault.
constexpr const char* k_well = "ok";
constexpr const char* k_unexplained = "unexplained";

// A result is sent as lines: phase, ranks, hosts, what, next. None of them contains a line end.
std::string pack(const PhaseFailure& faulty_rank) {
  std::string ranks, hosts;
  for (const int rank : faulty_rank.ranks) ranks += std::to_string(rank) + " ";
  for (const auto& host : faulty_rank.hosts) hosts += (host.empty() ? "-" : host) + " ";
  return faulty_rank.phase + "\n" + ranks + "\n" + hosts + "\n" + faulty_rank.what + "\n" + faulty_rank.next;
}

PhaseFailure unpack(const std::string& text) {
  PhaseFailure faulty_rank;
  std::istringstream lines(text);
  std::string ranks, hosts;
  std::getline(lines, faulty_rank.phase);
  std::getline(lines, ranks);
  std::getline(lines, hosts);
  std::getline(lines, faulty_rank.what);
  std::getline(lines, faulty_rank.next);
  std::istringstream rank_words(ranks), host_words(hosts);
  for (int rank; rank_words >> rank;) faulty_rank.ranks.push_back(rank);
  for (std::string host; host_words >> host;) faulty_rank.hosts.push_back(host == "-" ? "" : host);
  return faulty_rank;
}

Store open_store(const RankEnv& env, milliseconds timeout) {
  try {
    return Store(env, timeout);
  } catch (const std::exception& error) {
    const bool server = env.rank == 0;
    throw PhaseError(
        {"rendezvous",
         {server ? env.rank : 0},
         {server ? host_name() : env.master_addr},
         error.what(),
         server ? "use another MASTER_PORT if this one is in use, or check why this host cannot listen"
                : "check that rank 0 is running, and that MASTER_ADDR and MASTER_PORT are right "
                  "and not filtered between the hosts"});
  }
}

} // namespace

std::string list_ranks_and_hosts(const std::vector<int>& ranks, const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (const auto& host : hosts)
    if (!host.empty() && std::find(names.begin(), names.end(), host) == names.end()) names.push_back(host);
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? list_ranks(ranks) : ddp::format_message("{} ({})", list_ranks(ranks), text);
}

std::string public_phase(const std::string& phase) {
  return phase == k_arrival || phase == "listen" || phase == "reach" || phase == "setup" || phase == "connect"
             ? "rendezvous"
             : phase;
}

PhaseBarrier::PhaseBarrier(const RankEnv& env, milliseconds timeout)
    : x_env(env), x_timeout(timeout), x_deadline(steady_clock::now() + timeout),
      x_store(open_store(env, timeout)) {
  enter(k_arrival);
  x_store.set(key(k_arrival, "node", env.rank), std::to_string(env.node_rank));
  x_store.set(key(k_arrival, "done", env.rank), host_name());
  if (env.rank != 0) {
    const auto left = std::chrono::duration_cast<milliseconds>(x_deadline - steady_clock::now());
    wait_for_outcome(k_arrival, std::max(left, milliseconds(0)) + k_grace);
    // Read now, because the store ends with rank 0.
    x_first_host = x_store.get(key(k_arrival, "done", 0), timeout);
    return;
  }
  const auto left = std::chrono::duration_cast<milliseconds>(x_deadline - steady_clock::now());
  wait_for_reports(k_arrival, std::max(left, milliseconds(0)));
  x_hosts.assign(static_cast<std::size_t>(env.world_size), "");
  PhaseFailure missing{"rendezvous", {}, {}, "", ""};
  for (int rank = 0; rank < env.world_size; ++rank) {
    if (x_store.has(key(k_arrival, "done", rank)))
      x_hosts[static_cast<std::size_t>(rank)] = x_store.get(key(k_arrival, "done", rank), x_timeout);
    else
      missing.ranks.push_back(rank);
  }
  for (const int rank : missing.ranks) missing.hosts.push_back(probable_host(rank));
  if (missing.ranks.empty()) {
    publish_result(k_arrival, k_well);
    return;
  }
  missing.what = ddp::format_message("{} did not connect to {}:{} within {} s; {} of {} ranks connected",
                                     list_ranks_and_hosts(missing.ranks, missing.hosts), env.master_addr,
                                     env.master_port, std::chrono::duration<double>(timeout).count(),
                                     env.world_size - static_cast<int>(missing.ranks.size()), env.world_size);
  missing.next =
      ddp::format_message("check the messages of these ranks; if there are none, check that they started "
                          "with the same WORLD_SIZE and can reach {}",
                          env.master_addr);
  fail(k_arrival, missing, k_grace);
}

std::string PhaseBarrier::key(const std::string& phase, const std::string& what, int rank) const {
  if (phase == k_arrival && what == "done") return ddp::format_message("hpcml/arrived/{}", rank);
  return ddp::format_message("hpcml/{}/{}/{}", phase, what, rank);
}

/// Guesses the host of a missing rank from its neighbours, if ranks are placed in blocks on the nodes.
std::string PhaseBarrier::probable_host(int rank) const {
  const int width = x_env.local_world_size;
  if (width <= 0 || x_env.world_size % width != 0) return {};
  const int first = rank / width * width;
  for (int host = first; host < first + width; ++host)
    if (!x_hosts[static_cast<std::size_t>(host)].empty()) return x_hosts[static_cast<std::size_t>(host)];
  return {};
}

void PhaseBarrier::write(const std::string& phase, const std::string& what, const std::string& text,
                         const std::string& before) {
  try {
    x_store.set(key(phase, what, x_env.rank), text);
  } catch (const std::exception& lost) {
    throw PhaseError(
        {public_phase(phase),
         {0},
         {first_host()},
         before.empty()
             ? ddp::format_message("lost the connection to rank 0: {}", lost.what())
             : ddp::format_message("lost the connection to rank 0: {}; before that: {}", lost.what(), before),
         "check the log of rank 0 for a crash or a kill"});
  }
}

void PhaseBarrier::enter(const std::string& phase) { write(phase, "entered", "1"); }

template <class Ready> bool PhaseBarrier::wait_for_all(const Ready& ready, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  int next = 0; // ranks below it are ready
  while (next < x_env.world_size) {
    if (ready(next)) {
      ++next;
    } else if (steady_clock::now() >= deadline) {
      return false;
    } else {
      std::this_thread::sleep_for(k_poll);
    }
  }
  return true;
}

bool PhaseBarrier::wait_for_reports(const std::string& phase, milliseconds limit) {
  return wait_for_all(
      [&](int rank) {
        return x_store.has(key(phase, "done", rank)) || x_store.has(key(phase, "failed", rank));
      },
      limit);
}

std::optional<PhaseFailure> PhaseBarrier::find_faulty_rank(const std::string& phase) {
  std::vector<int> absent, silent, faulty;
  std::string seen, confessed;
  for (int rank = 0; rank < x_env.world_size; ++rank) {
    if (x_store.has(key(phase, "done", rank))) continue;
    if (!x_store.has(key(phase, "failed", rank))) {
      (x_store.has(key(phase, "entered", rank)) ? silent : absent).push_back(rank);
      continue;
    }
    const bool own = x_store.has(key(phase, "own", rank));
    if (own) faulty.push_back(rank);
    auto& reason = own ? confessed : seen;
    if (reason.empty()) reason = x_store.get(key(phase, "failed", rank), x_timeout);
  }
  x_reason = seen;
  if (absent.empty() && silent.empty() && faulty.empty()) return std::nullopt;
  // A rank that reports its own fault explains the errors of the others, and so does one that stopped
  // responding; not the other way round.
  const std::string name = public_phase(phase);
  PhaseFailure faulty_rank{name, !faulty.empty() ? faulty : !absent.empty() ? absent : silent, {}, "", ""};
  for (const int rank : faulty_rank.ranks)
    faulty_rank.hosts.push_back(x_hosts[static_cast<std::size_t>(rank)]);
  const std::string who = list_ranks_and_hosts(faulty_rank.ranks, faulty_rank.hosts);
  if (faulty.empty()) {
    faulty_rank.what = absent.empty()
                           ? ddp::format_message("{} stopped responding in {} after connecting", who, name)
                           : ddp::format_message("{} did not start {} after connecting", who, name);
    if (!seen.empty()) faulty_rank.what += ddp::format_message("; other ranks reported: {}", seen);
    faulty_rank.next = "check the log of that rank for a crash or a kill (out of memory?), or use --exclude "
                       "if it recurs on one host";
  } else {
    faulty_rank.what = ddp::format_message("{} failed in {}: {}", who, name, confessed);
    faulty_rank.next = name == "rendezvous"
                           ? "check what the message names on these hosts, or use --interface NAME for "
                             "another network interface"
                           : "use --exclude if it recurs on one host, or --backend gloo to test without "
                             "the GPU network";
  }
  return faulty_rank;
}

PhaseOutcome PhaseBarrier::wait_for_outcome(const std::string& phase, milliseconds limit) {
  const std::string outcome = wait_for_result(phase, limit);
  if (outcome == k_well) return PhaseOutcome::well;
  if (outcome == k_unexplained) return PhaseOutcome::unexplained;
  finish();
  auto faulty_rank = unpack(outcome);
  faulty_rank.is_reported = true;
  throw PhaseError(std::move(faulty_rank));
}

PhaseOutcome PhaseBarrier::conclude(const std::string& phase, const LocalPhaseResult& result) {
  const std::string own = result.what.substr(0, result.what.find('\n'));
  if (result.own) write(phase, "own", "1", own);
  write(phase, own.empty() ? "done" : "failed", own.empty() ? "1" : own, own);
  if (x_env.rank != 0) return wait_for_outcome(phase, 2 * x_timeout + 2 * k_grace);
  wait_for_reports(phase, own.empty() ? x_timeout + k_grace : x_peer_timeout);
  if (const auto faulty_rank = find_faulty_rank(phase)) fail(phase, faulty_rank, k_grace);
  const bool well = x_reason.empty();
  publish_result(phase, well ? k_well : k_unexplained);
  return well ? PhaseOutcome::well : PhaseOutcome::unexplained;
}

void PhaseBarrier::publish_result(const std::string& matter, const std::string& text) {
  x_store.set(ddp::format_message("hpcml/{}/result", matter), text);
}

std::string PhaseBarrier::wait_for_result(const std::string& matter, milliseconds limit) {
  try {
    return x_store.get(ddp::format_message("hpcml/{}/result", matter), limit);
  } catch (const std::exception& error) {
    throw PhaseError(
        {public_phase(matter),
         {0},
         {first_host()},
         ddp::format_message("rank 0 at {}:{} did not report the result of {} ({})", x_env.master_addr,
                             x_env.master_port, public_phase(matter), error.what()),
         "check the log of rank 0 for a crash or a kill"});
  }
}

void PhaseBarrier::fail(const std::string& phase, const std::optional<PhaseFailure>& found,
                        milliseconds limit) {
  if (x_env.rank != 0 || !found) {
    wait_for_outcome(phase, limit);
    // Rank 0 gives `found`.
    throw std::logic_error("the preflight failed, but no rank reported a cause; check the logs of all ranks");
  }
  publish_result(phase, pack(*found));
  finish();
  throw PhaseError(*found);
}

void PhaseBarrier::note(const std::string& phase, const std::string& text) { write(phase, "note", text); }

std::vector<std::string> PhaseBarrier::notes(const std::string& phase) {
  std::vector<std::string> list;
  for (int rank = 0; rank < x_env.world_size; ++rank)
    list.push_back(x_store.get(key(phase, "note", rank), x_timeout));
  return list;
}

std::vector<std::optional<std::string>> PhaseBarrier::collect(const std::string& phase, milliseconds limit,
                                                              const std::vector<int>& members) {
  const auto noted = [&](int rank) { return x_store.has(key(phase, "note", rank)); };
  const auto is_awaited = [&](int rank) {
    return members.empty() || std::find(members.begin(), members.end(), rank) != members.end();
  };
  wait_for_all([&](int rank) { return !is_awaited(rank) || noted(rank); }, limit);
  std::vector<std::optional<std::string>> list(static_cast<std::size_t>(x_env.world_size));
  for (int rank = 0; rank < x_env.world_size; ++rank)
    if (noted(rank)) list[static_cast<std::size_t>(rank)] = x_store.get(key(phase, "note", rank), x_timeout);
  return list;
}

void PhaseBarrier::finish() {
  try {
    x_store.set(key("finish", "done", x_env.rank), "1");
    // Ranks that never connected cannot be waited for.
    if (x_env.rank == 0) wait_for_reports("finish", std::min(x_timeout, milliseconds(2000)));
  } catch (const std::exception&) {
    // Rank 0 has exited already.
  }
}

} // namespace hpcml::helper
