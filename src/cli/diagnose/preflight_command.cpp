// SPDX-License-Identifier: MIT
// hpcml preflight: do the ranks find each other, sum right and exchange messages? Runs the helper through
// `hpcml launch`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "diagnose/preflight/preflight_program.hpp"
#include "diagnose/preflight/preflight_report.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/task_place.hpp"

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

constexpr CommandHelp k_preflight_help = {
    .summary = "Test communication between ranks; report faulty ranks",
    .examples = R"(# In a job, one rank per task
srun hpcml preflight
# In a job, eight ranks per node
srun --ntasks-per-node=1 hpcml preflight --nproc-per-node 8
# On this machine, without Slurm
hpcml preflight --nproc-per-node 4)",
    .notes = R"(Exit codes:
  0  all checks passed
  5  the checks could not be run
  6  a rank is missing or a check failed; the message names the rank)",
};

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
  // In a step every task runs this command; the report of the task that names the faulty rank is enough.
  if (result.faulty_rank && result.speaks)
    print_error(fmt::format("preflight failed: {}", *result.faulty_rank), "", context.colour);
}

/// Prints the warnings of launch after a successful run, without the ranks' own output.
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
  // In a step every task runs this command; the one with rank 0 prints the note.
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
      print_error(fmt::format("preflight failed: {}", *result.faulty_rank), "", context.colour);
    return k_preflight_failed;
  }
  std::fputs(output->err.c_str(), stderr);
  print_error(
      fmt::format("the preflight could not be run: hpcml launch exited with code {}", output->exit_code),
      "check the message of hpcml launch above", context.colour);
  return k_world_failed;
}

} // namespace

void add_preflight(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "preflight", k_preflight_help);
  const auto options = std::make_shared<PreflightOptions>();
  command->add_option("--nproc-per-node", options->processes, "Start N ranks on this node")
      ->type_name("N")
      ->check(whole_number(1, 4096))
      ->default_str("1 per task in a step, else 2");
  command->add_option("--backend", options->backend, "Backend to test; auto is nccl with GPUs, else gloo")
      ->type_name("NAME")
      ->check(one_of(model::words_of<model::Backend>()))
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_seconds, "Time that ranks wait for each other, per phase")
      ->type_name("SECONDS")
      ->check(whole_number(1, 86400))
      ->capture_default_str();
  command->add_option("--interface", options->interface_name, "Network interface for Gloo")
      ->type_name("NAME")
      ->default_str("the site's, else by route");
  command->add_option("--bytes", options->bytes, "Size of the tensors in bytes")
      ->type_name("N")
      ->check(whole_number(1, 1ULL << 40U))
      ->default_str("by backend");
  command->add_option("--site", options->site, "Use the network settings and launcher of this site")
      ->type_name("SITE");
  add_format(*command, options->format, {"text", "json"}, "Output format; json has one event per line");
  command->callback([options, &context, &exit_code] { exit_code = run_preflight(*options, context); });
}

} // namespace hpcml::cli
