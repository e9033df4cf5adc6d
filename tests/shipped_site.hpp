// SPDX-License-Identifier: MIT
// The sites that hpcml comes with.
#pragma once

#include <catch2/catch.hpp>

#include <string>

#include "core/config/site_store.hpp"

namespace hpcml::test {

/// The profile of this id as it is built in; one that does not load fails the test with what is wrong.
inline model::Site shipped_site(const std::string& id) {
  auto load = config::load_site(id, {});
  for (const auto& finding : load.diagnostics) UNSCOPED_INFO(diag::render_text(finding, load.source, false));
  REQUIRE(load.site);
  return std::move(*load.site);
}

} // namespace hpcml::test
