// SPDX-License-Identifier: MIT
#include "generate/discover/gpu_architecture.hpp"

#include <regex>

#include "core/util/text.hpp"

namespace hpcml::discover {

namespace {

using model::GpuVendor;

struct Product {
  const char* name;
  GpuVendor vendor;
  const char* arch;
};

// Longer names first: "gh200" holds "h200", "a100" holds "a10". Architectures: the makers' compiler
// documentation.
constexpr Product k_products[] = {
    {"mi100", GpuVendor::amd, "gfx908"},   {"mi210", GpuVendor::amd, "gfx90a"},
    {"mi250", GpuVendor::amd, "gfx90a"},   {"mi300", GpuVendor::amd, "gfx942"},
    {"mi325", GpuVendor::amd, "gfx942"},   {"mi355", GpuVendor::amd, "gfx950"},
    {"mi50", GpuVendor::amd, "gfx906"},    {"mi60", GpuVendor::amd, "gfx906"},
    {"gh200", GpuVendor::nvidia, "sm_90"}, {"gb200", GpuVendor::nvidia, "sm_100"},
    {"h100", GpuVendor::nvidia, "sm_90"},  {"h200", GpuVendor::nvidia, "sm_90"},
    {"b200", GpuVendor::nvidia, "sm_100"}, {"b300", GpuVendor::nvidia, "sm_103"},
    {"a100", GpuVendor::nvidia, "sm_80"},  {"v100", GpuVendor::nvidia, "sm_70"},
    {"p100", GpuVendor::nvidia, "sm_60"},  {"l40s", GpuVendor::nvidia, "sm_89"},
    {"l40", GpuVendor::nvidia, "sm_89"},   {"a40", GpuVendor::nvidia, "sm_86"},
    {"a30", GpuVendor::nvidia, "sm_80"},   {"a10", GpuVendor::nvidia, "sm_86"},
    {"a6000", GpuVendor::nvidia, "sm_86"}, {"l4", GpuVendor::nvidia, "sm_89"},
    {"t4", GpuVendor::nvidia, "sm_75"},    {"k80", GpuVendor::nvidia, "sm_37"},
    {"rtx", GpuVendor::nvidia, ""},        {"gtx", GpuVendor::nvidia, ""},
    {"tesla", GpuVendor::nvidia, ""},      {"nvidia", GpuVendor::nvidia, ""},
    {"radeon", GpuVendor::amd, ""},        {"instinct", GpuVendor::amd, ""},
};

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// The product's name as its own word; letters may follow ("a100fat", "mi250x"), digits may not ("a1000").
bool names_product(const std::string& type, const std::string& product) {
  for (auto at = type.find(product); at != std::string::npos; at = type.find(product, at + 1)) {
    const auto end = at + product.size();
    const bool starts = at == 0 || !is_letter_or_digit(type[at - 1]);
    const bool ends = end == type.size() || type[end] < '0' || type[end] > '9';
    if (starts && ends) return true;
  }
  return false;
}

} // namespace

GpuArchitecture find_gpu_architecture(std::string_view gres_type) {
  const auto type = util::to_lower(gres_type);
  for (const auto& product : k_products)
    if (names_product(type, product.name)) return {product.vendor, product.arch};
  return {};
}

bool is_gpu_slice(std::string_view gres_type) {
  static const std::regex k_slice(R"([0-9]+g\.[0-9]+gb)", std::regex::icase);
  return std::regex_search(gres_type.begin(), gres_type.end(), k_slice);
}

} // namespace hpcml::discover
