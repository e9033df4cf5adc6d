// SPDX-License-Identifier: MIT
// hpcml emulate: a command on a private Slurm cluster that is configured like a site.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/run/emulate_options.hpp"
#include "emulate/fault_spec.hpp"

namespace hpcml::cli {

namespace {

std::string fault_list() {
  return fmt::format("Faults, each with a node and the time after the first job starts: {}.",
                     emulate::describe_faults());
}

constexpr CommandHelp k_emulate_help = {
    .summary = "Rehearse a script on a private Slurm like the site's",
    .examples = R"(# A script of hpcml gen, which names its site
hpcml emulate job.sh
# A shell on two nodes of LUMI: sinfo, sbatch, squeue, srun
hpcml emulate --site lumi --nodes 2 -- bash
# A node failure five seconds after the job starts
hpcml emulate --site lumi --nodes 3 --fault node-down:2@5s job.sh)",
    .notes =
        R"(The cluster is a real Slurm (Debian: apt-get install slurm-wlm) in its own namespaces. hpcml submits
SCRIPT with sbatch and follows the job: its output on standard output, its states on standard error.
When the command ends, the cluster is removed, and nothing on this machine has changed.

Each node has its own /tmp, /var/tmp and $TMPDIR, and sees the directories that existed when the
cluster started. HPCML_SITE names the site there. With sshd (Debian: openssh-server), port 22 of a
node leads into your job; the key is in the agent of SSH_AUTH_SOCK and in HPCML_SSH_KEY.

Exit codes: that of the command or job (128 + signal; 1 if Slurm ended the job without a code; the
highest of an array), 5 if the cluster does not start, Slurm rejects the script, or the record or
logs cannot be written.)",
    .common = "--site --partition --node-type --nodes --fault --accounts --accounting --limit-memory "
              "--limit-devices "
              "--slurm-version --record --keep-logs --quiet",
    .usage = "[OPTIONS] SCRIPT [ARGS]...\n[OPTIONS] -- COMMAND [ARGS]...",
    .list = fault_list,
};

constexpr const char* k_cluster_group = "Cluster";
constexpr const char* k_slurm_group = "Slurm";
constexpr const char* k_output_group = "Output";

/// Nothing where sacctmgr takes the text as one account.
std::string account_fault(std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_.@+-", c) != nullptr;
  });
  return plain && !name.empty() && name.front() != '-'
             ? std::string()
             : fmt::format("must be names of letters, digits and _ . @ + -, not '{}'", name);
}

std::string exists(std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored)
             ? ""
             : fmt::format("must be an existing file or directory, not '{}'", path);
}

/// Another Slurm than this machine's.
void add_slurm_options(CLI::App& command, emulate::SlurmChoice& choice) {
  const auto starts_with_digit = [](std::string& text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
                   text.find('/') == std::string::npos
               ? std::string()
               : fmt::format("must be a version of Slurm such as 23.11 or 23.11.10, not '{}'", text);
  };
  command
      .add_option("--slurm-version", choice.version,
                  "Use this version of Slurm, built before or from --slurm-source")
      ->check(CLI::Validator(starts_with_digit, ""))
      ->type_name("VERSION")
      ->default_str("this machine's")
      ->group(k_slurm_group);
  command
      .add_option("--slurm-source", choice.source,
                  "Build Slurm from these sources, and keep it in ~/.cache/hpcml/slurm")
      ->check(CLI::Validator(exists, ""))
      ->type_name("PATH")
      ->group(k_slurm_group);
}

/// Sizes of a node, for sites whose profile does not state them.
void add_size_options(CLI::App& command, EmulateOptions& options) {
  command
      .add_option("--cpus-per-node", options.cpus_per_node,
                  "CPUs of a node that the profile does not describe")
      ->type_name("N")
      ->check(whole_number(1, 65536))
      ->group(k_cluster_group);
  command.add_option("--gpus-per-node", options.gpus_per_node, "GPUs of such a node: 4 or a100:4")
      ->type_name("[TYPE:]N")
      ->group(k_cluster_group);
  command.add_option("--mem-per-node", options.mem_per_node, "Memory of such a node: 256G")
      ->type_name("SIZE")
      ->group(k_cluster_group);
}

/// The script, and the site that it may name.
void add_script_options(CLI::App& command, EmulateOptions& options) {
  // For help and completion: take_script takes the word before the parser sees it.
  command.add_option("SCRIPT", "Batch script to submit, followed by its arguments")->type_name("");
  command.add_option("--site", options.site, "Site to configure the cluster like")
      ->type_name("SITE")
      ->default_str("the one that SCRIPT names")
      ->group(k_cluster_group);
}

