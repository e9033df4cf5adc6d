// SPDX-License-Identifier: MIT
#include "core/model/gpu_order.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::model {

util::Result<GpuOrder> GpuOrder::parse(std::string_view text) {
  if (text == "gpu") return GpuOrder{};
  if (text == "cpu") return GpuOrder{GpuOrderKind::cpu};
  if (text == "ring") return GpuOrder{GpuOrderKind::ring};
  GpuOrder order{GpuOrderKind::list};
  for (const auto& piece : util::split(text, ',')) {
    const auto number = util::parse_unsigned(piece);
    if (!number || *number > 65535)
      return util::Error{
          fmt::format("the rank order '{}' is neither gpu, cpu, ring nor a list of GPU numbers", text),
          "use gpu, cpu or ring, or the GPU of each rank in order: 0,1,3,2,4,5,7,6"};
    order.list.push_back(static_cast<unsigned>(*number));
  }
  return order;
}

std::string GpuOrder::text() const {
  switch (kind) {
  case GpuOrderKind::gpu: return "gpu";
  case GpuOrderKind::cpu: return "cpu";
  case GpuOrderKind::ring: return "ring";
  case GpuOrderKind::list: break;
  }
  std::vector<std::string> numbers;
  for (const unsigned gpu : list) numbers.push_back(std::to_string(gpu));
  return util::join(numbers, ",");
}

} // namespace hpcml::model
