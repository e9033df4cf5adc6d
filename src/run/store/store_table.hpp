// SPDX-License-Identifier: MIT
// What a store holds and who waits for what: each message's effect and the answers to it. Pure: no sockets,
// no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "run/store/protocol.hpp"

namespace hpcml::store {

/// A connection's number, for as long as it lasts.
using ClientId = std::uint32_t;

/// Shared, as an answer may still be on its way when the key has another value.
using SharedValue = std::shared_ptr<const std::string>;

/// Where answers go.
class AnswerSink {
public:
  virtual ~AnswerSink() = default;
  virtual void bytes(ClientId client, std::string_view bytes) = 0;
  /// A value's bytes, without its length.
  virtual void value(ClientId client, const SharedValue& value) = 0;
  /// A value with its length: what hpcml's own processes are answered.
  virtual void message(ClientId client, std::string_view body) {
    std::string with_length;
    put_bytes(with_length, body);
    bytes(client, with_length);
  }
};

/// The content of the store. Its answers are those of torch's libuv server (2.13), the default of torch; the
/// tests compare both. Three waits differ on purpose, because libuv's server ends or prolongs them wrongly:
/// a compare_set without a change does not wake clients that wait for a missing key (as in torch's older
/// server), a wait that a queue has ended stays ended, and a queue with content counts as an existing key in
/// a wait for several keys.
class StoreTable {
public:
  explicit StoreTable(std::uint64_t most_bytes = std::uint64_t{4} << 30) : x_most_bytes(most_bytes) {}
  /// Maximum bytes of the keys that all clients together wait for.
  static constexpr std::uint64_t k_most_wait_bytes = 16 << 20;

  /// Applies a message of `client`. An empty result is good; else the sentence why the connection ends.
  std::string apply(ClientId client, ProtocolDialect dialect, const TcpStoreMessage& message,
                    AnswerSink& answers);
  /// The client is gone or has given up waiting.
  void forget_waits(ClientId client);

  std::size_t key_count() const { return x_values.size(); }
  std::uint64_t bytes() const { return x_bytes; }
  const std::string* find(std::string_view key) const;
  /// The keys whose coming `client` waits for.
  std::vector<std::string> awaited_by(ClientId client) const;
  /// Every client that waits.
  std::vector<ClientId> waiting() const;

private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class T> using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;
  using Held = std::shared_ptr<std::string>;
  struct Wait {
    std::size_t missing = 0;       ///< keys that have not come since
    std::uint64_t bytes = 0;       ///< of the keys, in the sum
    std::vector<std::string> keys; ///< under which it is listed
  };

  bool has_key(std::string_view key) const;
  bool all_there(const std::vector<std::string_view>& keys) const;
  std::string store(std::string_view key, std::string_view value);
  std::string append(std::string_view key, std::string_view value);
  std::string compare_set(ClientId client, const TcpStoreMessage& message, AnswerSink& answers);
  std::string count(ClientId client, const TcpStoreMessage& message, AnswerSink& answers);
  std::string push(std::string_view key, std::string_view value, AnswerSink& answers);
  void pop(ClientId client, std::string_view key, AnswerSink& answers);
  void list(ClientId client, AnswerSink& answers) const;
  void answer_value(ClientId client, std::string_view key, AnswerSink& answers) const;
  std::string get(ClientId client, ProtocolDialect dialect, const TcpStoreMessage& message,
                  AnswerSink& answers) const;
  std::string room_for(std::uint64_t more, std::uint64_t less) const;
  std::string room_for_wait(std::uint64_t bytes) const;
  std::string begin_wait(ClientId client, const std::vector<std::string_view>& keys);
  void end_wait(std::unordered_map<ClientId, Wait>::iterator wait) {
    x_wait_bytes -= wait->second.bytes;
    x_waits.erase(wait);
  }
  void wake_all(std::string_view key, AnswerSink& answers);
  void wake_one(std::string_view key, AnswerSink& answers);
  std::size_t queue_length(std::string_view key) const;

  // libstdc++'s unordered_map, as in torch's wheels: list_keys answers in the same order.
  Map<Held> x_values;
  Map<std::deque<Held>> x_queues;
  Map<std::vector<ClientId>> x_listed; ///< who waits for a key, in the order of their coming
  std::unordered_map<ClientId, Wait> x_waits;
  std::uint64_t x_bytes = 0, x_most_bytes;
  std::uint64_t x_wait_bytes = 0;
};

} // namespace hpcml::store
