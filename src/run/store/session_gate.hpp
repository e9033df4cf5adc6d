// SPDX-License-Identifier: MIT
// Lets hpcml's own messages through to an observer only from clients that have proved the job's key.
// Programs' messages pass unchanged: torch's clients have no key. No sockets, no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/store/rejection_log.hpp"
#include "run/store/server.hpp"
#include "run/store/session.hpp"

namespace hpcml::store {

/// A session travels as values of this key: its first message as what compare_set expects to be replaced
/// (torch's own servers answer k_not_ours and keep nothing), the others by set. Answers are values.
inline constexpr std::string_view k_session_key = "\x01hpcml/session";

/// Which of hpcml's messages are accepted outside of a session.
enum class PlainMessagePolicy {
  rejected,      ///< nothing
  announcements, ///< ranks may announce themselves; the observer knows that they have proved nothing
  accepted       ///< everything: agents without a key, which are as open as torch's
};

struct SessionGateOptions {
  std::optional<SecretKey> key; ///< without one no session is possible
  std::string job;              ///< clients of other jobs are rejected
  PlainMessagePolicy plain = PlainMessagePolicy::rejected;
};

/// A message between hpcml's processes before it is sealed.
struct InnerMessage {
  StoreOpcode op = StoreOpcode::get;
  std::string_view key, value;
};
std::string pack_inner(const InnerMessage& message);
/// Nothing if these bytes are none; the views point into them.
std::optional<InnerMessage> unpack_inner(std::string_view bytes);

class SessionGate : public ServerObserver {
public:
  using MessageSink = std::function<void(const std::string&)>;
  /// `report` gets sentences about clients that were rejected; their number is bounded.
  SessionGate(SessionGateOptions rules, ServerObserver& inner, MessageSink report)
      : x_rules(std::move(rules)), x_inner(inner), x_report(std::move(report)) {}

  /// The server's own port. Clients reject a server that claims another one than they dialled.
  void set_port(std::uint16_t port) { x_port = port; }

  void begins(const StoreTable& table, std::size_t most_clients) override {
    x_inner.begins(table, most_clients);
  }
  void connected(ClientId client, const std::string& peer, Time now) override {
    x_inner.connected(client, peer, now);
  }
  MessageDisposition receive(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                             Time now) override;
  void left(ClientId client, const std::string& peer, const std::string& why, Time now) override;
  void round(AnswerSink& answers, Time now) override;
  bool tick(const StoreTable& table, Time now) override;
  bool outlasts_stop(Time now) const override { return x_inner.outlasts_stop(now); }

private:
  class SealingAnswers;
  struct Session {
    AuthenticationServer server;
    bool looks_elsewhere = false; ///< another job's client, which tries several ports: not worth a line
  };
  std::optional<SecretKey> key_for(std::string_view request) const;
  MessageDisposition receive_request(ClientId client, std::string_view bytes, AnswerSink& answers);
  MessageDisposition receive_sealed(ClientId client, std::string_view bytes, AnswerSink& answers, Time now);
  MessageDisposition receive_plain(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                   Time now);
  Session* find(ClientId client);
  void report(const std::vector<std::string>& lines) const;

  SessionGateOptions x_rules;
  ServerObserver& x_inner;
  MessageSink x_report;
  std::uint16_t x_port = 0;
  std::unordered_map<ClientId, Session> x_sessions;
  RejectionLog x_rejections;
};

} // namespace hpcml::store
