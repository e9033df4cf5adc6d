// SPDX-License-Identifier: MIT
// hpcml sites discover and diff: a profile from the cluster this runs on, and where profile and cluster
// disagree.
#include "cli/know/sites_discover.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "cli/chosen_site.hpp"
#include "core/config/site_reader.hpp"
#include "core/config/site_store.hpp"
#include "core/config/text_rule.hpp"
#include "core/util/date.hpp"
#include "core/util/file.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "generate/discover/compare.hpp"
#include "generate/discover/generated_profile.hpp"
#include "generate/discover/topology.hpp"
#include "generate/discover/trials.hpp"

namespace hpcml::cli {

namespace {

namespace fs = std::filesystem;

struct DiscoverOptions {
  std::string id;
  std::string output_file;
  std::string from_directory;
  std::string save_directory;
  std::vector<std::string> topologies; ///< "[KIND=]FILE"
  bool try_requests = false;
  std::string account;
};

struct DiffOptions {
  std::optional<std::string> site;
  std::string from_directory;
  std::string format = "text";
};

constexpr CommandHelp k_discover_help = {
    .summary = "Write a site profile from what a cluster's Slurm reports",
    .examples = R"(# On a login node
hpcml sites discover -o ~/.config/hpcml/sites/mine.json
# With the topology of a compute node
srun -p gpu -t 5 lstopo --of xml > node.xml && \
    hpcml sites discover --topology node.xml
# Keep the output of Slurm's commands for 'hpcml sites discover --from DIR'
hpcml sites discover --save answers/)",
    .notes =
        R"(Nothing is submitted or changed. The profile ends with a list of what Slurm does not report. In a job,
the topology of this node is read as well.)",
};

constexpr CommandHelp k_diff_help = {
    .summary = "Compare a site profile with the cluster on a login node",
    .examples = R"(# The profile of this machine
hpcml sites diff
# Another profile
hpcml sites diff narval)",
    .notes = "Exit codes: 0 they agree, 1 they differ. What the profile does not describe is a note.",
};

util::Result<discover::ClusterFacts> ask(const std::string& from_directory, const Context& context) {
  if (from_directory.empty())
    return discover::run_questions(slurm::LiveCommands(context.env, slurm::k_survey_timeout),
                                   discover::make_inquirer(context.env));
  auto inquirer = discover::make_inquirer(context.env);
  inquirer.module_command = {"module", "avail"};
  return discover::run_questions(slurm::RecordedCommands(from_directory), inquirer);
}

/// Answers by their names in the record; module systems differ in how they are asked.
util::Status save(const discover::ClusterFacts& facts, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return util::Error{
        fmt::format("cannot create the directory of --save, '{}': {}", directory, error.message()),
        "use --save with a directory that you can write to"};
  for (auto answer : facts.answers) {
    if (!answer.words.empty() && util::join(answer.words, " ").find("avail") != std::string::npos)
      answer.words = {"module", "avail"};
    TRY_DONE(slurm::save_answer(answer, directory));
  }
  return util::Success{};
}

/// What the profile's own reader finds in it: nothing, or there is a mistake in this program.
diag::Diagnostics check_profile(const std::string& text, std::optional<model::Site>& site) {
  auto parsed = config::parse_json(text, "discovered profile", "site");
  if (!parsed.root) return parsed.diagnostics;
  auto read = config::read_site(*parsed.root, "discovered profile");
  site = std::move(read.site);
  return std::move(read.diagnostics);
}

void log_stderr(const discover::ClusterFacts& facts, const std::vector<discover::NodeKind>& kinds,
                const discover::GeneratedProfile& profile) {
  print_note(fmt::format("profile of cluster {}: Slurm {}, {}, {} of {}", facts.config.cluster,
                         facts.config.version, util::counted(facts.partitions.size(), "partition"),
                         util::counted(facts.nodes.size(), "node"),
                         util::counted(kinds.size(), "node type")));
  for (const auto& missing : facts.unanswered) print_note(fmt::format("not queried: {}", missing.sentence()));
  for (const auto& sentence : profile.left_out) print_note(fmt::format("omitted: {}", sentence));
}

