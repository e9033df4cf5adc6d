// SPDX-License-Identifier: MIT
// hpcml gen: a request and a site as a script.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/create/gen_from.hpp"
#include "cli/create/gen_setup.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/user_key.hpp"
#include "generate/render/interactive.hpp"
#include "generate/render/script.hpp"
#include "core/util/file.hpp"

namespace hpcml::cli {

namespace {

struct GenOptions {
  RequestFlags request;
  std::string from;
  SetupOptions setup;
  std::string output_file;
  std::string format = "script";
  bool explain = false;
  bool interactive = false;
};

const char* const k_gen_footer = R"(Examples:
  hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 -- train_ddp
  hpcml gen --site zurada --partition gpu2h100 --time 1h --mem 64G --conda pytorch --launcher torchrun -- train.py --epochs 3
  hpcml gen --site narval --account def-me --time 3h --wheelhouse "torch numpy" -o job.sh -- python train.py
  hpcml gen --site lumi --account project_1 --time 10 --explain -- python train.py
  hpcml gen --site narval --account def-me --from lumi_job.sh -o narval_job.sh
  hpcml gen --site zurada --setup conda --conda my_torch --packages "torch torchvision" -o setup.sh
Flags beat HPCML_* variables (HPCML_ACCOUNT), those beat the job file, that beats the site's defaults.)";

std::string render(PlannedJob job, const GenOptions& options) {
  if (options.format == "json") return render::render_json(job.plan);
  if (options.explain) return render::render_explain(job.plan);
  return options.interactive ? render::render_interactive(job.plan) : std::move(job.script);
}

int write_result(const std::string& text, const GenOptions& options, bool colour) {
  if (options.output_file.empty() || options.output_file == "-") {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) print_error("cannot write to the standard output", "", colour);
    return written ? k_ok : k_world_failed;
  }
  const auto status = util::write_output(options.output_file, text, 0755);
  if (status) return k_ok;
  print_error(status.error(), colour);
  return k_world_failed;
}

int run_gen(const GenOptions& options, const Context& context) {
  int exit_code = k_ok;
  if (options.setup.wanted) {
    const auto script =
        run_setup_planning(read_request(options.request, context), options.setup, context, exit_code);
    return script ? write_result(*script, options, context.colour) : exit_code;
  }
  auto flags = options.request;
  flags.without_job_file = !options.from.empty();
  auto request = read_request(flags, context);
  if (!options.from.empty() && !add_script(request, options.from, context, exit_code)) return exit_code;
  bool no_program = false;
  for (auto& part : request.parts)
    if (options.interactive && part.job.command.empty() && part.job.steps.empty()) {
      part.job.command = {"interactive"}; // it gives the job its name
      no_program = true;
    }
  auto job = run_planning_of_one(request, context, exit_code, !options.interactive);
  if (!job) return exit_code;
  if (options.interactive) {
    auto findings = render::find_unset(render::make_interactive(job->plan));
    if (!job->plan.components.empty())
      findings.push_back({diag::Severity::error,
                          "request/interactive",
                          "an interactive job has one component, this one has " +
                              std::to_string(job->plan.components.size() + 1),
                          {},
                          "leave --interactive out"});
    if (no_program && job->plan.container)
      findings.push_back({diag::Severity::warning,
                          "request/interactive",
                          "the shell is on the node, not in the image " + job->plan.container->image,
                          {},
                          "with a program behind -- the line that starts it in the image is shown, too"});
    print_diagnostics(findings, {}, context.colour);
    if (exit_code = exit_code_of(findings); exit_code != k_ok) return exit_code;
    if (options.format != "json")
      std::fputs(render::render_interactive_lines(job->plan, !no_program).c_str(), stderr);
  }
  const int code = write_result(render(std::move(*job), options), options, context.colour);
  if (code == k_ok) ensure_user_key(context);
  return code;
}

/// Whether a word names --setup or what belongs to it.
bool wants_setup(const Context& context) {
  constexpr std::array<std::string_view, 6> k_flags = {"--setup", "--packages", "--python",
                                                       "--cuda",  "--rocm",     "--pack"};
  return std::any_of(k_flags.begin(), k_flags.end(),
                     [&](std::string_view flag) { return context.wants(flag); });
}

/// Registers --setup and what belongs to it; returns --setup.
CLI::Option* add_setup_flags(CLI::App& app, SetupOptions& options) {
  constexpr const char* k_group = "Making an environment";
  const auto kinds = model::words_of<plan::SetupKind>();
  auto* setup = app.add_option_function<std::vector<std::string>>(
      "--setup",
      [&options](const std::vector<std::string>& words) {
        options.wanted = true;
        if (!words.empty()) options.spec.kind = model::find_word<plan::SetupKind>(words.front());
      },
      "print the script that makes the environment instead; KIND is " + util::join(kinds, ", ") +
          "; what the site recommends otherwise");
  auto words = kinds;
  words.insert(words.begin(), "");
  setup->type_name("[KIND]")->expected(0, 1)->group(k_group)->check(CLI::IsMember(words));
  app.add_option("--packages", options.spec.packages,
                 "what to install: \"torch torchvision\" or a requirements file; torch otherwise")
      ->type_name("PACKAGES")
      ->needs(setup)
      ->group(k_group);
  app.add_option("--python", options.spec.python, "its Python: 3.12")
      ->type_name("VERSION")
      ->needs(setup)
      ->group(k_group);
  app.add_option("--cuda", options.spec.cuda, "the wheels' CUDA: 12.6; by driver and GPUs otherwise")
      ->type_name("VERSION")
      ->needs(setup)
      ->group(k_group);
  app.add_option("--rocm", options.spec.rocm, "the wheels' ROCm: 6.4; by driver and GPUs otherwise")
      ->type_name("VERSION")
      ->needs(setup)
      ->group(k_group);
  app.add_option("--pack", options.spec.pack,
                 "make an archive of it, too, which jobs unpack on their nodes: env.tar.gz")
      ->type_name("FILE")
      ->needs(setup)
      ->group(k_group);
  return setup;
}

} // namespace

void add_gen(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("gen", "Print the sbatch script for a program on a site.");
  const auto options = std::make_shared<GenOptions>();
  command
      ->add_option("-o", options->output_file, "write to FILE, and only if all is well; - is standard output")
      ->type_name("FILE");
  auto* format = command
                     ->add_option("--format", options->format,
                                  "script, or json: the plan with the origin of each value, the explained "
                                  "script and the interactive line")
                     ->type_name("FORMAT")
                     ->check(CLI::IsMember({"script", "json"}));
  auto* explain = command->add_flag("--explain", options->explain, "say why each line is what it is");
  auto* interactive =
      command
          ->add_flag("--interactive", options->interactive, "print the line for an interactive job instead")
          ->excludes(explain);
  add_request_flags(*command, options->request, context);
  command
      ->add_option("--from", options->from,
                   "write this script for the site: its request and its commands, launched as the site "
                   "wants; says what changes and why")
      ->type_name("SCRIPT")
      ->excludes("--job");
  if (wants_setup(context))
    add_setup_flags(*command, options->setup)
        ->excludes(explain)
        ->excludes(interactive)
        ->excludes(format)
        ->excludes("--from");
  command->footer(k_gen_footer);
  command->callback([options, &context, &exit_code] { exit_code = run_gen(*options, context); });
}

} // namespace hpcml::cli
