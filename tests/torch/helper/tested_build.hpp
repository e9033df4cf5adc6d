// SPDX-License-Identifier: MIT
// The programs and the LibTorch of the build under test. Only tested_build.cpp is compiled with their paths
// and versions: all other test sources are the same for each LibTorch, and ccache compiles them once.
#pragma once

#include <string>

namespace torch_test {

struct TestedBuild {
  std::string hpcml, helper, train_ddp, resume_ddp, bad_rank, ddp_rank; ///< paths of programs
  std::string altering_socket, altering_group;                          ///< libraries to preload
  std::string torch_version;                                            ///< "2.13.0"
  std::string torch_series;                                             ///< "2.13."
  std::string python; ///< interpreter with a torch of the series; empty if there is none
};

const TestedBuild& tested_build();

} // namespace torch_test
