// SPDX-License-Identifier: MIT
// hpcml torchrun: a line of torch's torchrun, obeyed by our agent.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

#include "cli/app_tree.hpp"
#include "cli/command.hpp"
#include "cli/help/help_page.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/parse_error.hpp"
#include "cli/runtime_context.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/agent/agent.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/torchrun/torchrun_page.hpp"
#include "run/torchrun/torchrun_request.hpp"
#include "run/torchrun/torchrun_rows.hpp"

namespace hpcml::cli {

namespace {

constexpr CommandHelp k_torchrun_help = {
    .summary = "Start ranks with torchrun's options, without PyTorch",
    .examples = R"(# Four ranks on this machine
hpcml torchrun --nproc-per-node 4 train.py --epochs 3
# In a job: two nodes, one rank per GPU
srun --ntasks-per-node=1 hpcml torchrun --nnodes 2 --nproc-per-node gpu \
    train.py)",
    .notes =
        R"(Accepts all options of torch 2.13's torchrun. A link to hpcml with the name torchrun is this command.

Options can be written with underscores and shortened if they stay unique. PET_NAME sets an option that
is not on the command line (PET_NNODES=2). PYTHON_EXEC is the Python of the script. ${local_rank} in its
arguments is replaced. TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE is the prefix of lines of --tee.

Exit codes: that of the rank that failed first (128 + signal), 2 invalid command line, 125 the ranks
could not be set up, 126 the program cannot be executed, 127 it was not found.)",
    .common = "--nnodes --nproc-per-node --rdzv-backend --rdzv-endpoint --rdzv-id --standalone "
              "--max-restarts --module "
              "--no-python --log-dir --redirects --tee --node-rank --master-addr --master-port",
    .usage = "[OPTIONS] SCRIPT [ARGS]...",
};

/// Registers an option for help, completion and the manual page. torchrun's own rules read it.
void show_flag(CLI::App& command, const torchrun::TorchrunFlag& flag, const char* group) {
  const auto names =
      (flag.letter != 0 ? std::string("-") + flag.letter + "," : "") + torchrun::dashed_name(flag);
  auto text = std::string(flag.help);
  if (flag.treatment == torchrun::FlagSupport::refused) text += " (not supported)";
  if (flag.is_switch()) {
    command
        .add_flag_callback(
            names, [] {}, text)
        ->group(group);
    return;
  }
  auto* option = command.add_option_function<std::string>(
      names, [](const std::string& /*value*/) {}, text);
  option->default_str(std::string(flag.fallback))->group(group);
  const auto is_closed = std::none_of(flag.value.begin(), flag.value.end(),
                                      [](unsigned char c) { return std::isupper(c) != 0; });
  option->type_name(is_closed ? "NAME" : std::string(flag.value));
  if (is_closed) option->check(values_shown(util::split(flag.value, '|')));
}

void print_torchrun_help(const Context& context, bool is_full) {
  with_app_tree(context, {"torchrun"}, [&](const CLI::App& app, const Context&) {
    std::cout << render_help(*app.get_subcommand("torchrun"), is_full ? HelpLength::full : HelpLength::common,
                             help_columns(context.env));
  });
}

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
      fmt::format("cannot create a directory for the ranks' logs in '{}': {}", base, std::strerror(errno)),
      "use --log-dir DIR, or set TMPDIR to another directory"};
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
        "the log files of -r, -t and the filters are written to {}\nhint: use --log-dir DIR for another "
        "directory",
        request.log_directory));
  }
  for (const auto& note : plan->notes) util::log_info(note);
  return agent::run_agent(request, runtime);
}

} // namespace

int run_torchrun(const Context& context, const std::vector<std::string>& words) {
  const auto line = torchrun::read_torchrun_line(words, context.env);
  switch (line.output) {
  case torchrun::TorchrunParseResult::Output::help:
    print_torchrun_help(context, util::contains(words, std::string("--help")));
    return k_ok;
  case torchrun::TorchrunParseResult::Output::table:
    std::cout << torchrun::render_torchrun_table();
    return k_ok;
  case torchrun::TorchrunParseResult::Output::ranks: break;
  }
  if (line.errors.empty()) return run_request(line.request, context);
  const int code = refuse(context, line.errors);
  with_app_tree(context, {"torchrun"}, [](const CLI::App& app, const Context& tree_context) {
    print_usage(*app.get_subcommand("torchrun"), tree_context);
  });
  return code;
}

void add_torchrun(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "torchrun", k_torchrun_help);
  command->prefix_command();
  command->fallthrough(false);
  if (!context.every_flag) {
    command->set_help_flag(); // read with torchrun's options
  } else {
    for (const auto& flag : torchrun::torchrun_flags()) show_flag(*command, flag, "Options");
    for (const auto& flag : torchrun::flags_of_old_launch())
      show_flag(*command, flag, "Options of torch.distributed.launch");
  }
  command->callback([&context, &exit_code] {
    const auto& words = context.argv;
    const auto name = std::find(words.begin(), words.end(), "torchrun");
    exit_code = run_torchrun(context, {name + 1, words.end()});
    if (exit_code != k_ok) launch::wait_for_output_flush(context.env);
  });
}

} // namespace hpcml::cli
