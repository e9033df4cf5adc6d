// SPDX-License-Identifier: MIT
// Programs and images among words that only the running job knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/launch_chain/programs.hpp"
#include "core/shell/value.hpp"

namespace hpcml::launch_chain {

/// The words of a command.
using Arguments = std::vector<shell::Argument>;

/// Whether the list, whose words are between spaces, holds this one.
bool has_word(std::string_view list, const std::string& word);

/// Whether a word can only be an image: "img.sif", "docker://a/b".
bool is_image_name(std::string_view text);

/// The name under which a program is known that has several: "orterun" and "mpirun.openmpi" are mpirun,
/// "accelerate-launch" is accelerate; empty for other names.
std::string_view usual_name(std::string_view program);
/// Whether the program's name has its subcommand in it: "accelerate-launch".
bool has_subcommand_in_name(const model::ProgramSyntax& wrapper, std::string_view program);

/// Whether the program is Python: "python", "/usr/bin/python3.11", "python3.13t".
bool is_python(std::string_view program);

/// Whether Python runs the program: "python3", "train.py".
bool is_run_by_python(std::string_view program);

/// A program's name without its directory; "python3.11" is python.
std::string program_name(const shell::Argument& word);

/// Returns the index of the program among the words of an agent whose options are all known, if words of
/// unknown number are before it: the last of them before an option that is not the agent's, or the one with
/// the name of a program. Returns npos if a plain word shows it, or nothing does.
std::size_t find_unknown_program(const Arguments& words, std::size_t at, const model::ProgramSyntax& wrapper);

/// Which word of an engine is its image, where only the running job knows it: `singularity exec $OPTIONS
/// $IMAGE python`. npos where a plain word can be the image.
std::size_t find_unknown_image(const Arguments& words, std::size_t at, const model::ProgramSyntax& wrapper);

} // namespace hpcml::launch_chain
