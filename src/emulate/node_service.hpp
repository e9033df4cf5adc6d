// SPDX-License-Identifier: MIT
// A service of a node that costs nothing until somebody connects.
#pragma once

#include "core/util/result.hpp"
#include "emulate/namespaces.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// In the node's first process: leaves another behind, in the namespaces of the caller, that waits at the
/// port and starts the service's program for each connection.
util::Status wait_for_connections(const NodeService& service, const Isolation& isolation);

} // namespace hpcml::emulate
