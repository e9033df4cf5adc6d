// SPDX-License-Identifier: MIT
// `hpcml internal stage`: copies data to the nodes' own disks, and makes environments there.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/help/command_help.hpp"
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

constexpr CommandHelp k_stage_help = {
    .summary = "Copy data and environments to the disk of each node",
    .examples = "hpcml internal stage /project/me/data /project/me/labels.csv\n"
                "hpcml internal stage --unpack /project/me/env.tar.gz",
    .notes =
        R"(A generated script calls it before its step. The directory is $HPCML_STAGE on each node's own disk,
which 'hpcml internal batch --stage' sets and removes at the end. Fails if the directory exists.)",
};

} // namespace

void add_stage(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "stage", k_stage_help);
  const auto request = std::make_shared<batch::StageRequest>();
  command->add_option("PATH", request->sources, "File or directory to copy to $HPCML_STAGE/NAME")
      ->type_name("");
  command->add_option("--unpack", request->archive, "Packed environment to unpack in $HPCML_STAGE/env")
      ->type_name("FILE");
  command
      ->add_option("--wheel", request->wheels,
                   "Wheel of the site to install in $HPCML_STAGE/env (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--requirements", request->requirements, "Install the wheels that this file lists")
      ->type_name("FILE");
  command->add_option("--node-launcher", request->node_launcher, "Command that starts one task on each node")
      ->type_name("COMMAND")
      ->capture_default_str();
  command->callback([request, &context, &exit_code] { exit_code = run_stage(*request, context); });
}

} // namespace hpcml::cli
