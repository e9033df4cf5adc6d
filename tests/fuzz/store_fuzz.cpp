// SPDX-License-Identifier: MIT
// Any bytes as what three clients say to a store, each a piece in turn. Build with -DHPCML_FUZZ=ON and clang:
// ninja store_fuzz && bin/store_fuzz -max_len=4096 NEW_FOLDER FOLDER_OF_SEEDS (tests/fuzz/seeds.py)
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "run/store/store_table.hpp"

using namespace hpcml::store;

namespace {

struct Nobody : AnswerSink {
  void bytes(ClientId, std::string_view) override {}
  void value(ClientId, const SharedValue& value) override {
    if (!value) std::abort();
  }
};

struct Speaker {
  std::string input;
  ProtocolDialect dialect = ProtocolDialect::unknown;
  bool gone = false;
};

/// Reads what a client has said so far.
void listen(Speaker& speaker, ClientId id, StoreTable& table) {
  Nobody nobody;
  TcpStoreMessage message;
  const MessageLimits limits{.key_bytes = 100, .value_bytes = 1000, .keys = 20};
  while (!speaker.lost) {
    const auto found = read_message(speaker.input, speaker.dialect, limits, message);
    if (found.length > speaker.input.size()) std::abort();
    if (found.fault.empty() && found.length == 0 && found.needed <= speaker.input.size()) std::abort();
    speaker.lost = !found.fault.empty();
    if (speaker.lost || found.length == 0) break;
    if (message.op != StoreOpcode::validate)
      speaker.lost = !table.apply(id, speaker.dialect, message, nobody).empty();
    speaker.input.erase(0, found.length);
  }
  if (speaker.lost) table.forget_waits(id);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t most = 5000;
  StoreTable table(most);
  std::array<Speaker, 3> speakers;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (ClientId turn = 0; !rest.empty(); ++turn) {
    const std::size_t piece = 1 + static_cast<unsigned char>(rest[0]) % 64;
    auto& speaker = speakers[turn % speakers.size()];
    speaker.input += rest.substr(1, piece);
    rest.remove_prefix(std::min(rest.size(), 1 + piece));
    listen(speaker, turn % 3, table);
    if (table.bytes() > most) std::abort();
  }
  for (ClientId id = 0; id < 3; ++id) table.forget_waits(id);
  if (!table.waiting().empty()) std::abort();
  return 0;
}
