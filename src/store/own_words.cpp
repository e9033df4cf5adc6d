// SPDX-License-Identifier: MIT
#include "store/own_words.hpp"

#include "store/protocol.hpp"
#include "util/text.hpp"

namespace hpcml::store {

namespace {

constexpr std::string_view k_announcement_mark = "hpcml announcement 1";
constexpr std::string_view k_welcome_mark = "hpcml welcome 1";
constexpr unsigned long long k_most_ranks = 10'000'000;

/// A list of texts: each with its length before it.
class Packed {
public:
  explicit Packed(std::string_view mark) { text(mark); }
  void text(std::string_view value) { put_bytes(x_bytes, value); }
  void number(unsigned long long value) { text(std::to_string(value)); }
  std::string take() { return std::move(x_bytes); }

private:
  std::string x_bytes;
};

/// Reads such a list; after the first text that is missing or no number `good` stays false.
class Unpacked {
public:
  Unpacked(std::string_view bytes, std::string_view mark) : x_bytes(bytes) { good = text() == mark && good; }
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

void pack(Packed& packed, const Decision& decision) {
  packed.number(decision.port);
  packed.number(decision.set.size());
  for (const auto& [name, value] : decision.set) {
    packed.text(name);
    packed.text(value);
  }
  packed.number(decision.remove.size());
  for (const auto& name : decision.remove) packed.text(name);
}

Decision unpack_decision(Unpacked& unpacked) {
  Decision decision;
  decision.port = static_cast<std::uint16_t>(unpacked.number(65535));
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left) {
    std::string name(unpacked.text());
    decision.set.emplace_back(std::move(name), unpacked.text());
  }
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    decision.remove.emplace_back(unpacked.text());
  return decision;
}

} // namespace

std::string pack_announcement(const Announcement& announcement) {
  Packed packed(k_announcement_mark);
  packed.text(announcement.job);
  packed.text(announcement.step);
  packed.number(announcement.rank);
  packed.number(announcement.world_size);
  packed.number(announcement.local_rank);
  packed.text(announcement.host);
  packed.number(static_cast<unsigned long long>(announcement.pid));
  packed.number(announcement.decision ? 1 : 0);
  if (announcement.decision) pack(packed, *announcement.decision);
  packed.number(announcement.nodes.size());
  for (const auto& node : announcement.nodes) packed.text(node);
  packed.number(announcement.tasks_per_node.size());
  for (const unsigned tasks : announcement.tasks_per_node) packed.number(tasks);
  return packed.take();
}

std::optional<Announcement> unpack_announcement(std::string_view bytes) {
  Unpacked unpacked(bytes, k_announcement_mark);
  Announcement result;
  result.job = unpacked.text();
  result.step = unpacked.text();
  result.rank = static_cast<unsigned>(unpacked.number());
  result.world_size = static_cast<unsigned>(unpacked.number());
  result.local_rank = static_cast<unsigned>(unpacked.number());
  result.host = unpacked.text();
  result.pid = static_cast<std::int64_t>(unpacked.number(1ULL << 32));
  if (unpacked.number(1) == 1) result.decision = unpack_decision(unpacked);
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    result.nodes.emplace_back(unpacked.text());
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    result.tasks_per_node.push_back(static_cast<unsigned>(unpacked.number()));
  if (!unpacked.whole() || result.rank >= result.world_size) return std::nullopt;
  if (result.nodes.size() != result.tasks_per_node.size()) return std::nullopt;
  return result;
}

std::string pack_welcome(const Welcome& welcome) {
  Packed packed(k_welcome_mark);
  packed.text(welcome.refused);
  pack(packed, welcome.decision);
  return packed.take();
}

std::optional<Welcome> unpack_welcome(std::string_view bytes) {
  Unpacked unpacked(bytes, k_welcome_mark);
  Welcome result;
  result.refused = unpacked.text();
  result.decision = unpack_decision(unpacked);
  if (!unpacked.whole()) return std::nullopt;
  return result;
}

} // namespace hpcml::store
