// SPDX-License-Identifier: MIT
// Texts with $NAME in them, filled in as Python's string.Template does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpcml::util {

/// "$name" and "${name}" become the value of `name`, "$$" a dollar; what is not known is left alone.
std::string fill_dollar_template(std::string_view text,
                                 const std::vector<std::pair<std::string_view, std::string>>& values);

} // namespace hpcml::util
