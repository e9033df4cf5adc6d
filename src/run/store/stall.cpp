// SPDX-License-Identifier: MIT
#include "run/store/stall.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/util/text.hpp"
#include "run/store/key_meaning.hpp"

namespace hpcml::store {
namespace {

using Kind = KeyMeaning::Kind;
using State = RankStatus::State;

constexpr std::size_t k_named_suspects = 4; ///< the number of ranks that are named with details

std::chrono::seconds whole_seconds(RankStatus::Time from, RankStatus::Time to) {
  return std::chrono::duration_cast<std::chrono::seconds>(to - from);
}

std::string time_text(RankStatus::Time from, RankStatus::Time to) {
  return fmt::format("{} s", whole_seconds(from, to).count());
}

std::string wait_text(const std::string& key) {
  const auto meaning = read_key(key);
  return meaning.kind == Kind::other ? fmt::format("the key '{}'", shown_key(key)) : meaning.group;
}

/// What a rank that others wait for does itself.
std::string doing(const RankStatus& rank, const StoreSnapshot& snapshot) {
  const auto now = snapshot.now;
  const auto ago = time_text(rank.since, now);
  const bool is_complete = std::none_of(snapshot.ranks.begin(), snapshot.ranks.end(),
                                        [](const auto& status) { return status.state == State::absent; });
  // The launcher of rank 0, which serves the store, waits for all others.
  if (rank.state == State::started && rank.rank == 0U && !is_complete)
    return "its program starts when all tasks have connected";
  switch (rank.state) {
  case State::absent: return "its task has not connected";
  case State::started:
    return fmt::format("its task started {} ago, but its program has not connected to the store", ago);
  case State::lost: return fmt::format("its program disconnected from the store {} ago", ago);
  case State::connected: break;
  }
  if (!rank.waits_for.empty())
    return fmt::format("it also waits, for {} ({})", wait_text(rank.waits_for),
                       time_text(rank.waits_since, now));
  return fmt::format("it last accessed the store {} ago and does not wait there", ago);
}

/// Those who wait for one thing.
struct Waiters {
  KeyMeaning meaning;
  std::vector<const RankStatus*> who;
  std::vector<unsigned> members; ///< that are awaited
};

/// A wait for a member is one for a group only where the waiter has entered that group itself: a program's
/// own key may look like it.
KeyMeaning meaning_of_wait(const RankStatus& rank) {
  auto meaning = read_key(rank.waits_for);
  if (meaning.kind == Kind::member && !meaning.is_default && read_key(rank.mark).place != meaning.place) {
    meaning.kind = Kind::other;
    meaning.place = rank.waits_for;
  }
  if (meaning.kind == Kind::other) meaning.place = rank.waits_for;
  return meaning;
}

class StallReader {
public:
  explicit StallReader(const StoreSnapshot& snapshot) : x_snapshot(snapshot) {}

  std::vector<Stall> read() {
    std::map<std::string, Waiters> by_place;
    for (const auto& rank_status : x_snapshot.ranks) {
      if (rank_status.state != State::connected || rank_status.waits_for.empty()) continue;
      auto meaning = meaning_of_wait(rank_status);
      auto& waiters = by_place[meaning.place];
      if (waiters.who.empty()) waiters.meaning = meaning;
      waiters.who.push_back(&rank_status);
      if (meaning.member) waiters.members.push_back(*meaning.member);
    }
    std::vector<Stall> stalls;
    for (auto& [place, waiters] : by_place) stalls.push_back(read(waiters));
    add_clashes(by_place, stalls);
    std::stable_sort(stalls.begin(), stalls.end(),
                     [](const Stall& a, const Stall& b) { return a.waited > b.waited; });
    return stalls;
  }

private:
  Stall read(Waiters& waiters) {
    const auto& meaning = waiters.meaning;
    const bool own_key = meaning.kind == Kind::other;
    Stall stall;
    stall.key = waiters.who.front()->waits_for;
    stall.what = own_key ? fmt::format("the key '{}'", shown_key(stall.key)) : meaning.group;
    auto since = x_snapshot.now;
    for (const auto* rank_status : waiters.who) {
      since = std::min(since, rank_status->waits_since);
      stall.waiters.push_back(rank_status->short_name);
    }
    stall.waited = whole_seconds(since, x_snapshot.now);
    auto of = stall.what;
    if (meaning.kind == Kind::unique_id) of = fmt::format("the unique ID of {}", stall.what);
    if (meaning.kind == Kind::sequence) of = fmt::format("the sequence number of {}", stall.what);
    const auto time = time_text(since, x_snapshot.now);
    const bool ranks = std::all_of(waiters.who.begin(), waiters.who.end(), [](const RankStatus* rank_status) {
      return rank_status->rank.has_value();
    });
    stall.text = waiters.who.size() == 1
                     ? fmt::format("{} has waited {} for {}: ", waiters.who.front()->name, time, of)
                     : fmt::format("{} {} ({}) have waited {} for {}: ", waiters.who.size(),
                                   ranks ? "ranks" : "programs", range_text(stall.waiters), time, of);
    if (const auto wrong_text = wrong_world(waiters); !wrong_text.empty()) {
      stall.text += wrong_text;
      return stall;
    }
    const auto clash = clash_text(meaning);
    stall.text += clash;
    const auto suspects = find_suspects(waiters, stall.certain);
    for (const auto* rank_status : suspects)
      if (rank_status->rank) stall.missing.push_back(*rank_status->rank);
    if (!clash.empty() && suspects.empty()) return stall;
    stall.text +=
        (clash.empty() ? "" : "; ") + text_of(suspects, waiters, stall.certain) + ahead_text(waiters);
    return stall;
  }

