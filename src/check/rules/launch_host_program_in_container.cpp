// SPDX-License-Identifier: MIT
// Programs of the host called inside an image: module and srun.
#include "check/launch_facts.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace launch_host_program_in_container {

/// True if a file that the container's shell reads shows that the host's software is mounted: its path is not
/// one of an image ("/share/apps/anaconda3/etc/profile.d/conda.sh").
bool is_of_host(const shell::Command& source) {
  const auto words = source.arguments();
  if (words.empty()) return false;
  const auto path = words[0].text();
  return path[0] == '/' && path.find("/bin/activate") == std::string::npos;
}

/// Whether something in the container's shell before this command may have brought `module`: a file that is
/// read, or what cannot be seen; or the host's software is seen to be in the image.
bool may_be_brought(const LintContext& subject, const shell::Command& module) {
  bool before = true;
  for (const auto& command : subject.listing.commands) {
    before = before && &command != &module;
    if (command.parent != module.parent || &command == &module) continue;
    const auto name = command.name();
    const bool reads_file = name && (*name == "source" || *name == ".");
    if (before && (!name || reads_file || *name == "eval")) return true;
    if (reads_file && is_of_host(command)) return true;
  }
  return false;
}

/// Whether Slurm of the host, its files or munge's socket, is bound into the image.
bool binds_slurm(const Launch& launch, const Link& container) {
  const auto is_python_path = [](const shell::Argument& word) {
    const auto text = word.text();
    return text.find("slurm") != std::string::npos || text.find("munge") != std::string::npos ||
           text.find("srun") != std::string::npos || !word.known();
  };
  for (const auto& option : container.options)
    if (option.value && option.name != "env" && is_python_path(*option.value)) return true;
  for (const auto& name : model::engine_variables({"_BIND", "_BINDPATH"}))
    if (const auto* value = launch.variable(name); value && is_python_path(*value)) return true;
  return false;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  std::optional<std::size_t> reported_shell; // one finding per shell: its further modules have the same cause
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    if (!container) continue;
    const auto& last = launch.last();
    const auto parent = launch.command->parent;
    if ((last.program == "module" || last.program == "ml") && (!parent || parent != reported_shell) &&
        !may_be_brought(subject, *launch.command)) {
      reported_shell = parent;
      add_match(hits, {last.place,
                       "modules belong to the host: the image has neither the command nor what it loads",
                       "add module load before the container starts, or use the software of the image"});
    }
    const auto* srun = launch.find("srun");
    if (srun && srun > container && !binds_slurm(launch, *container))
      add_match(hits, {srun->place, "srun inside the image: it has no Slurm, or another version",
                       fmt::format("use srun to start the container: srun {} exec …", container->program)});
  }
  return hits;
}

} // namespace launch_host_program_in_container

Rule rule_launch_host_program_in_container() {
  using namespace launch_host_program_in_container;
  return {
      .id = "launch/host-program-in-container",
      .severity = diag::Severity::warning,
      .title = "module or srun inside a container",
      .why =
          "An image has its own file system. The host's module command and Slurm's programs are not in it: "
          "\"module: command not found\", \"srun: not found\".",
      .link = "https://apptainer.org/docs/user/main/mpi.html",
      .bad = {R"(#!/bin/bash
srun singularity exec x.sif bash -c 'module load pytorch; python t.py'
)"},
      .good = {R"(#!/bin/bash
module load singularity
srun singularity exec x.sif python t.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
