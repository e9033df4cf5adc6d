// SPDX-License-Identifier: MIT
// hpcml torchrun: a line of torch's torchrun, obeyed by our agent.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/runtime_context.hpp"
#include "core/util/log.hpp"
#include "run/agent/agent.hpp"
#include "run/launch/failure.hpp"
#include "run/torchrun/torchrun_page.hpp"
#include "run/torchrun/torchrun_request.hpp"

namespace hpcml::cli {

namespace {

int refuse(const Context& context, const std::vector<util::Error>& errors) {
  for (const auto& error : errors) print_error(error, context.colour);
  return k_usage;
}

/// Creates the directory that torchrun uses for log files without --log-dir.
util::Result<std::string> make_log_directory(const util::EnvSnapshot& env) {
  const auto base = env.get_or("TMPDIR", "/tmp");
  std::string path = std::filesystem::path(base) / "torchelastic_XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  return util::Error{
      fmt::format("cannot create a directory for the logs in '{}': {}", base, std::strerror(errno)),
      "set --log-dir to another directory"};
}

int run_request(const torchrun::TorchrunRequest& line, const Context& context) {
  auto runtime = runtime_context_of(context);
  runtime.env = torchrun::without_rank_variables(runtime.env);
  runtime.env.set("TORCHELASTIC_SIGNALS_TO_HANDLE", line.signals_to_handle);
  auto plan = torchrun::plan_torchrun(line, torchrun::read_torchrun_node(runtime), runtime.env);
  if (!plan) return refuse(context, {plan.error()});
  auto& request = plan->request;
  auto command = torchrun::find_torchrun_command(line, runtime.env, context.argv.front());
  if (!command)
    return launch::report_failure({k_cannot_set_up, "command", command.error(), {}, runtime.host},
                                  runtime.env);
  request.launch.command = std::move(*command);
  if (plan->needs_directory) {
    auto directory = make_log_directory(runtime.env);
    if (!directory)
      return launch::report_failure({k_cannot_set_up, "log", directory.error(), {}, runtime.host},
                                    runtime.env);
    request.log_directory = std::move(*directory);
    plan->notes.push_back(fmt::format(
        "the files of -r, -t and the filters are in {}\nhint: set --log-dir for another directory",
        request.log_directory));
  }
  for (const auto& note : plan->notes) util::log_info(note);
  return agent::run_agent(request, runtime);
}

} // namespace

int run_torchrun(const Context& context, const std::vector<std::string>& words) {
  const auto line = torchrun::read_torchrun_line(words, context.env);
  switch (line.asks) {
  case torchrun::TorchrunLine::Asks::help: std::cout << torchrun::render_torchrun_help(); return k_ok;
  case torchrun::TorchrunLine::Asks::table: std::cout << torchrun::render_torchrun_table(); return k_ok;
  case torchrun::TorchrunLine::Asks::ranks: break;
  }
  return line.errors.empty() ? run_request(line.request, context) : refuse(context, line.errors);
}

void add_torchrun(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand(
      "torchrun", "Start the ranks of this node as torch's torchrun does, with its flags and without torch.");
  command->prefix_command();
  command->fallthrough(false);
  command->set_help_flag(); // its help is that of the flags that are read here
  command->callback([&context, &exit_code] {
    const auto& words = context.argv;
    const auto name = std::find(words.begin(), words.end(), "torchrun");
    exit_code = run_torchrun(context, {name + 1, words.end()});
    if (exit_code != k_ok) launch::wait_for_output_flush(context.env);
  });
}

} // namespace hpcml::cli