/// CPUs from one source and GPUs from another may belong to the same node type.
void add_topology(discover::ProfileGenerationInput& request, const std::string& kind,
                  const discover::ObservedNode& seen) {
  auto& type = request.topologies[kind];
  if (seen.cpu.cores > 0) type.cpu = seen.cpu;
  if (!seen.gpus.empty()) {
    if (!type.gpu) type.gpu = model::GpuShape{};
    type.gpu->places = seen.gpus;
    type.gpu->vendor = seen.gpu_vendor;
  }
  request.topology_source += (request.topology_source.empty() ? "" : ", ") + kind + " from " + seen.source;
}

util::Status read_topologies(const DiscoverOptions& options, const discover::ClusterFacts& facts,
                             const std::vector<discover::NodeKind>& kinds,
                             discover::ProfileGenerationInput& request) {
  for (const auto& entry : options.topologies) {
    const auto equals = entry.find('=');
    const auto named = equals == std::string::npos ? std::string() : entry.substr(0, equals);
    TRY(const auto seen,
        discover::load_seen_node(equals == std::string::npos ? entry : entry.substr(equals + 1)));
    const auto fits =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.id == named; });
    if (!named.empty() && fits == kinds.end())
      return util::Error{
          fmt::format("--topology names node type '{}', which this cluster does not have", named),
          "use --topology FILE without a type: hpcml finds it by the cores and GPUs"};
    TRY(const auto kind, discover::find_kind(seen, named.empty() ? kinds : std::vector{*fits}));
    add_topology(request, kind, seen);
  }
  // On a compute node the node itself is the best source.
  for (const auto& node : facts.nodes) {
    if (!options.topologies.empty() || std::find(request.host_names.begin(), request.host_names.end(),
                                                 node.name) == request.host_names.end())
      continue;
    const auto seen = discover::read_seen_node(node.name);
    const auto kind = seen ? discover::find_kind(*seen, kinds) : util::Result<std::string>(seen.error());
    if (kind)
      add_topology(request, *kind, *seen);
    else
      print_note(fmt::format(
          "the topology of this node, {}, is not in the profile: {}; use --topology TYPE=FILE with "
          "its node type and a file of 'lstopo FILE.xml'",
          node.name, kind.error().what));
  }
  return util::Success{};
}

void try_requests(const DiscoverOptions& options, const Context& context, const discover::ClusterFacts& facts,
                  const std::vector<discover::NodeKind>& kinds, discover::ProfileGenerationInput& request) {
  auto account = options.account;
  if (account.empty() && facts.accounts && !facts.accounts->names().empty())
    account = facts.accounts->names().front();
  request.trials =
      discover::run_trials(slurm::LiveCommands(context.env, slurm::k_survey_timeout), facts, kinds, account);
  const auto& report = request.trials;
  if (!report.why_not.empty()) {
    const auto remedy = report.requests == 0 ? std::string()
                                             : fmt::format("; use --account NAME to try {} account",
                                                           account.empty() ? "an" : "another");
    print_note(fmt::format("--try found no rules: Slurm accepted none of {} test requests: {}{}",
                           report.requests, report.why_not, remedy));
    return;
  }
  print_note(
      fmt::format("--try found rules for {} options by {} requests in partition {} (sbatch --test-only)",
                  report.flags.size(), report.requests, report.partition));
}

