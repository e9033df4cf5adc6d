// SPDX-License-Identifier: MIT
// One list of fields packs, unpacks, bounds and prints a message.
#include <catch2/catch.hpp>

#include "run/store/message_fields.hpp"

using namespace hpcml::store;
using Catch::Contains;

namespace {

struct Point {
  unsigned x = 0;
  std::optional<std::string> label = {};
  bool operator==(const Point&) const = default;
  static void fields(auto& list, auto& m) {
    list("x", m.x);
    list("label", m.label, [](std::string_view text) { return text != "bad"; });
  }
};

struct Ping {
  static constexpr std::string_view k_name = "ping";
  int number = 0;
  bool operator==(const Ping&) const = default;
  static void fields(auto& list, auto& m) { list("number", m.number, 64); }
};

struct Move {
  static constexpr std::string_view k_name = "move";
  std::vector<Point> points = {};
  std::chrono::seconds pause{0};
  double seconds = 0;
  bool fast = false;
  bool operator==(const Move&) const = default;
  static void fields(auto& list, auto& m) {
    list("points", m.points);
    list("pause", m.pause, std::chrono::seconds(30));
    list("seconds", m.seconds);
    list("fast", m.fast);
    list.require("points", m.points.size() < 4);
  }
};

struct Message {
  static constexpr std::string_view k_name = "test message";
  std::variant<Ping, Move> what;
  static void fields(auto& list, auto& m) { list("what", m.what); }
};

const Move k_move{{{3, "a\0b"}, {4, {}}}, std::chrono::seconds(7), 1.5, true};

std::string fault_of(const Message& message) {
  const auto back = unpack_message<Message>(pack_message(message));
  return back ? "" : back.error().what;
}

/// As another version of hpcml would begin the message.
std::string bytes_of(const std::string& mark) {
  WireWriter packed(mark);
  packed.text("ping");
  packed.number(1);
  return packed.take();
}

} // namespace

TEST_CASE("a message arrives as it was sent") {
  const auto back = unpack_message<Message>(pack_message(Message{k_move}));
  REQUIRE(back);
  CHECK(std::get<Move>(back->what) == k_move);
  CHECK(std::get<Ping>(unpack_message<Message>(pack_message(Message{Ping{64}}))->what) == Ping{64});
}

TEST_CASE("every cut of a message is rejected") {
  const auto bytes = pack_message(Message{k_move});
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(unpack_message<Message>(std::string_view(bytes).substr(0, length)));
  CHECK(unpack_message<Message>(bytes + "x").error().what ==
        "sent an invalid message 'test message': it is too long");
}

TEST_CASE("values beyond their bounds are rejected by name") {
  CHECK(fault_of({Ping{65}}) == "sent an invalid message 'test message': field 'number'");
  CHECK_THAT(fault_of({Ping{-1}}), Contains("field 'number'"));
  CHECK_THAT(fault_of({Move{{{10'000'001, {}}}}}), Contains("field 'x'"));
  CHECK_THAT(fault_of({Move{{{1, "bad"}}}}), Contains("field 'label'"));
  CHECK_THAT(fault_of({Move{{}, std::chrono::seconds(31)}}), Contains("field 'pause'"));
  CHECK_THAT(fault_of({Move{{{}, {}, {}, {}}}}), Contains("field 'points'"));
}

TEST_CASE("a count beyond the bytes of a message is rejected") {
  WireWriter packed(message_mark("test message"));
  packed.text("move");
  packed.number(9'000'000);
  CHECK_FALSE(unpack_message<Message>(packed.take()));
}

TEST_CASE("a kind of message that does not exist is rejected") {
  WireWriter packed(message_mark("test message"));
  packed.text("jump");
  CHECK_THAT(unpack_message<Message>(packed.take()).error().what, Contains("field 'what'"));
}

TEST_CASE("a message of another version names both versions") {
  const auto bytes = bytes_of("hpcml 0.0.1 test message");
  CHECK(other_version(bytes) == "0.0.1");
  const auto error = unpack_message<Message>(bytes).error().what;
  const auto own = message_mark("").substr(6);
  CHECK(error + " " == "uses hpcml 0.0.1, and this process uses hpcml " + own);
  CHECK(unpack_message<Message>(bytes_of(message_mark("test message"))));
}

TEST_CASE("other programs have no version of hpcml") {
  for (const std::string mark :
       {"", "hpcml", "hpcml agent event 1", "hpcml 2 x", "hpcml 1.\x1b[2J x", "other 1.0 test message",
        "hpcml 1.00000000000000000000000000000000000 test message"}) {
    CAPTURE(mark);
    CHECK_FALSE(other_version(bytes_of(mark)));
    CHECK(unpack_message<Message>(bytes_of(mark)).error().what == "sent a message other than 'test message'");
  }
  CHECK_FALSE(other_version("?"));
}

TEST_CASE("printed messages name their fields on one line") {
  CHECK(FieldPrinter::print(Message{k_move}.what) ==
        "move {points=[{x=3 label='a'}, {x=4}] pause=7 seconds=1.500000 fast=true}");
  CHECK(FieldPrinter::print(Message{}.what) == "ping");
  CHECK_THAT(FieldPrinter::print(Point{1, "a\nb\x1b" + std::string(500, 'c')}),
             Contains("a\\nb\\x1bccc") && Contains("…") && !Contains("\n"));
}
