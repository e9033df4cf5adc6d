// SPDX-License-Identifier: MIT
// A client of a store for hpcml's own processes. No call waits longer than its limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/protocol.hpp"
#include "run/store/session.hpp"

namespace hpcml::store {

/// The key and identity that a client proves to a store. The store must prove the same key.
struct Credentials {
  SecretKey key;
  PeerIdentity identity;
  bool checks_port = true; ///< false: the place may be a port that a user forwards
};

/// One connection. What has come stays until it is taken: an answer that is late is the next one's answer.
class Client {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Begins to connect to a numeric address and greets as torch 2's clients do. With credentials what is put
  /// is sent once both sides have proved their key; the connection ends if the store does not.
  Client(const std::string& address, std::uint16_t port,
         const std::optional<Credentials>& credentials = std::nullopt);
  ~Client();
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Says that `key` is to become `desired` where it is `expected`; the answer is a value.
  void put_compare_set(std::string_view key, std::string_view expected, std::string_view desired);
  /// Says that `key` is `value`; there is no answer.
  void put_set(std::string_view key, std::string_view value);
  /// Requests the value of a key, which must exist.
  void put_get(std::string_view key);

  /// Connects, sends and receives as far as that goes without waiting; false where it is over.
  bool advance();
  /// Why it is over: a clause with the kernel's words; empty while it is not.
  const std::string& fault() const { return x_fault; }
  /// Why there is no session; none while there may be one.
  SessionError session_error() const { return x_session_error; }
  /// True if a complete value, or an answer that cannot be one, was received.
  bool has_value() const;
  /// Returns the next value that was received completely.
  std::optional<std::string> take_value();
  /// The same, waited for. The error names the place.
  util::Result<std::string> wait_for_value(Time deadline);

  /// Whether the other side has taken the connection, and only its answer is waited for.
  bool is_connected() const { return x_fd >= 0 && x_connected; }
  int fd() const { return x_fd; }
  /// poll's events that the next step needs.
  short wanted() const;
  /// "10.1.2.3:15000"
  const std::string& place() const { return x_place; }

private:
  void put(StoreOpcode op, std::string_view key, std::string_view expected, std::string_view value);
  void put_session(StoreOpcode op, std::string_view bytes);
  void advance_session();
  bool end(const std::string& why);
  std::optional<std::uint64_t> length_of_value() const;
  bool send_some();
  bool receive_some();

  int x_fd = -1;
  bool x_connected = false;
  std::string x_place, x_fault;
  std::string x_out, x_in;
  std::size_t x_sent = 0;
  std::optional<AuthenticationClient> x_session;
  std::vector<std::string> x_unsealed; ///< what is to be sent once the session is established
  SessionError x_session_error = SessionError::none;
};

/// "10.1.2.3:15000", "[fd00::1]:15000", "node1:15000".
std::string place_text(const std::string& host, unsigned port);
/// The same, read; nothing where it is none.
std::optional<std::pair<std::string, std::uint16_t>> parse_place(std::string_view text);

} // namespace hpcml::store
