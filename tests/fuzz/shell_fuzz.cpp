// SPDX-License-Identifier: MIT
// Any bytes as a script: read, followed, and every place within the text. Build with -DHPCML_FUZZ=ON and
// clang: ninja shell_fuzz && bin/shell_fuzz -max_len=4096 -timeout=5 NEW_FOLDER tests/fuzz/corpus/shell
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/shell/script_commands.hpp"

using namespace hpcml;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto script = shell::read_script(std::string(reinterpret_cast<const char*>(data), size));
  const auto listing = shell::list_commands(script);
  const auto within = [size](shell::TextRange place) {
    if (place.offset > size || place.length > size - place.offset) std::abort();
  };
  for (const auto& unread : shell::unread_parts(script.program)) within(unread.place);
  for (const auto& command : listing.commands) {
    within(command.place);
    if (command.parent && *command.parent >= listing.commands.size()) std::abort();
    if (command.program && *command.program >= command.words.size()) std::abort();
    for (const auto& word : command.words)
      for (const auto& piece : word.pieces) within(piece.place);
  }
  return 0;
}
