// SPDX-License-Identifier: MIT
// The entries of a profile's `unknown`: the keys that no source answers.
#pragma once

#include "core/config/object_schema.hpp"

namespace hpcml::config {

/// Reports entries that name a key which the schema does not have, and those whose key has a value
/// everywhere. An entry of several words that does not begin with a key is a remark and is not checked.
void check_unknown_facts(const JsonNode& profile, const TypeErasedObjectSchema& schema, ReadContext& context);

} // namespace hpcml::config
