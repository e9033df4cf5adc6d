// SPDX-License-Identifier: MIT
// One client's socket: bytes that came and were not read yet, answers that it has not taken yet.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <string_view>

#include "run/store/store_table.hpp"

namespace hpcml::store {

/// Owns its descriptor, which does not block.
class Connection {
public:
  enum class Io { done, again, closed };

  Connection(int fd, std::string peer) : x_fd(fd), x_peer(std::move(peer)) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return x_fd; }
  /// "10.1.2.3", as the kernel names the other end.
  const std::string& peer() const { return x_peer; }

  /// Takes what has come, once, at most `most` bytes; `closed` where the client has ended or broken off.
  Io receive(std::size_t most);
  /// What came and is not dropped yet. Valid until the next receive or drop.
  std::string_view received() const { return std::string_view(x_in).substr(x_in_at); }
  /// The first `count` of them have been read.
  void drop(std::size_t count);
  /// Sets the total size of a message. Memory is allocated only as its bytes arrive.
  void expect(std::size_t bytes) { x_expected = bytes; }
  bool has_expected() const { return x_in.size() - x_in_at >= x_expected; }

  void put(std::string_view bytes);
  void put(const SharedValue& value);
  /// Sends what the socket takes; `again` where something is left.
  Io flush();
  std::size_t pending() const { return x_pending; }
  /// Bytes of memory for what came and what is not sent yet, without values that the store holds anyway.
  std::size_t memory() const;

  ProtocolDialect dialect = ProtocolDialect::unknown;
  bool greeted = false;      ///< its first message is read
  bool proven = false;       ///< an authenticated process of hpcml
  bool listed = false;       ///< among those whose answers are to be sent
  bool paused = false;       ///< not read from: the server has no memory for more of its message
  std::size_t accounted = 0; ///< of `memory`, in the server's sum
  std::chrono::steady_clock::time_point moved{}; ///< when it last sent or took something
  unsigned watched = 0;                          ///< epoll's events that are asked for

private:
  struct Piece {
    std::string own;
    SharedValue shared;
    std::string_view view() const { return shared ? std::string_view(*shared) : std::string_view(own); }
  };
  int x_fd;
  std::string x_peer;
  std::string x_in;
  std::size_t x_in_at = 0, x_expected = 1;
  std::deque<Piece> x_out;
  std::size_t x_out_at = 0; ///< of the first piece that is sent
  std::size_t x_pending = 0;
};

} // namespace hpcml::store
