// SPDX-License-Identifier: MIT
#include "tested_build.hpp"

namespace torch_test {

const TestedBuild& tested_build() {
  static const TestedBuild k_build = {HPCML_BINARY_DIR "/bin/hpcml",
                                      HPCML_BINARY_DIR "/libexec/hpcml/hpcml-torch",
                                      HPCML_BINARY_DIR "/bin/train_ddp",
                                      HPCML_BINARY_DIR "/bin/resume_ddp",
                                      HPCML_BAD_RANK,
                                      HPCML_DDP_RANK,
                                      HPCML_ALTERING_SOCKET,
                                      HPCML_ALTERING_GROUP,
                                      HPCML_TORCH_VERSION,
                                      HPCML_TORCH_SERIES,
                                      HPCML_TORCH_PYTHON};
  return k_build;
}

} // namespace torch_test
