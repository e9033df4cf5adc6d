// SPDX-License-Identifier: MIT
#include "launch/end_class.hpp"

#include <csignal>

#include "hpcml/exit_code.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

namespace {

using model::FailureClass;

bool is_time_over(const util::EnvSnapshot& env, std::chrono::system_clock::time_point now) {
  const auto end = util::parse_unsigned(env.get_or("SLURM_JOB_END_TIME", ""));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return end && seconds >= static_cast<long long>(*end);
}

} // namespace

std::optional<FailureClass> classify_end(const RunEnd& end, const util::EnvSnapshot& env,
                                         std::chrono::system_clock::time_point now) {
  if (end.asked_to_save) return FailureClass::time_limit;
  if (end.code == 0) return std::nullopt;
  if (end.rank_failed) return end.out_of_memory ? FailureClass::out_of_memory : FailureClass::program;
  if (end.launcher_failed) return FailureClass::launcher;
  // Slurm's own word: for another job, for whoever asked, or since the time is over.
  if (end.signal == SIGTERM && !env.get_or("SLURM_JOB_ID", "").empty())
    return is_time_over(env, now) ? FailureClass::time_limit : FailureClass::preempted;
  if (end.signal != 0) return FailureClass::user;
  if (end.nodes_missing) return FailureClass::node;
  return end.code == k_cannot_set_up ? FailureClass::launcher : FailureClass::program;
}

std::string describe_class(int code, FailureClass why) {
  return "hpcml launch: the run ended with " + std::to_string(code) + ": " + model::word_of(why);
}

} // namespace hpcml::launch
