// SPDX-License-Identifier: MIT
// What a job does, whatever site runs it: of the old script and of the plan that is made of it, side by side.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/plan.hpp"

namespace hpcml::import_script {

/// How often a job runs a program.
enum class StepMultiplicity { in_batch, once, per_node, per_rank };

/// A program that the job starts, and how often.
struct IntentStep {
  std::string program;
  StepMultiplicity runs = StepMultiplicity::per_rank;
};

/// How often a step runs the program.
StepMultiplicity runs_of(const model::ImportedLaunch& launch);

/// What a job does.
struct JobIntent {
  bool is_known = false; ///< false: the numbers of ranks and GPUs are those of the site
  unsigned nodes = 1, ranks_per_node = 1, gpus_per_node = 0;
  unsigned cpus_per_rank = 0; ///< 0: unknown
  std::vector<IntentStep> steps = {};
  std::string image = {};
  std::string environment = {};   ///< what activates the Python environment: "conda activate x", "venv /path"
  bool keeps_environment = false; ///< the script's own activation stays
  std::vector<std::string> binds = {}, modules = {};
  std::vector<std::string> variables = {};      ///< names that the script exports
  std::vector<std::string> lost_variables = {}; ///< of these, those that the new job does not set
  std::set<std::string> options = {};           ///< names of the script's #SBATCH options: "nodes"
  unsigned world() const { return nodes * ranks_per_node; }
  unsigned gpus_per_rank() const { return gpus_per_node / (ranks_per_node == 0 ? 1 : ranks_per_node); }
};

/// What the plan of an imported script does. `before` has what only the script knows.
JobIntent intent_of(const model::Plan& plan, const JobIntent& before);

/// Both as a table with a row for each thing and `*` before those that differ.
std::string render_intents(const std::string& file, const JobIntent& before, const std::string& site,
                           const JobIntent& after);

/// A note for each #SBATCH option of the plan that neither the script nor the request has. Numbers of nodes,
/// tasks, GPUs and CPUs have separate notes.
diag::Diagnostics find_added_options(const std::string& file, const JobIntent& before,
                                     const model::Plan& plan);

/// An error if the new job has another number of ranks or other GPUs for each than the script's. Numbers that
/// the request names are wanted: they are not compared.
diag::Diagnostics compare_intents(const std::string& file, const JobIntent& before, const JobIntent& after);

} // namespace hpcml::import_script
