// SPDX-License-Identifier: MIT
#include "cli/run/rank_logs.hpp"

#include <filesystem>

#include "core/shell/script.hpp"
#include "core/shell/script_commands.hpp"
#include "run/agent/run_directory.hpp"
#include "run/launch/output_routes.hpp"

namespace hpcml::cli {

namespace {

namespace fs = std::filesystem;

/// The directories in `parent` whose names start with `prefix`.
std::vector<fs::path> directories_in(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  return found;
}

} // namespace

std::string find_log_dir(std::string_view script) {
  constexpr std::string_view k_option = "--log-dir";
  const auto listing = shell::list_commands(shell::read_script(std::string(script)));
  for (const auto& command : listing.commands)
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      const auto word = command.words[i].text();
      if (word == k_option && i + 1 < command.words.size()) return command.words[i + 1].text();
      if (word.starts_with(std::string(k_option) + "=")) return word.substr(k_option.size() + 1);
    }
  return {};
}

std::vector<RankLog> find_rank_logs(const RankLogLocation& location, const std::string& job_id) {
  std::vector<RankLog> files;
  std::error_code error;
  for (const auto& run : directories_in(location.directory, job_id + "."))
    for (const auto& attempt : directories_in(run, agent::k_attempt_prefix))
      for (const bool is_error : {false, true}) {
        const auto path = attempt / launch::log_name(location.rank, is_error);
        if (fs::exists(path, error)) files.push_back({path.string(), is_error});
      }
  return files;
}

} // namespace hpcml::cli
