// SPDX-License-Identifier: MIT
// hpcml doctor: what is wrong here; so far why GPUs are not seen.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "diagnose/doctor/reasons.hpp"

namespace hpcml::cli {
namespace {

int run_doctor(const std::string& format, const Context& context) {
  if (context.has_program && context.program.empty()) {
    print_error("nothing stands behind --",
                "hpcml doctor -- CMD… asks for that program, hpcml doctor for the active Python",
                context.colour);
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

const char* const k_doctor_footer =
    R"(Run it where the program runs: in the job, in the container, with the environment active.
It reads files and variables, calls no driver and starts no Python. Exit code 1: something is wrong.

Examples:
  hpcml doctor
  hpcml doctor -- python train.py          the torch of that command
  hpcml doctor --format json               with all that was seen
  srun --gpus-per-node=1 hpcml doctor)";

} // namespace

void add_doctor(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("doctor", "Say what is wrong here: why a program sees no GPU, and what to do.");
  const auto format = std::make_shared<std::string>("text");
  command->add_option("--format", *format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->footer(k_doctor_footer);
  command->callback([format, &context, &exit_code] { exit_code = run_doctor(*format, context); });
}

} // namespace hpcml::cli
