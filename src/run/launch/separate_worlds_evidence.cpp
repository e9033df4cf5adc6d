// SPDX-License-Identifier: MIT
#include "run/launch/separate_worlds_evidence.hpp"

#include <fmt/format.h>

#include "core/failures/failure_table.hpp"
#include "core/failures/log_messages.hpp"
#include "core/model/id_set.hpp"

namespace hpcml::launch {

SeparateWorldsResult check_worlds(const SeparateWorldsEvidence& evidence) {
  if (evidence.world_size < 2) return SeparateWorldsResult::none;
  if (evidence.serves_store && evidence.seen.worlds_of_one() > 0) return SeparateWorldsResult::separate;
  // One process may report another world than the one in which its rank trained.
  if (evidence.serves_store && evidence.seen.joined) return SeparateWorldsResult::none;
  if (!evidence.reporting.empty() &&
      (evidence.serves_store || evidence.reporting.size() == evidence.local_ranks))
    return SeparateWorldsResult::separate;
  return evidence.serves_store && !evidence.connected ? SeparateWorldsResult::not_connected
                                                      : SeparateWorldsResult::none;
}

util::Error describe_separate_worlds(const SeparateWorldsEvidence& evidence) {
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
