// SPDX-License-Identifier: MIT
#include "run/launch/world_evidence.hpp"

#include <fmt/format.h>

#include "core/model/id_set.hpp"

namespace hpcml::launch {

namespace {

constexpr std::string_view k_separate_begin = "hpcml: error: ";
constexpr std::string_view k_separate_part = " a world of 1 although WORLD_SIZE is ";

} // namespace

WorldFault check_worlds(const WorldEvidence& evidence) {
  if (evidence.world_size < 2) return WorldFault::none;
  if (evidence.serves_store && evidence.seen.worlds_of_one() > 0) return WorldFault::separate;
  // One process may report another world than the one in which its rank trained.
  if (evidence.serves_store && evidence.seen.joined) return WorldFault::none;
  if (!evidence.reporting.empty() &&
      (evidence.serves_store || evidence.reporting.size() == evidence.local_ranks))
    return WorldFault::separate;
  return evidence.serves_store && !evidence.connected ? WorldFault::not_connected : WorldFault::none;
}

util::Error describe_separate_worlds(const WorldEvidence& evidence) {
  const auto& ranks = evidence.reporting;
  const auto reporters = ranks.empty() ? fmt::format("{} programs each set up", evidence.seen.worlds_of_one())
                         : ranks.size() == 1
                             ? fmt::format("rank {} reports", ranks.front())
                             : fmt::format("ranks {} each report", model::IdSet::of(ranks).to_list());
  return {fmt::format("{}{}{}: they do not train together", reporters, k_separate_part, evidence.world_size),
          "remove what sets the world in the program (devices=1, world_size=1), or use "
          "--rendezvous-timeout 0 for independent programs"};
}

bool reports_separate_worlds(std::string_view line) {
  const auto at = line.find(k_separate_begin);
  return at != std::string_view::npos && line.find(k_separate_part, at) != std::string_view::npos;
}

} // namespace hpcml::launch
