// SPDX-License-Identifier: MIT
#include "run/store/key_meaning.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "core/util/text.hpp"

namespace hpcml::store {
namespace {

using Kind = KeyMeaning::Kind;
using Parts = std::vector<std::string_view>;

constexpr std::string_view k_barrier = "store_based_barrier_key:";

Parts split_path(std::string_view key) {
  Parts parts;
  while (!key.empty()) {
    const auto end = std::min(key.find('/'), key.size());
    if (end > 0) parts.push_back(key.substr(0, end));
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  // torch 1 keeps the attempts of a restarted job apart.
  if (parts.size() > 2 && parts[0] == "worker" && parts[1].starts_with("attempt_"))
    parts.erase(parts.begin(), parts.begin() + 2);
  return parts;
}

bool is_device(std::string_view part) {
  static constexpr std::array<std::string_view, 6> c_devices = {"cpu", "cuda", "xpu", "hpu", "npu", "mps"};
  return std::find(c_devices.begin(), c_devices.end(), part) != c_devices.end();
}

std::optional<unsigned> number_of(std::string_view text) {
  const auto number = util::parse_unsigned(text);
  return number && *number < 10'000'000 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

void name_group(KeyMeaning& meaning, std::string_view name) {
  meaning.is_default = name.empty() || name == "0";
  if (meaning.is_default)
    meaning.group = "the default group";
  else if (number_of(name))
    meaning.group = fmt::format("group {}", name);
  else
    meaning.group = fmt::format("the group '{}'", shown_key(name));
}

/// The name among the parts before a group's own keys: torch 2 writes default_pg, 0, NAME, DEVICE; torch 1
/// default_pg, NUMBER.
void name_group_of(KeyMeaning& meaning, Parts parts) {
  const bool device = !parts.empty() && is_device(parts.back());
  if (device) parts.pop_back();
  meaning.is_torchs = !parts.empty() && parts[0] == "default_pg";
  if (!meaning.is_torchs) {
    name_group(meaning, parts.empty() ? "" : parts.back());
    meaning.is_default = false;
    if (parts.empty()) meaning.group = "a group of the program";
    return;
  }
  name_group(meaning, device ? (parts.size() > 2 ? parts.back() : "") : (parts.size() > 1 ? parts[1] : ""));
}

} // namespace

std::string shown_key(std::string_view key) {
  constexpr std::size_t k_most = 80;
  std::string text;
  for (const char c : key.substr(0, k_most)) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      text += c;
    else
      text += {'\\', 'x', k_digits[byte >> 4], k_digits[byte & 15]};
  }
  return key.size() > k_most ? text + "…" : text;
}

KeyMeaning read_key(std::string_view key) {
  KeyMeaning meaning;
  Parts parts = split_path(key);
  if (parts.empty()) return meaning;
  const auto last = parts.back();
  parts.pop_back();
  meaning.place = key.substr(0, key.size() - last.size());
  if (last.starts_with(k_barrier)) {
    meaning.kind = Kind::barrier;
    auto name = last.substr(k_barrier.size());
    name = name.substr(0, name.find(':'));
    meaning.place += std::string(k_barrier) + std::string(name);
    // Its counter begins with the default group: torch 1 calls that 1, torch 2 0 or by no number.
    name_group(meaning, name);
    if (name == "default_pg") meaning.is_default = true, meaning.group = "the default group";
    return meaning;
  }
  if (last == "SEQ_NUM_STORE_KEY") {
    meaning.kind = Kind::sequence;
    name_group_of(meaning, parts);
    return meaning;
  }
  if (!parts.empty() && is_device(parts.back()) && parts.back() != "cpu") {
    meaning.kind = Kind::unique_id;
    name_group_of(meaning, parts);
    return meaning;
  }
  const bool leader = last.starts_with("rank_");
  const auto member = number_of(leader ? last.substr(5) : last);
  if (!member || parts.empty() || parts.back() != "0") return meaning;
  parts.pop_back();
  meaning.kind = Kind::member;
  meaning.member = member;
  name_group_of(meaning, parts);
  return meaning;
}

} // namespace hpcml::store
