// SPDX-License-Identifier: MIT
#include "run/store/session.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "run/store/packed.hpp"

namespace hpcml::store {

namespace {

constexpr std::string_view k_request_mark = "hpcml session request";
constexpr std::string_view k_challenge_mark = "hpcml session challenge";
constexpr std::string_view k_reject_mark = "hpcml session reject";
constexpr std::string_view k_proof_mark = "hpcml session proof";
constexpr std::size_t k_nonce = 16;
constexpr unsigned k_most_versions = 1'000'000;

// Each use of the key has its own label: a code that is made for one use is invalid for another.
constexpr std::string_view k_server_label = "hpcml session server", k_client_label = "hpcml session client";
constexpr std::string_view k_to_client_label = "hpcml session to client",
                           k_to_server_label = "hpcml session to server";

using Nonce = std::array<unsigned char, k_nonce>;

std::string_view view_of(const Nonce& nonce) {
  return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

util::Digest code_of(const SecretKey& key, std::string_view label, std::string_view transcript) {
  return util::hmac_sha256(key.bytes(), {label, std::string_view("\0", 1), transcript});
}

bool has_code(std::string_view code, const SecretKey& key, std::string_view label,
              std::string_view transcript) {
  return util::is_equal_in_constant_time(code, util::view_of(code_of(key, label, transcript)));
}

/// What both sides have seen so far. The parts have their lengths before them.
std::string make_transcript(std::string_view request, std::string_view nonce, std::uint16_t port) {
  WireWriter packed("hpcml session transcript");
  packed.text(request);
  packed.text(nonce);
  packed.number(port);
  return packed.take();
}

std::string make_rejection(SessionError error) {
  WireWriter packed(k_reject_mark);
  packed.number(k_session_version);
  packed.number(static_cast<unsigned>(error));
  return packed.take();
}

/// Printable and short: a client may write anything before it has proved its key.
bool is_plain(std::string_view text) {
  return text.size() <= 256 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

} // namespace

std::string identity_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  return "sha256:" + SecretKey::take(util::sha256(text)).to_hex();
}

std::string peer_text(const PeerIdentity& identity) {

  switch (identity.role) {
  case PeerRole::rank: return fmt::format("rank {} of step {}", identity.number, identity.step);
  case PeerRole::agent: return fmt::format("the agent of node {} of run {}", identity.number, identity.step);
  case PeerRole::viewer: break;
  }
  return "hpcml store show";
}

std::string session_error_text(SessionError error) {
  switch (error) {
  case SessionError::none: return "has the same key";
  case SessionError::malformed: return "does not use the protocol of hpcml";
  case SessionError::version: return "uses another version of hpcml";
  case SessionError::no_key: return "has no key";
  case SessionError::key_required: return "requires a key";
  case SessionError::wrong_key: return "has another key";
  case SessionError::relayed: return "forwards to another port";
  case SessionError::other_job: return "serves another job";
  case SessionError::forged: return "sent a modified, repeated or misordered message";
  }
  return {};
}

AuthenticatedChannel::AuthenticatedChannel(const SecretKey& key, std::string_view transcript, bool is_server)
    : x_out_key(SecretKey::take(code_of(key, is_server ? k_to_client_label : k_to_server_label, transcript))),
      x_in_key(SecretKey::take(code_of(key, is_server ? k_to_server_label : k_to_client_label, transcript))) {
}

std::string AuthenticatedChannel::seal(std::string_view body) {
  std::string message;
  message.reserve(8 + body.size() + sizeof(util::Digest));
  put_u64(message, x_out_count++);
  message += body;
  message += util::view_of(util::hmac_sha256(x_out_key.bytes(), {message}));
  return message;
}

std::optional<std::string_view> AuthenticatedChannel::open(std::string_view bytes) {
  constexpr std::size_t k_code = sizeof(util::Digest), k_count = 8;
  if (bytes.size() < k_count + k_code) return std::nullopt;
  const auto sealed = bytes.substr(0, bytes.size() - k_code), code = bytes.substr(sealed.size());
  if (!util::is_equal_in_constant_time(code, util::view_of(util::hmac_sha256(x_in_key.bytes(), {sealed}))))
    return std::nullopt;
  std::string expected;
  put_u64(expected, x_in_count);
  if (sealed.substr(0, k_count) != expected) return std::nullopt;
  ++x_in_count;
  return sealed.substr(k_count);
}

AuthenticationClient::AuthenticationClient(const SecretKey& key, const PeerIdentity& identity,
                                           std::uint16_t port)
    : x_key(key), x_port(port) {
  Nonce nonce;
  util::fill_random(nonce);
  WireWriter packed(k_request_mark);
  packed.number(k_session_version);
  packed.number(static_cast<unsigned>(identity.role));
  packed.text(identity.job);
  packed.text(identity.step);
  packed.number(identity.number);
  packed.text(view_of(nonce));
  x_request = packed.take();
}

SessionError AuthenticationClient::on_answer(std::string_view bytes) {
  if (x_channel) return SessionError::forged;
  if (WireReader rejection(bytes, k_reject_mark); rejection.good) {
    x_server_version = static_cast<unsigned>(rejection.number(k_most_versions));
    // What follows is that version's.
    if (rejection.good && x_server_version != k_session_version) return SessionError::version;
    const auto error = rejection.number(static_cast<unsigned>(SessionError::forged));
    return rejection.whole() && error != 0 ? static_cast<SessionError>(error) : SessionError::malformed;
  }
  WireReader challenge(bytes, k_challenge_mark);
  const auto version = challenge.number(k_most_versions);
  const auto nonce = challenge.text();
  const auto port = static_cast<std::uint16_t>(challenge.number(65535));
  const auto code = challenge.text();
  if (!challenge.whole() || version != k_session_version || nonce.size() != k_nonce)
    return SessionError::malformed;
  const auto transcript = make_transcript(x_request, nonce, port);
  if (!has_code(code, x_key, k_server_label, transcript)) return SessionError::wrong_key;
  if (x_port != 0 && port != x_port) return SessionError::relayed;
  WireWriter proof(k_proof_mark);
  proof.text(util::view_of(code_of(x_key, k_client_label, transcript)));
  x_proof = proof.take();
  x_channel.emplace(x_key, transcript, false);
  return SessionError::none;
}

SessionError AuthenticationServer::on_request(std::string_view bytes, std::string& answer) {
  const auto reject = [&](SessionError error, SessionError reported) {
    answer = make_rejection(reported);
    return fail(error);
  };
  if (x_state != State::start) return reject(SessionError::malformed, SessionError::malformed);
  WireReader request(bytes, k_request_mark);
  x_client_version = static_cast<unsigned>(request.number(k_most_versions));
  if (request.good && x_client_version != k_session_version)
    return reject(SessionError::version, SessionError::version);
  x_identity.role = static_cast<PeerRole>(request.number(static_cast<unsigned>(PeerRole::viewer)));
  x_identity.job = request.text();
  x_identity.step = request.text();
  x_identity.number = static_cast<unsigned>(request.number());
  const auto nonce = request.text();
  if (!request.whole() || bytes.size() > k_most_unproven_bytes || nonce.size() != k_nonce ||
      !is_plain(x_identity.job) || !is_plain(x_identity.step)) {
    x_identity = {};
    return reject(SessionError::malformed, SessionError::malformed);
  }
  if (!x_key) return reject(SessionError::key_required, SessionError::no_key);
  if (x_identity.job != x_job) return reject(SessionError::other_job, SessionError::other_job);
  Nonce own;
  util::fill_random(own);
  x_transcript = make_transcript(bytes, view_of(own), x_port);
  WireWriter challenge(k_challenge_mark);
  challenge.number(k_session_version);
  challenge.text(view_of(own));
  challenge.number(x_port);
  challenge.text(util::view_of(code_of(*x_key, k_server_label, x_transcript)));
  answer = challenge.take();
  x_state = State::challenged;
  return SessionError::none;
}

SessionError AuthenticationServer::on_proof(std::string_view bytes) {
  if (x_state != State::challenged) return fail(SessionError::malformed);
  WireReader proof(bytes, k_proof_mark);
  const auto code = proof.text();
  if (!proof.whole()) return fail(SessionError::malformed);
  if (!has_code(code, *x_key, k_client_label, x_transcript)) return fail(SessionError::wrong_key);
  x_channel.emplace(*x_key, x_transcript, true);
  x_transcript.clear();
  x_state = State::established;
  return SessionError::none;
}

} // namespace hpcml::store