  /// A group of more members than the step has ranks can never be whole.
  std::string wrong_world(const Waiters& waiters) const {
    if (x_snapshot.world_size == 0 || !waiters.meaning.is_default) return {};
    for (const auto* rank_status : waiters.who) {
      const auto member = read_key(rank_status->waits_for).member;
      if (member && *member >= x_snapshot.world_size)
        return fmt::format("{} waits for rank {}, but the step has {} ranks: its WORLD_SIZE differs",
                           rank_status->name, *member, x_snapshot.world_size);
    }
    return {};
  }

  static std::string clash_text(const StoreSnapshot::Clash& clash, const KeyMeaning& of) {
    return fmt::format(
        "{} and {} both entered {} as member {}: {}", clash.first, clash.second, of.group, *of.member,
        of.is_default ? "they have the same RANK"
                      : "they create their groups in a different order, or with different ranks");
  }

  std::string clash_text(const KeyMeaning& meaning) const {
    for (const auto& clash : x_snapshot.clashes)
      if (const auto of = read_key(clash.key); of.member && of.place == meaning.place)
        return clash_text(clash, of);
    return {};
  }

  /// Adds pairs of ranks that set the keys of the same member while no rank waits at the store. They wait
  /// for each other at wrong addresses from the store.
  void add_clashes(const std::map<std::string, Waiters>& by_place, std::vector<Stall>& stalls) const {
    for (const auto& clash : x_snapshot.clashes) {
      const auto of = read_key(clash.key);
      if (!of.member || by_place.count(of.place) > 0) continue;
      Stall stall;
      stall.what = of.group;
      stall.key = clash.key;
      stall.waited = whole_seconds(clash.since, x_snapshot.now);
      stall.text = clash_text(clash, of);
      stalls.push_back(std::move(stall));
    }
  }

  /// Few wait for many: they may be where the others are not yet.
  std::string ahead_text(const Waiters& waiters) const {
    if (waiters.meaning.kind != Kind::member || waiters.meaning.is_default) return {};
    std::size_t idle = 0;
    for (const auto& rank_status : x_snapshot.ranks)
      idle += rank_status.state == State::connected && rank_status.waits_for.empty() ? 1 : 0;
    if (idle <= waiters.who.size()) return {};
    return fmt::format("; the {} others that do not wait here may be in a collective that {} skipped", idle,
                       waiters.who.size() == 1 ? "it has" : "they have");
  }

  bool is_waiter(const Waiters& waiters, const RankStatus& rank_status) const {
    return std::find(waiters.who.begin(), waiters.who.end(), &rank_status) != waiters.who.end();
  }

  /// Whom the waiters wait for.
  std::vector<const RankStatus*> find_suspects(Waiters& waiters, bool& certain) const {
    const auto& meaning = waiters.meaning;
    if (meaning.kind == Kind::member) return missing_members(waiters, certain);
    std::vector<const RankStatus*> others;
    for (const auto& rank_status : x_snapshot.ranks)
      if (rank_status.rank && !is_waiter(waiters, rank_status) && !has_entered(meaning, rank_status))
        others.push_back(&rank_status);
    if (meaning.kind == Kind::barrier && meaning.is_default) return others;
    // A group's first rank is the one of the lowest number.
    if (meaning.kind == Kind::unique_id || meaning.kind == Kind::sequence) {
      unsigned lowest = ~0U;
      for (const auto* rank_status : waiters.who) lowest = std::min(lowest, rank_status->rank.value_or(~0U));
      const auto end = std::remove_if(others.begin(), others.end(), [&](const RankStatus* rank_status) {
        return meaning.is_default ? *rank_status->rank != 0 : *rank_status->rank > lowest;
      });
      others.erase(end, others.end());
    }
    certain = others.size() == 1;
    return others;
  }

