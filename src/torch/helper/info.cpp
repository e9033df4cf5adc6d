// SPDX-License-Identifier: MIT
#include "torch/helper/info.hpp"

#include "ddp/torch_compat.hpp"
#include "torch/helper/json_line.hpp"

namespace hpcml::helper {

int run_info() {
  const auto facts = ddp::torch_facts();
  print(JsonLine()
            .add("event", "info")
            .add("torch", facts.header_version)
            .add("torch_library", facts.library_version)
            .add("gloo", facts.gloo)
            .add("nccl", facts.nccl)
            .add("nccl_version", facts.nccl_version)
            .add("gpus", facts.gpu_count)
            .add("auto_backend", ddp::resolve_backend("auto")));
  return 0;
}

} // namespace hpcml::helper
