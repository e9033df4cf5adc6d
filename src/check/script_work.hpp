// SPDX-License-Identifier: MIT
// The commands of a script: which do the job's work, what happens if one before them fails, and whether all
// variables are visible.
#pragma once

#include <string_view>

#include "check/subject.hpp"

namespace hpcml::check {

/// The name of the command's program without its directory; empty where it is not known. Faster than name().
std::string_view program_name(const shell::Command& command);
/// True if the command's program has this name, also after a directory; faster than its name().
bool is_program(const shell::Command& command, std::string_view name);
/// True if the launch does the job's work: a python program, a launcher, a container or a step of these.
bool does_work(const Launch& launch);
/// The first launch that does the job's work; nothing where none does.
const Launch* first_work(const LintContext& subject);
/// True if a list handles the exit code of the command: "cd run || exit 1".
bool is_in_list(const LintContext& subject, const shell::Command& command);
/// True if variables come from what is not visible: a file of settings, text that is evaluated, names that
/// are made up.
bool has_hidden_assignments(const LintContext& subject);

} // namespace hpcml::check
