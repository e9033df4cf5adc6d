// SPDX-License-Identifier: MIT
// The values that an option accepts: checks that report them in plain words, and what help shows of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
} // namespace CLI

namespace hpcml::cli {

/// Accepts the words of a closed set.
CLI::Validator one_of(const std::vector<std::string>& words);
/// Accepts whole numbers from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// Shows a closed set that is checked elsewhere.
CLI::Validator values_shown(const std::vector<std::string>& words);

/// Adds `--format`, whose default is the value of `format`.
CLI::Option* add_format(CLI::App& command, std::string& format, const std::vector<std::string>& words,
                        const std::string& text = "Output format");

/// The placeholder of the option's value: "N"; the name of a positional; empty for a switch.
std::string value_name(const CLI::Option& option);
/// The closed set of the option's values; empty if others may be valid.
std::vector<std::string> closed_values(const CLI::Option& option);

} // namespace hpcml::cli
