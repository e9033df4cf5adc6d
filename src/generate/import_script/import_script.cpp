// SPDX-License-Identifier: MIT
#include "generate/import_script/import_script.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "core/model/mpi_ranks.hpp"
#include "core/shell/script_commands.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_modules.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/launcher_variables.hpp"
#include "generate/import_script/outside_image.hpp"
#include "generate/import_script/program_text.hpp"
#include "generate/import_script/request_variables.hpp"
#include "generate/import_script/source_site.hpp"
#include "generate/import_script/unsupported_forms.hpp"

namespace hpcml::import_script {
namespace {

/// The job as the newest sbatch reads it that takes the script: only the old script needs that version.
struct AcceptedJob {
  slurm::ScriptAsRead read;
  slurm::LocatedFindings findings;
};
AcceptedJob read_as_accepted(const std::string& file, std::string_view text) {
  static constexpr std::array<std::string_view, 2> k_handled = {"slurm/option-unknown",
                                                                "slurm/missing-dependency"};
  std::optional<AcceptedJob> newest;
  for (auto i = slurm::k_version_names.size(); i-- > 0;) {
    AcceptedJob job{{}, slurm::LocatedFindings(file, text)};
    job.read = slurm::read_job(text, static_cast<slurm::Version>(i), job.findings);
    const auto& placed = job.findings.placed();
    if (std::none_of(placed.begin(), placed.end(), [&](const auto& finding) {
          return finding.severity == diag::Severity::error &&
                 std::find(k_handled.begin(), k_handled.end(), finding.code) == k_handled.end();
        }))
      return job;
    if (!newest) newest = std::move(job);
  }
  return std::move(*newest);
}

/// `--account=<your account>` where the request names one.
bool is_replaced_placeholder(const ImportState& porting, const diag::Diagnostic& finding) {
  if (porting.chosen.account.empty() || finding.code != "slurm/unexpected-argument") return false;
  const auto line = porting.script.line(finding.location.line);
  return line.find("--account=<") != std::string_view::npos || line.find("-A <") != std::string_view::npos ||
         line.find("--account <") != std::string_view::npos;
}

/// Reports what sbatch itself rejects: the script never ran unchanged. Options that it does not know may be
/// those of the old site's plugins.
bool take_refusals(ImportState& porting, const slurm::LocatedFindings& findings) {
  for (auto finding : findings.list()) {
    if (is_replaced_placeholder(porting, finding)) continue;
    // What may have come from sbatch's command line the request can say as well.
    if (finding.code == "slurm/missing-dependency" && porting.chosen.nodes) continue;
    if (finding.code == "slurm/missing-dependency")
      finding.hint = "add --nodes N to hpcml gen if sbatch got it on its command line";
    if (finding.code == "slurm/option-unknown") {
      const auto at = finding.message.find("--");
      const auto end = at == std::string::npos ? at : finding.message.find_first_of(" =,;'", at);
      if (at != std::string::npos &&
          is_image_option(finding.message.substr(at, end == std::string::npos ? end : end - at)))
        continue; // the image's affair
      finding.severity = diag::Severity::note;
      finding.message += "; it is removed";
      finding.hint = "use --sbatch=OPTION to keep it, if the new site has the same option";
    }
    porting.result.findings.push_back(std::move(finding));
  }
  return !diag::has_errors(porting.result.findings);
}

/// What bash cannot read it does not run; what follows the first such place is often only its consequence.
void report_unread(ImportState& porting, const std::vector<shell::UnparsedText>& unread) {
  if (!unread.empty())
    porting.error(unread.front().place, "port/syntax",
                  fmt::format("bash cannot parse line {} of {}: {}",
                              porting.script.number_at(unread.front().place.offset), porting.file,
                              unread.front().why),
                  fmt::format("run bash -n {} to check the script without executing it", porting.file));
}

/// Rejects a script that bash could not parse after the import, at the first line whose new text is the
/// cause.
void refuse_unparseable(ImportState& porting, const model::ImportedBody& body,
                        const std::vector<FoundLaunch>& programs) {
  const auto is_broken = [](const std::string& text) {
    return !shell::unread_parts(shell::read_script(text).program).empty();
  };
  std::string text;
  for (const auto& piece : body.pieces) text += piece.text + util::join(piece.launch.source, " ");
  if (diag::has_errors(porting.result.findings) || !is_broken(text)) return;
  auto at = std::find_if(programs.begin(), programs.end(), [&](const FoundLaunch& found) {
    return is_broken(util::join(found.program.source, " "));
  });
  if (at == programs.end()) at = programs.begin();
  porting.error(
      {at->begin, at->end - at->begin}, "port/launch",
      fmt::format("the program of line {} cannot be written for {}: bash could not parse the result",
                  porting.script.number_at(at->begin), porting.to.id),
      "use a separate script for the text within quotes, and start it in this line");
}

/// The shell of the first line, if it is not bash or one whose scripts bash runs: "tcsh"; else empty.
std::string foreign_shell(std::string_view text) {
  static constexpr std::array<std::string_view, 6> k_like_bash = {"bash", "sh", "dash", "ksh", "zsh", ""};
  if (!text.starts_with("#!")) return {};
  std::string name;
  for (const auto& word : util::split(std::string(text.substr(2, text.find('\n') - 2)), ' ')) {
    name = util::base_name(std::string(util::trim(word)));
    if (!name.empty() && name != "env" && name.front() != '-') break;
  }
  return util::contains(k_like_bash, std::string_view(name)) ? std::string() : name;
}

/// Variables of a rank, as a starter of tasks sets them, and as every launcher of hpcml does.
using RankNames = std::vector<std::pair<std::string_view, std::string_view>>;

/// Returns the variables of a rank that only other starters of tasks than the new site's set, or set to
/// another value: the tasks of an agent were one `per_node`.
RankNames names_of_other_starters(bool by_srun, bool per_node) {
  if (per_node && by_srun) return {{"SLURM_PROCID", "SLURM_NODEID"}};
  if (per_node) return {{"SLURM_PROCID", "GROUP_RANK"}, {"SLURM_NODEID", "GROUP_RANK"}};
  if (!by_srun)
    return {{"SLURM_PROCID", "RANK"}, {"SLURM_LOCALID", "LOCAL_RANK"}, {"SLURM_NODEID", "GROUP_RANK"}};
  RankNames names;
  for (const auto& mpi : model::k_mpi_ranks)
    for (const auto& [old, now] :
         {std::pair{mpi.rank, "RANK"}, std::pair{mpi.local_rank, "LOCAL_RANK"},
          std::pair{mpi.world_size, "WORLD_SIZE"}, std::pair{mpi.local_size, "LOCAL_WORLD_SIZE"}})
      if (*old != '\0') names.emplace_back(old, now);
  return names;
}

/// A shell in the task reads variables that the new site's launcher does not set: it reads those that do the
/// same.
void read_launchers_ranks(ImportState& porting, FoundLaunch& found, const RankNames& names) {
  if (!runs_shell(found.program.command)) return;
  for (const auto& [old, now] : names)
    for (auto* words : {&found.program.source, &found.program.command})
      for (auto& word : *words) {
        const auto at = word.find(old);
        const bool of_task =
            at != std::string::npos &&
            (word[0] == '\'' || word.find("\\$") != std::string::npos || words == &found.program.command);
        if (!of_task) continue;
        word = util::replace_all(word, std::string(old), std::string(now));
        if (words == &found.program.source)
          porting.note({found.begin, found.end - found.begin}, "port/launcher",
                       fmt::format("{} is replaced by {}, which has the same value: the launcher of {} sets "
                                   "{} to another one or not at all",
                                   old, now, porting.to.id, old));
      }
}

/// srun finds a program in its working directory as well, which is not in PATH for other launchers.
void name_directory(FoundLaunch& found) {
  const auto* step = found.launch->step();
  auto& command = found.program.command;
  auto& source = found.program.source;
  if (!step || step->program != "srun" || found.in_batch || command.empty() || source.empty() ||
      command.front() != source.front())
    return;
  const auto& name = command.front();
  const bool is_script = name.ends_with(".sh") || name.ends_with(".py") || name.ends_with(".bash");
  if (!is_script || name.find('/') != std::string::npos || name.find('$') != std::string::npos) return;
  source.front() = "./" + name;
  command.front() = source.front();
}

/// Returns the main program: the user's command, by which the plan chooses an environment.
const FoundLaunch& main_program(const std::vector<FoundLaunch>& programs) {
  for (const auto& found : programs)
    if (!found.program.once && !found.program.per_node && !found.is_helper) return found;
  return programs.front();
}

/// The directories of a profile's file systems: "/p/scratch", not "$SCRATCH" or "/scratch/$USER".
std::vector<std::string> file_systems_of(const model::Site& site) {
  std::vector<std::string> paths;
  for (const auto* path : {&site.storage.scratch, &site.storage.project})
    if (path->starts_with("/")) paths.push_back(path->substr(0, path->find("/$")));
  return paths;
}

/// Adds the old site's file systems that the new one does not have, if its profile knows any.
void add_file_systems(ImportState& porting, const model::Site& old_site) {
  const auto known = file_systems_of(porting.to);
  if (known.empty()) return;
  for (const auto& path : file_systems_of(old_site))
    if (!util::contains(known, path) && &old_site != &porting.to && old_site.id != porting.to.id)
      util::add_once(porting.old_file_systems, path);
}

/// The site that the script was written for, and the GPUs that it gives to each job.
void find_source(ImportState& porting, const slurm::JobOptions& request, const shell::SyntaxNode& program,
                 const std::vector<model::Site>& catalogue, SizeEvaluator& sizes) {
  const SiteEvidence evidence{porting.text, request, all_loaded_modules(program)};
  const auto sites = find_source_sites(evidence, porting.to, catalogue);
  if (sites.size() == 1) porting.source = sites.front();
  for (const auto* site : sites) {
    if (const auto& suffix = site->network.master.suffix; !suffix.empty())
      util::add_once(porting.host_suffixes, suffix);
    add_file_systems(porting, *site);
  }
  porting.is_of_other_site = contradicts(evidence, porting.to);
  if (!porting.source || sizes.gpus_per_node > 0) return;
  sizes.gpus_per_node = gpus_without_request(*porting.source, request);
  if (sizes.gpus_per_node > 0)
    porting.note({}, "port/gpus",
                 fmt::format("the script requests no GPUs, but jobs on {} get all GPUs of their nodes: "
                             "assuming {} per node",
                             porting.source->id, util::counted(sizes.gpus_per_node, "GPU")),
                 "add --gpus-per-node N to hpcml gen to request another number");
}

/// What the script does, without its numbers of ranks and its programs.
void record_intent(ImportState& porting, const shell::ScriptCommands& listing,
                   const shell::SyntaxNode& program) {
  auto& intent = porting.result.intent;
  const auto& job = porting.result.job;
  if (job.container) intent.image = job.container->value;
  for (const auto& bind : job.binds) intent.binds.push_back(bind.value);
  intent.modules = all_loaded_modules(program);
  if (!listing.commands.empty() && listing.commands.back().exports)
    for (const auto& variable : *listing.commands.back().exports)
      util::add_once(intent.variables, variable->name);
  for (const auto& [name, value] : job.env) util::add_once(intent.variables, name);
  std::sort(intent.variables.begin(), intent.variables.end());
}

/// Whether the command starts or sources a file of the user, which may read Slurm's variables.
bool runs_file(const shell::Command& command) {
  static constexpr std::array<std::string_view, 6> k_setups = {"activate", ".bashrc",  ".bash_profile",
                                                               ".profile", "conda.sh", "mamba.sh"};
  const auto name = command.name().value_or("");
  if (command.parent || name.ends_with(".sh")) return !command.parent;
  const bool takes_file = name == "bash" || name == "sh" || name == "source" || name == ".";
  if (!takes_file || command.arguments().empty()) return false;
  return !util::contains(k_setups, std::string_view(util::base_name(command.arguments().front().text())));
}

/// Returns the variables that the old request had Slurm set, if files that the script starts or sources may
/// read them.
std::vector<std::string> variables_of_files(const slurm::JobOptions& request,
                                            const shell::ScriptCommands& listing) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> k_names = {
      {{"cpus-per-task", "SLURM_CPUS_PER_TASK"},
       {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
       {"gpus-per-task", "SLURM_GPUS_PER_TASK"},
       {"gpus", "SLURM_GPUS"}}};
  std::vector<std::string> names;
  if (std::none_of(listing.commands.begin(), listing.commands.end(), runs_file)) return names;
  for (const auto& [option, name] : k_names)
    if (request.has(option)) names.emplace_back(name);
  return names;
}

/// Reports the launchers that are in other lines now.
void report_split(ImportState& porting, const std::vector<SplitVariable>& variables) {
  for (const auto& variable : variables)
    porting.result.findings.push_back(
        {diag::Severity::note, "port/variable",
         fmt::format("'{}' is removed from {} and added to the lines that read it, because a condition adds "
                     "other words to {}",
                     short_line(variable.words), variable.name, variable.name),
         variable.place, "check the launches of the new script"});
}

} // namespace

ImportResult import_slurm_script(const std::string& file, std::string_view text, const model::Site& to,
                                 const RequestOverrides& chosen, const std::vector<model::Site>& catalogue) {
  EditedText script(text);
  const auto split = split_launcher_variables(script, file);
  ImportState porting{file, script, to, chosen};
  report_split(porting, split);
  text = porting.text;
  if (const auto shell = foreign_shell(text); !shell.empty()) {
    porting.error(
        {0, text.find('\n')}, "port/shell",
        fmt::format("the script is for {}, but hpcml gen --from imports only scripts for bash", shell),
        "use bash in the script: set its first line to #!/bin/bash, and change its commands");
    return std::move(porting.result);
  }
  const auto [read, findings] = read_as_accepted(file, text);
  const auto& header = read.header;
  const auto& requests = read.requests;
  const auto tree = shell::read_script(std::string(text));
  const auto listing = shell::list_commands(tree);
  const auto launches = check::find_launches(listing);
  if (!take_refusals(porting, findings)) return std::move(porting.result);
  if (requests.size() != 1) {
    porting.error({}, "port/hetjob",
                  fmt::format("{} is a heterogeneous job, which cannot be converted for another site", file),
                  "use a separate script for each component");
    return std::move(porting.result);
  }
  report_unread(porting, shell::unread_parts(tree.program));
  SizeEvaluator sizes(text, requests[0], read.sizes[0]);
  find_source(porting, requests[0], tree.program, catalogue, sizes);
  for (const auto& [option, setting] : requests[0].settings) porting.result.intent.options.insert(option);
  auto programs = find_programs(porting, launches, listing, tree.program, sizes);
  refuse_array_ranks(porting, requests[0], tree.program, programs);
  refuse_eval(porting, listing, programs);
  refuse_sourced_functions(porting, launches, listing);
  porting.sources_settings = sources_settings(listing);
  refuse_pipelines(porting, tree.program, programs);
  refuse_other_starts(porting, listing, programs);
  port_request(porting, requests[0]);
  if (programs.empty()) {
    if (!diag::has_errors(porting.result.findings)) report_no_program(porting, listing);
    return std::move(porting.result);
  }
  port_size(porting, requests[0], sizes, programs);
  refuse_foreign_resources(porting, header);
  refuse_set_sizes(porting, tree.program, programs);
  refuse_computed_ranks(porting, programs);
  refuse_own_ranks(porting, programs);
  port_launchers(porting, programs);
  port_image(porting, header, launches, programs);
  keep_container_settings(porting, programs, tree.program, header);
  refuse_hidden_engines(porting, listing, programs);
  for (auto& found : programs)
    if (!found.in_batch) {
      const bool per_node = found.launch->agent() && shape_of(found, sizes).agents_per_node == 1;
      read_launchers_ranks(porting, found, names_of_other_starters(has_srun(to), per_node));
    }
  for (auto& found : programs) {
    name_directory(found);
    porting.result.intent.steps.push_back(
        {util::join(found.program.command, " "),
         found.in_batch ? StepMultiplicity::in_batch : runs_of(found.program)});
    drop_requested_settings(porting, found);
  }
  auto& job = porting.result.job;
  job.command = main_program(programs).command;
  // Without a name, sbatch names a job after its script.
  if (!porting.result.job.job_name)
    porting.result.job.job_name =
        model::Sourced<std::string>{std::filesystem::path(file).stem().string(), porting.origin("the name")};
  job.body = port_body(porting, header, tree.program, programs, sizes);
  refuse_unparseable(porting, *job.body, programs);
  job.body->variables_of_files = variables_of_files(requests[0], listing);
  record_intent(porting, listing, tree.program);
  note_leftovers(porting, *job.body, catalogue);
  diag::sort_by_place(porting.result.findings);
  return std::move(porting.result);
}

} // namespace hpcml::import_script
