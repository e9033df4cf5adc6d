// SPDX-License-Identifier: MIT
// Hints for names of long lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::util {

/// Returns up to `most` candidates that are near enough to `word` to be meant, the nearest first.
std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& candidates,
                                    std::size_t most);
/// Returns the hint for a value that is not one of the names, which `list_command` prints. If there are more
/// than six names, the hint has at most three near ones and the command: "use 'lumi', or run hpcml sites
/// list". Otherwise it lists all names. Returns an empty text if there are none.
std::string choice_hint(const std::string& value, const std::vector<std::string>& names,
                        const std::string& list_command);

} // namespace hpcml::util
