// SPDX-License-Identifier: MIT
#include "cli/run/emulate_options.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/chosen_site.hpp"
#include "cli/run/emulate_job.hpp"
#include "core/diag/visible_text.hpp"
#include "core/site_rules/policy_violation.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "emulate/assumed_nodes.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/fault_spec.hpp"
#include "emulate/script_requirements.hpp"
#include "emulate/submitted_job.hpp"

namespace hpcml::cli {

namespace {

constexpr std::size_t k_max_script = std::size_t{64} << 20U;

/// Progress on stderr: one line that is rewritten on a terminal, nothing but the lasting sentences elsewhere.
emulate::ProgressReporter make_narrator(const Context& context, bool quiet) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const bool colour = context.colour;
  const char* const clear = terminal ? "\r\033[K" : "";
  emulate::ProgressReporter narrator;
  narrator.progress = [=](const std::string& text) {
    if (!terminal || quiet) return;
    const auto shown = text.empty() ? "" : "hpcml: " + diag::visible_text(text) + " ...";
    std::fprintf(stderr, "\r\033[K%s", shown.c_str());
    std::fflush(stderr);
  };
  narrator.note = [=](const std::string& sentence) {
    if (quiet) return;
    std::fputs(clear, stderr);
    print_note(sentence);
  };
  narrator.event = [=](const std::string& sentence) {
    std::fputs(clear, stderr);
    print_line(fmt::format("hpcml emulate: {}", sentence));
  };
  narrator.failure = [=](const util::Error& error) {
    std::fputs(clear, stderr);
    print_error(error, colour);
  };
  return narrator;
}

/// "4", "a100:4"
bool read_gpus(const std::string& text, emulate::AssumedNodeHardware& sizes) {
  const auto colon = text.rfind(':');
  const auto count = util::parse_unsigned(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!count || *count > 1024 || colon == 0) return false;
  sizes.gpus = static_cast<unsigned>(*count);
  if (colon != std::string::npos) sizes.gpu_type = text.substr(0, colon);
  return true;
}

std::optional<emulate::AssumedNodeHardware> read_sizes(const EmulateOptions& options,
                                                       const Context& context) {
  emulate::AssumedNodeHardware sizes;
  sizes.cpus = options.cpus_per_node;
  if (!options.gpus_per_node.empty() && !read_gpus(options.gpus_per_node, sizes)) {
    print_error(
        fmt::format("--gpus-per-node must be a number of GPUs up to 1024, not '{}'", options.gpus_per_node),
        "use a number such as 4, or a type and a number such as a100:4", context.colour);
    return std::nullopt;
  }
  if (options.mem_per_node.empty()) return sizes;
  const auto memory = model::MemSize::parse(options.mem_per_node);
  if (memory) {
    sizes.memory = *memory;
    return sizes;
  }
  print_error(fmt::format("--mem-per-node: {}", memory.error().what), memory.error().hint, context.colour);
  return std::nullopt;
}

/// Adds nodes of the requested size to a profile without any, and reports what is assumed.
bool complete_nodes(model::Site& site, const EmulateOptions& options,
                    const emulate::AssumedNodeHardware& sizes, const Context& context) {
  if (!site.partitions.empty() && !sizes.any()) {
    for (const auto& assumption : emulate::complete_nodes(site, options.request.partition))
      make_narrator(context, options.quiet).note(assumption);
    return true;
  }
  const bool described = !site.node_types.empty() && !sizes.any();
  auto assumed = emulate::assume_nodes(std::move(site), options.request.partition, sizes);
  if (!assumed) {
    print_error(assumed.error(), context.colour);
    return false;
  }
  site = std::move(*assumed);
  make_narrator(context, options.quiet)
      .note(fmt::format("{}: assuming nodes with {} in partition {} (to change: --cpus-per-node, "
                        "--gpus-per-node, --mem-per-node, --partition)",
                        described ? "the profile has no partitions" : "the profile has no nodes",
                        emulate::describe_nodes(site.node_types.front()), site.partitions.front().name));
  return true;
}

/// Returns the words after "--"; for a script, this program, which submits it; without either, and on a
/// terminal, a shell.
std::vector<std::string> choose_command(const EmulateOptions& options, const Context& context,
                                        const emulate::ProgressReporter& narrator) {
  if (has_script(context)) {
    std::vector<std::string> words = {util::own_executable().string(), "emulate", "--submit"};
    if (options.quiet) words.emplace_back("--quiet");
    words.emplace_back("--");
    words.insert(words.end(), context.program.begin(), context.program.end());
    return words;
  }
  if (!context.program.empty()) return context.program;
  if (::isatty(STDIN_FILENO) == 0) return {};
  narrator.note("no command given: starting a shell on the emulated login node (try sinfo or sbatch job.sh; "
                "end: exit)");
  return {context.env.get_or("SHELL", "/bin/bash")};
}

/// Adds accounting if it is needed; prints an error and returns false if this machine lacks it.
bool add_accounting(emulate::ClusterRunOptions& run, const EmulateOptions& options, const Context& context) {
  const bool is_requested = !options.accounts.empty() || options.accounting;
  if (!is_requested && !emulate::needs_accounting(run.faults)) return true;
  const auto accounting = emulate::find_accounting(run.env);
  if (!accounting) {
    print_error(is_requested
                    ? accounting.error()
                    : util::with_context(
                          accounting.error(),
                          "cannot run --fault preempt:qos, which requires accounting (slurmdbd and MariaDB)"),
                context.colour);
    return false;
  }
  run.accounts = options.accounts;
  run.accounting = *accounting;
  return true;
}

/// Returns the caller's environment, in which the profiles of --sites-dir are found as well.
util::EnvSnapshot make_environment(const Context& context) {
  auto env = context.env;
  auto directories = context.sites_dirs;
  if (directories.empty()) return env;
  if (const auto others = env.get("HPCML_SITES_PATH"); others && !others->empty())
    directories.push_back(*others);
  env.set("HPCML_SITES_PATH", util::join(directories, ":"));
  return env;
}

/// Adds the machine's Slurm, or the requested one, which becomes the first in the run's PATH, and reports its
/// differences from the site's. Prints an error and returns false if there is none.
bool add_slurm(emulate::ClusterRunOptions& run, const EmulateOptions& options, const Context& context) {
  auto slurm = emulate::find_slurm(run.env);
  const auto& choice = options.slurm;
  const bool is_here = slurm && choice.source.empty() && emulate::is_version(slurm->version, choice.version);
  if (choice.any() && !is_here) {
    const auto directory = emulate::obtain_slurm(choice, context.env, run.narrator.note);
    if (!directory) {
      print_error(directory.error(), context.colour);
      return false;
    }
    run.env = emulate::with_slurm_of(*directory, run.env);
    slurm = emulate::find_slurm(run.env);
  }
  if (!slurm) {
    print_error(slurm.error(), context.colour);
    return false;
  }
  const auto& requested = run.site->slurm_version;
  const auto difference = emulate::describe_version_difference(slurm->version, run.site->short_name(),
                                                               requested ? requested->value : std::string());
  if (!difference.empty()) run.narrator.note(difference);
  if (!slurm->has_lua)
    run.narrator.note("this Slurm lacks job_submit/lua, so the site's rules are not enforced: use hpcml "
                      "check for them");
  run.slurm = *slurm;
  return true;
}

/// Returns the command line by which the cluster asks this program about a job: these words, and what finds
/// the profile. Values that were read from a script and not typed are added.
std::string make_evaluate_command(const EmulateOptions& typed, const EmulateOptions& options,
                                  const Context& context) {
  std::error_code ignored;
  auto line = fmt::format("cd {} && ", util::shell_quote(std::filesystem::current_path(ignored).string()));
  for (const char* name :
       {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HPCML_SITES_PATH", "SOURCE_DATE_EPOCH"})
    if (const auto value = context.env.get(name))
      line += fmt::format("{}={} ", name, util::shell_quote(*value));
  line += util::shell_quote(util::own_executable().string());
  auto words = context.words;
  if (options.site != typed.site) words.insert(words.end(), {"--site", options.site});
  if (options.request.partition != typed.request.partition)
    words.insert(words.end(), {"--partition", options.request.partition});
  if (has_script(context) && !typed.nodes)
    words.insert(words.end(), {"--nodes", std::to_string(options.request.nodes)});
  return fmt::format("{} {} --evaluate-job", line, util::shell_line(words));
}

/// Prints whether the site accepts the submitted job in the file, for the filter on standard output.
int evaluate_job(const std::string& file, const model::Site& site, const emulate::ClusterLayout& layout,
                 const Context& context) {
  const auto text = util::read_input(file, {k_max_script});
  const auto fields = text ? emulate::parse_submission(*text) : text.error();
  if (!fields) {
    print_error(fields.error(), context.colour);
    return k_world_failed;
  }
  std::fputs(emulate::render_admission(emulate::evaluate_submission(site, layout, *fields)).c_str(), stdout);
  return k_ok;
}

/// Returns the requested faults; prints all errors and returns nothing if one is invalid.
std::optional<std::vector<emulate::ClusterFault>>
read_faults(const EmulateOptions& options, const emulate::ClusterLayout& layout, const Context& context) {
  emulate::FaultValidationContext cluster;
  cluster.nodes = static_cast<unsigned>(layout.nodes.size());
  cluster.whole_site = layout.is_whole_site();
  cluster.networks = !options.shared_network;
  auto list = emulate::parse_faults(options.faults, cluster);
  for (const auto& error : list.errors) print_error(error, context.colour);
  if (!list.errors.empty()) return std::nullopt;
  return std::move(list.faults);
}

/// The options, completed by what the script requests; nothing, and printed, if a value is missing.
std::optional<EmulateOptions> complete_options(EmulateOptions options,
                                               std::optional<emulate::ScriptRequirements>& request,
                                               const Context& context) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    print_error(what, hint, context.colour);
    return std::nullopt;
  };
  options.request.nodes = options.nodes.value_or(1);
  if (!has_script(context)) {
    if (options.site.empty())
      return refuse("--site is required", "add --site SITE (hpcml sites list shows the sites)");
    return options;
  }
  const auto& script = context.program.front();
  if (options.request.whole_site)
    return refuse("--whole-site cannot run a script, because it starts no nodes",
                  fmt::format("use --nodes N in place of --whole-site, or -- sbatch --test-only {}", script));
  std::error_code ignored;
  const auto text = util::read_input(script, {k_max_script});
  if (!text || !std::filesystem::is_regular_file(script, ignored))
    return refuse(fmt::format("cannot read the script '{}': it must be a readable regular file", script),
                  fmt::format("check its path, or write a command after --: hpcml emulate --site SITE -- {}",
                              util::shell_line(context.program)));
  request = emulate::read_script_requirements(*text);
  if (options.site.empty()) options.site = request->site;
  if (options.request.partition.empty()) options.request.partition = request->partition;
  if (options.site.empty())
    return refuse(fmt::format("--site is required: '{}' does not name its site", script),
                  fmt::format("add --site SITE before {} (hpcml sites list shows the sites)", script));
  return options;
}

/// Returns the emulated nodes; sets their number in `options` if only the script has it.
util::Result<emulate::ClusterLayout> make_layout(const model::Site& site, EmulateOptions& options,
                                                 const std::optional<emulate::ScriptRequirements>& script) {
  auto layout = emulate::make_cluster_layout(site, options.request);
  if (!layout || !script || options.nodes) return layout;
  options.request.nodes = emulate::count_needed_nodes(*script, *layout->type);
  return emulate::make_cluster_layout(site, options.request);
}

} // namespace

