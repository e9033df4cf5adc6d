// SPDX-License-Identifier: MIT
#include "run/agent/worker_group.hpp"

#include <fmt/format.h>

#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "core/util/visible.hpp"
#include "run/agent/error_file.hpp"
#include "run/agent/failure_order.hpp"
#include "run/agent/flight_recorder.hpp"
#include "run/agent/read_stacks.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/resolve/rank_report.hpp"

namespace hpcml::agent {

namespace {

using Clock = std::chrono::steady_clock;

/// The total time for the tools that read the stacks of programs.
constexpr auto k_stack_time = std::chrono::seconds(20);

std::int64_t milliseconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::optional<unsigned> rank_of(const std::optional<failures::RankFailure>& failure) {
  return failure && !failure->of_launcher ? std::optional(failure->rank) : std::nullopt;
}

} // namespace

WorkerGroup::WorkerGroup(const AgentRequest& request, const launch::RuntimeContext& context,
                         const Attempt& attempt, CoordinatorConnection& link, RunRecord* record,
                         const store::SharedStoreActivity* activity, CommandHandler handle_command)
    : x_request(request), x_context(context), x_attempt(attempt), x_link(link), x_record(record),
      x_handle_command(std::move(handle_command)), x_started(Clock::now()) {
  if (!request.stall_timeout) return;
  const auto& layout = attempt.world.layout;
  std::vector<std::string> files;
  for (unsigned local = 0; local < layout.local_world_size; ++local)
    files.push_back(file_of_rank(layout.rank + local, "progress"));
  x_progress.emplace(*request.stall_timeout, x_started, std::move(files), activity);
}

void WorkerGroup::note(const RecordEvent& event) {
  if (x_record == nullptr) return;
  if (const auto added = x_record->add(event); !added) util::log_error(added.error());
}

double WorkerGroup::seconds_since_start(Time time) const {
  return std::chrono::duration<double>(time - x_started).count();
}

std::string WorkerGroup::file_of_rank(unsigned rank, const char* name) const {
  return x_attempt.directory + "/" + std::to_string(rank) + "/" + name;
}

std::optional<launch::RankObserver::Time> WorkerGroup::due() const {
  if (!receives_commands()) return x_keep_alive_at;
  auto next = x_link.due();
  if (x_progress && !x_result.stop) {
    const auto look = x_progress->due();
    if (!next || look < *next) next = look;
  }
  return next;
}

bool WorkerGroup::look(launch::Supervisor& ranks) {
  keep_alive();
  while (receives_commands()) {
    const auto command = x_link.take();
    if (!command) break;
    x_handle_command(*command, ranks);
  }
  if (receives_commands() && !x_link.fault().empty()) {
    x_result.line_lost = true;
    if (x_link.was_away()) ranks.kill(); // the others may have started again without them
    util::log_error(
        fmt::format("{}; the ranks of {} are stopped, because their agent lost the run's coordinator\n"
                    "hint: check the errors of the first node, and the network between the nodes",
                    x_link.fault(), x_context.host));
  }
  if (x_result.stop || !receives_commands()) return true;
  if (x_progress)
    if (const auto change = x_progress->look(ranks.output())) send_event(*change);
  return false;
}

bool WorkerGroup::stop(const StopReason& reason, const launch::Supervisor& ranks) {
  if (x_result.stop) return false;
  x_result.stop = reason;
  if (reason.failure) x_result.failure = reason.failure;
  RanksStopped stopped{x_attempt.number, rank_of(reason.failure), {}, {}};
  if (reason.failure) stopped.host = reason.failure->host;
  for (const auto& rank : ranks.ranks())
    if (rank.running) stopped.ranks.push_back(rank.rank);
  if (reason.failure && !stopped.ranks.empty()) note(stopped);
  return true;
}

void WorkerGroup::kill(const StopReason& reason, launch::Supervisor& ranks) {
  ranks.kill(); // before anything else
  x_result.end = EndCommand{reason, {}};
  ranks.print_line(
      util::LogLevel::error,
      fmt::format("the agent of {0} was treated as lost: its ranks are killed\n"
                  "hint: check {0} and its network: the other nodes received no heartbeat from it",
                  x_context.host));
}

/// Before anything is killed.
void WorkerGroup::read_stacks_of(const launch::Supervisor& ranks, const std::string& reason) {
  if (const auto& fault = x_faults.gpu_fault(); !fault.empty())
    util::log_error(fmt::format("the kernel of {0} reports a GPU error: {1}\n"
                                "hint: add --exclude={0} to the job, and report the error to the site",
                                x_context.host, util::visible(fault)));
  std::vector<StackReadTarget> running;
  std::vector<unsigned> numbers;
  for (const auto& rank : ranks.ranks()) {
    if (!rank.running) continue;
    running.push_back({rank.rank, rank.pid});
    numbers.push_back(rank.rank);
  }
  x_link.announce_wait();
  ask_for_flight_records(x_attempt.directory, numbers);
  const auto stacks = read_stacks(running, x_context.env, k_stack_time);
  std::vector<MainThreadStack> places;
  std::string text;
  for (const auto& rank : stacks) {
    places.push_back(place_of(rank, x_context.host));
    text += render_threads(rank, x_context.host) + "\n";
  }
  std::string file;
  if (x_attempt.kept) {
    file = x_attempt.directory + "/stacks-node" + std::to_string(x_attempt.world.layout.node_rank) + ".txt";
    if (const auto written = util::write_file(file, text); !written) {
      util::log_error(written.error());
      file.clear();
    }
  }
  note(StallSeen{x_attempt.number, reason, file});
  send_event(StacksEvent{std::move(places)});
  keep_alive();
}

void WorkerGroup::started(const launch::RankProcess& process) {
  const auto setup = launch::make_rank_setup(x_request.launch, x_attempt.node, process.local_rank);
  note(RankStarted{x_attempt.number, process.rank, process.local_rank, x_context.host, process.pid,
                   launch::gpus_of_rank(setup), setup.plan.binding.cpus.to_list()});
  x_begun.push_back({x_attempt.number, process.rank, "process", seconds_since_start(Clock::now())});
  note(x_begun.back());
  if (x_begun.size() == x_attempt.world.layout.local_world_size) note_slowest(x_begun);
}

void WorkerGroup::note_slowest(const std::vector<RankPhaseEnded>& phases) {
  const auto& layout = x_attempt.world.layout;
  if (!phases.empty())
    note(find_slowest(phases,
                      std::vector<std::string>(layout.rank + layout.local_world_size, x_context.host)));
}

void WorkerGroup::note_start_up(const launch::Supervisor& ranks) {
  const auto note_phase = [&](const char* name, const auto& when) {
    std::vector<RankPhaseEnded> phases;
    for (const auto& rank : ranks.ranks()) {
      const std::optional<Time> at = when(rank.local_rank);
      if (!at) continue;
      phases.push_back({x_attempt.number, rank.rank, name, seconds_since_start(*at)});
      note(phases.back());
    }
    note_slowest(phases);
  };
  note_phase("rendezvous", [&](unsigned local) { return ranks.joined_at(local); });
  note_phase("output", [&](unsigned local) { return ranks.output().first_written(local); });
}

void WorkerGroup::ended(const launch::RankProcess& process, const launch::Supervisor& ranks) {
  RankEnded event{x_attempt.number,
                  process.rank,
                  process.local_rank,
                  process.pid,
                  process.status,
                  seconds_since_start(process.end),
                  x_result.stop ? rank_of(x_result.stop->failure) : std::nullopt};
  note(event);
  if (process.status != 0) report_cause(process, ranks);
}

failures::RankFailure WorkerGroup::note_of(const launch::RankProcess& process,
                                           const launch::Supervisor& ranks) {
  auto note = launch::failure_of(process, x_context.host, x_started);
  note.attempt = x_attempt.number;
  note.gpu =
      launch::gpus_of_rank(launch::make_rank_setup(x_request.launch, x_attempt.node, process.local_rank));
  note.last_lines = ranks.output().last_lines(process.local_rank);
  const auto file_error = read_error_file(file_of_rank(process.rank, "error.json"));
  auto error = file_error ? *file_error : find_reported_failure(note.last_lines);
  note.message = std::move(error.message);
  note.traceback = std::move(error.traceback);
  note.reported_at = error.at;
  const auto wall_time = std::chrono::system_clock::now().time_since_epoch();
  note.reported_age =
      age_of(note.reported_at, milliseconds_of(wall_time), milliseconds_of(Clock::now() - x_started));
  note.gpu_fault = x_faults.gpu_fault();
  return note;
}

void WorkerGroup::notify_failure(failures::RankFailure failure) {
  x_result.failure = failure;
  x_result.reported_failure = true;
  send_event(FailedEvent{std::move(failure)});
}

void WorkerGroup::failed(const launch::RankProcess& process, const launch::Supervisor& ranks) {
  auto failure = note_of(process, ranks);
  if (auto memory = x_faults.find_out_of_memory(process.status)) {
    failure.out_of_memory = true;
    failure.memory = std::move(*memory);
  }
  notify_failure(std::move(failure));
}

/// A rank that ends after the first failure may have been the cause of it: it takes its time to end, while
/// others see at once that it has gone.
void WorkerGroup::report_cause(const launch::RankProcess& process, const launch::Supervisor& ranks) {
  const auto& first = x_result.failure;
  if (!first || !may_be_secondary(*first) || x_result.signal != 0 || x_result.end) return;
  auto failure = note_of(process, ranks);
  failure.cut_short = is_end_by_request(process.status);
  if (may_be_cause(failure, *first)) notify_failure(std::move(failure));
}

void WorkerGroup::on_store_lost(const std::string& why) {
  failures::RankFailure failure;
  failure.attempt = x_attempt.number;
  failure.of_launcher = true;
  failure.host = x_context.host;
  failure.status = k_cannot_set_up << 8;
  failure.seconds = seconds_since_start(Clock::now());
  failure.message = why;
  notify_failure(std::move(failure));
}

void WorkerGroup::on_stop_requested(int number) {
  if (x_result.signal != 0) return;
  x_result.signal = number;
  send_event(LeavingEvent{number});
}

} // namespace hpcml::agent
