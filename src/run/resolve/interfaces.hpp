// SPDX-License-Identifier: MIT
// The network interfaces of a site's list that a node has. Pure.
#pragma once

#include <string>
#include <vector>

namespace hpcml::launch {

/// True for the variables by which Gloo and NCCL choose interfaces.
bool names_interfaces(const std::string& variable);

/// The entries of `value` that match one of `present`: exactly for Gloo, as NCCL reads its list for NCCL
/// ("hsn" is every hsn0, hsn1 …; "=hsn0" that one; "^docker" what to avoid, which is kept).
std::string present_interfaces(const std::string& variable, const std::string& value,
                               const std::vector<std::string>& present);

} // namespace hpcml::launch
