// SPDX-License-Identifier: MIT
// The container image in which a chain runs its program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chain/launches.hpp"
#include "model/container_engine.hpp"

namespace hpcml::chain {

/// The word that names an image, and the engine that runs it.
struct NamedImage {
  const shell::Argument* word = nullptr;    ///< never null; belongs to the launch
  const model::EngineRow* engine = nullptr; ///< null if the program is not a known engine
  bool by_option = false; ///< an option of srun or of the engine names it, not an operand
};

/// The image of a launch; empty if it enters none or does not show which.
std::optional<NamedImage> find_image(const Launch& launch);
/// The image that the words of a command enter: "img.sif" of `singularity exec img.sif python train.py`.
std::optional<std::string> find_started_image(const std::vector<std::string>& command);

} // namespace hpcml::chain
