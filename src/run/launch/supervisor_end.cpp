// SPDX-License-Identifier: MIT
// The end of a node's ranks: reports the failure, passes on their last output, and limits the wait for a
// stalled reader.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/failures/failure_report.hpp"
#include "core/failures/log_messages.hpp"
#include "core/util/process.hpp"
#include "core/util/signal_names.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::launch {

namespace {

/// At the end, launch stops waiting for a reader that has read nothing for this time.
constexpr auto k_drain = std::chrono::seconds(2);

} // namespace

/// Why our own output could not be written; empty where it could, or where its reader went away.
std::string Supervisor::output_fault() const {
  const auto fault = [](const OutputMultiplexer& stream, const char* name) -> std::string {
    const int error = stream.fault();
    if (error == 0 || error == EPIPE) return {};
    return fmt::format("cannot write to {}: {}{}", name,
                       error == ENOSPC || error == EDQUOT ? "disk full: " : "", std::strerror(error));
  };
  auto text = fault(x_out, "standard output");
  if (text.empty() && x_err) text = fault(*x_err, "standard error");
  return text;
}

RankLocation Supervisor::location_of_rank(const RankProcess& process) const {
  return {process.rank, x_start_of_ranks.node->world.layout.world_size, x_context.host,
          static_cast<int>(process.local_rank)};
}

/// Returns what is known of the rank that failed first.
failures::RankFailure Supervisor::first_failure() const {
  auto failure = failure_of(x_groups.ranks()[*x_failed], x_context.host, x_start);
  failure.out_of_memory = x_out_of_memory.has_value();
  return failure;
}

std::string Supervisor::describe_failure() const {
  const auto failure = first_failure();
  auto text = failures::render_failed_rank(failure, x_start_of_ranks.node->world.layout.world_size);
  const int signal = WIFSIGNALED(failure.status) ? WTERMSIG(failure.status) : 0;
  if (x_killed && signal == SIGKILL)
    return fmt::format("{}: it did not exit after {}", text, util::signal_name(x_ending));
  if (x_received != 0 && signal == x_received)
    return fmt::format("{}, the signal that hpcml launch received", text);
  if (const auto fault = output_fault(); !fault.empty()) text += fmt::format(": {}", fault);
  if (x_out_of_memory) text += fmt::format(": {}", *x_out_of_memory);
  if (x_groups.ranks().size() > 1) text += "; the others were stopped";
  return text;
}

std::optional<std::chrono::steady_clock::time_point> Supervisor::joined_at(unsigned local_rank) const {
  if (local_rank >= x_start_of_ranks.activity.size()) return std::nullopt;
  const auto at = x_start_of_ranks.activity[local_rank]->last();
  return at == Clock::time_point() ? std::nullopt : std::optional(at);
}

bool Supervisor::all_succeeded() const {
  const auto& ranks = x_groups.ranks();
  return ranks.size() == x_count && std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) {
           return !rank.running && rank.status == 0;
         });
}

void Supervisor::take_late_signals() {
  signalfd_siginfo info{};
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT) continue;
    if (x_ending != 0 && Clock::now() - x_requested_at > std::chrono::milliseconds(250))
      x_drain_given_up = true;
    if (x_ending != 0) continue;
    x_ending = x_received = signal;
    x_requested_at = Clock::now();
    x_drain_until = x_requested_at + k_drain;
  }
}

/// Passes on as much as the reader accepts; false if nothing is left, or if the wait is over.
bool Supervisor::pump() {
  const auto left = [&] { return x_out.queue().size() + (x_err ? x_err->queue().size() : 0); };
  const auto before = left();
  if (before == 0 || x_drain_given_up) return false;
  if (x_oversight) x_keep_alive_at = x_oversight->overseer->keep_alive();
  pollfd ends[] = {
      {x_signals, POLLIN, 0}, {x_out.write_fd(), POLLOUT, 0}, {x_err ? x_err->write_fd() : -1, POLLOUT, 0}};
  if (::poll(ends, std::size(ends), wait_milliseconds()) < 0) return errno == EINTR;
  if (ends[1].revents != 0) x_out.write_some();
  if (ends[2].revents != 0) x_err->write_some();
  if (left() < before && x_drain_until) x_drain_until = Clock::now() + k_drain;
  if (ends[0].revents != 0) take_late_signals();
  if (x_drain_until && Clock::now() >= *x_drain_until) x_drain_given_up = true;
  return !x_drain_given_up;
}

