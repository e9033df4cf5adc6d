// SPDX-License-Identifier: MIT
#include "torch/helper/faulty_rank.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ddp/format_message.hpp"

namespace hpcml::helper {

namespace {

using Pair = std::pair<int, int>;
using Pairs = std::set<Pair>;

Pair unordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

/// Every set of at most `limit` members that has a part in each pair.
void find_covers(const Pairs& pairs, int limit, std::set<int>& chosen, std::set<std::set<int>>& found) {
  const auto open = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return chosen.count(pair.first) == 0 && chosen.count(pair.second) == 0;
  });
  if (open == pairs.end()) {
    found.insert(chosen);
    return;
  }
  if (limit == 0) return;
  for (const int member : {open->first, open->second}) {
    chosen.insert(member);
    find_covers(pairs, limit - 1, chosen, found);
    chosen.erase(member);
  }
}

/// The one smallest set that explains all failures; empty where there are several, or it would be large.
std::set<int> only_explanation(const Pairs& failed) {
  constexpr int k_most = 4;
  for (int size = 1; size <= k_most; ++size) {
    std::set<std::set<int>> found;
    std::set<int> chosen;
    find_covers(failed, size, chosen, found);
    if (found.size() == 1) return *found.begin();
    if (!found.empty()) return {};
  }
  return {};
}

/// Returns the ranks that failed with at least two others, and with most of their partners.
std::set<int> convicted(const Pairs& failed, const Pairs& met) {
  const auto faulty = only_explanation(failed);
  const auto partners = [&](const Pairs& pairs, int rank) {
    return std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
      return (pair.first == rank && faulty.count(pair.second) == 0) ||
             (pair.second == rank && faulty.count(pair.first) == 0);
    });
  };
  for (const int rank : faulty) {
    const auto bad = partners(failed, rank);
    if (bad < 2 || 2 * bad <= partners(met, rank)) return {};
  }
  return faulty;
}

std::vector<int> as_list(const std::set<int>& set) { return {set.begin(), set.end()}; }

std::string named(int rank, const std::vector<std::string>& hosts) {
  const auto& host = hosts[static_cast<std::size_t>(rank)];
  return host.empty() ? ddp::format_message("rank {}", rank)
                      : ddp::format_message("rank {} ({})", rank, host);
}

/// Describes the faults of the faulty ranks, as observed by all ranks.
std::string deed(const FailureEvidence& evidence, const std::set<int>& faulty) {
  bool sent = false, received = false, sum = false, broken = false;
  std::string text;
  for (const auto& observation : evidence.seen) {
    if (!observation.any()) continue;
    if (text.empty()) text = observation.text;
    const bool by = faulty.count(observation.by) > 0;
    sent = sent || (observation.message && !by);
    received = received || (observation.message && by);
    sum = sum || observation.sum;
    broken = broken || observation.broken;
  }
  std::string what = sent && received ? "what it sends and what it receives is altered"
                     : sent           ? "what it sends is altered"
                     : received       ? "what it receives is altered"
                     : sum            ? "what it adds to a sum is wrong"
                                      : "it exchanges nothing";
  if (broken && (sent || received || sum)) what += ", or does not arrive";
  return text.empty() ? what : ddp::format_message("{} ({})", what, text);
}

struct Seen {
  Pairs met, failed;
  std::vector<int> confessed;
  std::string confession;
};

Seen read(const std::vector<PairFaultReport>& list) {
  Seen seen;
  std::set<int> confessed;
  for (const auto& observation : list) {
    if (observation.input) {
      confessed.insert(observation.by);
      if (seen.confession.empty()) seen.confession = observation.text;
    }
    if (observation.by == observation.peer) continue;
    seen.met.insert(unordered(observation.by, observation.peer));
    if (observation.any()) seen.failed.insert(unordered(observation.by, observation.peer));
  }
  seen.confessed = as_list(confessed);
  return seen;
}

