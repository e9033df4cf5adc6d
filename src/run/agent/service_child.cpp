// SPDX-License-Identifier: MIT
// The process that serves the conductor: a child of the first node's agent.
#include "run/agent/coordinator_service.hpp"

#include "core/util/log.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/store/session_gate.hpp"

namespace hpcml::agent {

util::Result<launch::StoreChild> start_service(const CoordinatorOptions& rules,
                                               const launch::JobChannelKey& channel,
                                               const std::vector<std::string>& addresses,
                                               const std::vector<std::uint16_t>& ports) {
  return launch::start_child_server(addresses, ports, [&](store::ListeningSockets listening) {
    const auto report = [](const std::string& line) {
      launch::log_without_waiting(util::LogLevel::info, line);
    };
    CoordinatorService service(rules, report, channel.is_open ? channel.key->to_hex() : std::string());
    store::SessionGateOptions gate_rules{channel.key, rules.job};
    if (channel.is_open) gate_rules = {std::nullopt, rules.job, store::PlainMessagePolicy::accepted};
    store::SessionGate gate(std::move(gate_rules), service, report);
    gate.set_port(listening.port);
    store::ServerLimits limits;
    // Messages of agents are short, and other clients have no messages: low limits keep them from filling the
    // node's memory.
    limits.message.value_bytes = std::uint64_t{16} << 20;
    limits.bytes = std::uint64_t{256} << 20;
    limits.clients_read = true; // orders must not wait for a node that is gone
    store::Server server(std::move(listening), limits, gate);
    return server.run(-1);
  });
}

} // namespace hpcml::agent
