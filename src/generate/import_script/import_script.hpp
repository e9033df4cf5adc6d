// SPDX-License-Identifier: MIT
// An existing sbatch script as a request for another site: what it asked for, its own commands, and what
// becomes of the rest.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"
#include "generate/import_script/intent.hpp"

namespace hpcml::import_script {

/// What the new request chooses itself, so that the old script's choice is dropped.
struct RequestOverrides {
  std::string environment = {}; ///< option that names a virtual or conda environment or an image; empty: none
  bool container = false;       ///< an image
  std::string partition = {};   ///< of the new site; empty: as the script has it, or the site's default
  std::string account = {};     ///< empty: not said
  std::string qos = {};
  bool nodes = false;                                ///< the number of nodes or of GPUs
  unsigned node_count = 0;                           ///< the number of nodes; 0: not said
  std::string launcher = {};                         ///< what starts the ranks; empty: not said
  std::map<std::string, std::string> variables = {}; ///< that it sets, with their values
  bool gpu_visibility = false;                       ///< what a rank sees of its node's GPUs
};

/// The request, and a note on everything that changes, each at its place in the old script. Errors where it
/// cannot be ported.
struct ImportResult {
  model::JobSpec job;
  JobIntent intent = {}; ///< of the script
  diag::Diagnostics findings;
};

/// Reads the script as the newest sbatch that accepts it and bash do, without running it. `file` is its name
/// in messages. The catalogue has the sites that it may have been written for.
ImportResult import_slurm_script(const std::string& file, std::string_view text, const model::Site& to,
                                 const RequestOverrides& chosen,
                                 const std::vector<model::Site>& catalogue = {});

} // namespace hpcml::import_script
