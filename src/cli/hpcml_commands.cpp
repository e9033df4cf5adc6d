// SPDX-License-Identifier: MIT
#include "cli/hpcml_commands.hpp"

#include "cli/app_tree.hpp"
#include "cli/other/completion.hpp"
#include "cli/quick_help.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

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

More commands, each with --help: rules, config, completion, man, torch, store, checkpoint; generated scripts call internal.

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
