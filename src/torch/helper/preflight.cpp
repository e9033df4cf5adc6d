// SPDX-License-Identifier: MIT
#include "torch/helper/preflight.hpp"

#include <functional>
#include <optional>
#include <unistd.h>

#include "ddp/format_message.hpp"
#include "ddp/network.hpp"
#include "hpcml/ddp/own_connections.hpp"
#include "hpcml/exit_code.hpp"
#include "torch/helper/group_rendezvous.hpp"
#include "torch/helper/json_line.hpp"
#include "torch/helper/watchdog.hpp"

namespace hpcml::helper {

namespace {

using Clock = std::chrono::steady_clock;

JsonLine event(const char* name, const RankEnv& env) {
  JsonLine line;
  line.add("event", name).add("rank", env.rank).add("host", host_name());
  return line;
}

/// Reports in which phase this rank still waits, and exits at once.
[[noreturn]] void end_waiting(const RankEnv& env, const std::string& phase, std::chrono::milliseconds limit) {
  print(event("failed", env)
            .add("phase", "watchdog")
            .add("what",
                 ddp::format_message("still waiting in {} after {} s; the library's own time limits did not "
                                     "end it",
                                     phase, limit.count() / 1000)));
  ::_exit(k_preflight_failed);
}

JsonLine connection_line(const ddp::OwnTcpConnection& connection) {
  JsonLine line;
  line.add("local", connection.local).add("remote", connection.remote).add("interface", connection.interface);
  return line;
}

/// Runs one phase on this rank and agrees with the others on its result. An exception is the fault of this
/// rank if it `works_alone` or is marked so; otherwise all ranks search the one at fault.
void run_phase(PhaseBarrier& rendezvous, const std::string& phase, const std::function<void()>& work,
               const std::function<void()>& on_failure, const std::function<void()>& search,
               bool works_alone = false) {
  rendezvous.enter(phase);
  LocalPhaseResult result;
  const auto failed = [&](const std::exception& error, bool own) {
    result = {error.what(), own};
    if (result.what.empty()) result.what = "unknown error";
    on_failure();
  };
  try {
    work();
  } catch (const FaultyLocalInputError& error) {
    failed(error, true);
  } catch (const std::exception& error) {
    failed(error, works_alone);
  }
  if (rendezvous.conclude(phase, result) == PhaseOutcome::well) return;
  on_failure(); // a rank without an error holds connections of the failed group as well
  search();
}

void report_measured(const char* phase, const RankEnv& env, const Communicator& group, long long bytes,
                     const Measurement& measured) {
  print(event(phase, env)
            .add("ok", true)
            .add("backend", group.backend())
            .add("seconds", measured.seconds)
            .add("gbps", measured.gbps)
            .add("bytes", bytes));
}

void report_connected(const RankEnv& env, const Communicator& group, Clock::time_point start) {
  std::vector<JsonLine> connections;
  for (const auto& connection : ddp::own_connections(env.master_port))
    connections.push_back(connection_line(connection));
  print(event("connected", env)
            .add("backend", group.backend())
            .add("interface", group.interface_name())
            .add("device", group.device().str())
            .add("connections", connections)
            .add("seconds", std::chrono::duration<double>(Clock::now() - start).count()));
}

/// What this rank adds to the summary.
std::string rank_note(const RankEnv& env, const Communicator& group, const Measurement& reduced,
                      const Measurement& sent) {
  const auto used = ddp::own_connections(env.master_port);
  return JsonLine()
      .add("rank", env.rank)
      .add("host", host_name())
      .add("device", group.device().str())
      .add("interface", used.empty() ? group.interface_name() : used.front().interface)
      .add("all_reduce_gbps", reduced.gbps)
      .add("send_recv_gbps", sent.gbps)
      .text();
}

void run_phases(const RankEnv& env, const PreflightOptions& options, Watchdog& watchdog) {
  const auto start = Clock::now();
  PhaseBarrier rendezvous(env, options.group.timeout);
  print(event("arrived", env)
            .add("local_rank", env.local_rank)
            .add("seconds", std::chrono::duration<double>(Clock::now() - start).count()));
  if (options.program_port != 0 && options.program_port != env.master_port) {
    watchdog.enter("the check of the program's port");
    check_program_port(rendezvous, env, options.program_port, options.group.timeout);
  }
  if (options.store_only) return rendezvous.finish();

  std::optional<Communicator> group;
  // A rank that fails closes its connections, so that its peers fail now and not after their time limit.
  const auto drop_group = [&] { group.reset(); };
  long long bytes = options.bytes;
  std::string phase;
  const auto search = [&] {
    watchdog.enter(ddp::format_message("the search for the faulty rank in {}", phase));
    search_faulty_rank(rendezvous, env, options, phase, bytes);
  };
  const auto run = [&](const char* name, const std::function<void()>& work, bool works_alone = false) {
    phase = name;
    watchdog.enter(phase);
    run_phase(rendezvous, phase, work, drop_group, search, works_alone);
  };
  // First alone: a rank whose interface is wrong would leave the others waiting for its address.
  run(
      "setup",
      [&] {
        const bool gloo = ddp::resolve_backend(options.group.backend) == "gloo";
        if (gloo) ddp::choose_interface(env, options.group.interface_name);
        if (!gloo) rendezvous.set_peer_timeout(options.group.timeout + std::chrono::seconds(4));
        if (bytes == 0) bytes = gloo ? 4LL << 20 : 64LL << 20;
      },
      true);
  run("connect", [&] { group.emplace(rendezvous.store(), env, options.group); });
  report_connected(env, *group, start);

  Measurement reduced, sent;
  run("all_reduce", [&] { reduced = check_all_reduce(*group, bytes); });
  report_measured("all_reduce", env, *group, bytes, reduced);
  run("send_recv", [&] {
    sent = check_send_receive(*group, bytes);
    rendezvous.note("send_recv", rank_note(env, *group, reduced, sent));
  });
  report_measured("send_recv", env, *group, bytes, sent);
  if (env.rank == 0)
    print(event("summary", env)
              .add("ok", true)
              .add("backend", group->backend())
              .add("bytes", bytes)
              .add("seconds", std::chrono::duration<double>(Clock::now() - start).count())
              .add_json_list("ranks", rendezvous.notes("send_recv")));
  rendezvous.finish();
}

} // namespace

int run_preflight(const PreflightOptions& preflight) {
  const RankEnv env = RankEnv::from_environment();
  PreflightOptions options = preflight;
  if (options.group.backend == "auto") options.group.backend = env.backend;
  const auto limit = options.deadline.count() > 0 ? options.deadline : watchdog_limit(options.group.timeout);
  Watchdog watchdog(limit, [&env](const auto& phase, auto waited) { end_waiting(env, phase, waited); });
  try {
    run_phases(env, options, watchdog);
    return 0;
  } catch (const PhaseError& error) {
    const PhaseFailure& faulty_rank = error.faulty_rank();
    // One report for the job: that of rank 0, or of a rank that rank 0 cannot report.
    print(event(env.rank == 0 || !faulty_rank.is_reported ? "cause" : "failed", env)
              .add("phase", faulty_rank.phase)
              .add("ranks", faulty_rank.ranks)
              .add("hosts", faulty_rank.hosts)
              .add("what", faulty_rank.what)
              .add("hint", faulty_rank.next));
  } catch (const std::exception& error) {
    print(event("failed", env).add("phase", "rendezvous").add("what", error.what()));
  }
  return k_preflight_failed;
}

} // namespace hpcml::helper
