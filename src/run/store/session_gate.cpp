// SPDX-License-Identifier: MIT
#include "run/store/session_gate.hpp"

#include <fmt/format.h>

#include "run/store/hpcml_protocol.hpp"
#include "run/store/packed.hpp"

namespace hpcml::store {

namespace {

bool is_own(const TcpStoreMessage& message) {
  for (const auto key : message.keys)
    if (key.starts_with(k_own_keys)) return true;
  return false;
}

/// A rank without a key is most often one whose environment was cut.
std::string hint_for(const std::string& who) {
  return fmt::format("{} has no key: check that srun --export passes HPCML_JOB_SECRET to every rank", who);
}

} // namespace

std::string pack_inner(const InnerMessage& message) {
  std::string bytes(1, static_cast<char>(message.op));
  put_bytes(bytes, message.key);
  put_bytes(bytes, message.value);
  return bytes;
}

std::optional<InnerMessage> unpack_inner(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  InnerMessage message;
  message.op = static_cast<StoreOpcode>(bytes.front());
  if (message.op != StoreOpcode::get && message.op != StoreOpcode::set &&
      message.op != StoreOpcode::compare_set)
    return std::nullopt;
  WireReader unpacked(bytes.substr(1));
  message.key = unpacked.text();
  message.value = unpacked.text();
  if (!unpacked.whole() || !message.key.starts_with(k_own_keys)) return std::nullopt;
  return message;
}

/// Seals what clients with a session are answered.
class SessionGate::SealingAnswers : public AnswerSink {
public:
  SealingAnswers(SessionGate& gate, AnswerSink& to) : x_gate(gate), x_to(to) {}
  void bytes(ClientId client, std::string_view bytes) override { x_to.bytes(client, bytes); }
  void value(ClientId client, const SharedValue& value) override { x_to.value(client, value); }
  void message(ClientId client, std::string_view body) override {
    auto* session = x_gate.find(client);
    if (session == nullptr)
      x_to.message(client, body);
    else if (auto* channel = session->server.channel())
      x_to.message(client, channel->seal(body));
  }

private:
  SessionGate& x_gate;
  AnswerSink& x_to;
};

SessionGate::Session* SessionGate::find(ClientId client) {
  const auto found = x_sessions.find(client);
  return found == x_sessions.end() ? nullptr : &found->second;
}

void SessionGate::report(const std::vector<std::string>& lines) const {
  for (const auto& line : lines) x_report(line);
}

MessageDisposition SessionGate::receive(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                        Time now) {
  const bool has_session = find(client) != nullptr;
  if (!is_own(message)) {
    if (has_session) return {true, "it mixed messages of a session and of a program"};
    SealingAnswers sealing(*this, answers);
    return x_inner.receive(client, message, sealing, now);
  }
  if (message.keys.size() != 1) return {true, "it used reserved keys of hpcml"};
  if (message.keys.front() == k_session_key) {
    const auto value = message.values.empty() ? std::string_view() : message.values.back();
    if (message.op == StoreOpcode::compare_set && !has_session)
      return receive_request(client, value, answers);
    if (message.op == StoreOpcode::set && has_session) return receive_sealed(client, value, answers, now);
    return {true, "it used reserved keys of hpcml"};
  }
  if (has_session) return {true, "it sent a message outside of its session"};
  return receive_plain(client, message, answers, now);
}

/// The key that a client is to prove. Where ranks share none, rank 0 alone has that of the store that it
/// serves.
std::optional<SecretKey> SessionGate::key_for(std::string_view request) const {
  if (x_rules.plain != PlainMessagePolicy::announcements) return x_rules.key;
  AuthenticationServer reader(std::nullopt, x_rules.job, x_port);
  std::string unused;
  (void)reader.on_request(request, unused);
  const auto& identity = reader.identity();
  return identity.role == PeerRole::rank && identity.number == 0 ? x_rules.key : std::nullopt;
}

MessageDisposition SessionGate::receive_request(ClientId client, std::string_view bytes,
                                                AnswerSink& answers) {
  const auto made =
      x_sessions.try_emplace(client, Session{AuthenticationServer(key_for(bytes), x_rules.job, x_port)});
  auto& session = made.first->second.server;
  std::string answer;
  const auto error = session.on_request(bytes, answer);
  answers.message(client, answer);
  switch (error) {
  case SessionError::none: return {true};
  case SessionError::other_job:
    made.first->second.looks_elsewhere = true;
    return {true, "it belongs to another job"};
  case SessionError::key_required:
    return {true, fmt::format("{} has a key, but this store has none", peer_text(session.identity()))};
  case SessionError::version:
    return {true, fmt::format("it uses another version of hpcml (protocol {}, here {})",
                              session.client_version(), k_session_version)};
  default: return {true, "it does not use the protocol of hpcml"};
  }
}

MessageDisposition SessionGate::receive_sealed(ClientId client, std::string_view bytes, AnswerSink& answers,
                                               Time now) {
  auto& session = find(client)->server;
  if (!session.is_established()) {
    const auto error = session.on_proof(bytes);
    if (error == SessionError::none) {
      x_inner.authenticated(client, session.identity(), now);
      return {true, {}, true};
    }
    return {true, error == SessionError::wrong_key ? "it does not have the key of this job"
                                                   : "it does not use the protocol of hpcml"};
  }
  const auto body = session.channel()->open(bytes);
  if (!body)
    return {true,
            fmt::format("{} {}", peer_text(session.identity()), session_error_text(SessionError::forged))};
  const auto inner = unpack_inner(*body);
  if (!inner) return {true, "it does not use the protocol of hpcml"};
  TcpStoreMessage message;
  message.op = inner->op;
  message.keys = {inner->key};
  if (inner->op == StoreOpcode::set) message.values = {inner->value};
  if (inner->op == StoreOpcode::compare_set) message.values = {std::string_view(), inner->value};
  SealingAnswers sealing(*this, answers);
  auto receipt = x_inner.receive(client, message, sealing, now);
  if (!receipt.taken && receipt.fault.empty()) receipt.fault = "it does not use the protocol of hpcml";
  receipt.taken = true; // nothing of a session ever reaches the programs' keys
  return receipt;
}

MessageDisposition SessionGate::receive_plain(ClientId client, const TcpStoreMessage& message,
                                              AnswerSink& answers, Time now) {
  const bool announces = message.op == StoreOpcode::compare_set && message.keys.front() == k_announce_key;
  if (x_rules.plain == PlainMessagePolicy::accepted ||
      (announces && x_rules.plain == PlainMessagePolicy::announcements)) {
    SealingAnswers sealing(*this, answers); // others may be answered as well
    auto receipt = x_inner.receive(client, message, sealing, now);
    if (!receipt.taken && receipt.fault.empty()) receipt.fault = "it used reserved keys of hpcml";
    receipt.taken = true;
    return receipt;
  }
  if (message.op == StoreOpcode::compare_set) answers.message(client, pack_message(refuse_without_key()));
  const auto who = unpack_message<JoinRequest>(announces && !message.values.empty() ? message.values.back()
                                                                                    : std::string_view());
  if (who && who->job == x_rules.job) return {true, hint_for(fmt::format("rank {}", who->rank))};
  return {true, "it has no key"};
}

void SessionGate::left(ClientId client, const std::string& peer, const std::string& why, Time now) {
  const auto* session = find(client);
  if (!why.empty() && (session == nullptr || !session->looks_elsewhere))
    report(x_rejections.add(peer, why, now));
  x_inner.left(client, peer, {}, now);
  x_sessions.erase(client);
}

void SessionGate::round(AnswerSink& answers, Time now) {
  SealingAnswers sealing(*this, answers);
  x_inner.round(sealing, now);
}

bool SessionGate::tick(const StoreTable& table, Time now) {
  report(x_rejections.tick(now));
  return x_inner.tick(table, now);
}

} // namespace hpcml::store
