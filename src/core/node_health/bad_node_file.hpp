// SPDX-License-Identifier: MIT
// Nodes that were found bad while a job ran, as a line each in a file that its next start reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::node_health {

/// Variable with the path of that file, which a script sets for hpcml.
inline constexpr const char* k_bad_nodes_variable = "HPCML_BAD_NODES";
/// Largest size of that file in bytes: tens of thousands of nodes.
inline constexpr std::size_t k_bad_nodes_limit = std::size_t{4} << 20U;

/// A node, and the reason in messages.
struct BadNode {
  std::string node; ///< as Slurm names it
  std::string why;  ///< a clause: "its agent was lost"
  bool operator==(const BadNode&) const = default;
};

/// "node002 its agent was lost", its newline with it; what is not a text of one line is shown as one.
std::string render_bad_node(const BadNode& bad);
/// Each node once, with its first reason; lines that say nothing are passed over.
std::vector<BadNode> parse_bad_nodes(std::string_view text);

} // namespace hpcml::node_health
