// SPDX-License-Identifier: MIT
// What clients of torch's rendezvous store say on the wire: one message from bytes, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::store {

/// The operations, in the order of their opcodes since torch 2.1; those from queue_push on since 2.8
/// (TCPStoreBackend.hpp as installed by torch 2.13).
enum class StoreOpcode : std::uint8_t {
  validate,
  set,
  compare_set,
  get,
  add,
  check,
  wait,
  get_num_keys,
  delete_key,
  append,
  multi_get,
  multi_set,
  cancel_wait,
  ping,
  queue_push,
  queue_pop,
  queue_len,
  list_keys,
  barrier
};

/// torch 2.1 and later greet with a magic number; torch 1.13 and 2.0 do not, and have fewer operations.
enum class ProtocolDialect : std::uint8_t { unknown, torch1, torch2 };

/// A client's first five bytes in the newer dialect: the opcode and, least significant byte first, this.
constexpr std::uint32_t k_magic = 0x3C85F7CE;

/// Keys that begin so are hpcml's own: no program sees, sets or lists them.
inline constexpr std::string_view k_own_keys = "\x01hpcml/";

/// What a message may hold. torch's own servers: 8 KiB, 8 MiB and 131,072 (libuv), or no limit at all (the
/// older one).
struct MessageLimits {
  std::uint64_t key_bytes = 64 << 10;
  std::uint64_t value_bytes = 256 << 20;
  std::uint64_t keys = 128 << 10; ///< in one message
  std::uint64_t own_bytes = 4096; ///< a value of a key that hpcml uses itself
};

/// One message. The views point into the bytes that it was read from.
struct TcpStoreMessage {
  StoreOpcode op = StoreOpcode::validate;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values; ///< compare_set: expected, desired; multi_set: one for each key
  std::int64_t number = 0;              ///< add: the summand; barrier: world size; ping: the nonce
};

/// What `read_message` found at the beginning of some bytes.
struct MessageReadResult {
  std::size_t length = 0; ///< of a complete message; 0 if it is incomplete
  std::size_t needed = 0; ///< bytes that are required to continue if the message is incomplete
  std::string fault;      ///< why these bytes can never become a message; the connection has no future
};

/// Reads the message that `bytes` begin with. `dialect` is found out from a connection's first bytes and
/// stays. `message` is meaningful only where `length` is not 0.
MessageReadResult read_message(std::string_view bytes, ProtocolDialect& dialect, const MessageLimits& limits,
                               TcpStoreMessage& message);

/// Parses a decimal number of the store as std::stoll does, which ignores spaces before it and text after
/// it. Returns nothing without a number or if it is out of range.
std::optional<std::int64_t> parse_counter(std::string_view text);

/// Appends `value` as the wire has it: least significant byte first.
void put_u64(std::string& out, std::uint64_t value);
/// Appends the length and the bytes.
void put_bytes(std::string& out, std::string_view bytes);

} // namespace hpcml::store
