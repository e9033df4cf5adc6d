// SPDX-License-Identifier: MIT
#include "cli/hpcml_commands.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/app_tree.hpp"
#include "cli/other/completion.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::cli {

namespace {

// What `hpcml` alone prints.

const char* const k_first_steps =
    R"(hpcml generates, checks, rehearses and launches training jobs on Slurm clusters.

Generate a batch script for a cluster ("hpcml sites list" shows all):
  hpcml gen --site lumi --nodes 2 --account project_1 --time 1h -o job.sh -- python train.py

Check a batch script, without the cluster:
  hpcml check --site lumi job.sh

Rehearse it on this machine, on a private Slurm configured like the cluster:
  hpcml emulate job.sh

Submit a job on the cluster and follow it to its end:
  hpcml submit --site lumi --nodes 2 --account project_1 --time 1h --watch -- python train.py

Start two ranks on one machine, without Slurm:
  hpcml launch --nproc-per-node 2 train.py

All commands: hpcml --help. One command: hpcml gen --help, or hpcml man gen.
Shell completion: source <(hpcml completion bash)
)";

/// Prints the five most frequent tasks, each with a line to copy; returns the exit code.
int print_first_steps() {
  std::fputs(k_first_steps, stdout);
  return k_ok;
}

constexpr const char* k_create = "Create and check";
constexpr const char* k_run = "Run";
constexpr const char* k_diagnose = "Diagnose";
constexpr const char* k_know = "Site profiles";
constexpr const char* k_unlisted = "";

// One line per command, in the order of --help.
constexpr CommandEntry k_commands[] = {
    {"gen", k_create, add_gen},
    {"check", k_create, add_check},
    {"init", k_create, add_init},
    {"env", k_create, add_env},
    {"submit", k_run, add_submit},
    {"watch", k_run, add_watch},
    {"emulate", k_run, add_emulate},
    {"launch", k_run, add_launch},
    {"torchrun", k_run, add_torchrun},
    {"why", k_diagnose, add_why},
    {"preflight", k_diagnose, add_preflight},
    {"doctor", k_diagnose, add_doctor},
    {"affinity", k_diagnose, add_affinity},
    {"sites", k_know, add_sites},
    {"rules", k_unlisted, add_rules},
    {"config", k_unlisted, add_config},
    {"completion", k_unlisted, add_completion},
    {"man", k_unlisted, add_man},
    {"torch", k_unlisted, add_torch},
    {"store", k_unlisted, add_store},
    {"checkpoint", k_unlisted, add_checkpoint},
    {"internal", k_unlisted, add_internal},
};

constexpr CommandHelp k_program_help = {
    .summary = "Generate, check, rehearse and launch Slurm jobs",
    .examples = R"(# Generate a batch script, check it, and rehearse it on this machine
hpcml gen --site lumi --account project_1 --time 1h -o job.sh \
    -- python train.py
hpcml check --site lumi job.sh
hpcml emulate job.sh)",
    .notes =
        R"(Options beat HPCML_* variables, which beat the job file, which beats saved defaults (hpcml config)
and the site's defaults.

Exit codes:
  0   success
  1   findings
  2   invalid command line
  3   invalid job or site file
  4   the site cannot satisfy the request
  5   Slurm or a system call failed
  6   the preflight found a faulty rank
  70  internal error)",
    .usage = "[OPTIONS] COMMAND",
};

std::optional<int> run_special_line(const Context& context) {
  if (!context.argv.empty() && util::base_name(context.argv.front()) == "torchrun")
    return run_torchrun(context, {context.argv.begin() + 1, context.argv.end()});
  if (context.argv.size() <= 1) return print_first_steps();
  if (context.words == std::vector<std::string>{"__complete"}) return run_complete(context);
  return std::nullopt;
}

} // namespace

const CommandLineProgram& hpcml_program() {
  static const CommandLineProgram k_program = {k_commands, k_program_help, run_special_line};
  return k_program;
}

void with_app_tree(Context context, const std::vector<std::string>& words,
                   const std::function<void(CLI::App&, const Context&)>& use) {
  with_app_tree(hpcml_program(), std::move(context), words, use);
}

} // namespace hpcml::cli
