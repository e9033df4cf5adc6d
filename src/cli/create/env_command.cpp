// SPDX-License-Identifier: MIT
// hpcml env: the script that creates a program's Python environment or image on a site.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/create/request_flags.hpp"
#include "cli/create/write_script.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "generate/plan/setup_plan.hpp"
#include "generate/render/environment_script.hpp"

namespace hpcml::cli {

namespace {

struct EnvOptions {
  RequestFlags request;
  plan::SetupOptions spec;
  std::string kind;
  std::string output_file;
};

constexpr std::string_view k_env_flags = "-o --packages --python --cuda --pack";

constexpr CommandHelp k_env_help = {
    .summary = "Generate a script that creates a Python environment",
    .examples = R"(# A conda environment
hpcml env --site zurada conda --conda my_torch \
    --packages "torch torchvision" -o env.sh
# Wheels for the compute nodes, from a requirements file
hpcml env --site narval wheelhouse --account def-me \
    --packages requirements.txt -o env.sh
# A virtual environment
hpcml env --site vista --partition gh-dev venv --venv /scratch/me/env \
    -o env.sh)",
    .notes =
        R"(hpcml runs nothing: start the script on a login node, or submit it if it begins with #SBATCH lines.)",
    .common = model::ConcatenatedText<k_env_flags, k_common_request_flags>::text,
    .described_in = "gen",
};

/// The script, or nothing: then what is wrong has been printed and `exit_code` set.
std::optional<std::string> make_script(const EnvOptions& options, const Context& context, int& exit_code) {
  const auto request = read_request(options.request, context);
  const auto site = choose_site(request.site, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // printed before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  if (request.parts.size() != 1) {
    print_error("hpcml env needs one job, but the job file has several",
                "add --only NAME to choose a job of the file", context.colour);
    exit_code = k_usage;
    return std::nullopt;
  }
  const auto usual = config::job_from_config(request.config, site->id, request.config_file);
  auto wanted = options.spec;
  if (!options.kind.empty()) wanted.kind = model::find_word<plan::SetupKind>(options.kind);
  wanted.request_line = request_line(context);
  const auto result = plan::plan_setup(wanted, config::merge_jobs(usual, request.parts.front().job), *site);
  print_diagnostics(result.diagnostics, {}, context.colour);
  exit_code = exit_code_of(result.diagnostics);
  if (!result.plan) return std::nullopt;
  return render::render_environment_script(*result.plan);
}

int run_env(const EnvOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto script = make_script(options, context, exit_code);
  return script ? write_script(*script, options.output_file, context.colour) : exit_code;
}

} // namespace

void add_env(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "env", k_env_help);
  const auto options = std::make_shared<EnvOptions>();
  command->add_option("KIND", options->kind, "Kind of environment or image to create")
      ->type_name("")
      ->check(one_of(model::words_of<plan::SetupKind>()))
      ->default_str("what the site recommends");
  command->add_option("-o", options->output_file, "Write to FILE; - is standard output")
      ->type_name("FILE")
      ->default_str("-");
  command
      ->add_option("--packages", options->spec.packages,
                   "Packages, requirements.txt, environment.yml, pyproject.toml or uv.lock")
      ->type_name("PACKAGES")
      ->default_str("torch");
  command->add_option("--python", options->spec.python, "Version of Python, such as 3.12")
      ->type_name("VERSION");
  command->add_option("--cuda", options->spec.cuda, "CUDA version of the wheels, such as 12.6")
      ->type_name("VERSION")
      ->default_str("by the site's driver");
  command->add_option("--rocm", options->spec.rocm, "ROCm version of the wheels, such as 6.4")
      ->type_name("VERSION")
      ->default_str("by the site's driver");
  command
      ->add_option("--pack", options->spec.pack, "Also pack it for jobs to unpack on their nodes: env.tar.gz")
      ->type_name("FILE");
  add_request_flags(*command, options->request, context);
  command->callback([options, &context, &exit_code] { exit_code = run_env(*options, context); });
}

} // namespace hpcml::cli
