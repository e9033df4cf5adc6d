// SPDX-License-Identifier: MIT
// The request flags that commands share, and the request they make together with variables and the job file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "core/config/config_file.hpp"
#include "core/config/job_file.hpp"
#include "core/diag/diagnostic.hpp"
#include "core/model/job_spec.hpp"

namespace hpcml::cli {

/// The flags as typed: texts by flag name, so that all wrong ones are found at once.
struct RequestFlags {
  std::optional<std::string> site;
  std::optional<std::string> job_file;
  bool without_job_file = false;                         ///< ./hpcml.json is not read
  std::optional<std::string> only;                       ///< one of several jobs in the file
  std::map<std::string, std::string> values;             ///< "--nodes" -> "2"
  std::map<std::string, std::vector<std::string>> lists; ///< "--env" -> {"A=1", "B=2"}
};

/// The options of a request that `-h` shows.
inline constexpr std::string_view k_common_request_flags =
    " --site --account --partition --nodes --gpus-per-node --mem --time --venv "
    "--conda "
    "--container";

/// Registers the flags that the line may need; `flags` outlives the parser.
void add_request_flags(CLI::App& app, RequestFlags& flags, const Context& context);

/// A merged request: flags over HPCML_* variables over the job file. The values of the user's configuration
/// come below all of them, once the site is known.
struct MergedRequest {
  std::vector<config::NamedJobSpec> parts; ///< one, or the jobs of a file with several; each complete
  std::optional<std::string> site;
  config::Config config;
  std::string config_file;
  int exit_code = k_ok; ///< of the first thing that is wrong; everything wrong has been printed
};
/// The flags as a request, with what variables, job file and configuration add.
MergedRequest read_request(const RequestFlags& flags, const Context& context);

/// The jobs of a file, or the one that it is without a list.
std::vector<config::NamedJobSpec> parts_of(const config::JobLoad& file);
/// Makes the paths of a request absolute: a compute node has neither the user's "~" nor their working
/// directory.
void resolve_paths(model::JobSpec& job, const util::EnvSnapshot& env, diag::Diagnostics& findings);

/// The flags alone as a request; what is wrong goes to `findings`.
model::JobSpec job_from_flags(const RequestFlags& flags, diag::Diagnostics& findings);

} // namespace hpcml::cli
