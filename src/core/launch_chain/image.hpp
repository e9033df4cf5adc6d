// SPDX-License-Identifier: MIT
// The container image in which a chain runs its program, and the engine that a command starts for it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/launch_chain/launches.hpp"
#include "core/model/container_engine.hpp"

namespace hpcml::launch_chain {

/// The word that names an image, and the engine that runs it.
struct NamedImage {
  const shell::Argument* word = nullptr;    ///< never null; belongs to the launch
  const model::EngineRow* engine = nullptr; ///< null if the program is not a known engine
  bool by_option = false;                   ///< an option of srun or of the engine names it, not an operand
};

/// The image of a launch; empty if it enters none or does not show which.
std::optional<NamedImage> find_image(const Launch& launch);

/// What the words of a command show of the image that it enters, also after `env` and in the text of a
/// `bash -c`.
struct StartedContainer {
  const model::EngineRow* engine = nullptr; ///< null if its program is not a known engine
  std::string image; ///< "img.sif" of `singularity exec img.sif python train.py`; empty if not shown
  /// The options of the engine's program in order, without dashes, and their values.
  std::vector<std::pair<std::string, std::optional<std::string>>> options = {};
};

/// The first container that the command starts; empty if its words show none.
std::optional<StartedContainer> find_started_container(const std::vector<std::string>& command);

} // namespace hpcml::launch_chain
