// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <sstream>

#include "ddp/format_message.hpp"
#include "torch/helper/faulty_rank.hpp"
#include "torch/helper/group_rendezvous.hpp"
#include "torch/helper/pairing.hpp"
#include "torch/helper/preflight.hpp"

namespace hpcml::helper {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_answer{8000}; ///< in which every rank that lives takes its part
constexpr milliseconds k_pair_limit{20000};
constexpr int k_sweeps = 4;       ///< the maximum number of sweeps over all pairs
constexpr int k_most_rounds = 24; ///< per sweep: in large worlds not all pairs are tested
constexpr const char* k_end = "end";

/// Returns a report with a checksum, because a rank that alters its data may alter this report as well.
std::string sealed(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL; // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::to_string(hash) + " " + text;
}

/// "3 S text": the partner, what was wrong (Input, Sum, Message, Broken), the first of it in words.
std::string pack(const PairFaultReport& seen) {
  std::string kinds = "-";
  if (seen.input) kinds += 'I';
  if (seen.sum) kinds += 'S';
  if (seen.message) kinds += 'M';
  if (seen.broken) kinds += 'B';
  return sealed(std::to_string(seen.peer) + " " + kinds + " " + seen.text);
}

PairFaultReport unpack_observation(int rank, const std::string& note) {
  const auto text = note.substr(std::min(note.size(), note.find(' ') + 1));
  PairFaultReport seen;
  seen.by = rank;
  if (sealed(text) != note) {
    seen.broken = rank != 0;
    seen.text = ddp::format_message("the report of rank {} to rank 0 was altered", rank);
    return seen; // other is 0: the pair that failed is this rank and the store's
  }
  std::istringstream words(text);
  std::string kinds;
  words >> seen.peer >> kinds;
  words.get();
  std::getline(words, seen.text);
  const auto has = [&](char kind) { return kinds.find(kind) != std::string::npos; };
  seen.input = has('I');
  seen.sum = has('S');
  seen.message = has('M');
  seen.broken = has('B');
  return seen;
}

/// Tests the pair with `peer` in a group of two.
PairFaultReport test_pair(PhaseBarrier& rendezvous, const RankEnv& env, GroupOptions options, int peer,
                          int round, long long bytes) {
  PairFaultReport seen;
  seen.by = env.rank;
  seen.peer = peer;
  options.timeout = std::min(options.timeout, k_pair_limit);
  const auto pair = ddp::format_message("rank {} with rank {}: ", env.rank, peer);
  try {
    const int low = std::min(env.rank, peer), high = std::max(env.rank, peer);
    const auto name = ddp::format_message("hpcml/pair{}/{}-{}", round, low, high);
    Communicator group(rendezvous.store(), env, options, {name, env.rank == low ? 0 : 1, 2});
    const auto found = check_pair(group, bytes, round);
    seen.input = !found.input.empty();
    seen.sum = !found.sum.empty();
    seen.message = !found.message.empty();
    const auto& first = seen.input ? found.input : seen.message ? found.message : found.sum;
    if (!first.empty()) seen.text = (seen.input ? "" : pair) + first;
  } catch (const std::exception& error) {
    seen.broken = true;
    seen.text = pair + error.what();
  }
  return seen;
}

/// One search, from the side of rank 0 (which leads it) or of another rank.
class Search {
public:
  Search(PhaseBarrier& rendezvous, const RankEnv& env, const PreflightOptions& options, long long bytes)
      : x_rendezvous(rendezvous), x_env(env), x_group(options.group), x_bytes(bytes) {
    x_evidence.hosts = rendezvous.hosts();
  }

