// SPDX-License-Identifier: MIT
#include "run/agent/agent_protocol.hpp"

#include "run/agent/restart_backoff.hpp"
#include "run/store/hpcml_protocol.hpp"
#include "run/store/packed.hpp"

namespace hpcml::agent {

namespace {

using store::WireReader;
using store::WireWriter;

constexpr std::string_view k_register_mark = "hpcml agent hello 1";
constexpr std::string_view k_reply_mark = "hpcml agent reply 2";
constexpr std::string_view k_event_mark = "hpcml agent event 1";
constexpr std::string_view k_order_mark = "hpcml agent order 2";

/// One more than a number that may be missing, whose packing is 0 then.
unsigned long long number_or_none(const std::optional<unsigned>& number) {
  return number ? static_cast<unsigned long long>(*number) + 1 : 0;
}

/// The kind that a number stands for; nothing if it stands for none. Without a default: a kind that is added
/// is a warning of the compiler here, not a message that every peer rejects.
std::optional<AgentEvent::Kind> event_kind(unsigned long long number) {
  const auto kind = static_cast<AgentEvent::Kind>(number);
  switch (kind) {
  case AgentEvent::Kind::serving:
  case AgentEvent::Kind::failed:
  case AgentEvent::Kind::ended:
  case AgentEvent::Kind::quiet:
  case AgentEvent::Kind::busy:
  case AgentEvent::Kind::looked:
  case AgentEvent::Kind::leaving:
  case AgentEvent::Kind::heartbeat: return kind;
  }
  return std::nullopt;
}

std::optional<AgentCommand::Kind> order_kind(unsigned long long number) {
  const auto kind = static_cast<AgentCommand::Kind>(number);
  switch (kind) {
  case AgentCommand::Kind::serve:
  case AgentCommand::Kind::start:
  case AgentCommand::Kind::look:
  case AgentCommand::Kind::stop:
  case AgentCommand::Kind::name:
  case AgentCommand::Kind::end:
  case AgentCommand::Kind::heartbeat:
  case AgentCommand::Kind::lost: return kind;
  }
  return std::nullopt;
}

} // namespace

std::string pack_registration(const RegisterRequest& registration) {
  WireWriter packed(k_register_mark);
  packed.text(registration.job);
  packed.text(registration.run_id);
  packed.text(registration.host);
  packed.number(number_or_none(registration.node_rank));
  packed.number(registration.processes);
  packed.number(registration.leads ? 1 : 0);
  return packed.take();
}

std::optional<RegisterRequest> unpack_registration(std::string_view bytes) {
  WireReader unpacked(bytes, k_register_mark);
  RegisterRequest registration;
  registration.job = unpacked.text();
  registration.run_id = unpacked.text();
  registration.host = unpacked.text();
  if (const auto rank = unpacked.number(); rank > 0) registration.node_rank = static_cast<unsigned>(rank - 1);
  registration.processes = static_cast<unsigned>(unpacked.number());
  registration.leads = unpacked.number(1) == 1;
  if (!unpacked.whole() || registration.processes == 0 || !store::is_host(registration.host))
    return std::nullopt;
  return registration;
}

std::string pack_reply(const RegisterReply& reply) {
  WireWriter packed(k_reply_mark);
  packed.text(reply.refused);
  packed.number(reply.again ? 1 : 0);
  packed.text(reply.secret);
  return packed.take();
}

std::optional<RegisterReply> unpack_reply(std::string_view bytes) {
  WireReader unpacked(bytes, k_reply_mark);
  RegisterReply reply;
  reply.refused = unpacked.text();
  reply.again = unpacked.number(1) == 1;
  reply.secret = unpacked.text();
  if (!unpacked.whole()) return std::nullopt;
  return reply;
}

std::string pack_event(const AgentEvent& event) {
  WireWriter packed(k_event_mark);
  packed.number(static_cast<unsigned>(event.kind));
  packed.number(event.attempt);
  packed.number(event.good ? 1 : 0);
  packed.number(static_cast<unsigned>(event.signal));
  packed.text(event.place);
  packed.text(event.stacks);
  packed.text(pack_failure(event.failure));
  return packed.take();
}

std::optional<AgentEvent> unpack_event(std::string_view bytes) {
  WireReader unpacked(bytes, k_event_mark);
  AgentEvent event;
  const auto kind = event_kind(unpacked.number());
  event.attempt = static_cast<unsigned>(unpacked.number());
  event.good = unpacked.number(1) == 1;
  event.signal = static_cast<int>(unpacked.number(64));
  event.place = unpacked.text();
  event.stacks = unpacked.text();
  auto failure = unpack_failure(unpacked.text());
  if (!unpacked.whole() || !kind || !failure) return std::nullopt;
  if (!event.place.empty() && !store::is_place(event.place)) return std::nullopt;
  event.kind = *kind;
  event.failure = std::move(*failure);
  return event;
}

std::string pack_order(const AgentCommand& order) {
  WireWriter packed(k_order_mark);
  packed.number(static_cast<unsigned>(order.kind));
  packed.number(order.attempt);
  packed.number(order.restarts);
  packed.number(order.world.size());
  for (const auto& node : order.world) {
    packed.text(node.host);
    packed.number(node.processes);
  }
  packed.number(order.node_rank);
  packed.text(order.place);
  packed.text(order.failure ? pack_failure(*order.failure) : std::string());
  packed.text(order.reason);
  packed.number(order.restarts_all ? 1 : 0);
  packed.number(static_cast<unsigned>(order.pause.count()));
  packed.number(static_cast<unsigned>(order.code));
  packed.number(order.is_reporter ? 1 : 0);
  packed.number(order.stacks.size());
  for (const auto& stacks : order.stacks) packed.text(stacks);
  packed.number(order.lost.size());
  for (const auto& host : order.lost) packed.text(host);
  return packed.take();
}

std::optional<AgentCommand> unpack_order(std::string_view bytes) {
  WireReader unpacked(bytes, k_order_mark);
  AgentCommand order;
  const auto kind = order_kind(unpacked.number());
  order.attempt = static_cast<unsigned>(unpacked.number());
  order.restarts = static_cast<unsigned>(unpacked.number());
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left) {
    std::string host(unpacked.text());
    order.world.push_back({std::move(host), static_cast<unsigned>(unpacked.number())});
  }
  order.node_rank = static_cast<unsigned>(unpacked.number());
  order.place = unpacked.text();
  const auto failure = unpacked.text();
  order.reason = unpacked.text();
  order.restarts_all = unpacked.number(1) == 1;
  order.pause = std::chrono::seconds(unpacked.number(RestartBackoff::k_longest_pause.count()));
  order.code = static_cast<int>(unpacked.number(255));
  order.is_reporter = unpacked.number(1) == 1;
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    order.stacks.emplace_back(unpacked.text());
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    order.lost.emplace_back(unpacked.text());
  if (!unpacked.whole() || !kind || (!order.world.empty() && order.node_rank >= order.world.size()))
    return std::nullopt;
  order.kind = *kind;
  if (!failure.empty()) {
    order.failure = unpack_failure(failure);
    if (!order.failure) return std::nullopt;
  }
  return order;
}

} // namespace hpcml::agent
