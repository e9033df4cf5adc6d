// SPDX-License-Identifier: MIT
// Decides which of two failed ranks of an attempt is reported: one failure often causes the other, and the
// first that is received may not be the first that happened. Pure.
#pragma once

#include <cstdint>

#include "core/failures/rank_failure.hpp"

namespace hpcml::agent {

/// Whether a rank says only that another one has gone: its connection was closed.
bool is_secondary_failure(const failures::RankFailure& note);

/// Returns whether `later`, which was reported later, is the cause instead of `first`: its node's kernel
/// reports a GPU fault, it failed by itself and `first` as a consequence, or the times in both error files
/// show it. Clocks of two nodes are not compared: `failed_at` decides for them.
bool precedes(const failures::RankFailure& later, const failures::RankFailure& first);

/// True if only the coordinator can compare the two: they failed on two nodes, and differ in time alone.
bool needs_arrival(const failures::RankFailure& later, const failures::RankFailure& first);

/// Milliseconds between a failure and `now`, in milliseconds since 1970 by the same clock: not more than
/// the time that the ranks have run, should that clock have been set meanwhile.
std::int64_t age_of(std::int64_t reported_at, std::int64_t now, std::int64_t run_time);

/// Returns whether a rank ended by TERM or KILL, which agents send, or by the code of such an end.
bool is_end_by_request(int status);

/// Returns whether `later`, of a rank that ended after the ranks were asked to (`cut_short`: by that
/// request), is to be reported as well, as it may be the cause of `first`. An end by the request is not a
/// reason, unless the program has failed before.
bool may_be_cause(const failures::RankFailure& later, const failures::RankFailure& first);

/// Whether any failure could come before this one.
bool may_be_secondary(const failures::RankFailure& first);

} // namespace hpcml::agent
