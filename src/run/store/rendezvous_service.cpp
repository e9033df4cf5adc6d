// SPDX-License-Identifier: MIT
#include "run/store/rendezvous_service.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "hpcml/rank_label.hpp"

namespace hpcml::store {

namespace {

/// Maximum number of lines about failures that clients without a proof report.
constexpr unsigned k_most_unproven_lines = 4;
constexpr std::size_t k_longest_reason = 200; ///< bytes of what such a client says

JoinReply refuse_unproven() { return {JoinError::run, "serves another run", {}, {}}; }

/// What is before the first control character, and not too long.
std::string first_line(const std::string& text) {
  const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; });
  return std::string(text.begin(), end).substr(0, k_longest_reason);
}

} // namespace

RendezvousService::RendezvousService(RendezvousServiceOptions rules, MessageSink report)
    : x_rules(std::move(rules)), x_report(std::move(report)), x_registry(x_rules.warn_after) {}

void RendezvousService::report(const std::vector<std::string>& lines) const {
  for (const auto& line : lines) x_report(line);
}

void RendezvousService::welcome(ClientId client, AnswerSink& answers) const {
  // One that has proved nothing learns nothing of the run, not even why it is not for it.
  const auto* peer = x_peers.find(client);
  const bool is_proven = peer != nullptr && peer->identity;
  const auto reply = is_proven ? x_start.reply(x_port) : has_failed() ? refuse_unproven() : JoinReply{};
  answers.message(client, pack_message(reply));
}

void RendezvousService::authenticated(ClientId client, const PeerIdentity& identity, Time) {
  x_peers[client].identity = identity;
  x_peers.note_launcher(client);
}

std::optional<JoinReply> RendezvousService::refusal(const JoinRequest& request) const {
  const auto refuse = [](JoinError why, std::string clause) {
    return JoinReply{why, std::move(clause), {}, {}};
  };
  if (request.job != x_rules.job)
    return refuse(JoinError::job,
                  "is the rendezvous store of another job: check that rank 0 of this step has started");
  if (!x_rules.step.empty() && request.step != x_rules.step)
    return refuse(
        JoinError::step,
        "is the rendezvous store of another step of this job: check that rank 0 of this step has started");
  const auto& members = x_registry.members();
  // If no number distinguishes two runs (mpirun twice in a script), their processes do.
  if (request.rank < members.size() &&
      (members[request.rank].announced || !members[request.rank].failed.empty()) &&
      (members[request.rank].pid != request.pid || members[request.rank].host != request.host))
    return refuse(
        JoinError::run,
        "is the rendezvous store of another run of this step: run this one after the other has exited");
  const auto size = x_registry.begun() ? members.size() : x_rules.world_size;
  if (size != 0 && request.world_size != size)
    return refuse(
        JoinError::size,
        fmt::format("is the rendezvous store of {} ranks, not {}: check the number of tasks of each srun",
                    size, request.world_size));
  return std::nullopt;
}

void RendezvousService::notify_complete() {
  if (x_complete && all_known()) std::exchange(x_complete, nullptr)();
}

/// Messages of a client without a key only serve the log: no rank receives them, and none waits less
/// because of them.
void RendezvousService::note_unproven(ClientId client, JoinRequest request, AnswerSink& answers, Time now) {
  if (request.rank == 0 || request.world_size != x_rules.world_size || refusal(request) || has_failed())
    return answers.message(client, pack_message(refuse_unproven()));
  if (!request.failed.empty()) {
    answers.message(client, pack_message(JoinReply{}));
    if (x_unproven_lines++ < k_most_unproven_lines)
      x_report(fmt::format("{} could not start: {}",
                           rank_label({request.rank, request.world_size, request.host}, "not authenticated"),
                           first_line(request.failed)));
    return;
  }
  request.decision.reset();
  request.nodes.clear();
  request.tasks_per_node.clear();
  ServicePeer& peer = x_peers[client];
  report(x_registry.announce(request, peer.address, now));
  // Before rank 0 connects, the store may be left over from another run.
  if (!std::exchange(peer.waits, true)) x_start.await_decision(client);
  answer_when_known(answers);
}

