// SPDX-License-Identifier: MIT
// hpcml emulate: a command on a private Slurm cluster that is shaped like a site.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "cli/run/emulate_options.hpp"
#include "emulate/fault_spec.hpp"

namespace hpcml::cli {

namespace {

const char* const k_emulate_footer = R"(Examples:
  hpcml emulate job.sh      # a script of hpcml gen, which names its site
  hpcml emulate --site lumi --nodes 2 -- sbatch -W job.sh
  hpcml emulate --site vista --partition gh-dev --nodes 2 --record calls.jsonl job.sh
  hpcml emulate --site jean_zay --accounts abc@h100,abc@v100 job.sh
  hpcml emulate --site narval --accounting -- python sweep.py      # submitit and others ask sacct
  hpcml emulate --site lumi --whole-site -- sbatch --test-only job.sh
  hpcml emulate --site narval -- bash        # look around: sinfo, sbatch, squeue, srun
  hpcml emulate --site lumi --slurm-version 22.05 --slurm-source slurm-22.05.8.tar.bz2 job.sh
  hpcml emulate --site nibi --node-type h100_1g.10gb job.sh   # only a node with parts of GPUs
  hpcml emulate --site generic --nodes 2 --gpus-per-node a100:4 --cpus-per-node 48 job.sh
  hpcml emulate --site lumi --nodes 3 --fault node-down:2@5s job.sh   # and what becomes of the job?
The cluster is a real Slurm (Debian: apt-get install slurm-wlm) in namespaces of its own: nothing of this machine is changed,
and nothing is left when the command ends. Each node has a /tmp, /var/tmp and $TMPDIR of its own, in which it sees the folders that were
there when the cluster started; hpcml itself takes the site for its own there (HPCML_SITE). Where this machine has sshd (Debian:
openssh-server), port 22 of each node leads into your job there; the key is in SSH_AUTH_SOCK's agent and the file HPCML_SSH_KEY, known
hosts in /etc/ssh/ssh_known_hosts.
hpcml submits a SCRIPT with sbatch and follows the job: its output on stdout, its states on stderr.
Nodes and partition are those that its directives request.
Exit code: that of the command or job (128 + signal; 1 if Slurm ended the job without a code; the
highest of an array). 5 if the cluster does not start, Slurm refuses the script, or the record or
logs cannot be written.)";

/// Nothing where sacctmgr takes the text as one account.
std::string account_fault(std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_.@+-", c) != nullptr;
  });
  return plain && !name.empty() && name.front() != '-'
             ? std::string()
             : fmt::format("'{}' is not a valid account (letters, digits and _ . @ + -)", name);
}

/// Another Slurm than this machine's.
void add_slurm_options(CLI::App& command, emulate::SlurmChoice& choice) {
  const auto starts_with_digit = [](std::string& text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
                   text.find('/') == std::string::npos
               ? std::string()
               : fmt::format("'{}' is not a version of Slurm (such as 23.11 or 23.11.10)", text);
  };
  command
      .add_option(
          "--slurm-version", choice.version,
          "this Slurm and not the machine's: one that was built before, or is built from --slurm-source")
      ->check(CLI::Validator(starts_with_digit, ""))
      ->type_name("VERSION");
  command
      .add_option("--slurm-source", choice.source,
                  "a tarball of Slurm's sources (or a folder): built once, kept in ~/.cache/hpcml/slurm")
      ->check(CLI::ExistingPath)
      ->type_name("FILE");
}

/// The sizes of a node, for sites whose profile does not tell them.
void add_size_options(CLI::App& command, EmulateOptions& options) {
  command
      .add_option("--cpus-per-node", options.cpus_per_node,
                  "CPUs of a node, where the profile describes none")
      ->type_name("N");
  command.add_option("--gpus-per-node", options.gpus_per_node, "the same for GPUs; also TYPE:N")
      ->type_name("N");
  command.add_option("--mem-per-node", options.mem_per_node, "the same for memory: 256G")->type_name("SIZE");
}

/// The script, and the site that it may name.
void add_script_options(CLI::App& command, EmulateOptions& options) {
  // For --help and completion: take_script takes the word before the parser sees it.
  command.add_option("SCRIPT", "batch script to submit; the words after it are its arguments")->type_name("");
  command
      .add_option("--site", options.site,
                  "profile from 'hpcml sites list' [default: the one that SCRIPT names]")
      ->type_name("SITE");
}

/// Limits of jobs that need root.
void add_limit_options(CLI::App& command, EmulateOptions& options) {
  command.add_flag("--limit-memory", options.limit_memory,
                   "jobs get no more memory than they asked for, as on sites: the kernel kills what takes "
                   "more (as root)");
  command.add_flag(
      "--limit-devices", options.limit_devices,
      "tasks may open no other GPUs than their own, and Slurm counts these from 0, as where a site has "
      "ConstrainDevices (as root)");
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
  auto* command =
      app.add_subcommand("emulate", "Run a script or command on a private Slurm shaped like a site.");
  add_script_options(*command, *options);
  auto* partition =
      command->add_option("--partition", options->request.partition, "emulate the nodes of this partition")
          ->type_name("NAME");
  auto* type = command
                   ->add_option("--node-type", options->request.node_type,
                                "only nodes of this kind, if a partition has several: the id, the type of "
                                "the GPUs or their parts, or a feature")
                   ->type_name("NAME");
  auto* nodes = command
                    ->add_option("--nodes", options->nodes,
                                 "nodes of each type [default: as many as SCRIPT requests, else 1]")
                    ->type_name("N");
  command
      ->add_flag("--whole-site", options->request.whole_site,
                 "all partitions with all nodes, none of which runs: for sbatch --test-only")
      ->excludes(partition)
      ->excludes(type)
      ->excludes(nodes);
  add_size_options(*command, *options);
  command
      ->add_option("--record", options->record_file,
                   "write what module, singularity and the like were asked, one JSON line per call")
      ->type_name("FILE");
  command->add_option("--keep-logs", options->logs_dir, "keep Slurm's logs and configuration there")
      ->type_name("DIR");
  auto* shared = command->add_flag("--shared-network", options->shared_network,
                                   "no network of their own for the nodes: all on this machine's loopback");
  command
      ->add_option("--accounts", options->accounts,
                   "your accounts there: Slurm refuses others, and holds jobs to the profile's QoS (needs "
                   "slurmdbd and mariadb-server-core)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(account_fault, ""))
      ->type_name("NAME,NAME")
      ->excludes(shared);
  command
      ->add_flag("--accounting", options->accounting,
                 "keep records of jobs for sacct, and take any account (needs slurmdbd and "
                 "mariadb-server-core)")
      ->excludes(shared);
  add_limit_options(*command, *options);
  add_slurm_options(*command, options->slurm);
  command
      ->add_option("--fault", options->faults,
                   "what goes wrong, and when after the first job began: " + emulate::describe_faults())
      ->allow_extra_args(false)
      ->type_name("FAULT");
  command->add_option("--judge", options->evaluated_job)->group(""); // asked by the cluster itself
  command->add_flag("--submit", options->submits)->group("");        // on the cluster's login node
  command->add_flag("-q,--quiet", options->quiet, "say nothing but errors and faults");
  command->footer(k_emulate_footer);
  take_script(app, *command, context);
  command->callback([options, &context, &exit_code] { exit_code = run_emulate(*options, context); });
}

} // namespace hpcml::cli
