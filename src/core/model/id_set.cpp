// SPDX-License-Identifier: MIT
#include "core/model/id_set.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::model {

namespace {
constexpr unsigned k_max_id = 65535;
constexpr unsigned k_bits = 64;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
} // namespace

IdSet IdSet::of(const std::vector<unsigned>& ids) {
  IdSet set;
  for (const unsigned id : ids) set.add(id);
  return set;
}

IdSet IdSet::range(unsigned first, unsigned last) {
  IdSet set;
  for (unsigned id = first; id <= last; ++id) set.add(id);
  return set;
}

util::Result<IdSet> IdSet::parse_list(std::string_view text) {
  IdSet set;
  const auto trimmed = util::trim(text);
  if (trimmed.empty()) return set;
  std::size_t offset = 0;
  for (const auto& piece : util::split(trimmed, ',')) {
    const auto dash = piece.find('-');
    const auto first = util::parse_unsigned(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : util::parse_unsigned(piece.substr(dash + 1));
    if (!first || !last || *first > *last || *last > k_max_id)
      return util::Error{fmt::format("the list of numbers has \"{}\", which is not a number or range", piece),
                         "use numbers such as 0-3,7, up to 65535", offset};
    for (auto id = *first; id <= *last; ++id) set.add(static_cast<unsigned>(id));
    offset += piece.size() + 1;
  }
  return set;
}

util::Result<IdSet> IdSet::parse_mask(std::string_view text) {
  auto digits = util::trim(text);
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (digits.empty()) return util::Error{"the CPU mask is empty", "use a hexadecimal mask such as 0xfe00"};
  IdSet set;
  unsigned bit = 0;
  // The kernel writes a comma between 32-bit groups; a group that is not the first has all its 8 digits.
  for (auto at = digits.size(); at-- > 0;) {
    if (digits[at] == ',') {
      if (bit % 32 != 0 || bit == 0)
        return util::Error{fmt::format("the CPU mask \"{}\" has a comma inside a group of 8 digits", text),
                           "use a comma after every 8 digits, counted from the right", at};
      continue;
    }
    const int value = hex_digit(digits[at]);
    if (value < 0)
      return util::Error{
          fmt::format("the CPU mask \"{}\" has '{}', which is not a hexadecimal digit", text, digits[at]),
          "use a hexadecimal mask such as 0xfe00", at};
    for (unsigned i = 0; i < 4; ++i) {
      if ((value >> i & 1) == 0) continue;
      if (bit + i > k_max_id)
        return util::Error{"the CPU mask has a CPU number above 65535 (limit)",
                           "remove the leading digits of the mask: each stands for 4 CPUs", at};
      set.add(bit + i);
    }
    bit += 4;
  }
  return set;
}

void IdSet::add(unsigned id) {
  assert(id <= k_max_id);
  const std::size_t i = id / k_bits;
  if (i >= word_count()) x_high.resize(i - k_low + 1);
  (i < k_low ? x_low[i] : x_high[i - k_low]) |= std::uint64_t{1} << id % k_bits;
}

void IdSet::remove(unsigned id) {
  const std::size_t i = id / k_bits;
  if (i >= word_count()) return;
  (i < k_low ? x_low[i] : x_high[i - k_low]) &= ~(std::uint64_t{1} << id % k_bits);
  shrink();
}

bool IdSet::contains(unsigned id) const { return (word(id / k_bits) >> id % k_bits & 1) != 0; }

bool IdSet::empty() const {
  return x_high.empty() && std::all_of(x_low.begin(), x_low.end(), [](auto word) { return word == 0; });
}

std::size_t IdSet::size() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < word_count(); ++i) count += static_cast<std::size_t>(std::popcount(word(i)));
  return count;
}

unsigned IdSet::first() const {
  assert(!empty());
  for (std::size_t i = 0; i < word_count(); ++i)
    if (word(i) != 0)
      return static_cast<unsigned>(i * k_bits) + static_cast<unsigned>(std::countr_zero(word(i)));
  return 0;
}

std::vector<unsigned> IdSet::ids() const {
  std::vector<unsigned> list;
  list.reserve(size());
  for (std::size_t i = 0; i < word_count(); ++i)
    for (auto rest = word(i); rest != 0; rest &= rest - 1)
      list.push_back(static_cast<unsigned>(i * k_bits) + static_cast<unsigned>(std::countr_zero(rest)));
  return list;
}

std::string IdSet::to_list() const {
  std::string text;
  for (unsigned id = 0; id < word_count() * k_bits; ++id) {
    const auto rest = word(id / k_bits) >> id % k_bits;
    if (rest == 0) { // the next word
      id |= k_bits - 1;
      continue;
    }
    id += static_cast<unsigned>(std::countr_zero(rest));
    unsigned last = id;
    while (contains(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(id);
    if (last > id) text += '-' + std::to_string(last);
    id = last;
  }
  return text;
}

std::string IdSet::to_mask() const {
  std::size_t words = word_count();
  while (words > 1 && word(words - 1) == 0) --words;
  std::string digits;
  for (std::size_t i = words; i-- > 0;)
    for (unsigned shift = k_bits; shift > 0; shift -= 4)
      digits += "0123456789abcdef"[word(i) >> (shift - 4) & 15];
  const auto first_digit = digits.find_first_not_of('0');
  return first_digit == std::string::npos ? "0x0" : "0x" + digits.substr(first_digit);
}

void IdSet::shrink() {
  while (!x_high.empty() && x_high.back() == 0) x_high.pop_back();
}

template <class Combine> IdSet IdSet::combined(const IdSet& other, Combine combine) const {
  IdSet set;
  for (std::size_t i = 0; i < k_low; ++i) set.x_low[i] = combine(x_low[i], other.x_low[i]);
  if (x_high.empty() && other.x_high.empty()) return set;
  set.x_high.resize(std::max(x_high.size(), other.x_high.size()));
  for (std::size_t i = 0; i < set.x_high.size(); ++i)
    set.x_high[i] = combine(word(k_low + i), other.word(k_low + i));
  set.shrink();
  return set;
}

IdSet IdSet::operator|(const IdSet& other) const {
  return combined(other, [](auto mine, auto its) { return mine | its; });
}

IdSet IdSet::operator&(const IdSet& other) const {
  return combined(other, [](auto mine, auto its) { return mine & its; });
}

IdSet IdSet::operator-(const IdSet& other) const {
  return combined(other, [](auto mine, auto its) { return mine & ~its; });
}

bool IdSet::is_subset_of(const IdSet& other) const {
  std::uint64_t more = 0;
  for (std::size_t i = 0; i < k_low; ++i) more |= x_low[i] & ~other.x_low[i];
  for (std::size_t i = k_low; i < word_count(); ++i) more |= word(i) & ~other.word(i);
  return more == 0;
}

bool IdSet::intersects(const IdSet& other) const {
  std::uint64_t common = 0; // nearly all sets have only low words
  for (std::size_t i = 0; i < k_low; ++i) common |= x_low[i] & other.x_low[i];
  for (std::size_t i = 0; i < std::min(x_high.size(), other.x_high.size()); ++i)
    common |= x_high[i] & other.x_high[i];
  return common != 0;
}

bool IdSet::operator==(const IdSet& other) const { return x_low == other.x_low && x_high == other.x_high; }

} // namespace hpcml::model
