// SPDX-License-Identifier: MIT
// conda activate in a shell that conda was never added to.
#include <algorithm>
#include <array>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_conda_activate {

/// Whether a function of the login shell that sites have next to `module` ("uenv", "use", "setpkgs") may
/// bring conda: conda is among its arguments.
bool may_bring_conda(const shell::Command& command) {
  static constexpr std::array<std::string_view, 13> k_others = {
      "[", "[[", "cd", "conda", "echo", "export", "ls", "mkdir", "printf", "rm", "test", "type", "which"};
  const auto program = command.words[*command.program].text();
  if (program.find('/') != std::string::npos || // a program changes nothing in this shell
      std::binary_search(k_others.begin(), k_others.end(), std::string_view(program)))
    return false;
  const auto is_initialisation = [](const std::string& word) {
    const auto text = util::to_lower(word);
    return text.find("conda") != std::string::npos || text.find("mamba") != std::string::npos ||
           text.find("miniforge") != std::string::npos;
  };
  const auto words = command.arguments();
  return is_initialisation(program) || std::any_of(words.begin(), words.end(), [&](const auto& word) {
           return is_initialisation(word.text());
         });
}

/// True if the command is `module` with a subcommand that brings no function to this shell: it loads only
/// compilers, MPI and libraries of GPUs, or loads nothing.
bool is_module_without_conda(const shell::Command& command) {
  static constexpr std::array<std::string_view, 16> k_modules = {
      "aocc", "cmake", "cuda",    "cudatoolkit", "cudnn", "gcc",    "gcccore", "gdrcopy",
      "git",  "intel", "mvapich", "nccl",        "nvhpc", "nvidia", "openmpi", "ucx"};
  static constexpr std::array<std::string_view, 5> k_subcommands = {"avail", "list", "purge", "reset",
                                                                    "unload"};
  const auto words = command.arguments();
  if (command.name() != "module" || words.empty() || !words[0].known()) return false;
  const auto subcommand = words[0].text();
  if (util::contains(k_subcommands, subcommand)) return true;
  return subcommand == "load" && std::all_of(words.begin() + 1, words.end(), [](const auto& word) {
           const auto text = util::to_lower(word.text());
           const auto name = std::string_view(text).substr(0, text.find_first_of("/-"));
           return word.known() && std::binary_search(k_modules.begin(), k_modules.end(), name);
         });
}

/// Whatever may have brought the function: a file that is read, eval, a module, an unknown program, a
/// function of the script's own.
bool may_bring_function(const shell::Command& command) {
  const auto name = command.name();
  if (!name || command.calls_function) return true;
  if (is_module_without_conda(command)) return false;
  return *name == "source" || *name == "." || *name == "eval" || *name == "module" || *name == "ml" ||
         *name == "spack" || may_bring_conda(command);
}

/// Reports the directory of the active environment, where conda's own is meant.
void find_prefix(const LintContext& subject, RuleMatches& hits) {
  if (!std::binary_search(subject.names.begin(), subject.names.end(), std::string_view("CONDA_PREFIX")))
    return;
  for (const std::string_view path :
       {"$CONDA_PREFIX/etc/profile.d/conda.sh", "${CONDA_PREFIX}/etc/profile.d/conda.sh"}) {
    const auto at = subject.text.find(path);
    if (at == std::string_view::npos || is_in_comment(subject.text, at)) continue;
    hits.add(
        {{at, path.size()},
         "CONDA_PREFIX is the active environment: only the base environment has this file, and a batch job "
         "may have none",
         "use $(conda info --base)/etc/profile.d/conda.sh",
         {},
         diag::Severity::note});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_prefix(subject, hits);
  const auto shebang = shebang_line(subject.text);
  if (shebang.find("bash") == std::string_view::npos || shebang.find(" -l") != std::string_view::npos ||
      shebang.find(" -i") != std::string_view::npos || shebang.find("--login") != std::string_view::npos)
    return hits;
  if (!subject.listing.complete || !subject.unread.empty()) return hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (command.context.trap) continue; // it has not run yet
    if (may_bring_function(command)) return hits;
    if (*name != "conda" || command.parent || command.context.uncalled) continue;
    const auto words = command.arguments();
    if (words.empty() || words[0].text() != "activate") continue;
    hits.push_back({command.place, "this shell has no conda activate",
                    "add before it: source \"$(conda info --base)/etc/profile.d/conda.sh\", or eval "
                    "\"$(conda shell.bash hook)\""});
    return hits;
  }
  return hits;
}

} // namespace safety_conda_activate

Rule rule_safety_conda_activate() {
  using namespace safety_conda_activate;
  return {
      .id = "safety/conda-activate",
      .severity = diag::Severity::warning,
      .title = "conda activate in a shell without conda",
      .why =
          "conda activate is a shell function that conda init puts into ~/.bashrc, which a batch script does "
          "not read: \"Your shell has not been properly configured to use 'conda activate'\", and the job "
          "continues with another python.",
      .link = "https://docs.conda.io/projects/conda/en/latest/dev-guide/deep-dives/activation.html",
      .bad = {R"(#!/bin/bash
conda activate x
srun python a.py
)"},
      .good = {R"(#!/bin/bash -l
conda activate x
)"},
      .find = find,
  };
}

} // namespace hpcml::check
