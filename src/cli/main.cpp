// SPDX-License-Identifier: MIT
// Entry of the program: snapshots the world once and hands it to the command.
#include "cli/app.hpp"
#include "util/env_snapshot.hpp"

int main(int argc, char** argv) {
  return hpcml::cli::run(argc, argv, hpcml::util::EnvSnapshot::of_process());
}
