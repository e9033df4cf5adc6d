// SPDX-License-Identifier: MIT
#include "run/launch/end_class.hpp"

#include <array>
#include <csignal>
#include <fmt/format.h>

#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::launch {

namespace {

using model::FailureClass;

/// The line of this version, and that of earlier ones.
constexpr std::array<std::string_view, 2> k_ends = {"hpcml: the run exited with code ",
                                                    "hpcml launch: the run ended with "};

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
  if (end.node_at_fault) return FailureClass::node;
  if (end.rank_failed) {
    if (end.out_of_memory) return FailureClass::out_of_memory;
    // Slurm signals launch and its ranks at the same time, so that a rank's exit may arrive before our
    // own signal.
    const bool terminated = end.code == 128 + SIGTERM;
    return (terminated ? by_slurm() : std::nullopt).value_or(FailureClass::program);
  }
  if (end.launcher_failed) return FailureClass::launcher;
  if (end.signal == SIGTERM && !env.get_or("SLURM_JOB_ID", "").empty())
    // srun ends all tasks of a step in which one has failed, and only Slurm can distinguish that from a
    // preemption.
    return by_slurm().value_or(FailureClass::terminated);
  if (end.signal != 0) return FailureClass::user;
  if (end.nodes_missing) return FailureClass::node;
  return end.code == k_cannot_set_up ? FailureClass::launcher : FailureClass::program;
}

std::string describe_class(int code, FailureClass why) {
  return fmt::format("the run exited with code {}: {}", code, model::word_of(why));
}

void write_class(int code, FailureClass why) {
  util::write_stderr_line(util::log_text(util::LogLevel::info, describe_class(code, why)));
}

std::optional<FailureClass> read_class(std::string_view line) {
  for (const auto end : k_ends) {
    const auto begin = line.find(end);
    if (begin == std::string_view::npos) continue;
    const auto class_name = line.substr(begin + end.size());
    const auto colon = class_name.find(": ");
    if (colon == std::string_view::npos || !util::parse_unsigned(class_name.substr(0, colon)))
      return std::nullopt;
    const auto word = model::parse_word<FailureClass>(util::trim(class_name.substr(colon + 2)));
    return word ? std::optional(*word) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace hpcml::launch
