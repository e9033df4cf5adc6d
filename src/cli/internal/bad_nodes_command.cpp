// SPDX-License-Identifier: MIT
// `hpcml internal bad-nodes`: which nodes the next start of a job excludes, as hpcml internal batch does it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>

#include "cli/help/command_help.hpp"
#include "cli/internal/internal_commands.hpp"
#include "core/model/hostlist.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/input_file.hpp"
#include "core/util/text.hpp"
#include "run/batch/job_nodes.hpp"

namespace hpcml::cli {

namespace {

struct BadNodesOptions {
  std::string file;
  std::string job;
  std::string on;
};

int run_bad_nodes(const BadNodesOptions& options, const Context& context) {
  const auto text = util::read_input(options.file, {node_health::k_bad_nodes_limit});
  if (!text) {
    print_error(text.error(), context.colour);
    return k_world_failed;
  }
  const auto bad = node_health::parse_bad_nodes(*text);
  if (bad.empty()) return k_ok;
  const slurm::LiveCommands commands(context.env);
  const auto exclusion = batch::find_exclusion(commands, options.job, bad);
  if (!exclusion) {
    print_error(
        fmt::format("cannot exclude the faulty nodes of job {}: {}", options.job, exclusion.error().what),
        exclusion.error().hint.empty()
            ? fmt::format("run scontrol show job {} to check whether Slurm answers", options.job)
            : exclusion.error().hint,
        context.colour);
    return k_world_failed;
  }
  if (!options.on.empty() && !batch::concerns(options.on, *exclusion)) return k_ok;
  for (const auto& line : exclusion->words) print_note(line);
  if (!exclusion->exclude.empty()) std::printf("%s\n", model::compress_hostlist(exclusion->exclude).c_str());
  return k_ok;
}

constexpr CommandHelp k_bad_nodes_help = {
    .summary = "Print the nodes that the next start of a job excludes",
    .examples = "hpcml internal bad-nodes --job 4711 checkpoints/4711/bad-nodes",
    .notes =
        R"('hpcml internal batch' names FILE in HPCML_BAD_NODES, and 'hpcml launch' writes to it: a line per node,
its name and the reason. The output is the job's exclude list with these nodes added, or nothing if it has
them already. The reasons go to standard error. Nodes of --nodelist are never excluded, nor are nodes that
the job needs to fit its partition.)",
};

} // namespace

void add_bad_nodes(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "bad-nodes", k_bad_nodes_help);
  const auto options = std::make_shared<BadNodesOptions>();
  command->add_option("FILE", options->file, "File with a faulty node and a reason on each line")->required();
  command->add_option("--job", options->job, "Number of the job or array task: 4711, 4711_3")
      ->type_name("JOB")
      ->required();
  command->add_option("--on", options->on, "Print only if one of these nodes is to be excluded: n[1-4]")
      ->type_name("NODES");
  command->callback([options, &context, &exit_code] { exit_code = run_bad_nodes(*options, context); });
}

} // namespace hpcml::cli
