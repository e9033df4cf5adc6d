// SPDX-License-Identifier: MIT
// The words of a command as one line of shell text, so that the readers of scripts can read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hpcml::launch_chain {

/// A command as a shell would have to read it, and where each of its words starts.
struct ShellQuotedCommand {
  std::string text;                 ///< ends with a line break
  std::vector<std::size_t> offsets; ///< in `text`, one per word
};

ShellQuotedCommand quote_argv(const std::vector<std::string>& command);

} // namespace hpcml::launch_chain
