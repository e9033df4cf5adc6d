// SPDX-License-Identifier: MIT
#include "torch/info.hpp"

#include "torch/json_line.hpp"
#include "torch/torch_compat.hpp"

namespace hpcml::helper {

int run_info() {
  const auto facts = torch_facts();
  print(JsonLine()
            .add("event", "info")
            .add("torch", facts.header_version)
            .add("torch_library", facts.library_version)
            .add("gloo", facts.gloo)
            .add("nccl", facts.nccl)
            .add("nccl_version", facts.nccl_version)
            .add("gpus", facts.gpu_count)
            .add("auto_backend", resolve_backend("auto")));
  return 0;
}

} // namespace hpcml::helper
