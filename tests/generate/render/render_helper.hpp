// SPDX-License-Identifier: MIT
// Plans made by hand, hostile texts, and real bash and shellcheck to judge scripts by.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "core/util/process.hpp"
#include "temp_directory.hpp"

namespace hpcml::test {

/// Two whole nodes with 8 GPUs, 7 cores per rank, masks; launcher hpcml.
model::Plan make_whole_node_plan();
/// The same plan for another launcher, with tasks and binder as the planner would have them.
model::Plan make_plan_for(const std::string& launcher);

/// A request for two nodes with what the site requires.
model::JobSpec request_for(const model::Site& site);
/// An account of the form that the site wants; nothing where its jobs name none.
std::optional<std::string> account_at(const model::Site& site);
/// Another of that form.
std::string other_account(const model::Site& site, const std::string& account);
/// The request goes to the first partition of its kind where the site has no default for it.
void choose_partition(model::JobSpec& job, const model::Site& site);

/// Texts that a person might type or an attacker might hide in a job file; none holds a NUL.
const std::vector<std::string>& hostile_texts();

/// Empty if `bash -n` and shellcheck have nothing to say about the script, else what they say.
std::string script_faults(const std::string& script);

/// Runs the script with real bash in `directory`, with srun and ibrun as programs that only drop their
/// options and start the rest, and `hpcml` as a program that starts what stands behind "--". A program that
/// the test has put into "bin" before is left there; `more` are variables beside Slurm's of rank 11 of 16.
util::ProcessOutput run_script(const std::string& script, const TempDirectory& directory,
                               const std::map<std::string, std::string>& more = {});
/// Puts a bash script that programs of the job find in PATH.
void put_program(const TempDirectory& directory, const std::string& name, const std::string& body);
/// First lines of a bash program that stands for hpcml: `internal batch` only runs the script.
extern const char* const k_batch_stand_in;
/// The path of that `hpcml`, and of a program that writes the words it gets, NUL behind each, to the file
/// "words".
std::string stand_in_hpcml(const TempDirectory& directory);
std::string word_writer(const TempDirectory& directory);
/// The words that the last run of word_writer got, and the environment in which it ran.
std::vector<std::string> written_words(const TempDirectory& directory);
std::map<std::string, std::string> seen_environment(const TempDirectory& directory);

} // namespace hpcml::test
