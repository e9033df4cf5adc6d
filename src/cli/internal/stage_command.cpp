// SPDX-License-Identifier: MIT
// `hpcml internal stage`: copies data to the nodes' own disks, and makes environments there.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/internal/internal_commands.hpp"
#include "run/batch/node_files.hpp"

namespace hpcml::cli {

namespace {

int run_stage(const batch::StageRequest& request, const Context& context) {
  const auto staged = batch::stage_files(request, context.env);
  if (staged) return k_ok;
  print_error(staged.error(), context.colour);
  return k_world_failed;
}

const char* const k_stage_footer =
    R"(A generated script calls it before its step. The directory is $HPCML_STAGE on each node's own disk, which hpcml
internal batch --stage sets and removes at the end. Fails if the directory exists.

Examples:
  hpcml internal stage /project/me/data /project/me/labels.csv
  hpcml internal stage --unpack /project/me/env.tar.gz)";

} // namespace

void add_stage(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("stage", "Copy data and environments to each node's own disk.");
  const auto request = std::make_shared<batch::StageRequest>();
  command->add_option("PATH", request->sources, "file or directory to copy to $HPCML_STAGE/NAME");
  command->add_option("--unpack", request->archive, "packed environment to unpack in $HPCML_STAGE/env");
  command
      ->add_option("--wheel", request->wheels,
                   "package of the site's wheels to install in $HPCML_STAGE/env; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--requirements", request->requirements, "file with such packages");
  command->add_option("--node-launcher", request->node_launcher,
                      "command that starts one task on each node [default: srun]");
  command->footer(k_stage_footer);
  command->callback([request, &context, &exit_code] { exit_code = run_stage(*request, context); });
}

} // namespace hpcml::cli
