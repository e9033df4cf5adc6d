// SPDX-License-Identifier: MIT
#include "run/launch/end_class.hpp"

#include <csignal>

#include "core/failures/log_messages.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::launch {

namespace {

using model::FailureClass;

bool is_time_over(const util::EnvSnapshot& env, std::chrono::system_clock::time_point now) {
  const auto end = util::parse_unsigned(env.get_or("SLURM_JOB_END_TIME", ""));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return end && seconds >= static_cast<long long>(*end);
}

} // namespace

std::optional<FailureClass> classify_end(const RunResult& end, const util::EnvSnapshot& env,
                                         std::chrono::system_clock::time_point now,
                                         const AskSlurm& ask_slurm) {
  // Slurm states the reason: preemption, a cancellation or the time limit.
  const auto by_slurm = [&]() -> std::optional<FailureClass> {
    if (env.get_or("SLURM_JOB_ID", "").empty()) return std::nullopt;
    if (is_time_over(env, now)) return FailureClass::time_limit;
    return ask_slurm ? ask_slurm() : std::nullopt;
  };
  if (end.save_requested) return FailureClass::time_limit;
  if (end.code == 0) return std::nullopt;
  // Slurm signals launch and its ranks at the same time, so that a rank's exit may arrive before our own
  // signal.
  if (end.failure == FailureClass::program && end.code == 128 + SIGTERM)
    return by_slurm().value_or(FailureClass::program);
  if (end.failure) return end.failure;
  if (end.signal == SIGTERM && !env.get_or("SLURM_JOB_ID", "").empty())
    // srun ends all tasks of a step in which one has failed, and only Slurm can distinguish that from a
    // preemption.
    return by_slurm().value_or(FailureClass::terminated);
  if (end.signal != 0) return FailureClass::user;
  if (end.nodes_missing) return FailureClass::node;
  return end.code == k_cannot_set_up ? FailureClass::launcher : FailureClass::program;
}

void write_class(int code, FailureClass why) {
  util::write_stderr_line(util::log_text(util::LogLevel::info, failures::describe_run_end(code, why)));
}

} // namespace hpcml::launch
