// SPDX-License-Identifier: MIT
// The site of a request: the one that is named, or the one that this machine belongs to.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "core/model/site.hpp"

namespace hpcml::cli {

/// Returns the site's id: `named`, or the one whose profile recognises this machine, which is printed on
/// stderr with the reason. Without any, or with several, prints what can be done, sets the exit code and
/// returns nothing.
std::optional<std::string> choose_site_id(const std::optional<std::string>& named, const Context& context,
                                          int& exit_code);

/// The site of that id, loaded; prints what is wrong and sets the exit code where there is none.
std::optional<model::Site> choose_site(const std::optional<std::string>& named, const Context& context,
                                       int& exit_code);

/// Returns the site of the user's configuration, or the one that recognises this machine; nothing, without a
/// message, if there are none or several.
std::optional<model::Site> find_own_site(const Context& context);

/// True if profiles recognise the machines of this site, and this machine is none of them.
bool is_for_other_machine(const model::Site& site, const Context& context);

/// The network of the site that HPCML_SITE names, else of the one above; empty where none is known.
std::string find_own_fabric(const Context& context);

} // namespace hpcml::cli
