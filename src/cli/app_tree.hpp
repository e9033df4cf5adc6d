// SPDX-License-Identifier: MIT
// All commands and their flags as the parser has them, for what is made from them: completion, man pages.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.hpp"

namespace hpcml::cli {

/// Calls `use` with the parser of the program, with every flag of the command that `words` name, or of all
/// commands where they name none.
void with_app_tree(const CommandLineProgram& program, Context context, const std::vector<std::string>& words,
                   const std::function<void(CLI::App&, const Context&)>& use);
/// The same for hpcml.
void with_app_tree(Context context, const std::vector<std::string>& words,
                   const std::function<void(CLI::App&, const Context&)>& use);

} // namespace hpcml::cli
