// SPDX-License-Identifier: MIT
#include "site/gpu_names.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::site {
namespace {

bool is_called(const std::string& name, const std::vector<std::string>& aliases, const std::string& wanted) {
  return name == wanted || std::find(aliases.begin(), aliases.end(), wanted) != aliases.end();
}

/// "h200" of "nvidia_h200", "NVIDIA H200" or "h200-141gb": what people call a GPU; empty where a name has no
/// such word.
std::string gpu_word(const std::string& name) {
  const auto text = util::to_lower(name);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]))) continue;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const auto letters = end - at;
    while (end < text.size() && is_digit(text[end])) ++end;
    const auto digits = end - at - letters;
    if (letters >= 1 && letters <= 3 && digits >= 2) return text.substr(at, end - at);
  }
  return {};
}

} // namespace

const model::GpuSlice* find_slice(const model::GpuShape& gpu, const std::string& type) {
  const auto found = std::find_if(gpu.slices.begin(), gpu.slices.end(), [&](const auto& slice) {
    return is_called(slice.name, slice.aliases, type);
  });
  return found == gpu.slices.end() ? nullptr : &*found;
}

bool has_gpu_type(const model::GpuShape& gpu, const std::string& type) {
  return is_called(gpu.slurm_type, gpu.aliases, type) || find_slice(gpu, type);
}

bool may_be_type(const model::GpuShape& gpu, const std::string& type) {
  const auto asked = gpu_word(type), have = gpu_word(gpu.model);
  return asked.empty() || have.empty() || asked == have;
}

} // namespace hpcml::site
