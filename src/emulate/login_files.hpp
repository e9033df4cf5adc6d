// SPDX-License-Identifier: MIT
// What a login shell on an emulated site has: variables, `module`, and the directory in /etc/profile.d's
// place.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// The text by which bash brings `module` along in the environment; one line, without single quotes.
std::string module_function(const std::string& state_dir);

/// Variables of a login shell on the site: `module` as an exported function, $SCRATCH and the like. PATH is
/// not among them.
std::map<std::string, std::string> make_login_variables(const model::Site& site, const std::string& state_dir,
                                                        const std::string& user);

/// The variables that name the private directory of a job on the node's disk: SLURM_TMPDIR.
std::vector<std::string> job_directory_variables(const model::Site& site);
/// The user's directories that $SCRATCH and the like name.
std::vector<std::string> storage_directories(const model::Site& site, const std::string& state_dir,
                                             const std::string& user);

/// The file from which login shells have the same variables and find the stand-ins first: what jobs without
/// the caller's environment and scripts under `bash -l` read.
std::string make_login_profile(const model::Site& site, const std::string& state_dir,
                               const std::string& user);

/// Writes that file into a directory of the state directory; that directory is to be over this machine's own,
/// whose files (another `module`, $BASH_ENV) are not the site's.
util::Result<std::string> write_login_profile(const model::Site& site, const std::string& state_dir,
                                              const std::string& user);

} // namespace hpcml::emulate
