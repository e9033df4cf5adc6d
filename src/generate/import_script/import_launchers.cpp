// SPDX-License-Identifier: MIT
// Translates the options of steps and agents; an option that is dropped is reported.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/assignments.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/program_text.hpp"

namespace hpcml::import_script {
namespace {

using check::GivenOption;
using check::Link;
using check::Role;
using model::OptionMeaning;

template <std::size_t N> bool is_in(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What an srun does for the step whatever its size: given on.
constexpr std::array<std::string_view, 13> k_kept_by_step = {
    "label", "unbuffered", "output", "error", "input",          "wait",   "export",
    "chdir", "open-mode",  "time",   "quiet", "disable-status", "comment"};
/// Sizes, places and bindings: the plan's.
constexpr std::array<std::string_view, 37> k_planned_of_step = {"nodes",
                                                                "ntasks",
                                                                "ntasks-per-node",
                                                                "ntasks-per-gpu",
                                                                "ntasks-per-core",
                                                                "ntasks-per-socket",
                                                                "cpus-per-task",
                                                                "cpus-per-gpu",
                                                                "gpus",
                                                                "gpus-per-node",
                                                                "gpus-per-task",
                                                                "gpus-per-socket",
                                                                "gres",
                                                                "gpu-bind",
                                                                "cpu-bind",
                                                                "mem",
                                                                "mem-per-cpu",
                                                                "mem-per-gpu",
                                                                "mem-bind",
                                                                "accel-bind",
                                                                "hint",
                                                                "distribution",
                                                                "threads-per-core",
                                                                "exclusive",
                                                                "exact",
                                                                "overlap",
                                                                "jobid",
                                                                "mpi",
                                                                "kill-on-bad-exit",
                                                                "tres-per-task",
                                                                "gres-flags",
                                                                "oversubscribe",
                                                                "overcommit",
                                                                "whole",
                                                                "extra-node-info",
                                                                "map-by",
                                                                "bind-to"};
/// Options that name the directory of the programs.
constexpr std::array<std::string_view, 4> k_directories = {"chdir", "wdir", "wd", "workdir"};
/// True if an option of an agent sets its rendezvous or the number of its processes, or how it starts them.
bool is_replaced(OptionMeaning meaning) {
  return meaning != OptionMeaning::none && meaning != OptionMeaning::config &&
         meaning != OptionMeaning::no_gpus && meaning != OptionMeaning::watching;
}

/// Of an image: the image's affair.
bool is_working_directory(const std::string& option) { return option == "container-workdir"; }

std::string shown(const GivenOption& option) { return (option.name.size() == 1 ? "-" : "--") + option.name; }

class LauncherPorter {
public:
  LauncherPorter(ImportState& porting, std::vector<FoundLaunch>& programs)
      : x_porting(porting), x_programs(programs) {}

  void port() {
    for (auto& found : x_programs) {
      if (runs_numactl(*found.launch->command))
        x_porting.note(
            {found.begin, found.end - found.begin}, "port/launcher",
            fmt::format("numactl is removed: the script for {} binds the ranks to cores itself",
                        x_porting.to.id),
            fmt::format("run hpcml affinity --site {} to see the cores of each rank", x_porting.to.id));
      for (const auto& link : found.launch->chain) {
        if (link.role == Role::step) port_step(found, link);
        if (link.role == Role::agent && !link.complete) report_unknown_options(link);
        if (link.role == Role::agent) port_agent(found, link);
      }
    }
  }

private:
  void port_step(FoundLaunch& found, const Link& step) {
    if (found.in_batch)
      return x_porting.note(step.place, "port/launcher",
                            fmt::format("the new script runs '{}' without {}, which jobs of {} cannot use: "
                                        "once, on the first node, as before",
                                        shown_command(found), step.program, x_porting.to.id));
    const bool srun = step.program == "srun" && has_srun(x_porting.to);
    const auto* row = model::find_launcher(step.program);
    std::vector<std::string> planned;
    for (const auto& option : step.options) {
      if (model::find_image_option(option.name)) continue; // the image's affair
      if (is_in(k_kept_by_step, option.name) && srun) {
        if (auto text = text_of(found, option, "=")) {
          found.program.step_options.push_back(*text);
          continue;
        }
      }
      static constexpr std::array<std::string_view, 5> k_settings = {"export", "x", "env", "genv", "e"};
      if (is_in(k_settings, option.name)) {
        keep_settings(step, option);
        continue;
      }
      const auto mpi = option.name == "mpi" ? step.value("mpi") : std::nullopt;
      if (mpi && *mpi != "none")
        x_porting.note(option.place, "port/launcher",
                       fmt::format("{} option '--mpi={}' is removed: {} may start MPI ranks in another way",
                                   step.program, *mpi, x_porting.to.id),
                       fmt::format("run srun --mpi=list on {}, and add --srun=--mpi=TYPE to hpcml gen",
                                   x_porting.to.id));
      else if (is_in(k_planned_of_step, option.name) ||
               (row && row->meaning_of(option.name) != OptionMeaning::none))
        util::add_once(planned, shown(option));
      else
        report_dropped(step, option);
    }
    if (!planned.empty())
      x_porting.note(step.place, "port/launcher",
                     fmt::format("{} options {} are replaced: hpcml chooses their values for the nodes of {}",
                                 step.program, util::join(planned, ", "), x_porting.to.id),
                     "add --explain to hpcml gen to see the new values");
    if (!step.complete)
      x_porting.warn(step.place, "port/launcher",
                     fmt::format("{} options that are known only when the script runs are removed; one of "
                                 "them may name the container image",
                                 step.program),
                     "add --srun=OPTION or --container IMAGE to hpcml gen to set them");
  }

  /// An option of a step that the new launch cannot have. The directory of the programs must not change.
  void report_dropped(const Link& step, const GivenOption& option) {
    if (is_in(k_directories, option.name))
      return x_porting.error(
          option.place, "port/launcher",
          fmt::format("{} option '{}' cannot be kept: the launcher of {} starts programs in the "
                      "directory of the job",
                      step.program, shown(option), x_porting.to.id),
          "use cd before the launch in the script");
    if (is_working_directory(option.name)) return;
    x_porting.warn(
        option.place, "port/launcher",
        fmt::format("{} option '{}' is removed: it cannot be converted for {}", step.program, shown(option),
                    x_porting.to.id),
        fmt::format("add --srun=OPTION to hpcml gen to pass an option to srun on {}", x_porting.to.id));
  }

  /// What a step's own option sets for its program becomes the job's: the new step is started otherwise.
  void keep_settings(const Link& step, const GivenOption& option) {
    const auto listed = option.value ? "," + option.value->text() + "," : std::string();
    std::vector<std::string> kept, lost, owned, replaced;
    for (const auto& set : step.sets) {
      if (listed.find("," + set.name + "=") == std::string::npos) continue;
      auto& env = x_porting.result.job.env;
      const bool known =
          std::any_of(env.begin(), env.end(), [&](const auto& entry) { return entry.first == set.name; });
      if (known) continue;
      if (x_porting.chosen.variables.count(set.name) > 0)
        util::add_once(replaced, set.name);
      else if (is_owned(set.name) && !keeps_threads(set.name + "=" + set.value.text()))
        util::add_once(owned, set.name);
      else if (set.value.known()) {
        env.emplace_back(set.name,
                         model::Sourced<std::string>{set.value.text(), x_porting.origin(shown(option))});
        util::add_once(kept, set.name);
      } else
        util::add_once(lost, set.name);
    }
    const auto which = step.program + " " + shown(option);
    if (!kept.empty())
      x_porting.note(option.place, "port/variable",
                     fmt::format("{}, set by {}, is set for all programs in the script for {}",
                                 util::join(kept, ", "), which, x_porting.to.id),
                     fmt::format("add --env {}=VALUE to hpcml gen to set another value", kept.front()));
    if (!replaced.empty())
      x_porting.note(option.place, "port/variable",
                     fmt::format("{} is removed from {}: --env of the request replaces its value",
                                 util::join(replaced, ", "), which));
    if (!owned.empty())
      x_porting.note(option.place, "port/variable",
                     fmt::format("{} is removed from {}: the script for {} and its launcher set the "
                                 "variables that this site needs",
                                 util::join(owned, ", "), which, x_porting.to.id));
    if (!lost.empty())
      x_porting.warn(
          option.place, "port/variable",
          fmt::format("{} is not set in the script for {}: its value in {} is known only when the job runs",
                      util::join(lost, ", "), x_porting.to.id, which),
          fmt::format("add 'export {}=…' to the script before the launch, or --env {}=VALUE to hpcml gen",
                      lost.front(), lost.front()));
    if (listed.find(",NONE,") != std::string::npos || listed.find(",NIL,") != std::string::npos)
      x_porting.note(option.place, "port/launcher",
                     fmt::format("{} is removed: in the script for {}, the program gets all variables of the "
                                 "job",
                                 which, x_porting.to.id),
                     "use env -u NAME before the program in the script to hide a variable from it");
  }

  void port_agent(FoundLaunch& found, const Link& agent) {
    std::vector<std::string> rendezvous, watching, watching_names;
    const auto* row = model::find_launcher(agent.program);
    const auto& chosen = x_porting.chosen.launcher;
    const bool can_stay = row && row->ranks == model::RankStartMethod::agent &&
                          (chosen.empty() || chosen == agent.program) && all_ranks_start_by(agent.program);
    std::vector<std::string> kept;
    for (const auto& option : agent.options) {
      const auto meaning = row ? row->meaning_of(option.name) : OptionMeaning::none;
      if (meaning == OptionMeaning::nodes) port_elastic(agent, option, can_stay);
      if (is_replaced(meaning) || is_default(agent, option)) {
        util::add_once(rendezvous, shown(option));
        continue;
      }
      const auto text = can_stay ? text_of(found, option, "=") : std::nullopt;
      if (meaning == OptionMeaning::watching) { // no reason to keep the agent
        util::add_once(watching_names, shown(option));
        if (text) watching.push_back(*text);
        continue;
      }
      if (text) {
        kept.push_back(*text);
        continue;
      }
      report_lost(agent, row, option, can_stay);
    }
    if (!rendezvous.empty())
      x_porting.note(agent.place, "port/launcher",
                     fmt::format("{} options {} are replaced: the script for {} sets the number of ranks and "
                                 "their rendezvous itself",
                                 agent.program, util::join(rendezvous, ", "), x_porting.to.id));
    keep_configuration(found, agent, row, can_stay ? &kept : nullptr);
    keep_agent(agent, kept);
    const bool stays = can_stay && (!kept.empty() || x_porting.least_nodes > 0 || !chosen.empty() ||
                                    x_porting.result.job.launcher.has_value());
    if (stays) {
      kept.insert(kept.end(), watching.begin(), watching.end());
      if (x_porting.agent_options.empty()) x_porting.agent_options = kept;
      found.program.agent_options = kept;
    } else if (!watching_names.empty()) {
      report_watching(agent, util::join(watching_names, ", "), can_stay);
    }
  }

  /// Reports options in a variable or in the script's arguments. What a library of the launcher reads decides
  /// what the training is.
  void report_unknown_options(const Link& agent) {
    const auto* row = model::find_launcher(agent.program);
    const std::string hint = "use the options themselves in this line of the script";
    if (row && row->has_library && x_porting.chosen.launcher.empty())
      x_porting.error(
          agent.place, "port/launcher",
          fmt::format("{} options that are known only when the script runs cannot be kept", agent.program),
          hint);
    else
      x_porting.warn(
          agent.place, "port/launcher",
          fmt::format("{} options that are known only when the script runs are removed", agent.program),
          hint);
  }

  /// Options by which an agent monitors its processes: they stay only with the agent.
  void report_watching(const Link& agent, const std::string& options, bool can_stay) {
    x_porting.note(agent.place, "port/launcher",
                   fmt::format("{} options {} are removed: the launcher of the script for {} monitors its "
                               "processes itself",
                               agent.program, options, x_porting.to.id),
                   can_stay ? fmt::format("add --launcher {} to hpcml gen to keep them", agent.program)
                            : std::string());
  }

  /// A configuration that a variable names, as the option that names it: an option keeps the launcher.
  void keep_configuration(const FoundLaunch& found, const Link& agent, const model::LauncherRow* row,
                          std::vector<std::string>* kept) {
    const auto* file = found.launch->variable(agent, OptionMeaning::config);
    if (!file || !row || row->config_variable.empty() || agent.find(OptionMeaning::config)) return;
    if (!kept && x_porting.chosen.launcher.empty())
      x_porting.error(
          agent.place, "port/launcher",
          fmt::format("the configuration file of {} in {} cannot be kept: the script for {} starts ranks "
                      "without {}",
                      agent.program, row->config_variable, x_porting.to.id, agent.program),
          fmt::format("remove {} from the script if the program does not need it", row->config_variable));
    if (!kept || x_porting.chosen.launcher == "hpcml") return;
    const auto option = row->option_for(OptionMeaning::config);
    kept->push_back(
        fmt::format("{}{}=\"${}\"", option.starts_with("-") ? "" : "--", option, row->config_variable));
  }

  /// An option that goes. What a library of the launcher reads decides what the training is.
  void report_lost(const Link& agent, const model::LauncherRow* row, const GivenOption& option,
                   bool can_stay) {
    const auto& chosen = x_porting.chosen.launcher;
    const auto reason =
        can_stay ? std::string("its value is known only when the script runs")
        : chosen == agent.program
            ? fmt::format("not all programs start with {}", agent.program)
            : fmt::format("the script for {} starts the ranks without {}", x_porting.to.id, agent.program);
    if (row && row->has_library && chosen.empty())
      return x_porting.error(
          option.place, "port/launcher",
          fmt::format("{} option '{}' cannot be kept: {}", agent.program, shown(option), reason),
          "remove it from the script if the program does not need it");
    static constexpr std::array<std::string_view, 4> k_choices = {"include", "i", "exclude", "e"};
    if (agent.program == "deepspeed" && is_in(k_choices, option.name))
      return x_porting.error(
          option.place, "port/launcher",
          fmt::format("deepspeed option '{}' chooses nodes and GPUs, which the job on {} may not have",
                      shown(option), x_porting.to.id),
          "remove it from the script, and request as many nodes and GPUs as the program uses");
    const bool is_choice = row && row->ranks == model::RankStartMethod::agent && !chosen.empty();
    x_porting.warn(option.place, "port/launcher",
                   fmt::format("{} option '{}' is removed: {}", agent.program, shown(option), reason),
                   is_choice && chosen != agent.program
                       ? fmt::format("use --launcher {} with hpcml gen to keep the option", agent.program)
                       : "check that the program runs without this option");
  }

  /// Whether this agent starts the ranks of all programs: then it can be the launcher of the new job.
  bool all_ranks_start_by(const std::string& program) const {
    return std::all_of(x_programs.begin(), x_programs.end(), [&](const FoundLaunch& found) {
      if (found.in_batch || found.is_helper || found.program.once || found.program.per_node) return true;
      const auto* agent = found.launch->agent();
      return agent && agent->program == program;
    });
  }

  /// The launcher stays where it does what hpcml's does not.
  void keep_agent(const Link& agent, std::vector<std::string> kept) {
    if (x_porting.chosen.launcher == agent.program)
      return x_porting.note(agent.place, "port/launcher",
                            fmt::format("{} stays the launcher, as requested: it must be in PATH on {}",
                                        agent.program, x_porting.to.id),
                            agent.program == "torchrun"
                                ? std::string("check that PyTorch's torchrun is installed there, or add a "
                                              "link named torchrun to hpcml to PATH")
                                : fmt::format("check that {} is installed there", agent.program));
    if (kept.empty() && x_porting.least_nodes == 0) return;
    if (x_porting.least_nodes > 0) kept.insert(kept.begin(), "the variable number of nodes");
    x_porting.note(agent.place, "port/launcher",
                   fmt::format("{} stays the launcher in the script for {} because of these settings: {}",
                               agent.program, x_porting.to.id, util::join(kept, " ")),
                   "add --launcher hpcml to hpcml gen to replace the launcher, without these settings");
    x_porting.result.job.launcher = model::Sourced<model::Launcher>{*model::Launcher::parse(agent.program),
                                                                    x_porting.origin("the launcher")};
  }

  /// "1:4": as many as there are between the two. The new nodes are in proportion.
  void port_elastic(const Link& agent, const GivenOption& option, bool can_stay) {
    const auto text = option.value ? option.value->text() : std::string();
    // In ${N:-4} the colon is bash's.
    const auto colon = text.find('{') == std::string::npos ? text.find(':') : std::string::npos;
    if (colon == std::string::npos) return;
    const auto least = util::parse_unsigned(text.substr(0, colon));
    const unsigned nodes = x_porting.result.job.nodes ? x_porting.result.job.nodes->value : 1;
    if (can_stay && model::find_launcher(agent.program)->is_elastic() && least && *least > 0 &&
        *least <= x_porting.old_nodes) {
      const auto now =
          static_cast<unsigned>((*least * nodes + x_porting.old_nodes - 1) / x_porting.old_nodes);
      if (now < nodes) x_porting.least_nodes = now;
      return x_porting.note(
          option.place, "port/launcher",
          fmt::format("{} option --nnodes={} becomes --nnodes={}:{}, in proportion to the nodes on {}",
                      agent.program, text, now, nodes, x_porting.to.id),
          "add --sbatch=--no-kill and --srun=--no-kill to hpcml gen, or Slurm ends the job if a node fails");
    }
    x_porting.warn(option.place, "port/launcher",
                   fmt::format("{} option --nnodes={} allows the number of nodes to change, but the script "
                               "for {} has a fixed number",
                               agent.program, text, x_porting.to.id),
                   "use hpcml gen with --nodes N for a fixed number, or --nnodes MIN:MAX to allow fewer");
  }

  /// True for options that set what is the default anyway, or only the number of ranks.
  static bool is_default(const Link& agent, const GivenOption& option) {
    if (option.name == "include") return included_gpus(agent) > 0;
    const auto value = option.value && option.value->known() ? option.value->text() : std::string("?");
    if (option.name == "max_restarts" || option.name == "max-restarts") return value == "0";
    return (option.name == "mixed_precision" || option.name == "mixed-precision" ||
            option.name == "dynamo_backend" || option.name == "dynamo-backend") &&
           value == "no";
  }

  /// The option as the new script writes it; nothing where its value is known only in a text for another
  /// shell.
  std::optional<std::string> text_of(const FoundLaunch& found, const GivenOption& option,
                                     const char* equals) const {
    const auto dashes = shown(option);
    if (!option.value) return dashes;
    if (option.value->known())
      return dashes + (option.name.size() == 1 ? " " : equals) + util::shell_quote(option.value->text());
    if (found.launch->command->parent) return std::nullopt;
    // As the script has it, if it is one piece and not inside a variable.
    const auto written = x_porting.text.substr(option.place.offset, option.place.length);
    if (written.starts_with("-") && written.find_first_of("\n@*") == std::string_view::npos)
      return std::string(written);
    // A variable alone may be several words; a path that it is part of is one.
    if (option.value->many && option.value->pieces.size() < 2) return std::nullopt;
    std::string text;
    for (const auto& piece : option.value->pieces) {
      if (!piece.known && (piece.text.empty() || piece.text[0] != '$')) return std::nullopt;
      text += piece.text;
    }
    if (text.find_first_of("\"\\`") != std::string::npos) return std::nullopt;
    return dashes + equals + "\"" + text + "\"";
  }

  ImportState& x_porting;
  std::vector<FoundLaunch>& x_programs;
};

} // namespace

bool is_planned_of_step(const std::string& option) { return is_in(k_planned_of_step, option); }

void port_launchers(ImportState& porting, std::vector<FoundLaunch>& programs) {
  LauncherPorter(porting, programs).port();
}

} // namespace hpcml::import_script
