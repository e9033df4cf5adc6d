// SPDX-License-Identifier: MIT
// A session between two of hpcml's processes that share a key: both prove that they have it, and every
// message after that carries an authentication code. Bytes in, bytes out: no sockets, no clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/store/channel_key.hpp"

namespace hpcml::store {

/// Changes when the messages below or what is sent inside them change.
inline constexpr unsigned k_session_version = 1;
/// Maximum size of the messages before both sides have proved their key.
inline constexpr std::size_t k_most_unproven_bytes = 4096;

/// What a client is.
enum class PeerRole : std::uint8_t {
  rank,  ///< a rank's launcher
  agent, ///< the agent of a node
  viewer ///< `hpcml store show`
};

/// Who a client is. The server trusts it once the client has proved its key.
struct PeerIdentity {
  PeerRole role = PeerRole::rank;
  std::string job;     ///< differs between jobs and their restarts; empty for agents without a job
  std::string step;    ///< the step of a rank, the run of an agent
  unsigned number = 0; ///< of the rank or node
  bool operator==(const PeerIdentity&) const = default;
};

/// Returns a text as an identity may hold it: itself if it is short and printable, else its hash.
std::string identity_text(std::string_view text);
/// "rank 3 of step 0", "the agent of node 1 of run none", "hpcml store show".
std::string peer_text(const PeerIdentity& identity);

/// Why a session cannot be, or has ended.
enum class SessionError : std::uint8_t {
  none,
  malformed,    ///< the bytes are not a message of a session
  version,      ///< the other side is of another version of hpcml
  no_key,       ///< the other side has no key
  key_required, ///< this side has no key, and the other one requires it
  wrong_key,    ///< the other side has another key
  relayed,      ///< the server is at another port than the one that was dialled: someone forwards
  other_job,    ///< the server is another job's, or for other clients
  forged        ///< a message was changed, repeated, dropped or is out of order
};

/// A clause about the other side: "has another key".
std::string session_error_text(SessionError error);

/// Seals what one side sends and opens what it receives.
class AuthenticatedChannel {
public:
  AuthenticatedChannel(const SecretKey& key, std::string_view transcript, bool is_server);
  /// Returns a message with its sequence number and authentication code.
  std::string seal(std::string_view body);
  /// Returns the body, a view into `bytes`; nothing if it is not the next message of the other side.
  std::optional<std::string_view> open(std::string_view bytes);

private:
  SecretKey x_out_key, x_in_key;
  std::uint64_t x_out_count = 0, x_in_count = 0;
};

/// The client's side. Sends `request()`, passes the answer to `on_answer`, then sends `proof()`.
class AuthenticationClient {
public:
  /// `port`: of the server, as it was dialled; 0 accepts any, for a port that a user forwards.
  AuthenticationClient(const SecretKey& key, const PeerIdentity& identity, std::uint16_t port);
  const std::string& request() const { return x_request; }
  /// Checks the server's proof. The session is established if there is no error.
  SessionError on_answer(std::string_view bytes);
  const std::string& proof() const { return x_proof; }
  bool is_established() const { return x_channel.has_value(); }
  /// Nothing before the session is established.
  AuthenticatedChannel* channel() { return x_channel ? &*x_channel : nullptr; }
  /// Version of the server after SessionError::version.
  unsigned server_version() const { return x_server_version; }

private:
  SecretKey x_key;
  std::uint16_t x_port;
  std::string x_request, x_proof;
  unsigned x_server_version = 0;
  std::optional<AuthenticatedChannel> x_channel;
};

/// The server's side of one connection.
class AuthenticationServer {
public:
  /// Without a key every client that has one is rejected.
  AuthenticationServer(std::optional<SecretKey> key, std::string job, std::uint16_t port)
      : x_key(std::move(key)), x_job(std::move(job)), x_port(port) {}

  /// Handles the client's first message. `answer` is to be sent in any case.
  SessionError on_request(std::string_view bytes, std::string& answer);
  /// Handles the client's second message. The session is established if there is no error.
  SessionError on_proof(std::string_view bytes);

  bool is_established() const { return x_state == State::established; }
  /// As the client claims it; proved once the session is established.
  const PeerIdentity& identity() const { return x_identity; }
  /// Version of the client after SessionError::version.
  unsigned client_version() const { return x_client_version; }
  /// Nothing before the session is established.
  AuthenticatedChannel* channel() { return x_channel ? &*x_channel : nullptr; }

private:
  enum class State { start, challenged, established, failed };
  SessionError fail(SessionError error) {
    x_state = State::failed;
    return error;
  }
  std::optional<SecretKey> x_key;
  std::string x_job;
  std::uint16_t x_port;
  State x_state = State::start;
  PeerIdentity x_identity;
  unsigned x_client_version = 0;
  std::string x_transcript;
  std::optional<AuthenticatedChannel> x_channel;
};

} // namespace hpcml::store
