// SPDX-License-Identifier: MIT
#include "run/batch/resubmission_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/own_directory.hpp"
#include "core/util/text.hpp"

namespace hpcml::batch {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t k_most_bytes = std::size_t{4} << 20U; // of a script: Slurm's own default limit
constexpr unsigned k_for_caller = 0600;

bool is_job_name(const std::string& job) {
  return !job.empty() && job.find_first_not_of("0123456789_") == std::string::npos;
}

fs::path record_path(const fs::path& directory, const std::string& job) {
  return directory / (job + ".json");
}
fs::path script_path(const fs::path& directory, const std::string& job) { return directory / (job + ".sh"); }

util::Result<std::string> keep_in(const fs::path& directory, ResubmissionRecord job,
                                  const std::string& text) {
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  TRY_DONE(util::make_own_directory(directory));
  job.script = script_path(directory, job.job).string();
  TRY_DONE(util::write_file(job.script, text, k_for_caller));
  const Json record = {{"job", job.job},
                       {"first", job.first},
                       {"restarts", job.restarts},
                       {"array_task", job.array_task},
                       {"directory", job.directory},
                       {"submit_command", job.submit_command},
                       {"arguments", job.arguments}};
  TRY_DONE(util::write_file(record_path(directory, job.job), record.dump(2) + "\n", k_for_caller));
  return job.script;
}

util::Result<ResubmissionRecord> parse_record(const std::string& text, const std::string& path) {
  const auto record = Json::parse(text, nullptr, false);
  try {
    ResubmissionRecord job;
    record.at("job").get_to(job.job);
    record.at("first").get_to(job.first);
    record.at("restarts").get_to(job.restarts);
    record.at("array_task").get_to(job.array_task);
    record.at("directory").get_to(job.directory);
    record.at("submit_command").get_to(job.submit_command);
    record.at("arguments").get_to(job.arguments);
    return job;
  } catch (const Json::exception& fault) {
    return util::Error{
        fmt::format("'{}' is not a valid record of a job that hpcml can continue: {}", path, fault.what()),
        "remove this file, and submit your original script again"};
  }
}

} // namespace

std::vector<fs::path> saved_job_directories(const util::EnvSnapshot& env, const std::string& directory) {
  std::vector<fs::path> directories;
  const auto home = env.get_or("HOME", "");
  const auto state = env.get_or("XDG_STATE_HOME", home.empty() ? "" : home + "/.local/state");
  if (state.starts_with("/")) directories.push_back(fs::path(state) / "hpcml" / "jobs");
  if (directory.starts_with("/")) directories.push_back(fs::path(directory) / ".hpcml" / "jobs");
  return directories;
}

util::Result<std::string> keep_job(ResubmissionRecord job, const std::string& source,
                                   const std::vector<fs::path>& directories) {
  if (!is_job_name(job.job))
    return util::Error{fmt::format("Slurm's variables name no valid job: '{}' is not a job number", job.job),
                       "use sbatch to start the script"};
  TRY(const auto text, util::read_input(source, {k_most_bytes}));
  util::Result<std::string> kept = util::Error{
      "neither XDG_STATE_HOME, HOME nor the working directory is an absolute path for the script's copy",
      "set XDG_STATE_HOME to a directory"};
  for (const auto& directory : directories) {
    kept = keep_in(directory, job, text);
    if (kept) break;
  }
  return kept;
}

util::Result<ResubmissionRecord> load_saved_job(const std::string& job,
                                                const std::vector<fs::path>& directories) {
  if (!is_job_name(job))
    return util::Error{fmt::format("'{}' is not a job number", job),
                       "use a number such as 4711, or 4711_3 for an array"};
  std::string places;
  for (const auto& directory : directories) {
    const auto path = record_path(directory, job);
    std::error_code error;
    if (!fs::exists(path, error)) {
      places += (places.empty() ? "" : ", ") + directory.string();
      continue;
    }
    // Slurm runs the copy as the caller: a file that another user has put there is not used.
    const util::InputFileRule own{k_most_bytes, true,
                                  "remove this file, and submit your original script again"};
    TRY(const auto text, util::read_input(path.string(), own));
    TRY(auto kept, parse_record(text, path.string()));
    kept.script = script_path(directory, job).string();
    TRY(const auto script, util::read_input(kept.script, own));
    if (script.empty())
      return util::Error{fmt::format("the copy of the script of job {} is empty: '{}'", job, kept.script),
                         "remove this file, and submit your original script again"};
    return kept;
  }
  return util::Error{
      fmt::format("no record of job {} in {}: only jobs with --save-before or --requeue have one", job,
                  places),
      "run this command in the directory where the job ran, or submit your original script again"};
}

void forget_job(const std::string& job, const std::vector<fs::path>& directories) {
  if (!is_job_name(job)) return;
  for (const auto& directory : directories) {
    std::error_code error;
    fs::remove(script_path(directory, job), error);
    fs::remove(record_path(directory, job), error);
  }
}

} // namespace hpcml::batch
