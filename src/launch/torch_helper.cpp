// SPDX-License-Identifier: MIT
#include "launch/torch_helper.hpp"

#include <unistd.h>

namespace hpcml::launch {

namespace fs = std::filesystem;

util::Result<fs::path> find_torch_helper(const fs::path& program, const util::EnvSnapshot& env) {
  const auto named = env.get("HPCML_TORCH_HELPER");
  const fs::path path = named && !named->empty() ? fs::path(*named) : program.parent_path().parent_path() / "libexec/hpcml/hpcml-torch";
  if (::access(path.c_str(), X_OK) == 0) return path;
  return util::Error{"the LibTorch helper is not here: " + path.string() + " cannot be executed",
                     "build it on a machine with LibTorch (cmake --preset release && cmake --build build/release) and copy "
                     "libexec/hpcml/hpcml-torch beside bin/, or name it in HPCML_TORCH_HELPER"};
}

} // namespace hpcml::launch
