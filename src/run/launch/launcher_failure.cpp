// SPDX-License-Identifier: MIT
#include "run/launch/launcher_failure.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::launch {

namespace {

std::string record_name(const LauncherFailure& failure, const util::EnvSnapshot& env) {
  std::string name = "hpcml-launch";
  for (const auto* variable : {"SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const auto id = env.get_or(variable, "");
    if (!id.empty() && id.find('/') == std::string::npos) name += "-" + id;
  }
  const bool in_job = !env.get_or("SLURM_JOB_ID", "").empty();
  if (failure.rank) name += "-rank" + std::to_string(failure.rank->rank);
  if (!in_job || !failure.rank) name += "-pid" + std::to_string(::getpid());
  return name + "-" + failure.phase + ".json";
}

} // namespace

std::string render_record(const LauncherFailure& failure) {
  return JsonLine()
      .add("program", "hpcml launch")
      .add("exit_code", failure.exit_code)
      .add("phase", failure.phase)
      .add("rank", failure.rank ? std::optional(failure.rank->rank) : std::nullopt)
      .add("host", failure.host)
      .add("what", failure.error.what)
      .add("hint", failure.error.hint)
      .text();
}

void log_without_waiting(util::LogLevel level, const std::string& text) {
  pollfd end{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&end, 1, 0) == 1 && (end.revents & POLLOUT) != 0) util::log_message(level, text);
}

std::string describe(const LauncherFailure& failure) {
  const auto place = failure.rank ? rank_label(*failure.rank) : failure.host;
  const auto text = util::error_text(failure.error);
  return place.empty() ? text : fmt::format("{}: {}", place, text);
}

int report_failure(const LauncherFailure& failure, const util::EnvSnapshot& env, System& system) {
  log_message(system, util::LogLevel::error, describe(failure));
  if (const auto written = record_failure(failure, env); !written)
    log_message(system, util::LogLevel::error, util::error_text(written.error()));
  return failure.exit_code;
}

util::Status record_failure(const LauncherFailure& failure, const util::EnvSnapshot& env) {
  const auto directory = env.get_or("HPCML_ERROR_DIR", "");
  if (directory.empty()) return util::Success{};
  return util::write_file(directory + "/" + record_name(failure, env), render_record(failure) + "\n");
}

void wait_for_output_flush(const util::EnvSnapshot& env, System& system) {
  constexpr int k_way = 300, k_look = 5; // milliseconds
  constexpr int k_most_looks = 200;      // limits the wait for a stalled reader
  if (env.get_or("SLURM_STEP_ID", "").empty() || env.get_or("SLURM_PROCID", "").empty()) return;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    for (int looks = 0; looks < k_most_looks && system.unread_bytes(fd) > 0; ++looks) system.poll({}, k_look);
  system.poll({}, k_way);
}

} // namespace hpcml::launch