void RendezvousService::answer_when_known(AnswerSink& answers) {
  notify_complete();
  for (const ClientId waiting : x_start.take_decided()) welcome(waiting, answers);
  if (all_known())
    for (const ClientId waiting : x_start.take_waiting_for_all()) answers.message(waiting, x_start.failure());
}

void RendezvousService::announce(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                 Time now) {
  auto request =
      unpack_message<JoinRequest>(message.values.size() == 2 ? message.values[1] : std::string_view());
  const auto identity = x_peers[client].identity;
  if (request && !identity) return note_unproven(client, std::move(*request), answers, now);
  const bool is_own =
      request && identity &&
      *identity == PeerIdentity{PeerRole::rank, request->job, identity_text(request->step), request->rank};
  const auto refused = is_own ? refusal(*request)
                              : JoinReply{JoinError::words, "rejected the announcement of this rank", {}, {}};
  if (refused) return answers.message(client, pack_message(*refused));
  x_rules.step = request->step;
  if (!x_registry.begun() && request->world_size > x_most_clients)
    x_report(fmt::format("{} ranks exceed the limit of this store ({} clients)\n"
                         "hint: request a higher hard limit of open files (ulimit -Hn) on its node",
                         request->world_size, x_most_clients));
  const auto news = x_registry.announce(*request, x_peers[client].address, now);
  if (request->failed.empty())
    report(news);
  else // the rank itself reports it, and those that wait for it
    x_start.fail(news.front());
  if (request->rank == 0) {
    x_start.decide(request->decision);
    x_peers.note_leader(client);
  }
  x_start.await_decision(client);
  answer_when_known(answers);
}

bool RendezvousService::on_message(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                   Time now) {
  if (message.op == StoreOpcode::ping) {
    x_peers.note_program(client, now);
    report(x_registry.program_came(client, x_peers[client].address, message.number, now));
    x_watch.on_message(client, message, now);
    return false;
  }
  if (message.keys.empty() || !message.keys.front().starts_with(k_own_keys)) {
    x_peers.note_program(client, now);
    x_watch.on_message(client, message, now);
    if (x_activity != nullptr && changes_store(message)) {
      x_activity->touch(now);
      x_activity->note_worlds(x_watch.worlds());
    }
    return false;
  }
  return receive_own(client, message, answers, now);
}

bool RendezvousService::receive_own(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                    Time now) {
  const auto key = message.keys.front();
  x_peers.note_launcher(client);
  if (message.op == StoreOpcode::compare_set && key == k_announce_key) {
    announce(client, message, answers, now);
    return true;
  }
  const auto& identity = x_peers[client].identity;
  if (!identity) return false;
  if (message.op == StoreOpcode::get && key == k_all_here_key && identity->role == PeerRole::rank) {
    if (all_known())
      answers.message(client, x_start.failure());
    else
      x_start.await_all(client);
  } else if (message.op == StoreOpcode::get && key == k_missing_key) {
    answers.message(client, util::join(x_registry.missing(now, unknown()), "\n"));
  } else if (message.op == StoreOpcode::compare_set && key == k_show_key) {
    answers.message(client, pack_message(x_watch.report(x_registry, unknown(), now)));
  } else {
    return false;
  }
  return true;
}

void RendezvousService::left(ClientId client, const std::string& peer, const std::string& why, Time now) {
  if (!why.empty())
    x_report(fmt::format("disconnected a client at {}: {}", peer.empty() ? "unknown address" : peer, why));
  if (x_peers.find(client) == nullptr) return;
  // It waits for all; a rank that comes later would begin without it.
  if (x_peers.remove(client) && !all_known()) {
    x_start.fail(fmt::format("{} exited before all ranks connected", x_registry.name(0)));
    notify_complete();
  }
  x_watch.left(client, x_registry, now);
  x_registry.client_left(client);
  x_start.forget(client);
}

bool RendezvousService::tick(const StoreTable&, Time now) {
  report(x_registry.due_messages(now, unknown()));
  report(x_watch.due_messages(x_registry, x_rules.warn_after, now));
  return x_is_over && x_is_over(*this, now);
}

} // namespace hpcml::store
