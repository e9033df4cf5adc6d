// SPDX-License-Identifier: MIT
// What is kept of the compiled-in sites, so that listing and recognising them reads no profile. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/site_detect.hpp"

namespace hpcml::cli {

/// One compiled-in site.
struct SiteRow {
  config::SiteFingerprint marks;
  std::vector<std::string> cells; ///< its row in `hpcml sites list`
};

/// A line each, without line breaks or tabs in what it holds.
std::string render_site_rows(const std::vector<SiteRow>& rows);
std::vector<SiteRow> parse_site_rows(std::string_view text);

} // namespace hpcml::cli
