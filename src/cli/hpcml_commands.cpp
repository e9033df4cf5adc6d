// SPDX-License-Identifier: MIT
#include "cli/hpcml_commands.hpp"

#include "cli/app_tree.hpp"
#include "cli/first_steps.hpp"
#include "cli/other/completion.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

// One line per command, in the order of --help.
constexpr Command k_commands[] = {
    {"gen", add_gen},
    {"submit", add_submit},
    {"check", add_check},
    {"rules", add_rules},
    {"init", add_init},
    {"config", add_config},
    {"emulate", add_emulate},
    {"launch", add_launch},
    {"sites", add_sites},
    {"preflight", add_preflight},
    {"affinity", add_affinity},
    {"store", add_store},
    {"doctor", add_doctor},
    {"why", add_why},
    {"bad-nodes", add_bad_nodes},
    {"checkpoint", add_checkpoint},
    {"healthy-nodes", add_healthy_nodes},
    {"torch", add_torch},
    {"torchrun", add_torchrun},
    {"completion", add_completion},
    {"man", add_man},
};

const char* const k_app_footer = R"(Examples:
  hpcml gen --site lumi --nodes 2 --account project_1 --time 10 -o job.sh -- python train.py
  hpcml sites list
  hpcml gen --help

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

const Program& hpcml_program() {
  static const Program k_program = {k_commands, k_app_footer, run_special_line};
  return k_program;
}

void with_app_tree(Context context, const std::vector<std::string>& words,
                   const std::function<void(const CLI::App&, const Context&)>& use) {
  with_app_tree(hpcml_program(), std::move(context), words, use);
}

} // namespace hpcml::cli
