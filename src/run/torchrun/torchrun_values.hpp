// SPDX-License-Identifier: MIT
// The values that torchrun's flags take, from text. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/torchrun/torchrun_flags.hpp"

namespace hpcml::torchrun {

/// Parses a number as Python's int() does, with spaces around it and a sign.
std::optional<long long> parse_whole_number(const std::string& text);
/// "2" or "1:4": the least and the largest number of nodes.
std::optional<std::pair<unsigned, unsigned>> parse_node_range(const std::string& text);
/// "8", "auto", "cpu", "gpu", "xpu".
std::optional<RanksPerNode> parse_ranks_of_node(const std::string& text);
/// "3": both streams of all ranks (1: standard output, 2: standard error, 0: none); "0:1,1:2": of those
/// ranks.
std::optional<launch::StreamsOfRanks> parse_streams(const std::string& text);
/// "0,1,2"
std::optional<std::set<unsigned>> parse_rank_list(const std::string& text);
/// "apple,orange"; two commas are one of the text.
std::vector<std::string> parse_filters(const std::string& text);
/// "KEY=VALUE,KEY=VALUE"
std::optional<std::vector<std::pair<std::string, std::string>>> parse_conf(const std::string& text);
/// "HOST", "HOST:PORT", "[ADDRESS]:PORT".
std::optional<Endpoint> parse_endpoint(const std::string& text);
/// Returns the signals of a list that are not forwarded to the ranks; nothing if a name is not a signal.
std::optional<std::vector<std::string>> find_unhandled_signals(const std::string& text);

} // namespace hpcml::torchrun
