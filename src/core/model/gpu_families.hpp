// SPDX-License-Identifier: MIT
// Names of GPUs that are not those of a model: vendors, product lines, generations.
#pragma once

#include <string>

#include "core/model/node_shape.hpp"

namespace hpcml::model {

/// Whether the name is one of a maker, a product line or a generation to which this GPU may belong: "tesla",
/// "nvidia_hopper". What the profile does not say (vendor, instruction set) contradicts no name.
bool is_of_family(const GpuShape& gpu, const std::string& name);

} // namespace hpcml::model
