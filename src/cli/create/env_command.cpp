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
#include "generate/plan/setup_plan.hpp"
#include "generate/render/environment_script.hpp"

namespace hpcml::cli {

namespace {

struct EnvOptions {
  RequestFlags request;
  plan::SetupSpec spec;
  std::string kind;
  std::string output_file;
};

const char* const k_env_footer = R"(Examples:
  hpcml env --site zurada conda --conda my_torch --packages "torch torchvision" -o env.sh
  hpcml env --site narval wheelhouse --account def-me --packages requirements.txt -o env.sh
  hpcml env --site vista --partition gh-dev venv --venv /scratch/me/env -o env.sh
Nothing runs: start the script on a login node, or submit it if it begins with #SBATCH.)";

/// The script, or nothing: then what is wrong has been printed and `exit_code` set.
std::optional<std::string> make_script(const EnvOptions& options, const Context& context, int& exit_code) {
  const auto request = read_request(options.request, context);
  const auto site = choose_site(request.site, context, exit_code);
  if (request.exit_code != k_ok) exit_code = request.exit_code; // printed before anything about the site
  if (request.exit_code != k_ok || !site) return std::nullopt;
  if (request.parts.size() != 1) {
    print_error("the job file has several jobs, and this is about one environment", "choose one with --only",
                context.colour);
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
  auto* command =
      app.add_subcommand("env", "Print the script that creates a Python environment or image on a site.");
  const auto options = std::make_shared<EnvOptions>();
  const auto kinds = model::words_of<plan::SetupKind>();
  command
      ->add_option("KIND", options->kind,
                   "what to create: " + util::join(kinds, ", ") + " [default: what the site recommends]")
      ->type_name("")
      ->check(CLI::IsMember(kinds));
  command->add_option("-o", options->output_file, "write to FILE; - is standard output")->type_name("FILE");
  command
      ->add_option("--packages", options->spec.packages,
                   "packages, requirements.txt, environment.yml, pyproject.toml or uv.lock [default: torch]")
      ->type_name("PACKAGES");
  command->add_option("--python", options->spec.python, "version of Python: 3.12")->type_name("VERSION");
  command
      ->add_option("--cuda", options->spec.cuda,
                   "version of CUDA in the wheels: 12.6 [default: by the site's driver and GPUs]")
      ->type_name("VERSION");
  command
      ->add_option("--rocm", options->spec.rocm,
                   "version of ROCm in the wheels: 6.4 [default: by the site's driver and GPUs]")
      ->type_name("VERSION");
  command
      ->add_option("--pack", options->spec.pack,
                   "also create an archive, which jobs unpack on their nodes: env.tar.gz")
      ->type_name("FILE");
  add_request_flags(*command, options->request, context);
  command->footer(k_env_footer);
  command->callback([options, &context, &exit_code] { exit_code = run_env(*options, context); });
}

} // namespace hpcml::cli
