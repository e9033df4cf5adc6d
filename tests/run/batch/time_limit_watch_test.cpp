// SPDX-License-Identifier: MIT
// When the time of a job asks its ranks to save, and when it gives up.
#include <catch2/catch.hpp>

#include "run/batch/time_limit_watch.hpp"

using namespace hpcml::batch;
using std::chrono::seconds;

TEST_CASE("ranks save a lead before the end of the job") {
  const TimeLimitWatch watch(seconds(100), 10'000);
  CHECK_FALSE(watch.event_at(9'899, Phase::running));
  CHECK(watch.event_at(9'900, Phase::running) == EventKind::limit_near);
  CHECK_FALSE(watch.event_at(9'989, Phase::saving));
  CHECK(watch.event_at(9'990, Phase::saving) == EventKind::save_time_over);
  CHECK_FALSE(watch.event_at(10'000, Phase::ending));
}

TEST_CASE("without a known end the lead begins at the request") {
  TimeLimitWatch watch(seconds(100), 0);
  CHECK_FALSE(watch.event_at(10'000, Phase::running));
  watch.note_saving(10'000);
  CHECK(watch.is_saving());
  CHECK_FALSE(watch.event_at(10'089, Phase::saving));
  CHECK(watch.event_at(10'090, Phase::saving) == EventKind::save_time_over);
}

TEST_CASE("a job that does not save has no time limit") {
  TimeLimitWatch watch(seconds(0), 10'000);
  CHECK_FALSE(watch.is_on());
  watch.note_saving(9'000);
  CHECK_FALSE(watch.event_at(11'000, Phase::running));
}
