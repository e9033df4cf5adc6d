// SPDX-License-Identifier: MIT
// The commands of an existing script that is written again for another site.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcml::model {

/// A program that the old script started on the job's nodes.
struct ImportedLaunch {
  std::vector<std::string> command; ///< its words; what only bash can expand is in them as written
  std::vector<std::string> source;  ///< the same words as the script wrote them, for the shell: the only text
                                    ///< of a user that a script takes over unquoted
  bool once = false;                ///< one process on the first node
  bool per_node = false;            ///< one process on each node
  bool on_host = false;             ///< outside the image in which the others run
  /// Of the torchrun or accelerate that stays, where this launch has others than the body's, as shell text.
  std::optional<std::vector<std::string>> agent_options = {};
  std::vector<std::string> step_options = {}; ///< of the old srun that every srun knows, as shell text
  std::string image = {}; ///< of the program, as shell text where only the running job knows its whole name
  std::vector<std::string> image_options = {}; ///< binds and settings of the image, as shell text
};

/// Text of the script unchanged, then a launch (its `command` empty: none).
struct ImportedPiece {
  std::string text;
  ImportedLaunch launch;
};

/// What is after the header of the old script, without what the new one does itself.
struct ImportedBody {
  std::string file;
  std::vector<ImportedPiece> pieces;
  std::vector<std::string> modules = {}; ///< that its text loads
  bool own_environment = false;          ///< the script activates one: the site's own is not put next to it
  bool sources_settings = false;  ///< it sources files that may set variables with a default, such as caches
  bool may_set_up_python = false; ///< its commands may, or a launch names its Python or its image
  std::vector<std::string> agent_options = {}; ///< of the torchrun or accelerate that stays, as shell text
  std::vector<std::string> variables_of_files = {}; ///< of Slurm, that files which its text starts may read
  bool lacks_visible_devices = false; ///< its text reads CUDA_VISIBLE_DEVICES, which the site does not set
  bool has_idle_gpus = false;         ///< whole nodes have more GPUs than the job uses
  unsigned least_nodes = 0;           ///< the old torchrun was content with this many; 0: it wanted all
};

} // namespace hpcml::model