/// Limits of jobs that need root.
void add_limit_options(CLI::App& command, EmulateOptions& options) {
  command
      .add_flag("--limit-memory", options.limit_memory,
                "Kill processes that exceed the memory of their job (needs root)")
      ->group(k_slurm_group);
  command
      .add_flag("--limit-devices", options.limit_devices,
                "Hide other GPUs from tasks, as ConstrainDevices does (needs root)")
      ->group(k_slurm_group);
}

/// The option that a word is, with or without its value.
const CLI::Option* find_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
  const auto name = word.substr(0, word.find('='));
  const auto* option = command.get_option_no_throw(name);
  return option != nullptr ? option : app.get_option_no_throw(name);
}

/// Takes a script and its arguments, which can look like options, from the words that are parsed.
void take_script(const CLI::App& app, const CLI::App& command, Context& context) {
  auto& words = context.words;
  bool is_after_command = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("-") && words[i] != "-") {
      const auto* option = find_option(app, command, words[i]);
      const bool has_value = words[i].find('=') != std::string::npos;
      if (option != nullptr && option->get_items_expected_max() > 0 && !has_value) ++i;
      continue;
    }
    if (!std::exchange(is_after_command, true)) continue;
    const auto script = words.begin() + static_cast<std::ptrdiff_t>(i);
    std::vector<std::string> program(script, words.end());
    words.erase(script, words.end());
    if (std::exchange(context.has_program, false)) program.emplace_back("--");
    context.program.insert(context.program.begin(), program.begin(), program.end());
    return;
  }
}

} // namespace

void add_emulate(CLI::App& app, Context& context, int& exit_code) {
  auto options = std::make_shared<EmulateOptions>();
  auto* command = add_command(app, "emulate", k_emulate_help);
  add_script_options(*command, *options);
  auto* partition =
      command->add_option("--partition", options->request.partition, "Emulate the nodes of this partition")
          ->type_name("NAME")
          ->group(k_cluster_group);
  auto* type = command
                   ->add_option("--node-type", options->request.node_type,
                                "Emulate only this node type: an id, GPU type, MIG instance or feature")
                   ->type_name("TYPE")
                   ->group(k_cluster_group);
  auto* nodes = command->add_option("--nodes", options->nodes, "Nodes of each type")
                    ->type_name("N")
                    ->check(whole_number(1, 65536))
                    ->default_str("what SCRIPT requests, else 1")
                    ->group(k_cluster_group);
  command
      ->add_flag("--whole-site", options->request.whole_site,
                 "Emulate all partitions, for sbatch --test-only only")
      ->excludes(partition)
      ->excludes(type)
      ->excludes(nodes)
      ->group(k_cluster_group);
  add_size_options(*command, *options);
  auto* shared = command
                     ->add_flag("--shared-network", options->shared_network,
                                "Run all nodes on this machine's loopback network")
                     ->group(k_cluster_group);
  command->add_option("--fault", options->faults, "Inject a fault, such as node-down:2@30s (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FAULT")
      ->group(k_cluster_group);
  command
      ->add_option("--accounts", options->accounts,
                   "Your accounts; Slurm rejects others and applies QoS limits")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(account_fault, ""))
      ->type_name("NAME,NAME")
      ->excludes(shared)
      ->group(k_slurm_group);
  command
      ->add_flag("--accounting", options->accounting,
                 "Keep records of jobs for sacct, and accept any account")
      ->excludes(shared)
      ->group(k_slurm_group);
  add_limit_options(*command, *options);
  add_slurm_options(*command, options->slurm);
  command
      ->add_option("--record", options->record_file,
                   "Record the calls of module, singularity and others as JSON lines")
      ->type_name("FILE")
      ->group(k_output_group);
  command->add_option("--keep-logs", options->logs_dir, "Keep the logs and configuration of Slurm in DIR")
      ->type_name("DIR")
      ->group(k_output_group);
  command->add_flag("-q,--quiet", options->quiet, "Print only errors and faults")->group(k_output_group);
  command->add_option("--evaluate-job", options->evaluated_job)->group(""); // called by the cluster itself
  command->add_flag("--submit", options->submits)->group("");               // on the cluster's login node
  take_script(app, *command, context);
  command->callback([options, &context, &exit_code] { exit_code = run_emulate(*options, context); });
}

} // namespace hpcml::cli
