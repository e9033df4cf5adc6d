// SPDX-License-Identifier: MIT
// Serves a store to torch's clients from one event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/buffer_budget.hpp"
#include "run/store/connection.hpp"
#include "run/store/listen.hpp"
#include "run/store/protocol.hpp"
#include "run/store/session.hpp"
#include "run/store/store_table.hpp"

namespace hpcml::store {

using Time = std::chrono::steady_clock::time_point;

/// What an observer made of a message.
struct MessageDisposition {
  bool taken = false;     ///< the store is not to see it
  std::string fault = {}; ///< why the connection ends, after the answers so far; empty: it does not
  bool proven = false;    ///< the client has just proved the job's key
};

/// Observes the events of a server, in order.
class ServerObserver {
public:
  virtual ~ServerObserver() = default;
  /// Before all else: what the store holds, as long as it serves, and how many clients it can have.
  virtual void begins(const StoreTable& /*table*/, std::size_t /*most_clients*/) {}
  virtual void connected(ClientId, const std::string& /*peer*/, Time) {}
  /// Before a message takes effect; true where the store is not to see it. Answers may be given.
  virtual bool on_message(ClientId, const TcpStoreMessage&, AnswerSink&, Time) { return false; }
  /// The same, for observers that end connections.
  virtual MessageDisposition receive(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                                     Time now) {
    return {on_message(client, message, answers, now)};
  }
  /// The client has proved that it is this process of the job. What it says from here on is its own.
  virtual void authenticated(ClientId, const PeerIdentity&, Time) {}
  /// `why` is empty where the client itself ended the connection.
  virtual void left(ClientId, const std::string& /*peer*/, const std::string& /*why*/, Time) {}
  /// Called after each round of messages, disconnects and ticks, to send answers without a message.
  virtual void round(AnswerSink&, Time) {}
  /// About twice a second; true ends the service.
  virtual bool tick(const StoreTable&, Time) { return false; }
  /// Called after each round once the service is to stop; true: it continues for now.
  virtual bool outlasts_stop(Time) const { return false; }
};

struct ServerLimits {
  MessageLimits message;
  std::uint64_t proven_bytes = std::uint64_t{16} << 20; ///< a value of hpcml's from a proven client
  std::uint64_t bytes = std::uint64_t{4} << 30;         ///< of all keys and values
  /// Of messages that have come in part and answers that are not taken yet. Beyond it clients whose message
  /// is small are read from, and of the others one at a time.
  std::uint64_t buffered = std::uint64_t{24} << 20;
  std::size_t clients = 200'000;
  bool clients_read = false; ///< always: one that acknowledges nothing for half a minute has gone

  MessageLimits limits_of(bool is_proven) const {
    auto limits = message;
    if (is_proven) limits.own_bytes = proven_bytes;
    return limits;
  }
};

/// The store's server. Made by `make_server`.
class Server {
public:
  Server(ListeningSockets listening, const ServerLimits& limits, ServerObserver& observer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves until `stop` can be read from (it is not read; -1: never) and the observer does not outlast that,
  /// or the observer has enough. An error is the event loop's own.
  util::Status run(int stop);

  std::uint16_t port() const { return x_listening.port; }

private:
  class Outbox;
  util::Status watch(int fd, unsigned events, bool known);
  void accept_all(int socket);
  void turn_away(int socket);
  void read(Connection& client);
  /// Applies the received messages; false if the connection ends.
  bool apply(Connection& client);
  void end(Connection& client, const std::string& why);
  std::size_t most_pending() const;
  void account(Connection& client);
  void pause(Connection& client);
  void resume_paused();
  void end_stalled();
  void flush_all();
  void answer_late();
  void rewatch(Connection& client);
  Connection* find(ClientId id);

  ListeningSockets x_listening;
  ServerLimits x_limits;
  ServerObserver& x_observer;
  StoreTable x_table;
  TcpStoreMessage x_message;                          ///< kept: its lists need no new memory for each
  std::vector<std::unique_ptr<Connection>> x_clients; ///< by descriptor
  std::vector<ClientId> x_to_flush;
  std::size_t x_client_count = 0;
  BufferBudget x_buffers;
  Time x_now;
  int x_epoll = -1;
  int x_spare = -1; ///< closed to turn a client away where descriptors have run out
};

/// Raises this process's limit of descriptors as far as it may: each client takes one.
void raise_file_limit();

/// Raises the limit, listens on the first of the ports that is free, and is ready to run.
util::Result<std::unique_ptr<Server>> make_server(const std::vector<std::string>& addresses,
                                                  const std::vector<std::uint16_t>& ports,
                                                  const ServerLimits& limits, ServerObserver& observer);

} // namespace hpcml::store
