// SPDX-License-Identifier: MIT
#include "cli/hpcml_commands.hpp"

#include <cstdio>

#include "cli/app_tree.hpp"
#include "cli/other/completion.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::cli {

namespace {

// What `hpcml` says to somebody who has typed nothing else.

const char* const k_first_steps =
    R"(hpcml writes, checks, rehearses and runs training jobs on Slurm clusters. Five things to begin with:

1. Write the batch script of a training program for a cluster ("hpcml sites list" names them):
     hpcml gen --site lumi --nodes 2 --account project_1 --time 1h -o job.sh -- python train.py
2. Find out what is wrong with a batch script, without the cluster:
     hpcml check --site lumi job.sh
3. Rehearse the script on this machine: a real Slurm, shaped like the cluster:
     hpcml emulate job.sh
4. Submit a job, there, and follow it to its end:
     hpcml submit --site lumi --nodes 2 --account project_1 --time 1h --watch -- python train.py
5. Start the ranks of a training on one machine, without Slurm:
     hpcml launch --nproc-per-node 2 train.py

All commands: hpcml --help. One of them: hpcml gen --help, or hpcml man gen.
The shell completes all of them after: source <(hpcml completion bash), or zsh, or fish.
)";

/// Prints the five things that people do, each as a line to copy; the exit code.
int print_first_steps() {
  std::fputs(k_first_steps, stdout);
  return k_ok;
}

constexpr const char* k_create = "Create and check";
constexpr const char* k_run = "Run";
constexpr const char* k_diagnose = "Diagnose";
constexpr const char* k_know = "Know";
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

const char* const k_app_footer = R"(Examples:
  hpcml gen --site lumi --nodes 2 --account project_1 --time 10 -o job.sh -- python train.py
  hpcml sites list
  hpcml gen --help

More commands, each with --help: rules, config, completion, man, torch, store, checkpoint.
Generated scripts call the commands of internal.

Exit codes: 0 ok, 1 findings, 2 usage, 3 invalid job or site file, 4 the site cannot satisfy the request,
5 Slurm or a system call failed, 6 preflight found a culprit, 70 internal error.)";

std::optional<int> run_special_line(const Context& context) {
  if (!context.argv.empty() && util::base_name(context.argv.front()) == "torchrun")
    return run_torchrun(context, {context.argv.begin() + 1, context.argv.end()});
  if (context.argv.size() <= 1) return print_first_steps();
  if (context.words == std::vector<std::string>{"__complete"}) return run_complete(context);
  return std::nullopt;
}

} // namespace

const CommandLineProgram& hpcml_program() {
  static const CommandLineProgram k_program = {k_commands, k_app_footer, run_special_line};
  return k_program;
}

void with_app_tree(Context context, const std::vector<std::string>& words,
                   const std::function<void(const CLI::App&, const Context&)>& use) {
  with_app_tree(hpcml_program(), std::move(context), words, use);
}

} // namespace hpcml::cli