int run_discover(const DiscoverOptions& options, const Context& context) {
  const auto fail = [&](const util::Error& error, int code) {
    print_error(error, context.colour);
    return code;
  };
  discover::ProfileGenerationInput request;
  request.id = options.id;
  if (request.id.empty() && !options.output_file.empty() && options.output_file != "-")
    request.id = fs::path(options.output_file).stem().string();
  if (const auto fault = config::text_fault(request.id, config::TextRule::name);
      !request.id.empty() && !fault.empty())
    return fail({fmt::format("the site's id '{}' {}", request.id, fault),
                 std::string(config::text_hint(config::TextRule::name))},
                k_usage);
  const auto facts = ask(options.from_directory, context);
  if (!facts) return fail(facts.error(), k_world_failed);
  if (!options.save_directory.empty())
    if (const auto status = save(*facts, options.save_directory); !status)
      return fail(status.error(), k_world_failed);
  request.date = util::today(context.env);
  if (options.from_directory.empty()) {
    request.host_names = util::read_host_names();
    request.env = context.env;
  }
  const auto kinds = discover::make_node_kinds(facts->nodes);
  if (const auto status = read_topologies(options, *facts, kinds, request); !status)
    return fail(status.error(), k_invalid_file);
  if (options.try_requests) try_requests(options, context, *facts, kinds, request);
  const auto profile = discover::make_profile(*facts, kinds, request);
  std::optional<model::Site> site;
  const auto findings = check_profile(profile.text, site);
  print_diagnostics(findings, profile.text, context.colour);
  if (!site || diag::has_errors(findings))
    return fail({"the discovered profile is not valid: this is a bug in hpcml",
                 "report it with the directory that --save DIR writes"},
                k_internal);
  log_stderr(*facts, kinds, profile);
  if (options.output_file.empty() || options.output_file == "-") {
    std::fputs(profile.text.c_str(), stdout);
    return k_ok;
  }
  if (const auto status = util::write_output(options.output_file, profile.text); !status)
    return fail(status.error(), k_world_failed);
  std::error_code ignored;
  const auto directory = fs::absolute(options.output_file, ignored).parent_path().string();
  print_note(
      fmt::format("wrote the site profile to {}; try: hpcml gen --site {} --sites-dir {} -- python train.py",
                  options.output_file, profile.id, directory));
  return k_ok;
}

int run_diff(const DiffOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto site = choose_site(options.site, context, exit_code);
  if (!site) return exit_code;
  const auto facts = ask(options.from_directory, context);
  if (!facts) {
    print_error(facts.error(), context.colour);
    return k_world_failed;
  }
  const auto findings = discover::compare_site(*site, *facts, discover::make_node_kinds(facts->nodes));
  unsigned errors = 0, warnings = 0, notes = 0;
  for (const auto& finding : findings)
    ++(finding.severity == diag::Severity::error     ? errors
       : finding.severity == diag::Severity::warning ? warnings
                                                     : notes);
  if (options.format == "json") {
    std::fputs(diag::render_json(findings).c_str(), stdout);
  } else {
    for (const auto& finding : findings) std::fputs(diag::render_text(finding, {}, false).c_str(), stdout);
    std::fputs(fmt::format("{} and cluster {}: {}, {}, {}\n", site->id, facts->config.cluster,
                           util::counted(errors, "error"), util::counted(warnings, "warning"),
                           util::counted(notes, "note"))
                   .c_str(),
               stdout);
  }
  return errors + warnings > 0 ? k_findings : k_ok;
}

} // namespace

void add_sites_discover(CLI::App& sites, Context& context, int& exit_code) {
  const auto options = std::make_shared<DiscoverOptions>();
  auto* command = add_command(sites, "discover", k_discover_help);
  command->add_option("-o", options->output_file, "Write to FILE; - is standard output")
      ->type_name("FILE")
      ->default_str("-");
  command->add_option("--id", options->id, "Name of the site")
      ->type_name("NAME")
      ->default_str("the name of FILE, else the cluster's");
  command->add_option("--save", options->save_directory, "Keep the output of Slurm's commands in DIR")
      ->type_name("DIR");
  command
      ->add_option("--from", options->from_directory, "Read the output of --save in DIR, and run no commands")
      ->type_name("DIR")
      ->excludes("--save");
  auto* trials = command
                     ->add_flag("--try", options->try_requests,
                                "Find the site's rules by test requests (sbatch --test-only)")
                     ->excludes("--from");
  command->add_option("--account", options->account, "Account of the requests of --try")
      ->type_name("NAME")
      ->needs(trials);
  command
      ->add_option("--topology", options->topologies,
                   "Output of lstopo, nvidia-smi topo -m or rocm-smi --showtopo (repeatable)")
      ->type_name("[TYPE=]FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->callback([options, &context, &exit_code] { exit_code = run_discover(*options, context); });
}

void add_sites_diff(CLI::App& sites, Context& context, int& exit_code) {
  const auto options = std::make_shared<DiffOptions>();
  auto* command = add_command(sites, "diff", k_diff_help);
  command->add_option("SITE", options->site, "Name of the site")->default_str("this machine's");
  command
      ->add_option("--from", options->from_directory,
                   "Read the output of 'hpcml sites discover --save' in DIR")
      ->type_name("DIR");
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context, &exit_code] { exit_code = run_diff(*options, context); });
}

} // namespace hpcml::cli
