// SPDX-License-Identifier: MIT
#include "run/agent/link.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/failures/log_messages.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/store/client.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::agent {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto k_tick = milliseconds(500);
constexpr auto k_connect_time = seconds(2); ///< of one place
constexpr auto k_answer_time = seconds(60); ///< of one that is connected: its machine may be busy
constexpr auto k_pause = milliseconds(50);  ///< between two rounds of questions, at first

class OwnLink : public CoordinatorConnection {
public:
  OwnLink(const CoordinatorOptions& rules, const RegisterRequest& registration)
      : x_coordinator(rules, Clock::now()) {
    x_coordinator.register_agent(k_self, registration, Clock::now());
  }
  void send_event(const AgentEvent& event) override { x_coordinator.on_event(k_self, event, Clock::now()); }
  std::optional<AgentCommand> take() override {
    if (Clock::now() >= x_tick) {
      x_coordinator.tick(Clock::now());
      x_tick = Clock::now() + k_tick;
    }
    for (auto& [agent, command] : x_coordinator.take_commands()) x_commands.push_back(std::move(command));
    for (const auto& line : x_coordinator.take_messages()) util::log_info(line);
    if (x_commands.empty()) return std::nullopt;
    auto command = std::move(x_commands.front());
    x_commands.erase(x_commands.begin());
    return command;
  }
  int fd() const override { return -1; }
  bool has_output() const override { return false; }
  std::optional<Time> due() const override { return x_commands.empty() ? x_tick : Clock::now(); }
  std::string fault() const override { return {}; }
  std::string place() const override { return {}; }

private:
  static constexpr AgentId k_self = 1;
  Coordinator x_coordinator;
  std::vector<AgentCommand> x_commands;
  Time x_tick = Clock::now();
};

class FarLink : public CoordinatorConnection {
public:
  FarLink(store::Client client, const CoordinatorSearchOptions& search, std::string open_secret)
      : x_client(std::move(client)), x_own(search.own), x_name(search.name),
        x_open_secret(std::move(open_secret)), x_heartbeat(search.heartbeat, util::now_with_suspend()) {
    x_client.put_get(k_order_key);
    x_client.advance();
  }
  void send_event(const AgentEvent& event) override {
    x_client.put_set(k_event_key, store::pack_message(event));
    x_client.advance();
  }
  std::optional<AgentCommand> take() override {
    keep_alive();
    for (;;) {
      x_client.advance();
      const auto value = x_client.take_value();
      if (!value) break;
      x_heartbeat.on_answer(util::now_with_suspend());
      x_client.put_get(k_order_key);
      x_client.advance();
      auto command = store::unpack_message<AgentCommand>(*value);
      if (!command) return std::nullopt;
      if (!std::holds_alternative<Heartbeat>(command->what)) return std::move(*command);
    }
    x_silent = x_silent || (x_client.fd() >= 0 && x_heartbeat.is_overdue(util::now_with_suspend()));
    return std::nullopt;
  }
  int fd() const override { return x_client.fd(); }
  bool has_output() const override { return (x_client.wanted() & POLLOUT) != 0; }
  /// What has come while something was sent is not seen by who polls for more.
  std::optional<Time> due() const override {
    if (x_client.fd() >= 0 && !x_client.has_value()) return heartbeat_due();
    return Clock::now();
  }
  std::optional<Time> keep_alive() override {
    if (x_heartbeat.is_due(util::now_with_suspend())) {
      if (x_watchdog != nullptr) x_watchdog->on_heartbeat();
      if (x_client.fd() >= 0) send_event({0, Heartbeat{}});
    }
    return heartbeat_due();
  }
  bool was_away() const override { return x_heartbeat.was_away(); }
  void set_watchdog(AgentLivenessWatchdog* watchdog) override { x_watchdog = watchdog; }
  void announce_wait() override {
    if (x_watchdog != nullptr) x_watchdog->pause();
  }
  std::string fault() const override {
    if (x_client.fd() >= 0 && !x_silent) return {};
    const auto peer =
        fmt::format("{} ({}{})", x_own ? "the coordinator of the agents" : "the agent of the first node",
                    x_name.empty() ? "" : fmt::format("{}, ", x_name), x_client.place());
    if (x_client.session_error() != store::SessionError::none)
      return fmt::format("{} {}", peer, x_client.fault());
    if (!x_silent) return fmt::format("{} disconnected", peer);
    return fmt::format("{} {} for {}: treated as lost", failures::k_no_heartbeat, peer,
                       whole_seconds(x_heartbeat.options().timeout));
  }
  std::string place() const override { return x_client.place(); }
  std::string open_secret() const override { return x_open_secret; }

private:
  Time heartbeat_due() const {
    const bool may_answer = x_client.fd() >= 0 && !x_silent;
    return Clock::now() + (x_heartbeat.due(may_answer) - util::now_with_suspend());
  }