  /// All rounds; what is known afterwards is known to rank 0.
  FaultAttribution run() {
    x_rendezvous.note("search", "here");
    if (leads()) {
      std::string present;
      const auto answers = x_rendezvous.collect("search", k_answer);
      for (std::size_t rank = 0; rank < answers.size(); ++rank)
        if (answers[rank])
          present += std::to_string(rank) + " ";
        else
          x_evidence.absent.push_back(static_cast<int>(rank));
      x_rendezvous.publish_result("search", present);
    }
    std::istringstream present(x_rendezvous.wait_for_result("search", k_answer + k_answer));
    for (int rank; present >> rank;) x_members.push_back(rank);
    const auto own = std::find(x_members.begin(), x_members.end(), x_env.rank);
    x_own_place = static_cast<int>(own - x_members.begin());
    if (own != x_members.end())
      for (int round = 0; starts_round(round); ++round) play(round);
    return leads() ? attribute_fault(x_evidence) : FaultAttribution{};
  }

private:
  bool leads() const { return x_env.rank == 0; }
  int size() const { return static_cast<int>(x_members.size()); }
  int rounds_of_sweep() const { return std::min(rounds_of(size()), k_most_rounds); }
  /// Rank 0 waits for the slowest pair; the others for rank 0.
  milliseconds answer_timeout() const { return 5 * std::min(x_group.timeout, k_pair_limit) + k_answer; }
  static std::string matter(int round) { return ddp::format_message("search{}", round); }

  /// Rank 0 decides, so that all ranks make the same rounds.
  bool starts_round(int round) {
    if (leads()) {
      const int sweep = rounds_of_sweep();
      const bool late = steady_clock::now() - x_start > x_group.timeout;
      const bool swept = sweep == 0 || round % sweep == 0;
      const bool done =
          sweep == 0 || round >= k_sweeps * sweep || !x_lost.empty() || (round > 0 && late) ||
          (round > 0 && swept && attribute_fault(x_evidence).certain() && x_evidence.absent.empty());
      x_rendezvous.publish_result(matter(round), done ? k_end : "go");
    }
    return x_rendezvous.wait_for_result(matter(round), answer_timeout()) != k_end;
  }

  void play(int round) {
    // In large worlds, a sweep uses only some rounds: distant rounds have partners on other hosts.
    const int turn = round % rounds_of_sweep() * rounds_of(size()) / rounds_of_sweep();
    const auto place = partner_of(x_own_place, size(), turn);
    PairFaultReport seen;
    seen.by = seen.peer = x_env.rank; // rests
    if (place)
      seen = test_pair(x_rendezvous, x_env, x_group, x_members[static_cast<std::size_t>(*place)], round,
                       x_bytes);
    x_rendezvous.note(matter(round), pack(seen));
    if (!leads()) return;
    const auto notes = x_rendezvous.collect(matter(round), answer_timeout() - k_answer, x_members);
    for (const int rank : x_members) {
      const auto& note = notes[static_cast<std::size_t>(rank)];
      if (note)
        x_evidence.seen.push_back(unpack_observation(rank, *note));
      else
        x_lost.push_back(rank);
    }
    x_evidence.absent.insert(x_evidence.absent.end(), x_lost.begin(), x_lost.end());
  }

  PhaseBarrier& x_rendezvous;
  const RankEnv& x_env;
  const GroupOptions& x_group;
  long long x_bytes;
  steady_clock::time_point x_start = steady_clock::now();
  std::vector<int> x_members; ///< ranks that take part
  int x_own_place = 0;        ///< this rank's among them
  std::vector<int> x_lost;    ///< fell silent during the search
  FailureEvidence x_evidence;
};

} // namespace

void search_faulty_rank(PhaseBarrier& rendezvous, const RankEnv& env, const PreflightOptions& options,
                        const std::string& phase, long long bytes) {
  const auto violations = Search(rendezvous, env, options, bytes).run();
  if (env.rank != 0) rendezvous.fail("result", std::nullopt, k_answer);
  PhaseFailure faulty_rank{public_phase(phase), violations.faulty, {}, "", violations.next};
  for (const int rank : faulty_rank.ranks)
    faulty_rank.hosts.push_back(rendezvous.hosts()[static_cast<std::size_t>(rank)]);
  faulty_rank.what = violations.certain()
                         ? ddp::format_message("{}: {}; first seen in {}: {}",
                                               list_ranks_and_hosts(faulty_rank.ranks, faulty_rank.hosts),
                                               violations.how, faulty_rank.phase, rendezvous.reason())
                         : ddp::format_message("{} failed, and the faulty rank cannot be determined: {}; {}",
                                               faulty_rank.phase, rendezvous.reason(), violations.how);
  std::replace(faulty_rank.what.begin(), faulty_rank.what.end(), '\n', ' ');
  rendezvous.fail("result", faulty_rank, k_answer);
}

} // namespace hpcml::helper
