// SPDX-License-Identifier: MIT
// The programs that stand in for a site's own on emulated nodes, as text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/site.hpp"
#include "emulate/cluster_layout.hpp"

namespace hpcml::emulate {

/// An embedded text from stand_ins/; it must exist.
std::string_view stand_in_text(std::string_view name);

/// What the stand-ins need to know besides the site.
struct StandInOptions {
  std::string state_dir; ///< absolute, of letters, digits and "/._-" only
  std::string python;    ///< the Python that a site's environments lead to; empty: this machine has none
  std::string srun = "/usr/bin/srun";
  std::string salloc = "/usr/bin/salloc";
  std::string mpi = "none";    ///< what srun's --mpi has for tasks that are to connect
  bool accounting = false;     ///< Slurm keeps accounts, so that sacct has answers
  bool limits_devices = false; ///< tasks may open no other GPUs than their own
  bool lacks_python = false;   ///< this machine has python3, and no program called python
};

/// One file.
struct StandInFile {
  std::string text;
  unsigned mode = 0644;
};

/// File name (below the state directory) to content: programs in bin/, what they share in lib/. Only what the
/// site has exists; of the GPU tools the other vendor's fails as an unknown command does.
std::map<std::string, StandInFile> make_stand_ins(const model::Site& site, const ClusterLayout& layout,
                                                  const StandInOptions& options);

} // namespace hpcml::emulate
