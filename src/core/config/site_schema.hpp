// SPDX-License-Identifier: MIT
// What the rows of a profile's schema make: the JSON Schema for editors and the page of all keys.
#pragma once

#include <string>

namespace hpcml::config {

/// The JSON Schema of profiles (draft 7): sites/schema.json.
std::string render_site_schema();

/// All keys of a profile by their objects, as Markdown: docs/reference/site-profile.md.
std::string render_profile_page();

} // namespace hpcml::config
