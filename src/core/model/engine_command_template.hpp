// SPDX-License-Identifier: MIT
// How engines of the table run a command in an image on the machine where one is, without Slurm and a job's
// script.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "core/model/container_engine.hpp"

namespace hpcml::model {

/// What is known of one.
struct EngineCommandTemplate {
  std::string_view program; ///< of a row in k_engines
  /// Its words before the command: IMAGE, DIR for a directory that is /mnt in there (every image has that,
  /// and not every engine makes one), PROGRAM where the command's program is among them.
  std::string_view words;
  bool runs_files = false; ///< images that are files or directories
  bool runs_names = false; ///< images by a registry's name
};

inline constexpr auto k_engine_command_templates = std::to_array<EngineCommandTemplate>({
    {"apptainer", "exec --bind DIR:/mnt IMAGE", true, true},
    {"singularity", "exec --bind DIR:/mnt IMAGE", true, true},
    {"ch-run", "--bind=DIR:/mnt IMAGE --", true, true},
    {"shifter", "--image=IMAGE --volume=DIR:/mnt", false, true},
    {"podman-hpc", "run --rm --volume=DIR:/mnt --entrypoint=PROGRAM IMAGE", false, true},
    {"podman", "run --rm --volume=DIR:/mnt --entrypoint=PROGRAM IMAGE", false, true},
});

static_assert(std::all_of(k_engine_command_templates.begin(), k_engine_command_templates.end(),
                          [](const EngineCommandTemplate& engine) {
                            return std::any_of(k_engines.begin(), k_engines.end(), [&](const EngineRow& row) {
                              return row.words.name == engine.program;
                            });
                          }));

} // namespace hpcml::model