  bool has_entered(const KeyMeaning& meaning, const RankStatus& rank_status) const {
    return meaning.kind == Kind::barrier && read_key(rank_status.mark).place == meaning.place;
  }

  /// Returns the ranks of the members that have not entered a group. Only the default group's members are
  /// the ranks. In other groups they have the ranks' order, so that the present members limit which ranks
  /// can be missing between them.
  std::vector<const RankStatus*> missing_members(Waiters& waiters, bool& certain) const {
    const auto& meaning = waiters.meaning;
    if (meaning.is_default)
      for (unsigned rank = 0; rank < x_snapshot.world_size; ++rank)
        if (!is_member_there(meaning, rank)) waiters.members.push_back(rank);
    std::sort(waiters.members.begin(), waiters.members.end());
    waiters.members.erase(std::unique(waiters.members.begin(), waiters.members.end()), waiters.members.end());
    std::map<unsigned, unsigned> rank_of_member;
    for (const auto* rank_status : waiters.who)
      if (const auto mark = read_key(rank_status->mark);
          rank_status->rank && mark.member && mark.place == meaning.place)
        rank_of_member[*mark.member] = *rank_status->rank;
    std::vector<const RankStatus*> found;
    for (const unsigned member : waiters.members) {
      const auto after = rank_of_member.upper_bound(member);
      std::vector<const RankStatus*> candidates;
      for (const auto& rank_status : x_snapshot.ranks) {
        if (!rank_status.rank || is_waiter(waiters, rank_status)) continue;
        const bool above = after == rank_of_member.begin() || *rank_status.rank > std::prev(after)->second;
        const bool below = after == rank_of_member.end() || *rank_status.rank < after->second;
        if (meaning.is_default ? *rank_status.rank == member : above && below)
          candidates.push_back(&rank_status);
      }
      certain = certain && candidates.size() == 1;
      // Who is gone, or never came, is the likelier one.
      std::stable_sort(candidates.begin(), candidates.end(), [](const RankStatus* a, const RankStatus* b) {
        return (a->state == State::connected) < (b->state == State::connected);
      });
      for (const auto* rank_status : candidates)
        if (std::find(found.begin(), found.end(), rank_status) == found.end()) found.push_back(rank_status);
    }
    return found;
  }

  bool is_member_there(const KeyMeaning& meaning, unsigned member) const {
    const auto number = std::to_string(member);
    return x_snapshot.has_key(meaning.place + number) || x_snapshot.has_key(meaning.place + "rank_" + number);
  }

  std::string text_of(const std::vector<const RankStatus*>& suspects, const Waiters& waiters,
                      bool certain) const {
    const auto& meaning = waiters.meaning;
    const bool own_key = meaning.kind == Kind::other;
    const bool first = meaning.kind == Kind::unique_id || meaning.kind == Kind::sequence;
    const std::string deed = own_key || first ? "has not set it" : "has not entered it";
    std::string text = own_key ? "no process has set it" : first ? "its first rank sets it" : "";
    if (suspects.empty()) {
      if (!text.empty()) return own_key ? fmt::format("{}, and all ranks wait for it", text) : text;
      return "no known rank is missing from it";
    }
    if (!text.empty()) text += "; ";
    if (!certain && !own_key && suspects.size() > 1) text += fmt::format("at least one of these {}: ", deed);
    std::size_t named_count = 0;
    for (const auto* suspect : suspects) {
      if (named_count == k_named_suspects) break;
      text += (named_count++ > 0 ? "; " : "") + suspect->name;
      if (certain || suspects.size() == 1)
        text += fmt::format(" {}", own_key ? "does not wait for it" : deed);
      text += fmt::format(": {}", doing(*suspect, x_snapshot));
    }
    if (suspects.size() == named_count) return text;
    std::vector<std::string> others;
    for (auto at = named_count; at < suspects.size(); ++at) others.push_back(suspects[at]->short_name);
    return fmt::format("{}; and {} {}", text, others.size() == 1 ? "rank" : "ranks", range_text(others));
  }

  const StoreSnapshot& x_snapshot;
};

} // namespace

std::string range_text(const std::vector<std::string>& short_names) {
  std::vector<unsigned long long> numbers;
  std::vector<std::string> parts;
  for (const auto& name : short_names)
    if (const auto number = util::parse_unsigned(name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts.push_back(last > i ? fmt::format("{}-{}", numbers[i], numbers[last]) : std::to_string(numbers[i]));
    i = last + 1;
  }
  auto text = util::join(parts, ",");
  for (const auto& name : short_names)
    if (!util::parse_unsigned(name)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<Stall> find_stalls(const StoreSnapshot& snapshot) { return StallReader(snapshot).read(); }

} // namespace hpcml::store