/// Into what still takes something, without waiting for it.
void Supervisor::report_lost_output() {
  const auto lost = [](OutputMultiplexer& stream, const char* name) -> std::string {
    const auto bytes = stream.queue().size();
    stream.queue().drop();
    return bytes == 0 ? "" : fmt::format("the reader of {} is blocked: {} bytes are lost", name, bytes);
  };
  const auto text = lost(x_out, "standard output");
  const auto more = x_err ? lost(*x_err, "standard error") : std::string();
  if (!text.empty()) print_line(util::LogLevel::warning, text);
  if (!more.empty() && x_err) x_err->queue().drop();
  errors().write_some();
}

void Supervisor::look_for_memory(const RankProcess& process) {
  if (WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL)
    x_out_of_memory = find_out_of_memory(x_memory, read_memory_levels());
}

void Supervisor::report_class_of(const Outcome& outcome) {
  // Only the first node asks Slurm: at the end of a large job, all nodes would ask at the same time.
  if (x_start_of_ranks.node->world.layout.node_rank != 0 && outcome.code == 128 + SIGTERM) return;
  auto failed = x_store_fault.empty() ? std::nullopt : std::optional(model::FailureClass::launcher);
  if (x_failed && outcome.signal == 0) failed = failures::class_of(first_failure());
  const auto why = classify_end(
      {.code = outcome.code, .signal = outcome.signal, .save_requested = x_saving, .failure = failed},
      x_context.env, std::chrono::system_clock::now(), x_context.ask_slurm);
  if (why && outcome.code != 0)
    print_line(util::LogLevel::info, failures::describe_run_end(outcome.code, *why));
}

Outcome Supervisor::finish() {
  x_finishing = true;
  x_stop_at.reset();
  x_kill_at.reset();
  x_give_up_at.reset();
  if (x_ending != 0) x_drain_until = Clock::now() + k_drain;
  const auto take = [&](OutputMultiplexer& stream) { return stream.queue().full() || stream.take_rest(); };
  for (bool more = true; more && !x_drain_given_up;) {
    more = take(x_out);
    if (x_err) more = take(*x_err) || more;
    if (x_out.queue().full() || (x_err && x_err->queue().full())) pump();
  }
  x_out.close_sources();
  if (x_err) x_err->close_sources();
  Outcome outcome;
  outcome.stopped = x_stopped;
  if (x_stopped && x_ending != 0) outcome = {128 + x_ending, x_ending, true};
  if (x_failed) {
    const auto& process = x_groups.ranks()[*x_failed];
    // Our own KILL is not what ended the ranks: the signal that launch was sent is.
    const bool ours = x_killed && WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL;
    const int code = ours ? 128 + x_ending : util::exit_code_of_status(process.status);
    outcome = {code, x_received != 0 && code == 128 + x_received ? x_received : 0, x_stopped};
  }
  if (!x_oversight && !x_store_fault.empty()) outcome = {k_cannot_set_up, 0, true};
  if (!x_oversight && (x_failed || !x_store_fault.empty())) {
    LauncherFailure failure{
        outcome.code, "store", {fmt::format("{}: the ranks are stopped", x_store_fault)}, {}, x_context.host};
    if (x_failed)
      failure = {outcome.code,
                 "run",
                 {describe_failure()},
                 location_of_rank(x_groups.ranks()[*x_failed]),
                 x_context.host};
    print_line(util::LogLevel::error, failure.error.what);
    report_class_of(outcome);
    if (const auto written = record_failure(failure, x_context.env); !written)
      print_line(util::LogLevel::error, written.error().what);
  }
  while (pump()) {
  }
  if (!x_failed && !output_fault().empty()) {
    print_line(util::LogLevel::error, output_fault());
    outcome.code = k_cannot_set_up;
    errors().write_some();
  }
  if (x_drain_given_up) {
    report_lost_output();
    if (outcome.code == 0) outcome = {128 + x_ending, x_ending};
  }
  return outcome;
}

Outcome Supervisor::part_from_store(const Outcome& ended, int part) {
  if (ended.code != 0 || ended.stopped || x_ending != 0) return ended;
  if (::eventfd_write(part, 1) != 0) return ended;
  for (;;) {
    x_groups.reap();
    if (has_lost_store()) return ended;
    pollfd signals{x_signals, POLLIN, 0};
    if (::poll(&signals, 1, -1) < 0 && errno != EINTR) return ended;
    take_late_signals();
    if (x_ending != 0) return {128 + x_ending, x_ending};
  }
}

void end_by_signal(int signal) {
  // A rank may have written a core file; ours would contain nothing useful.
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

void end_step_by_signal(int signal, const util::EnvSnapshot& env) {
  wait_for_output_flush(env);
  end_by_signal(signal);
}

} // namespace hpcml::launch
