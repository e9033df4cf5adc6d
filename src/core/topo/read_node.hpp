// SPDX-License-Identifier: MIT
// Nodes from files: JSON, hwloc XML, NCCL topology XML.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/topo/node.hpp"

namespace hpcml::topo {

/// A node from JSON text: "cores", "smt", "smt_sibling" or "core_threads", "packages", "numa", "l3" (id → CPU
/// list), "gpu" (index → pci, numa, l3, …), "nic" (name → …), "links", "reserved", "allowed". Every finding
/// is in the error, one a line; keys that it does not know are in the node's notes.
util::Result<Node> parse_node_json(std::string_view text);

/// A node from hwloc's XML, version 1 or 2: what hwloc would make of it, without hwloc. Truncated and foreign
/// files are refused with the line.
util::Result<Node> parse_hwloc_xml(std::string_view text);

/// A node from an NCCL topology file (version 1): CPUs by NUMA node, GPUs and NICs by PCI class. It says
/// nothing of cores: each CPU counts as one unless the affinity masks show two equal halves.
util::Result<Node> parse_nccl_xml(std::string_view text);

/// Returns the text of a topology file, or of a pipe that is open already ("/dev/stdin", "/dev/fd/N").
/// Devices, named pipes and more than 64 MiB are errors.
util::Result<std::string> read_topology(const std::filesystem::path& path);
/// A node from the text of the file; errors name the file.
util::Result<Node> parse_node(const std::string& text, const std::filesystem::path& path);
/// A node from a file of any of these kinds, distinguished by what is in it. Errors name the file.
util::Result<Node> load_node(const std::filesystem::path& path);

} // namespace hpcml::topo
