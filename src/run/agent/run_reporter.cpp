// SPDX-License-Identifier: MIT
#include "run/agent/run_reporter.hpp"

#include <fmt/format.h>

#include "core/failures/failure_report.hpp"
#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/agent/stop_messages.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/report_bad_node.hpp"

namespace hpcml::agent {

namespace {

unsigned world_size_of(const Attempt* attempt) {
  return attempt != nullptr ? attempt->world.layout.world_size : 0;
}

RestartBegun restart_of(const StopReport& report, unsigned max_restarts) {
  RestartBegun begun{
      report.restarts, max_restarts, {}, report.reason, std::chrono::duration<double>(report.pause).count()};
  if (report.failure && report.failure->of_launcher) begun.why = report.failure->message;
  if (report.failure && !report.failure->of_launcher) begun.cause_rank = report.failure->rank;
  return begun;
}

} // namespace

void RunReporter::begin_record(const AttemptSetup& setup, std::chrono::steady_clock::time_point begun) {
  if (x_record || !x_directory.is_kept()) return;
  auto record = RunRecord::open(x_directory.path() + "/" + record_name(setup.node_rank));
  if (!record) return util::log_error(record.error());
  x_record.emplace(std::move(*record));
  RunStarted facts;
  facts.run_id = x_directory.run_id();
  facts.job = x_context.env.get_or("SLURM_JOB_ID", "");
  facts.step = x_context.env.get_or("SLURM_STEP_ID", "");
  facts.hpcml = HPCML_VERSION;
  facts.command = x_request.launch.command;
  facts.directory = x_directory.path();
  facts.host = x_context.host;
  facts.node = setup.node_rank;
  for (const auto& node : setup.world) facts.nodes.push_back(node.host);
  facts.max_restarts = x_request.max_restarts;
  facts.rendezvous_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  add(facts);
}

void RunReporter::add(const RecordEvent& event) {
  if (!x_record) return;
  if (const auto added = x_record->add(event); !added) util::log_error(added.error());
}

/// Once for each node. The first node's agent reports it to the job's next start, unless any user may have
/// sent it.
void RunReporter::report_faulty_node(const std::string& node, const std::string& why) {
  if (x_is_open && node != x_context.host) return;
  if (!x_is_leader || util::contains(x_faulty_nodes, node)) return;
  x_faulty_nodes.push_back(node);
  add(BadNodeSeen{{node, why}});
  launch::report_bad_node({node, why}, x_context.env);
}

void RunReporter::report_lost(const std::vector<std::string>& hosts) {
  for (const auto& host : hosts) report_faulty_node(host, "its agent was lost");
}

void RunReporter::report_stop(const StopReport& report, const Attempt* attempt,
                              const MessageWriter& print_line) {
  if (!report.is_reporter) return;
  x_last_report = report;
  print_line(level_of_stop(report),
             util::join(render_stop(report, x_request.max_restarts, world_size_of(attempt)), "\n"));
  if (report.failure) {
    add(FailureSeen{*report.failure, failures::find_hint(*report.failure)});
    if (const auto fault = failures::find_node_fault(*report.failure); !fault.empty())
      report_faulty_node(report.failure->host,
                         fmt::format("rank {} failed: {}", report.failure->rank, fault));
  }
  if (report.restarts_all) add(restart_of(report, x_request.max_restarts));
  write_stacks(report, attempt, print_line);
}

void RunReporter::write_stacks(const StopReport& report, const Attempt* attempt,
                               const MessageWriter& print_line) {
  const auto stalled = render_stalled(report);
  if (stalled.empty() || attempt == nullptr || !x_directory.is_kept()) return;
  const auto file = attempt->directory + "/stacks.txt";
  if (const auto written = util::write_file(file, stalled); !written)
    print_line(util::LogLevel::error, written.error().what);
  else
    print_line(util::LogLevel::info, fmt::format("wrote the stack traces of all ranks to '{}'\n"
                                                 "hint: check its first group of ranks: it is usually the "
                                                 "cause of the stall",
                                                 file));
}

void RunReporter::report_end(const StopReason& end, const Attempt* attempt) {
  const bool was_reported = x_last_report && !x_last_report->restarts_all;
  if (end.code != 0 && !was_reported) report_stop({end}, attempt, util::log_message);
  if (end.is_reporter && end.failure) record_failure(*end.failure, end.code, world_size_of(attempt));
}

void RunReporter::record_failure(const failures::RankFailure& failure, int code, unsigned world_size) {
  const auto what = failures::render_failed_rank(failure, world_size);
  std::optional<RankLocation> location;
  if (!failure.of_launcher)
    location = {failure.rank, world_size, failure.host, static_cast<int>(failure.local_rank)};
  const auto written =
      launch::record_failure({code,
                              "run",
                              {failure.of_launcher ? fmt::format("{}: {}", what, failure.message) : what,
                               failures::find_hint(failure)},
                              location,
                              failure.host},
                             x_context.env);
  if (!written) util::log_error(written.error());
}

} // namespace hpcml::agent
