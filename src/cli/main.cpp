// SPDX-License-Identifier: MIT
// Entry of the program: snapshots the world once and hands it to the command.
#include "cli/fill_descriptors.hpp"
#include "cli/hpcml_commands.hpp"
#include "core/util/env_snapshot.hpp"

int main(int argc, char** argv) {
  hpcml::cli::fill_closed_descriptors();
  return hpcml::cli::run(hpcml::cli::hpcml_program(), argc, argv, hpcml::util::EnvSnapshot::of_process());
}
