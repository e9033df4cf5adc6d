// SPDX-License-Identifier: MIT
// The program hpcml-emulate: `hpcml emulate` alone. Its lines may name the command or not.
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/fill_descriptors.hpp"
#include "core/util/env_snapshot.hpp"

namespace {

constexpr hpcml::cli::CommandEntry k_commands[] = {{"emulate", "Commands", hpcml::cli::add_emulate}};

std::optional<int> run_special_line(const hpcml::cli::Context&) { return std::nullopt; }

} // namespace

int main(int argc, char** argv) {
  hpcml::cli::fill_closed_descriptors();
  std::vector<char*> words(argv, argv + argc);
  std::string command = "emulate", help = "--help";
  if (argc < 2 || (argv[1] != command && argv[1] != std::string_view("--version")))
    words.insert(words.begin() + (argc > 0 ? 1 : 0), command.data());
  if (argc < 2) words.push_back(help.data());
  return hpcml::cli::run({k_commands, {"Rehearse Slurm jobs", "hpcml-emulate job.sh"}, run_special_line},
                         static_cast<int>(words.size()), words.data(),
                         hpcml::util::EnvSnapshot::of_process());
}
