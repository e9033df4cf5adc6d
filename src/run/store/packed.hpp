// SPDX-License-Identifier: MIT
// Texts and numbers in one value of a store, as hpcml's own processes send them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/text.hpp"
#include "run/store/protocol.hpp"

namespace hpcml::store {

constexpr unsigned long long k_most_ranks = 10'000'000;

/// A list of texts: each with its length before it.
class WireWriter {
public:
  explicit WireWriter(std::string_view mark) { text(mark); }
  void text(std::string_view value) { put_bytes(x_bytes, value); }
  void number(unsigned long long value) { text(std::to_string(value)); }
  std::string take() { return std::move(x_bytes); }

private:
  std::string x_bytes;
};

/// Reads such a list; after the first text that is missing or no number `good` stays false.
class WireReader {
public:
  explicit WireReader(std::string_view bytes) : x_bytes(bytes) {}
  WireReader(std::string_view bytes, std::string_view mark) : x_bytes(bytes) {
    good = text() == mark && good;
  }
  std::string_view text() {
    std::uint64_t length = 0;
    if (x_bytes.size() < sizeof length) return fail();
    for (std::size_t i = 0; i < sizeof length; ++i)
      length |= std::uint64_t{static_cast<unsigned char>(x_bytes[i])} << (8 * i);
    x_bytes.remove_prefix(sizeof length);
    if (length > x_bytes.size()) return fail();
    const auto value = x_bytes.substr(0, length);
    x_bytes.remove_prefix(length);
    return value;
  }
  unsigned long long number(unsigned long long most = k_most_ranks) {
    const auto value = util::parse_unsigned(text());
    if (value && *value <= most) return *value;
    fail();
    return 0;
  }
  /// A count of things that each take some bytes: more than there are bytes is none.
  std::size_t count() { return static_cast<std::size_t>(number(x_bytes.size())); }
  bool whole() const { return good && x_bytes.empty(); }

  bool good = true;

private:
  std::string_view fail() {
    good = false;
    x_bytes = {};
    return {};
  }
  std::string_view x_bytes;
};

} // namespace hpcml::store
