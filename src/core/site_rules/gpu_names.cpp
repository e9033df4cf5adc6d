// SPDX-License-Identifier: MIT
#include "core/site_rules/gpu_names.hpp"

#include <algorithm>
#include <cctype>

#include "core/model/gpu_families.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

bool is_called(const std::string& name, const std::vector<std::string>& aliases, const std::string& wanted) {
  return name == wanted || util::contains(aliases, wanted);
}

/// "h200" of "nvidia_h200", "NVIDIA H200" or "h200-141gb": what users call a GPU; empty where a name has no
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
    const bool alone = end == text.size() || !(is_letter(text[end]) || is_digit(text[end]));
    const bool short_name = letters == 1 && digits == 1 && alone; // "t4"
    if ((letters >= 1 && letters <= 3 && digits >= 2) || short_name) return text.substr(at, end - at);
  }
  return {};
}

/// The letters and digits of a name alone: "rtx8000" of "RTX 8000".
std::string squeezed(const std::string& name) {
  std::string text = util::to_lower(name);
  std::erase_if(text, [](unsigned char c) { return !std::isalnum(c); });
  return text;
}

} // namespace

const model::MigInstanceType* find_slice(const model::GpuShape& gpu, const std::string& type) {
  const auto found = std::find_if(gpu.slices.begin(), gpu.slices.end(), [&](const auto& slice) {
    return is_called(slice.name, slice.aliases, type);
  });
  return found == gpu.slices.end() ? nullptr : &*found;
}

bool has_gpu_type(const model::GpuShape& gpu, const std::string& type) {
  return is_called(gpu.slurm_type, gpu.aliases, type) || find_slice(gpu, type);
}

std::string gpu_name(const model::NodeType& node) {
  return node.gpu && !node.gpu->slurm_type.empty() ? node.gpu->slurm_type : node.id;
}

std::vector<std::string> other_gpu_types(const std::vector<const model::NodeType*>& nodes,
                                         const std::string& chosen) {
  std::vector<std::string> names;
  for (const auto* node : nodes)
    if (node->gpu && !node->gpu->slurm_type.empty() && node->gpu->slurm_type != chosen)
      util::add_once(names, node->gpu->slurm_type);
  return names;
}

std::vector<std::string> gpu_models(const std::vector<const model::NodeType*>& nodes) {
  std::vector<std::string> models;
  for (const auto* node : nodes)
    if (node->gpu && !node->gpu->model.empty()) util::add_once(models, node->gpu->model);
  return models;
}

std::vector<std::string> gpu_type_names(const std::vector<const model::NodeType*>& nodes) {
  std::vector<std::string> names;
  for (const auto* node : nodes) {
    if (!node->gpu) continue;
    if (node->gpu->slurm_type.empty()) return {};
    util::add_once(names, node->gpu->slurm_type);
    for (const auto& alias : node->gpu->aliases) util::add_once(names, alias);
    for (const auto& slice : node->gpu->slices) {
      util::add_once(names, slice.name);
      for (const auto& alias : slice.aliases) util::add_once(names, alias);
    }
  }
  return names;
}

bool may_be_type(const model::GpuShape& gpu, const std::string& type) {
  if (gpu.model.empty()) return true;
  const auto requested = gpu_word(type), have = gpu_word(gpu.model);
  if (!requested.empty() && !have.empty()) return requested == have;
  // A model without such a word: "Intel Data Center GPU Max 1550", "RTX 8000".
  const auto name = squeezed(type);
  if (name.size() > 2 && squeezed(gpu.model).find(name) != std::string::npos) return true;
  return requested.empty() && model::is_of_family(gpu, type);
}

} // namespace hpcml::site_rules