/// Pairs of ranks as pairs of hosts; empty if ranks on one host failed with each other.
struct HostPairs {
  std::map<std::string, int> number;
  Pairs met, failed;
};

HostPairs by_host(const Seen& seen, const std::vector<std::string>& hosts) {
  HostPairs result;
  const auto number = [&](int rank) {
    return result.number
        .emplace(hosts[static_cast<std::size_t>(rank)], static_cast<int>(result.number.size()))
        .first->second;
  };
  for (const auto& [a, b] : seen.failed) {
    if (number(a) == number(b)) return {};
    result.failed.insert(unordered(number(a), number(b)));
  }
  for (const auto& [a, b] : seen.met)
    if (number(a) != number(b)) result.met.insert(unordered(number(a), number(b)));
  return result;
}

std::set<int> ranks_on(const std::set<int>& numbers, const HostPairs& pairs,
                       const std::vector<std::string>& hosts) {
  std::set<int> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto found = pairs.number.find(hosts[rank]);
    if (found != pairs.number.end() && numbers.count(found->second) > 0) ranks.insert(static_cast<int>(rank));
  }
  return ranks;
}

std::string why_not(const Seen& seen, const FailureEvidence& evidence) {
  if (seen.failed.empty())
    return ddp::format_message(
        "afterwards all {} pairs of ranks passed when tested alone: the fault is intermittent, or "
        "appears only when all ranks take part",
        seen.met.size());
  std::string text;
  for (const auto& observation : evidence.seen)
    if (text.empty() && observation.any()) text = observation.text;
  const auto& [a, b] = *seen.failed.begin();
  const auto what = text.empty() ? std::string() : ddp::format_message(" ({})", text);
  if (seen.failed.size() == 1)
    return ddp::format_message(
        "only {} and {} fail with each other{}: one of them, or the path between them, is faulty",
        named(a, evidence.hosts), named(b, evidence.hosts), what);
  std::set<int> suspects;
  for (const auto& [first, second] : seen.failed) suspects.insert({first, second});
  return ddp::format_message(
      "{} of {} pairs of ranks fail with each other{}, among {}, and no single rank or host "
      "explains all of them",
      seen.failed.size(), seen.met.size(), what, list_ranks(as_list(suspects)));
}

} // namespace

std::string list_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t k_shown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < k_shown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > k_shown) text += ddp::format_message(" and {} more", ranks.size() - k_shown);
  return text;
}

FaultAttribution attribute_fault(const FailureEvidence& evidence) {
  const auto seen = read(evidence.seen);
  const std::string examine =
      "use --exclude for the host until its memory, GPU, network card and cable are checked";
  if (!seen.confessed.empty())
    return {seen.confessed, ddp::format_message("wrong before anything was sent: {}", seen.confession),
            examine};
  const auto others_passed = [](const std::string& what) {
    return ddp::format_message("{}; all other pairs passed", what);
  };
  if (const auto faulty = convicted(seen.failed, seen.met); !faulty.empty())
    return {as_list(faulty), others_passed(deed(evidence, faulty)), examine};
  const auto hosts = by_host(seen, evidence.hosts);
  if (const auto faulty = convicted(hosts.failed, hosts.met); !faulty.empty()) {
    const auto ranks = ranks_on(faulty, hosts, evidence.hosts);
    return {as_list(ranks), others_passed("data between its host and others is altered or lost"), examine};
  }
  if (!evidence.absent.empty())
    return {evidence.absent, "stopped responding during the search for the faulty rank",
            "check the log of that rank for a crash or a kill (out of memory?), or use --exclude if it "
            "recurs on one host"};
  return {
      {},
      why_not(seen, evidence),
      seen.failed.empty()
          ? "run the preflight again; if it recurs, use --exclude with one host at a time"
          : "run the preflight without one of their hosts, then without the other, to find the faulty one"};
}

} // namespace hpcml::helper
