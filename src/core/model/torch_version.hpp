// SPDX-License-Identifier: MIT
// Versions of PyTorch, and which GPUs they have code for.
#pragma once

#include <string>

namespace hpcml::model {

/// The oldest PyTorch that has code for GPUs of this architecture ("sm_90"); empty if unknown.
std::string oldest_torch(const std::string& arch);

/// Whether version `a` ("6.2.4") comes before `b` ("6.3").
bool is_older(const std::string& a, const std::string& b);

} // namespace hpcml::model
