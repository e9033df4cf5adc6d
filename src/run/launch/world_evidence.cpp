// SPDX-License-Identifier: MIT
#include "run/launch/world_evidence.hpp"

#include <fmt/format.h>

#include "core/failures/failure_table.hpp"
#include "core/failures/log_messages.hpp"
#include "core/model/id_set.hpp"

namespace hpcml::launch {

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
  return {fmt::format("{} {} {}: they do not train together", reporters, failures::k_world_of_one,
                      evidence.world_size),
          std::string(failures::known_error("separate-worlds").hint)};
}

} // namespace hpcml::launch
