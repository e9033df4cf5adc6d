// SPDX-License-Identifier: MIT
// `hpcml checkpoint`: which checkpoint a training goes on from, for scripts and programs in any language.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "hpcml/ddp/latest_checkpoint.hpp"

namespace hpcml::cli {

namespace {

int run_latest(const std::string& folder, const Context& context) {
  std::error_code problem;
  const std::filesystem::directory_iterator there(folder, problem);
  if (problem) {
    print_error("cannot read " + folder + ": " + problem.message(), "name the folder of the checkpoints",
                context.colour);
    return k_world_failed;
  }
  const auto step = ddp::find_latest_checkpoint(folder);
  if (step >= 0) {
    std::printf("%s\n", ddp::checkpoint_path(folder, step).c_str());
    return k_ok;
  }
  std::fprintf(stderr, "hpcml: no whole checkpoint is in %s: nothing to go on from\n", folder.c_str());
  return k_findings;
}

const char* const k_checkpoint_footer =
    R"(Examples:
  hpcml checkpoint latest checkpoints)";

const char* const k_latest_footer =
    R"(A whole checkpoint is a folder step-N with a file `complete`: a first line "hpcml-checkpoint 1", then a line
"SIZE CRC32 NAME" for each other file, whose sizes must be these. What was left half has no such file, or files
of other sizes, and is passed over. Exit code 0: its path is printed; 1: there is none; 5: FOLDER cannot be read.

Examples:
  hpcml checkpoint latest checkpoints
  hpcml checkpoint latest "$HPCML_CHECKPOINT_DIR")";

} // namespace

void add_checkpoint(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("checkpoint", "Say which checkpoint a training goes on from.");
  command->require_subcommand(1);
  command->footer(k_checkpoint_footer);
  auto* latest = command->add_subcommand("latest", "Print the newest whole checkpoint of a folder.");
  const auto folder = std::make_shared<std::string>();
  latest->add_option("FOLDER", *folder, "where save_checkpoint, or a program by the same rule, writes")
      ->required();
  latest->footer(k_latest_footer);
  latest->callback([folder, &context, &exit_code] { exit_code = run_latest(*folder, context); });
}

} // namespace hpcml::cli
