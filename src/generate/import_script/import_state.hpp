// SPDX-License-Identifier: MIT
// What the parts of porting share.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/subject.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"
#include "core/slurm/job_request.hpp"
#include "core/slurm/job_size.hpp"
#include "core/slurm/script_header.hpp"
#include "generate/import_script/edited_text.hpp"
#include "generate/import_script/import_script.hpp"

namespace hpcml::import_script {

/// Nodes of the new job, and what each has.
struct NewLayout {
  unsigned nodes = 1, ranks_per_node = 1, gpus_per_node = 0;
};

/// One script on its way to another site.
struct ImportState {
  std::string file;
  const EditedText& script;
  const model::Site& to;
  RequestOverrides chosen;
  std::string_view text = script.text();
  const model::Site* source = nullptr;         ///< that the script was written for; null: not known
  std::vector<std::string> host_suffixes = {}; ///< of host names on the site that the script was written for
  std::vector<std::string> old_file_systems = {}; ///< absolute paths of those sites, which the new one lacks
  bool is_of_other_site = false;                  ///< it names what the new site has not
  bool keeps_environment = false;                 ///< it activates one, which stays
  bool sources_settings = false; ///< it sources a file other than that of a Python environment or of a login
  ImportResult result = {};
  std::vector<std::string> agent_options = {}; ///< of the one agent that stays, as shell text
  unsigned least_nodes = 0; ///< number of `old_nodes` that an elastic agent required; 0: all
  unsigned old_nodes = 1;
  unsigned batch_gpus = 0; ///< that programs of the batch script may see; 0: all of the node
  std::map<std::size_t, std::size_t> batch_programs = {}; ///< next to those that are imported: begin, length
  std::optional<NewLayout> new_layout = {};               ///< nothing: the request chooses it, or the site

  void note(diag::TextRange place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::note, place, std::move(code), std::move(message), std::move(hint));
  }
  void warn(diag::TextRange place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::warning, place, std::move(code), std::move(message), std::move(hint));
  }
  void error(diag::TextRange place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::error, place, std::move(code), std::move(message), std::move(hint));
  }
  /// Whether the script was written for the new site: what it loads there, it loads there now.
  bool is_of_new_site() const { return source == &to; }
  /// The old site in a sentence.
  std::string source_name() const { return source ? source->id : std::string("the old site"); }
  /// A value of the old script.
  model::Origin origin(const std::string& what) const {
    return {model::OriginKind::job_file, fmt::format("{} of {}", what, file), {}, {}, {}};
  }

private:
  void add(diag::Severity severity, diag::TextRange place, std::string code, std::string message,
           std::string hint) {
    result.findings.push_back(
        {severity, std::move(code), std::move(message), script.location_at(file, place), std::move(hint)});
  }
};

/// How many of something a launch asks for: a number, one for each GPU, or what only the running job knows.
struct CountOptionValue {
  enum class Kind { unset, number, per_gpu, unknown }; ///< `unknown` is the last one
  Kind kind = Kind::unset;
  unsigned value = 0;
  bool is_number() const { return kind == Kind::number; }
};

/// A program that the script starts on the nodes, and the places of the words that start it.
struct FoundLaunch {
  std::size_t begin = 0;         ///< of srun, torchrun …
  std::size_t end = 0;           ///< after the program's last word
  std::size_t program_begin = 0; ///< of the program's first word that the script wrote
  model::ImportedLaunch program;
  std::vector<std::string> command; ///< the user's command, if hpcml runs it in a shell
  const check::Launch* launch = nullptr;
  std::vector<std::string> lines_before = {}; ///< of the new script, before the line at `lines_at`
  std::size_t lines_at = 0;
  bool is_helper = false; ///< a tool that prepares the nodes: mkdir, tar, cp
  bool in_batch = false;  ///< the batch script itself runs it: no step is written for it
  bool is_unread = false; ///< a script or a program that may start ranks and steps itself
  bool bare() const { return !launch->step() && !launch->agent(); }
};

