// SPDX-License-Identifier: MIT
// What runs images on a cluster.
#pragma once

#include <array>

#include "model/words.hpp"

namespace hpcml::model {

/// What runs images. Singularity and Apptainer stand before the command, the others work by options of Slurm.
enum class ContainerEngine { singularity, apptainer, shifter, pyxis, edf, uenv };

template <>
inline constexpr std::array<Word<ContainerEngine>, 6> k_words<ContainerEngine> = {
    {{"singularity", ContainerEngine::singularity},
     {"apptainer", ContainerEngine::apptainer},
     {"shifter", ContainerEngine::shifter},
     {"pyxis", ContainerEngine::pyxis},
     {"edf", ContainerEngine::edf},
     {"uenv", ContainerEngine::uenv}}};

/// Whether an image starts by options of Slurm, not by a program before the command.
constexpr bool works_by_slurm(ContainerEngine engine) {
  return engine != ContainerEngine::singularity && engine != ContainerEngine::apptainer;
}

/// Whether the host's own files and programs stay there: a uenv lies beside them, the others replace them.
constexpr bool keeps_host(ContainerEngine engine) { return engine == ContainerEngine::uenv; }

} // namespace hpcml::model
