// SPDX-License-Identifier: MIT
#include "core/model/tf32.hpp"

#include "core/util/text.hpp"

namespace hpcml::model {

Tf32Variables tf32_variables(Tf32 choice, GpuVendor vendor) {
  const bool on = choice == Tf32::on;
  const bool any = vendor == GpuVendor::unknown;
  Tf32Variables variables;
  const std::string value = on ? "1" : "0";
  variables.set.emplace_back("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", value);
  if (any || vendor == GpuVendor::nvidia) {
    if (on)
      variables.unset.emplace_back("NVIDIA_TF32_OVERRIDE");
    else
      variables.set.emplace_back("NVIDIA_TF32_OVERRIDE", value);
  }
  if (any || vendor == GpuVendor::amd) variables.set.emplace_back("HIPBLASLT_ALLOW_TF32", value);
  return variables;
}

bool may_have_tf32(const std::string& arch) {
  if (arch.starts_with("sm_")) {
    const auto number = util::parse_unsigned(arch.substr(3));
    return !number || *number >= 80;
  }
  return !arch.starts_with("gfx") || arch.starts_with("gfx94") || arch.starts_with("gfx95");
}

} // namespace hpcml::model
