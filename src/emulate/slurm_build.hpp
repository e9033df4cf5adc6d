// SPDX-License-Identifier: MIT
// Another Slurm than the machine's: built from a tarball of its sources, once, and kept for later rehearsals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// Which Slurm a user requires in the rehearsal; nothing: the machine's.
struct SlurmChoice {
  std::string version; ///< "23.11", "23.11.10"; empty: whatever the sources are
  std::string source;  ///< a tarball of Slurm's sources, or a directory with them; empty: none
  bool any() const { return !version.empty() || !source.empty(); }
};

/// True where `version` is one of those that `wished` means: 23.11.10 is a 23.11.
bool is_version(const std::string& version, const std::string& requested);

/// The version in the text of a source tree's META ("  Version:  22.05.8"); empty where it names none.
std::string find_meta_version(const std::string& meta);

/// Returns the options of Slurm's configure, without directories and compiler flags.
std::vector<std::string> slurm_configure_options();

/// Where built Slurms are kept, a directory per version: $XDG_CACHE_HOME/hpcml/slurm, else
/// ~/.cache/hpcml/slurm. Fails where neither is known.
util::Result<std::string> slurm_cache(const util::EnvSnapshot& env);

/// The versions in the cache, the newest first.
std::vector<std::string> list_built_slurms(const std::string& cache);

/// Returns the directory of the requested Slurm, which is built from its sources if the cache does not have
/// it (minutes; `report` gets the progress). VERSION.log in the cache contains the output of the build. The
/// hint of an error says what to do.
util::Result<std::string> obtain_slurm(const SlurmChoice& choice, const util::EnvSnapshot& env,
                                       const std::function<void(const std::string&)>& report);

/// The environment with that Slurm's programs first in PATH.
util::EnvSnapshot with_slurm_of(const std::string& directory, const util::EnvSnapshot& env);

} // namespace hpcml::emulate
