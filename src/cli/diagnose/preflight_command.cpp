// SPDX-License-Identifier: MIT
// hpcml preflight: do the ranks find each other, sum right and exchange messages? Runs the helper through
// `hpcml launch`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "diagnose/preflight/preflight_program.hpp"
#include "diagnose/preflight/preflight_report.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/starter.hpp"
#include "run/launch/task_place.hpp"

namespace hpcml::cli {

namespace {

struct PreflightOptions {
  unsigned processes = 0; ///< 0: one in a task of srun or the site's launcher, else two
  std::string backend = "auto";
  unsigned timeout_seconds = 60;
  std::string interface_name;
  unsigned long long bytes = 0;
  std::string site;
  std::string format = "text";
};

const char* const k_preflight_footer = R"(Examples:
  srun hpcml preflight                       one rank per task of the step
  ibrun hpcml preflight --site vista         the same where the site starts tasks with MPI's launcher
  srun --ntasks-per-node=1 hpcml preflight --nproc-per-node 8
  hpcml preflight --nproc-per-node 4         on this machine, without Slurm

Exit codes: 0 all well, 6 a rank is missing or a check failed (it is named), 5 it could not be run.)";

/// The site decides which launcher's variables make this process a task; nothing, with the exit code, if it
/// cannot be used.
std::optional<launch::LaunchRequest> load_request(const PreflightOptions& options, const Context& context,
                                                  int& exit_code) {
  launch::LaunchRequest request;
  if (options.site.empty()) return request;
  auto load = config::load_site(options.site, config::site_directories(context.sites_dirs, context.env));
  if (!load.site) {
    print_diagnostics(load.diagnostics, load.source, context.colour);
    exit_code = load.not_found ? k_usage : k_invalid_file;
    return std::nullopt;
  }
  request.site = std::move(load.site);
  return request;
}

std::vector<std::string> launch_words(const PreflightOptions& options, const launch::LaunchRequest& request,
                                      const Context& context, const launch::PreflightProgram& program) {
  std::vector<std::string> words = {util::own_executable().string()};
  for (const auto& directory : context.sites_dirs) words.insert(words.end(), {"--sites-dir", directory});
  words.emplace_back("launch");
  launch::RuntimeContext runtime;
  runtime.env = context.env;
  runtime.ancestors = launch::read_ancestors();
  const bool in_task = launch::in_task(request, runtime);
  const unsigned processes = options.processes != 0 ? options.processes : in_task ? 0 : 2;
  if (processes != 0) words.insert(words.end(), {"--nproc-per-node", std::to_string(processes)});
  if (!options.site.empty()) words.insert(words.end(), {"--site", options.site});
  words.emplace_back("--");
  words.insert(words.end(), program.words.begin(), program.words.end());
  words.insert(words.end(), {"preflight", "--backend", options.backend, "--timeout",
                             std::to_string(options.timeout_seconds)});
  if (!options.interface_name.empty()) words.insert(words.end(), {"--interface", options.interface_name});
  if (options.bytes != 0) words.insert(words.end(), {"--bytes", std::to_string(options.bytes)});
  return words;
}

void print_text(const preflight::PreflightResult& result, const Context& context) {
  print_output(result.table);
  // In a step every task runs this command; the one that names the culprit is enough.
  if (result.faulty_rank && result.speaks)
    print_error("preflight failed: " + *result.faulty_rank, "", context.colour);
}

/// What launch had to say about a run that went well: its warnings, not the ranks' own output.
void print_warnings(const std::string& text) {
  for (const auto& line : util::split(text, '\n'))
    if (line.starts_with("hpcml: warning: ") || line.starts_with("hpcml: hint: ")) print_line(line);
}

int run_preflight(const PreflightOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto request = load_request(options, context, exit_code);
  if (!request) return exit_code;
  const auto program = preflight::choose_preflight(util::own_executable().string(), {}, context.env);
  if (!program) {
    print_error(program.error(), context.colour);
    return k_world_failed;
  }
  const auto output = util::run_process(launch_words(options, *request, context, *program), context.env,
                                        launch::preflight_limit(options.timeout_seconds));
  if (!output) {
    print_error(output.error(), context.colour);
    return k_world_failed;
  }
  const auto result = preflight::read_preflight(output->out);
  // In a step every task runs this command; the one with rank 0 says it.
  if (!program->note.empty() && (result.first || result.events.empty())) print_note(program->note);
  if (options.format == "json")
    for (const auto& event : result.events) std::printf("%s\n", event.c_str());
  else
    print_text(result, context);
  if (output->exit_code == 0) {
    print_warnings(output->err);
    return k_ok;
  }
  if (result.faulty_rank) {
    if (!result.speaks && options.processes != 0)
      print_error("preflight failed: " + *result.faulty_rank, "", context.colour);
    return k_preflight_failed;
  }
  std::fputs(output->err.c_str(), stderr);
  print_error("the preflight could not be run: hpcml launch ended with code " +
                  std::to_string(output->exit_code),
              "its own message is above", context.colour);
  return k_world_failed;
}

} // namespace

void add_preflight(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand(
      "preflight", "Prove that the ranks meet, sum and exchange messages; name who does not.");
  const auto options = std::make_shared<PreflightOptions>();
  command
      ->add_option("--nproc-per-node", options->processes,
                   "start N ranks here (default: 1 in a task of srun or of the site's launcher, the task "
                   "itself; else 2)")
      ->type_name("N")
      ->check(CLI::Range(1U, 4096U));
  command->add_option("--backend", options->backend, "auto: NCCL if there are GPUs, else Gloo")
      ->check(CLI::IsMember({"auto", "nccl", "gloo"}));
  command
      ->add_option("--timeout", options->timeout_seconds, "how long the ranks wait for each other, per phase")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, 86400U));
  command
      ->add_option("--interface", options->interface_name,
                   "Gloo's network interface (default: the site's, then the way to rank 0)")
      ->type_name("NAME");
  command->add_option("--bytes", options->bytes, "size of the tensors")->type_name("N");
  command->add_option("--site", options->site, "this site's network settings, and its launcher's variables")
      ->type_name("SITE");
  command->add_option("--format", options->format, "text, or json: one event per line")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(k_preflight_footer);
  command->callback([options, &context, &exit_code] { exit_code = run_preflight(*options, context); });
}

} // namespace hpcml::cli
