// SPDX-License-Identifier: MIT
#include "run/agent/coordinator_service.hpp"

namespace hpcml::agent {

CoordinatorService::CoordinatorService(CoordinatorOptions rules,
                                       std::function<void(const std::string&)> report,
                                       std::string open_secret)
    : x_coordinator(std::move(rules), util::now_with_suspend()), x_open_secret(std::move(open_secret)),
      x_report(std::move(report)) {}

void CoordinatorService::authenticated(store::ClientId client, const store::PeerIdentity& identity,
                                       store::Time) {
  x_identities[client] = identity;
}

bool CoordinatorService::is_agent(store::ClientId client, const RegisterRequest& registration) const {
  const auto found = x_identities.find(client);
  if (found == x_identities.end()) return !x_open_secret.empty();
  const auto& identity = found->second;
  return identity.role == store::PeerRole::agent && identity.job == registration.job &&
         identity.step == store::identity_text(registration.run_id) &&
         identity.number == registration.node_rank.value_or(0);
}

RegisterReply CoordinatorService::reply_to(store::ClientId client, const RegisterRequest& registration,
                                           store::Time now) {
  if (!is_agent(client, registration))
    return {"rejected this agent: it authenticated for another job, run or node", false};
  auto reply = x_coordinator.register_agent(client, registration, now);
  if (reply.refused.empty()) reply.secret = x_open_secret;
  return reply;
}

bool CoordinatorService::on_message(store::ClientId client, const store::TcpStoreMessage& message,
                                    store::AnswerSink& answers, store::Time) {
  using store::StoreOpcode;
  const auto now = util::now_with_suspend();
  const auto key = message.keys.empty() ? std::string_view() : message.keys.front();
  if (message.op == StoreOpcode::compare_set && key == k_register_key) {
    const auto registration = store::unpack_message<RegisterRequest>(
        message.values.size() == 2 ? message.values[1] : std::string_view());
    // An agent of another version reads only the version in this reply.
    const auto reply = registration ? reply_to(client, *registration, now)
                                    : RegisterReply{"rejected the registration of this agent", false};
    answers.message(client, store::pack_message(reply));
  } else if (message.op == StoreOpcode::set && key == k_event_key) {
    if (const auto event = store::unpack_message<AgentEvent>(message.values.empty() ? std::string_view()
                                                                                    : message.values[0]))
      x_coordinator.on_event(client, *event, now);
  } else if (message.op == StoreOpcode::get && key == k_order_key) {
    x_polling.insert(client);
  } else {
    return false;
  }
  return true;
}

void CoordinatorService::left(store::ClientId client, const std::string&, const std::string&, store::Time) {
  x_coordinator.on_disconnect(client, util::now_with_suspend());
  collect_commands();
  // The next client may get its number, and must not receive its answers.
  x_polling.erase(client);
  x_waiting.erase(client);
  x_identities.erase(client);
}

void CoordinatorService::collect_commands() {
  for (auto& [agent, command] : x_coordinator.take_commands())
    x_waiting[agent].push_back(store::pack_message(command));
}

void CoordinatorService::round(store::AnswerSink& answers, store::Time) {
  collect_commands();
  for (auto& line : x_coordinator.take_messages()) x_report(line);
  for (auto& [agent, commands] : x_waiting) {
    const auto polling = x_polling.find(agent);
    if (commands.empty() || polling == x_polling.end()) continue;
    answers.message(agent, commands.front());
    commands.pop_front();
    x_polling.erase(polling);
  }
}

bool CoordinatorService::tick(const store::StoreTable&, store::Time) {
  x_coordinator.tick(util::now_with_suspend());
  return false; // it ends with the agent that has started it
}

} // namespace hpcml::agent
