// SPDX-License-Identifier: MIT
#include "core/launch_chain/shell_quoted_command.hpp"

#include "core/util/shell_quote.hpp"

namespace hpcml::launch_chain {

ShellQuotedCommand quote_argv(const std::vector<std::string>& command) {
  ShellQuotedCommand quoted;
  for (const auto& word : command) {
    if (!quoted.text.empty()) quoted.text += ' ';
    quoted.offsets.push_back(quoted.text.size());
    // A first word is a program here, never a word of the shell's own: "time", "if".
    const auto plain = util::shell_quote(word);
    quoted.text += quoted.offsets.size() == 1 && plain.front() != '\'' ? "'" + word + "'" : plain;
  }
  quoted.text += '\n';
  return quoted;
}

} // namespace hpcml::launch_chain
