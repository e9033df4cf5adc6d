// SPDX-License-Identifier: MIT
// The end of a node's ranks: reports the failure, passes on their last output, and limits the wait for a
// stalled reader.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>

#include "core/failures/failure_report.hpp"
#include "core/failures/log_messages.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::launch {

RankLocation Supervisor::location_of_rank(const RankProcess& process) const {
  return {process.rank, layout().world_size, x_start.context.host, static_cast<int>(process.local_rank)};
}

/// Returns what is known of the rank that failed first.
failures::RankFailure Supervisor::first_failure(const RankProcess& process) const {
  auto failure = failure_of(process, x_start.context.host, x_started_at);
  failure.out_of_memory = x_memory.fault.has_value();
  return failure;
}

std::string Supervisor::describe_failure(const RankProcess& process) const {
  auto text = failures::render_failed_rank(first_failure(process), layout().world_size);
  if (const auto by_signal = x_policy.describe_signal(); !by_signal.empty()) return text + by_signal;
  if (const auto fault = x_output.fault(); !fault.empty()) text += fmt::format(": {}", fault);
  if (x_memory.fault) text += fmt::format(": {}", *x_memory.fault);
  if (x_groups.ranks().size() > 1) text += "; the others were stopped";
  return text;
}

std::optional<std::chrono::steady_clock::time_point> Supervisor::joined_at(unsigned local_rank) const {
  if (local_rank >= x_start.activity.size()) return std::nullopt;
  const auto at = x_start.activity[local_rank]->last();
  return at == Clock::time_point() ? std::nullopt : std::optional(at);
}

bool Supervisor::all_succeeded() const {
  const auto& ranks = x_groups.ranks();
  return ranks.size() == layout().local_world_size &&
         std::all_of(ranks.begin(), ranks.end(),
                     [](const auto& rank) { return !rank.running && rank.status == 0; });
}

/// Passes on as much as the reader accepts; false if nothing is left, or if the wait is over.
bool Supervisor::write_rest() {
  const auto before = x_output.unwritten();
  if (before == 0 || x_policy.is_drain_given_up()) return false;
  const auto alive_at = x_oversight ? observer()->keep_alive() : std::nullopt;
  constexpr std::size_t k_signals = OutputRelay::k_writers;
  std::array<pollfd, k_signals + 1> ends;
  const auto writers = std::span(ends).first<OutputRelay::k_writers>();
  x_output.watch_writers(writers);
  ends[k_signals] = {x_signals.fd(), POLLIN, 0};
  if (x_system.poll(ends, wait_milliseconds(alive_at)) < 0) return errno == EINTR;
  x_output.handle_writers(writers);
  if (x_output.unwritten() < before) x_policy.on_drain_progress(x_system.now());
  if (ends[k_signals].revents != 0) read_signals();
  perform(x_policy.on_time(x_system.now()));
  return !x_policy.is_drain_given_up();
}

void Supervisor::report_class_of(const LaunchOutcome& outcome) {
  // Only the first node asks Slurm: at the end of a large job, all nodes would ask at the same time.
  if (layout().node_rank != 0 && outcome.code == 128 + SIGTERM) return;
  const auto index = x_policy.failed_rank();
  const auto of_rank =
      index ? failures::class_of(first_failure(x_groups.ranks()[*index])) : model::FailureClass::program;
  const auto result = x_policy.run_result(outcome, of_rank);
  const auto& context = x_start.context;
  const auto why = classify_end(result, context.env, std::chrono::system_clock::now(), context.ask_slurm);
  if (why && outcome.code != 0)
    print_line(util::LogLevel::info, failures::describe_run_end(outcome.code, *why));
}

/// Unless the observer does.
void Supervisor::report_failure_of_ranks(const LaunchOutcome& outcome) {
  const auto& context = x_start.context;
  LauncherFailure failure{outcome.code, {}, {}, {}, context.host};
  if (const auto index = x_policy.failed_rank()) {
    const auto& process = x_groups.ranks()[*index];
    failure.phase = "run";
    failure.error.what = describe_failure(process);
    failure.rank = location_of_rank(process);
  } else {
    failure.phase = "store";
    failure.error.what = fmt::format("{}: the ranks are stopped", x_store.fault);
  }
  print_line(util::LogLevel::error, failure.error.what);
  report_class_of(outcome);
  if (const auto written = record_failure(failure, context.env); !written)
    print_line(util::LogLevel::error, written.error().what);
}

LaunchOutcome Supervisor::finish() {
  x_policy.on_drain(x_system.now());
  for (bool more = true; more && !x_policy.is_drain_given_up();) {
    more = x_output.read_rest();
    if (x_output.is_full()) write_rest();
  }
  x_output.close_ranks();
  if (!x_oversight && x_policy.has_failure()) report_failure_of_ranks(x_policy.outcome(false));
  while (write_rest()) {
  }
  const auto fault = x_output.fault();
  if (!x_policy.failed_rank() && !fault.empty()) {
    print_line(util::LogLevel::error, fault);
    x_output.write_errors();
  }
  if (x_policy.is_drain_given_up()) x_output.drop_unwritten();
  return x_policy.outcome(!fault.empty());
}

LaunchOutcome Supervisor::part_from_store(const LaunchOutcome& ended, int part) {
  if (ended.code != 0 || ended.stopped || x_policy.is_ending()) return ended;
  const std::uint64_t count = 1; // `part` is an eventfd
  if (x_system.write(part, &count, sizeof count) != sizeof count) return ended;
  for (;;) {
    x_groups.reap();
    if (has_lost_store()) return ended;
    pollfd signals{x_signals.fd(), POLLIN, 0};
    if (x_system.poll({&signals, 1}, -1) < 0 && errno != EINTR) return ended;
    read_signals();
    if (x_policy.is_ending()) return x_policy.outcome_of_request();
  }
}

void end_by_signal(System& system, int signal) {
  // A rank may have written a core file; ours would contain nothing useful.
  rlimit none{0, 0};
  system.setrlimit(RLIMIT_CORE, none);
  system.set_action(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  system.kill(system.getpid(), signal);
  system.sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

void end_step_by_signal(System& system, int signal, const util::EnvSnapshot& env) {
  wait_for_output_flush(env, system);
  end_by_signal(system, signal);
}

} // namespace hpcml::launch
