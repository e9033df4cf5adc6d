// SPDX-License-Identifier: MIT
// Files compiled into the binary by cmake/embed.cmake (site profiles, templates).
#pragma once

#include <span>
#include <string_view>

namespace hpcml::embedded {

/// One file.
struct EmbeddedFile {
  std::string_view name; ///< relative to its directory, for example "lumi.json"
  std::string_view text;
};

std::span<const EmbeddedFile> site_files(); ///< sites/*.json
/// What is kept of those, worked out when the program was built: cli/site_rows.hpp reads it. Of the command
/// line only: the program that writes it has all below.
std::string_view site_rows();
/// The sites with the profiles that they extend: spec/site_store.hpp reads it. Of the command line only as
/// well.
std::span<const EmbeddedFile> merged_sites();
std::span<const EmbeddedFile> template_files();   ///< templates/*.mustache
std::span<const EmbeddedFile> stand_in_files();   ///< src/emulate/stand_ins/*
std::span<const EmbeddedFile> slurm_options();    ///< src/emulate/slurm_configure.txt
std::span<const EmbeddedFile> completion_files(); ///< src/cli/completion/*: "hpcml.bash" and the like

} // namespace hpcml::embedded
