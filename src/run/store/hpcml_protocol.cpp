// SPDX-License-Identifier: MIT
#include "run/store/hpcml_protocol.hpp"

#include <algorithm>

#include "core/util/text.hpp"
#include "run/store/client.hpp"

namespace hpcml::store {

namespace {

constexpr std::size_t k_longest_host = 253;

} // namespace

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_host && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return util::is_name_char(c) || c == '-' || c == '.' || c == ':'; });
}

bool is_place(std::string_view text) {
  const auto place = parse_place(text);
  return place && is_host(place->first);
}

JoinReply refuse_without_key() { return {JoinError::key, "requires a key", {}, {}}; }

} // namespace hpcml::store
