// SPDX-License-Identifier: MIT
// The commands of `hpcml internal`, as cli/command.hpp describes commands.
#pragma once

#include "cli/command.hpp"

namespace hpcml::cli {

void add_batch(CLI::App& app, Context& context, int& exit_code);
void add_stage(CLI::App& app, Context& context, int& exit_code);
void add_job_secret(CLI::App& app, Context& context, int& exit_code);
void add_store_serve(CLI::App& app, Context& context, int& exit_code);
void add_bad_nodes(CLI::App& app, Context& context, int& exit_code);
void add_healthy_nodes(CLI::App& app, Context& context, int& exit_code);

} // namespace hpcml::cli