int run_emulate(const EmulateOptions& typed, const Context& context) {
  if (typed.submits) return run_script_job(context, typed.quiet);
  int exit_code = k_ok;
  std::optional<emulate::ScriptRequirements> script;
  auto completed = complete_options(typed, script, context);
  if (!completed) return k_usage;
  auto& options = *completed;
  auto site = choose_site(options.site, context, exit_code);
  if (!site) return exit_code;
  if (site_rules::unavailable_reason(*site) == site_rules::SiteRule::site_retired) {
    print_error(site_rules::describe_retirement(*site), context.colour);
    return k_cannot_satisfy;
  }
  const auto sizes = read_sizes(options, context);
  if (!sizes) return k_usage;
  if (!complete_nodes(*site, options, *sizes, context)) return k_cannot_satisfy;
  const auto layout = make_layout(*site, options, script);
  if (!layout) {
    print_error(layout.error(), context.colour);
    return k_cannot_satisfy;
  }
  if (!options.evaluated_job.empty()) return evaluate_job(options.evaluated_job, *site, *layout, context);
  const auto faults = read_faults(options, *layout, context);
  if (!faults) return k_usage;
  for (const auto& assumption : emulate::describe_assumptions(*site, *layout))
    make_narrator(context, options.quiet).note(assumption);
  emulate::ClusterRunOptions run;
  run.faults = *faults;
  run.evaluate_command = make_evaluate_command(typed, options, context);
  run.narrator = make_narrator(context, options.quiet);
  run.command = choose_command(options, context, run.narrator);
  if (run.command.empty()) {
    print_error("hpcml emulate has no script or command to run on the emulated cluster",
                "add a batch script, or a command after --: hpcml emulate --site SITE -- COMMAND",
                context.colour);
    return k_usage;
  }
  run.site = &*site;
  run.env = make_environment(context);
  if (!add_slurm(run, options, context)) return k_world_failed;
  if (!add_accounting(run, options, context)) return k_world_failed;
  run.layout = *layout;
  run.isolate_network = !options.shared_network;
  run.limit_memory = options.limit_memory;
  run.limit_devices = options.limit_devices;
  run.record_file = options.record_file;
  run.logs_dir = options.logs_dir;
  const auto code = emulate::run_cluster(run, k_world_failed);
  if (code) return *code;
  run.narrator.failure(code.error());
  return k_world_failed;
}

} // namespace hpcml::cli
