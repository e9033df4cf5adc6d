// SPDX-License-Identifier: MIT
#include "cli/chosen_site.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/know/site_rows.hpp"
#include "core/config/config_file.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_detect.hpp"
#include "core/config/site_store.hpp"
#include "core/util/date.hpp"
#include "core/util/embedded.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

std::vector<config::SiteFingerprint> built_in_sites() {
  std::vector<config::SiteFingerprint> sites;
  for (auto& row : parse_site_rows(embedded::site_rows())) sites.push_back(std::move(row.marks));
  return sites;
}

/// Returns the site that the user has set with `hpcml config`.
std::optional<std::string> remembered_site(const Context& context) {
  return config::load_config(config::config_path(context.env)).config.site;
}

/// Those whose profiles recognise the machine with these names.
auto find_sites(const Context& context, const std::vector<std::string>& hosts) {
  return config::detect_sites(config::site_directories(context.sites_dirs, context.env), built_in_sites(),
                              context.env, hosts);
}

} // namespace

std::optional<std::string> choose_site_id(const std::optional<std::string>& named, const Context& context,
                                          int& exit_code) {
  if (named) return named;
  if (auto remembered = remembered_site(context)) {
    print_note(fmt::format("using site {}, which hpcml config saved (to change: hpcml config set site NAME)",
                           *remembered));
    return remembered;
  }
  const auto hosts = util::read_host_names();
  const auto found = find_sites(context, hosts);
  if (found.size() == 1) {
    print_note(fmt::format("using site {}, detected by {} (to use another: hpcml config set site NAME)",
                           found.front().id, found.front().by));
    return found.front().id;
  }
  exit_code = k_usage;
  if (found.empty()) {
    print_error(fmt::format("the site is unknown: none is named, and no profile recognises this machine{}",
                            hosts.empty() ? "" : fmt::format(" ({})", hosts.front())),
                "add --site NAME (hpcml sites list shows the names), or run hpcml sites discover on a login "
                "node to describe a new cluster",
                context.colour);
    return std::nullopt;
  }
  std::vector<std::string> candidates;
  for (const auto& match : found) candidates.push_back(fmt::format("{} (by {})", match.id, match.by));
  print_error(
      fmt::format("the site is unknown: none is named, and several profiles recognise this machine: {}",
                  util::join(candidates, ", ")),
      fmt::format("add --site {}, or --site with another of these names", found.front().id), context.colour);
  return std::nullopt;
}

std::optional<model::Site> choose_site(const std::optional<std::string>& named, const Context& context,
                                       int& exit_code) {
  const auto id = choose_site_id(named, context, exit_code);
  if (!id) return std::nullopt;
  auto load = config::load_site(*id, config::site_directories(context.sites_dirs, context.env),
                                embedded::merged_sites());
  print_diagnostics(load.diagnostics, load.source, context.colour);
  if (load.site && !diag::has_errors(load.diagnostics))
    return config::as_of(std::move(*load.site), util::today(context.env));
  exit_code = load.not_found ? k_usage : k_invalid_file;
  return std::nullopt;
}

std::optional<model::Site> find_own_site(const Context& context) {
  auto id = remembered_site(context);
  if (!id) {
    const auto found = find_sites(context, util::read_host_names());
    if (found.size() != 1) return std::nullopt;
    id = found.front().id;
  }
  return config::load_site(*id, config::site_directories(context.sites_dirs, context.env),
                           embedded::merged_sites())
      .site;
}

bool is_for_other_machine(const model::Site& site, const Context& context) {
  const bool is_recognisable = !site.detect.env.empty() || !site.detect.hostnames.empty();
  return is_recognisable && !config::match_site(site.id, site.detect, context.env, util::read_host_names());
}

std::string find_own_fabric(const Context& context) {
  if (const auto named = context.env.get("HPCML_SITE"); named && !named->empty()) {
    const auto load = config::load_site(*named, config::site_directories(context.sites_dirs, context.env),
                                        embedded::merged_sites());
    return load.site ? load.site->network.fabric : std::string();
  }
  const auto site = find_own_site(context);
  return site ? site->network.fabric : std::string();
}

} // namespace hpcml::cli
