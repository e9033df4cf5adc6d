// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <map>

#include "messages.hpp"
#include "run/store/store_table.hpp"

using namespace hpcml::store;
using messages::text;
using messages::u64;

namespace {

/// Collects what each client is answered.
class RecordedAnswers : public AnswerSink {
public:
  void bytes(ClientId client, std::string_view bytes) override { sent[client] += bytes; }
  void value(ClientId client, const SharedValue& value) override { sent[client] += *value; }
  std::string take(ClientId client) { return std::exchange(sent[client], {}); }
  std::map<ClientId, std::string> sent;
};

struct Store {
  StoreTable table{1 << 20};
  RecordedAnswers received;

  std::string send(ClientId client, StoreOpcode op, const std::string& body = {},
                   ProtocolDialect dialect = ProtocolDialect::torch2) {
    const std::string bytes = messages::op(op, body);
    TcpStoreMessage message;
    ProtocolDialect reading = ProtocolDialect::torch2;
    REQUIRE(read_message(bytes, reading, {}, message).length == bytes.size());
    fault = table.apply(client, dialect, message, received);
    return received.take(client);
  }
  std::string fault;
};

const std::string k_ready("\0", 1), k_not_ready("\1", 1);

} // namespace

TEST_CASE("one who waits is woken when the last of its keys has come") {
  Store store;
  CHECK(store.send(1, StoreOpcode::wait, u64(2) + text("a") + text("b")).empty());
  CHECK(store.send(2, StoreOpcode::wait, u64(1) + text("a")).empty());
  CHECK(store.table.awaited_by(1) == std::vector<std::string>{"a", "b"});
  store.send(3, StoreOpcode::set, text("a") + text("1"));
  CHECK(store.received.take(2) == k_ready);
  CHECK(store.received.take(1).empty());
  CHECK(store.table.awaited_by(1) == std::vector<std::string>{"b"});
  store.send(3, StoreOpcode::delete_key, text("a")); // it came: that it goes again changes nothing
  store.send(3, StoreOpcode::add, text("b") + u64(1));
  CHECK(store.received.take(1) == k_ready);
  CHECK(store.table.waiting().empty());
}

TEST_CASE("a wait that is given up is over, also for a client of the same number") {
  Store store;
  store.send(1, StoreOpcode::wait, u64(1) + text("a"));
  CHECK(store.send(1, StoreOpcode::cancel_wait) == k_not_ready);
  store.send(2, StoreOpcode::set, text("a") + text(""));
  CHECK(store.received.take(1).empty());
  store.send(1, StoreOpcode::wait, u64(1) + text("c"));
  store.table.forget_waits(1);
  store.send(1, StoreOpcode::wait, u64(1) + text("d"));
  store.send(2, StoreOpcode::set, text("c") + text(""));
  CHECK(store.received.take(1).empty());
}

TEST_CASE("a compare_set that changes nothing wakes nobody who waits for a key that is not there") {
  Store store;
  store.send(1, StoreOpcode::wait, u64(1) + text("a"));
  CHECK(store.send(2, StoreOpcode::compare_set, text("a") + text("old") + text("new")) == text("old"));
  CHECK(store.received.take(1).empty());
  CHECK(store.send(2, StoreOpcode::compare_set, text("a") + text("") + text("new")) == text("new"));
  CHECK(store.received.take(1) == k_ready);
}

TEST_CASE("an element of a queue wakes one, the first, and only once") {
  Store store;
  for (const ClientId client : {1, 2}) store.send(client, StoreOpcode::wait, u64(1) + text("q"));
  store.send(3, StoreOpcode::queue_push, text("q") + text("x"));
  CHECK(store.received.take(1) == k_ready);
  CHECK(store.received.take(2).empty());
  CHECK(store.send(1, StoreOpcode::queue_pop, text("q")) == u64(1) + text("x"));
  CHECK(store.send(1, StoreOpcode::queue_pop, text("q")) == u64(0));
  store.send(1, StoreOpcode::wait,
             u64(1) + text("other")); // torch's server still lists it under the queue
  store.send(3, StoreOpcode::queue_push, text("q") + text("y"));
  CHECK(store.received.take(1).empty());
  CHECK(store.received.take(2) == k_ready);
}

TEST_CASE("a barrier lets all go with the last, and one who comes later at once") {
  Store store;
  CHECK(store.send(1, StoreOpcode::barrier, text("b") + u64(3)).empty());
  CHECK(store.send(2, StoreOpcode::barrier, text("b") + u64(3)).empty());
  CHECK(store.send(3, StoreOpcode::barrier, text("b") + u64(3)) == k_ready);
  CHECK(store.received.take(1) == k_ready);
  CHECK(store.received.take(2) == k_ready);
  CHECK(store.send(4, StoreOpcode::barrier, text("b") + u64(3)) == k_ready);
  CHECK(store.send(4, StoreOpcode::get, text("b")) == text("4"));
}

TEST_CASE("a value that is being sent stays what it was") {
  Store store;
  store.send(1, StoreOpcode::set, text("k") + text("before"));
  struct Keeping : AnswerSink {
    void bytes(ClientId, std::string_view) override {}
    void value(ClientId, const SharedValue& value) override { kept = value; }
    SharedValue kept;
  } keeping;
  const std::string ask = messages::op(StoreOpcode::get, text("k"));
  TcpStoreMessage message;
  ProtocolDialect dialect = ProtocolDialect::torch2;
  read_message(ask, dialect, {}, message);
  store.table.apply(1, dialect, message, keeping);
  store.send(1, StoreOpcode::append, text("k") + text(", after"));
  CHECK(*keeping.kept == "before");
  CHECK(*store.table.find("k") == "before, after");
}

TEST_CASE("a full store refuses, and has room again for what was deleted") {
  Store store;
  const std::string half(500'000, 'x');
  store.send(1, StoreOpcode::set, text("a") + text(half));
  store.send(1, StoreOpcode::set, text("b") + text(half));
  CHECK(store.fault.empty());
  store.send(2, StoreOpcode::set, text("c") + text(half));
  CHECK(store.fault == "the store is full: its values exceed the limit (1048576 bytes)");
  CHECK(store.send(1, StoreOpcode::get_num_keys) == u64(2));
  store.send(1, StoreOpcode::set, text("b") + text(half)); // in place of itself
  CHECK(store.fault.empty());
  store.send(1, StoreOpcode::delete_key, text("a"));
  store.send(2, StoreOpcode::set, text("c") + text(half));
  CHECK(store.fault.empty());
  store.send(1, StoreOpcode::delete_key, text("b"));
  store.send(1, StoreOpcode::delete_key, text("c"));
  CHECK(store.table.bytes() == 0);
}

TEST_CASE("a key that is not there is empty for torch 2 and the end for torch 1") {
  Store store;
  CHECK(store.send(1, StoreOpcode::get, text("k")) == text(""));
  CHECK(store.fault.empty());
  store.send(1, StoreOpcode::get, text("k"), ProtocolDialect::torch1);
  CHECK(store.fault == "it requested a key that does not exist");
  CHECK(store.send(1, StoreOpcode::multi_get, u64(2) + text("k") + text("l")) == text("") + text(""));
}

TEST_CASE("what is no number cannot be counted up") {
  Store store;
  store.send(1, StoreOpcode::set, text("k") + text("one"));
  store.send(1, StoreOpcode::add, text("k") + u64(1));
  CHECK(store.fault == "the value to increment is not a number");
  CHECK(*store.table.find("k") == "one");
}
