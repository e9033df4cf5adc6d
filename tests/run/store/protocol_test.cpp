// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <random>

#include "messages.hpp"
#include "run/store/protocol.hpp"

using namespace hpcml::store;
using messages::text;
using messages::u64;

namespace {

MessageReadResult read(const std::string& bytes, TcpStoreMessage& message,
                       ProtocolDialect dialect = ProtocolDialect::torch2, MessageLimits limits = {}) {
  return read_message(bytes, dialect, limits, message);
}

} // namespace

TEST_CASE("the first bytes tell which torch speaks") {
  struct Row {
    std::string bytes;
    ProtocolDialect dialect;
  };
  const Row rows[] = {{messages::greeting(), ProtocolDialect::torch2},
                      {messages::greeting().substr(0, 4), ProtocolDialect::unknown},
                      {std::string(1, '\0'), ProtocolDialect::unknown},
                      {'\0' + text("init/") + text("1"), ProtocolDialect::torch1}, // SET of 1.13
                      {"\x03", ProtocolDialect::torch1}};
  for (const auto& row : rows) {
    TcpStoreMessage message;
    ProtocolDialect dialect = ProtocolDialect::unknown;
    read_message(row.bytes, dialect, {}, message);
    CHECK(dialect == row.dialect);
  }
}

TEST_CASE("torch 1.13 and 2.0 number the operations otherwise") {
  TcpStoreMessage message;
  // As recorded from python3-torch 1.13.1: b'\x08' deletes; 2.0 has no operation that watches, and deletes
  // with 7.
  CHECK(read("\x08" + text("/k"), message, ProtocolDialect::torch1).length == 11);
  CHECK(message.op == StoreOpcode::delete_key);
  CHECK(read("\x07" + text("/k"), message, ProtocolDialect::torch1).length == 11);
  CHECK(message.op == StoreOpcode::delete_key);
  CHECK(read("\x03" + text("n") + u64(2), message, ProtocolDialect::torch1).length == 18);
  CHECK(message.op == StoreOpcode::add);
  CHECK(message.number == 2);
  CHECK_FALSE(read("\x09", message, ProtocolDialect::torch1).fault.empty());
}

TEST_CASE("every message is read whole, and says what it lacks at each of its bytes") {
  const std::string key("k\0y", 3), pair = u64(2) + text(key) + text("");
  const std::string whole[] = {
      messages::greeting(),
      messages::op(StoreOpcode::set, text(key) + text("value")),
      messages::op(StoreOpcode::compare_set, text(key) + text("a") + text("")),
      messages::op(StoreOpcode::get, text(key)),
      messages::op(StoreOpcode::add, text(key) + u64(static_cast<std::uint64_t>(-3))),
      messages::op(StoreOpcode::check, pair),
      messages::op(StoreOpcode::wait, pair),
      messages::op(StoreOpcode::get_num_keys),
      messages::op(StoreOpcode::delete_key, text(key)),
      messages::op(StoreOpcode::append, text(key) + text("more")),
      messages::op(StoreOpcode::multi_get, pair),
      messages::op(StoreOpcode::multi_set, u64(2) + text(key) + text("1") + text("") + text("2")),
      messages::op(StoreOpcode::cancel_wait),
      messages::op(StoreOpcode::ping, "abcd"),
      messages::op(StoreOpcode::queue_push, text(key) + text("x")),
      messages::op(StoreOpcode::queue_pop, text(key)),
      messages::op(StoreOpcode::queue_len, text(key)),
      messages::op(StoreOpcode::list_keys),
      messages::op(StoreOpcode::barrier, text(key) + u64(4)),
  };
  for (const auto& bytes : whole) {
    TcpStoreMessage message;
    INFO("operation " << static_cast<int>(bytes[0]));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto part = read(bytes.substr(0, i), message);
      CHECK(part.length == 0);
      CHECK(part.fault.empty());
      CHECK(part.needed > i); // or one would ask again and again
      CHECK(part.needed <= bytes.size());
    }
    const auto found = read(bytes + "what follows", message);
    CHECK(found.length == bytes.size());
    CHECK(found.fault.empty());
    CHECK(static_cast<int>(message.op) == static_cast<int>(bytes[0]));
  }
  TcpStoreMessage message;
  read(whole[4], message);
  CHECK(message.number == -3);
  read(whole[11], message);
  CHECK(message.keys == std::vector<std::string_view>{key, ""});
  CHECK(message.values == std::vector<std::string_view>{"1", "2"});
}

TEST_CASE("what is no message costs the connection as soon as that is certain") {
  const MessageLimits limits{.key_bytes = 8, .value_bytes = 16, .keys = 3};
  struct Row {
    std::string bytes, fault;
  };
  const Row rows[] = {
      {"GET / HTTP/1.1\r\n\r\n", "unknown operation 71"},
      {"\x13", "unknown operation 19"},
      {std::string("\0abcd", 5), "the handshake is not that of torch"},
      {messages::op(StoreOpcode::get, u64(9)), "a key of 9 bytes exceeds the limit (8)"},
      {messages::op(StoreOpcode::get, u64(~0ull)),
       "a key of 18446744073709551615 bytes exceeds the limit (8)"},
      {messages::op(StoreOpcode::set, text("k") + u64(17)), "a value of 17 bytes exceeds the limit (16)"},
      {messages::op(StoreOpcode::wait, u64(4)), "4 keys in one message exceed the limit (3)"},
      {messages::op(StoreOpcode::multi_set, u64(1) + text("k") + u64(17)),
       "a value of 17 bytes exceeds the limit (16)"},
  };
  for (const auto& row : rows) {
    TcpStoreMessage message;
    CHECK(read(row.bytes, message, ProtocolDialect::torch2, limits).fault == row.fault);
  }
}

TEST_CASE("any bytes whatever are read without harm, and none twice") {
  std::mt19937 random(7);
  TcpStoreMessage message;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 ? random() % 20 : random());
    ProtocolDialect dialect = ProtocolDialect::unknown;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const auto found = read_message(std::string_view(bytes).substr(at), dialect, {}, message);
      if (!found.fault.empty() || found.length == 0) break;
      REQUIRE(found.length <= bytes.size() - at);
      at += found.length;
    }
  }
}

TEST_CASE("a counter is what std::stoll reads") {
  // Each was asked of torch 2.13's two servers: add to this value.
  CHECK(parse_counter("12abc") == 12);
  CHECK(parse_counter(" 7") == 7);
  CHECK(parse_counter("+3") == 3);
  CHECK(parse_counter("0x10") == 0);
  CHECK(parse_counter("-5") == -5);
  CHECK(parse_counter("9223372036854775807") == 9223372036854775807);
  for (const char* none : {"", "abc", "99999999999999999999", "+-5", "- 5", "+"})
    CHECK_FALSE(parse_counter(none));
}