  store::Client x_client;
  bool x_own;
  std::string x_name, x_open_secret;
  HeartbeatTimer x_heartbeat;
  AgentLivenessWatchdog* x_watchdog = nullptr;
  bool x_silent = false; ///< the coordinator has not answered for the timeout
};

std::optional<store::Credentials> credentials_of(const RegisterRequest& registration,
                                                 const CoordinatorSearchOptions& search) {
  if (!search.key) return std::nullopt;
  return store::Credentials{*search.key,
                            {store::PeerRole::agent, registration.job,
                             store::identity_text(registration.run_id), registration.node_rank.value_or(0)}};
}

/// Describes an answer that is not a reply to an agent of this version.
std::string describe_other(const std::string& answer, const std::string& place, const util::Error& error) {
  if (store::other_version(answer)) return fmt::format("the agent at {} {}", place, error.what);
  const auto welcome = store::unpack_message<store::JoinReply>(answer);
  if (welcome && welcome->refusal == store::JoinError::key)
    return fmt::format("the agent at {} {}, and this one has none", place, welcome->refused);
  return fmt::format("another program answers at {}", place);
}

/// Returns the answer of one endpoint to a registration. If it was registered, a closed connection counts as
/// the loss of this agent, so that the connection is kept while waiting.
util::Result<std::string> ask_place(store::Client& client, const RegisterRequest& registration,
                                    const CoordinatorSearchOptions& search, Clock::time_point deadline) {
  client.put_compare_set(k_register_key, {}, store::pack_message(registration));
  const auto begin = Clock::now();
  for (;;) {
    auto value = client.wait_for_value(Clock::now() + k_tick);
    if (value || !client.fault().empty() || (search.is_over && search.is_over())) return value;
    const bool stands = client.is_connected();
    const auto limit = stands ? std::max(std::min(begin + k_answer_time, deadline), begin + search.answer)
                              : std::min(begin + k_connect_time, deadline);
    if (Clock::now() >= limit) return value;
  }
}

} // namespace

std::unique_ptr<CoordinatorConnection> make_own_link(const CoordinatorOptions& rules,
                                                     const RegisterRequest& registration) {
  return std::make_unique<OwnLink>(rules, registration);
}

std::variant<std::unique_ptr<CoordinatorConnection>, CoordinatorSearchError>
find_coordinator(const RegisterRequest& registration, const CoordinatorSearchOptions& search) {
  const auto begin = Clock::now(), deadline = begin + search.join_timeout;
  auto pause = k_pause;
  auto word = seconds(20);
  std::string reason = "its address is unknown";
  for (;;) {
    for (const auto& place : search.places) {
      store::Client client(place.address, place.port, credentials_of(registration, search));
      const auto value = ask_place(client, registration, search, deadline);
      const auto reply =
          value ? store::unpack_message<RegisterReply>(*value) : util::Result<RegisterReply>(util::Error{});
      if (client.session_error() != store::SessionError::none) {
        reason = fmt::format("the store at {} {}", client.place(), client.fault());
      } else if (!value) {
        reason = value.error().what;
      } else if (!reply) {
        reason = describe_other(*value, client.place(), reply.error());
        if (store::other_version(*value)) return CoordinatorSearchError{{reason, reply.error().hint}, true};
      } else if (reply->refused.empty()) {
        return std::unique_ptr<CoordinatorConnection>(
            std::make_unique<FarLink>(std::move(client), search, reply->secret));
      } else {
        reason = fmt::format("the agent at {} {}", client.place(), reply->refused);
        if (!reply->again) return CoordinatorSearchError{{reason}, true};
      }
    }
    const auto waited = std::chrono::duration_cast<seconds>(Clock::now() - begin);
    if (search.is_over && search.is_over())
      return CoordinatorSearchError{
          {"a signal stopped this agent while it waited for the agent of the first node",
           "check sacct for scancel, the time limit or a preemption"},
          true};
    if (Clock::now() >= deadline)
      return CoordinatorSearchError{
          {fmt::format("the agent of the first node did not answer within {} s: {}",
                       search.join_timeout.count(), reason),
           "check that hpcml has started on the first node, and that this node can connect to it"}};
    if (waited >= word && search.slow) {
      search.slow(waited, reason);
      word *= 3;
    }
    ::usleep(static_cast<useconds_t>(std::chrono::microseconds(pause).count()));
    pause = std::min(milliseconds(1000), pause * 3 / 2);
  }
}

} // namespace hpcml::agent
