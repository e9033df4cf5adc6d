// SPDX-License-Identifier: MIT
#include "core/model/torch_version.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/util/text.hpp"

namespace hpcml::model {
namespace {

/// sm_90: the Alliance's page on PyTorch ("With H100 GPUs, torch 2.3 and higher is required"), read
/// 2026-11-21; the others: the first release that one of its indexes was built for them in (RELEASE.md).
struct FirstTorch {
  const char* arch;
  const char* torch;
};
constexpr std::array k_first_torch = {FirstTorch{"sm_90", "2.3"}, FirstTorch{"sm_100", "2.7"},
                                      FirstTorch{"sm_120", "2.7"}, FirstTorch{"gfx942", "2.3"}};

std::vector<unsigned> numbers(const std::string& version) {
  std::vector<unsigned> parts;
  for (const auto& part : util::split(version, '.'))
    parts.push_back(static_cast<unsigned>(util::parse_unsigned(part).value_or(0)));
  return parts;
}

} // namespace

std::string oldest_torch(const std::string& arch) {
  const auto* found = std::find_if(k_first_torch.begin(), k_first_torch.end(),
                                   [&](const auto& row) { return row.arch == arch; });
  return found == k_first_torch.end() ? std::string() : found->torch;
}

bool is_older(const std::string& a, const std::string& b) { return numbers(a) < numbers(b); }

} // namespace hpcml::model