/// The numbers that the directives give, for variables in the words of launches.
class SizeEvaluator {
public:
  SizeEvaluator(std::string_view text, const slurm::JobOptions& request, const slurm::JobSize& size);
  /// A word as a number: "4", "$SLURM_NNODES", "$((SLURM_NNODES * 4))", "$(expr $SLURM_NNODES \\* 4)".
  CountOptionValue read(const shell::Argument& word) const;
  /// The value of arithmetic such as "$((SLURM_NNODES * 4))"; nothing if it is unknown.
  std::optional<long> evaluate(std::string_view text) const;
  /// The value of Slurm's or the script's own variable; nothing if it is unknown or not set.
  std::optional<unsigned> value_of(std::string_view name) const;
  /// What a command that counts the GPUs of its node prints; 0 if it does not work there.
  unsigned counted_gpus(std::string_view command) const;
  unsigned nodes = 1;
  unsigned tasks_per_node = 0; ///< 0: not said
  unsigned gpus_per_node = 0;
  unsigned cpus_per_task = 0; ///< 0: not said, or it counts something else than in the old job
  bool own_gpus = false;      ///< each task sees its own only
  model::GpuVendor vendor = model::GpuVendor::unknown;
  bool lists_gpus = true; ///< Slurm sets the variables of visible devices

private:
  std::optional<unsigned> assigned(std::string_view name) const;
  std::string_view x_text;
  mutable unsigned x_depth = 0; ///< of variables that name others
};

/// Whether the GRES is a share of a GPU, which several jobs use.
bool is_shared_gpu(std::string_view gres);
/// Whether the GRES counts accelerators: "gpu", a site's "gpu_cluster", other vendors' "npu".
bool is_accelerator(std::string_view gres);

/// What a launch makes of the job: ranks on each node, and GPUs of each rank.
struct LaunchLayout {
  unsigned nodes = 1;
  unsigned ranks_per_node = 1;
  unsigned gpus_per_node = 0;
  unsigned agents_per_node = 1; ///< torchruns that a node's tasks start
  unsigned repeated_agents = 0; ///< tasks that each start an agent for all of the node; 0: each has its share
  bool one_process = false;     ///< it starts what it needs itself
  bool own_gpus = false;
  bool one_node = false; ///< ranks that connect on their own node only
  bool known_ranks = true;
  bool counts_nodes = false; ///< its agent counts on its like on all the nodes
  unsigned gpus_per_rank() const { return gpus_per_node / std::max(1U, ranks_per_node); }
};
LaunchLayout shape_of(const FoundLaunch& found, const SizeEvaluator& sizes);
/// GPUs that deepspeed names for its only node: 2 of "localhost:0,1"; 0 if it names none, or several nodes.
unsigned included_gpus(const check::Link& agent);
/// Returns the first line of a text for messages, at most 60 bytes, with a mark if there is more.
std::string short_line(std::string_view text);
/// Returns the program's command as a short line.
std::string shown_command(const FoundLaunch& found);

/// Returns the programs to start in the new script, in order; reports commands that cannot be split.
std::vector<FoundLaunch> find_programs(ImportState& porting, const std::vector<check::Launch>& launches,
                                       const shell::ScriptCommands& listing, const shell::SyntaxNode& tree,
                                       const SizeEvaluator& sizes);
/// Fills the request from the directives.
void port_request(ImportState& porting, const slurm::JobOptions& request);
/// Nodes, GPUs and ranks for the new site's nodes: the same world.
void port_size(ImportState& porting, const slurm::JobOptions& request, const SizeEvaluator& sizes,
               std::vector<FoundLaunch>& programs);
/// What becomes of the launchers' own options, each said.
void port_launchers(ImportState& porting, std::vector<FoundLaunch>& programs);
/// Whether an option of a step is about its size, its place or its binding: the plan decides these.
bool is_planned_of_step(const std::string& option);
/// The image that the programs run in, with its binds.
void port_image(ImportState& porting, const slurm::ScriptHeader& header,
                const std::vector<check::Launch>& launches, std::vector<FoundLaunch>& programs);
/// Whether the word of a directive is an option of a plugin that names an image or its binds.
bool is_image_option(std::string_view word);
/// True if srun starts the tasks at the site by default.
bool has_srun(const model::Site& site);
/// Where the new script goes, as far as that is known; nothing where it is not.
const model::Partition* target_partition(const ImportState& porting);
/// Returns the node type with most GPUs that the new script can run on; nothing if none is known.
const model::NodeType* target_node(const ImportState& porting);
/// Returns the vendor of the GPUs of target_node(); unknown if there is no such node.
model::GpuVendor vendor_of_target(const ImportState& porting);
/// Paths and variables of the old site in the text that stays. The catalogue's sites name such variables.
void note_leftovers(ImportState& porting, const model::ImportedBody& body,
                    const std::vector<model::Site>& catalogue);
/// Returns the text after the directives with its launches as gaps, without what the new script does itself.
model::ImportedBody port_body(ImportState& porting, const slurm::ScriptHeader& header,
                              const shell::SyntaxNode& program, const std::vector<FoundLaunch>& launches,
                              const SizeEvaluator& sizes);

} // namespace hpcml::import_script
