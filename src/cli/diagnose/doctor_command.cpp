// SPDX-License-Identifier: MIT
// hpcml doctor: what is wrong here; so far why GPUs are not seen.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "diagnose/doctor/reasons.hpp"

namespace hpcml::cli {
namespace {

int run_doctor(const std::string& format, const Context& context) {
  if (context.has_program && context.program.empty()) {
    print_error("no command given after --",
                "use hpcml doctor -- COMMAND, or hpcml doctor for the active Python", context.colour);
    return k_usage;
  }
  const auto facts = doctor::read_facts(context.env, context.program, "/", find_own_fabric(context));
  const auto answers = doctor::evaluate_all(facts);
  std::fputs(
      (format == "json" ? doctor::render_json(answers, facts) : doctor::render_text(answers, facts)).c_str(),
      stdout);
  return std::all_of(answers.begin(), answers.end(), [](const auto& answer) { return answer.is_good(); })
             ? k_ok
             : k_findings;
}

constexpr CommandHelp k_doctor_help = {
    .summary = "Find out why a program sees no GPU here",
    .examples = R"(# In a job
srun --gpus-per-node=1 hpcml doctor
# For the PyTorch of a command
hpcml doctor -- python train.py)",
    .notes =
        R"(Run it where the program runs: in the job, in the container, with the environment active. It reads
files and variables; it calls no driver and starts no Python.

Exit codes: 0 nothing is wrong, 1 something is wrong.)",
    .usage = "[OPTIONS] [-- COMMAND [ARGS]...]",
};

} // namespace

void add_doctor(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "doctor", k_doctor_help);
  const auto format = std::make_shared<std::string>("text");
  add_format(*command, *format, {"text", "json"}, "Output format; json includes everything that was read");
  command->callback([format, &context, &exit_code] { exit_code = run_doctor(*format, context); });
}

} // namespace hpcml::cli
