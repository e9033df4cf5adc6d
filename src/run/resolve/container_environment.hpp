// SPDX-License-Identifier: MIT
// What launch sets, on its way through a container engine that empties the environment.
#pragma once

#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::launch {

/// How the names begin under which Singularity and Apptainer set a variable in the image whatever their
/// options are: "APPTAINERENV_", also "SINGULARITYENV_" unless the command starts apptainer. None where the
/// command starts neither, and `container` (--container) does not say that it enters an image. Pure.
std::vector<std::string> container_prefixes(const std::vector<std::string>& command, bool container);

/// An error where the command starts an engine that would hide the ranks' variables: docker and podman give
/// their images none, others have options for it. Pure.
util::Status check_container_environment(const std::vector<std::string>& command);

} // namespace hpcml::launch
