// SPDX-License-Identifier: MIT
#include "run/launch/separate_worlds.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/failures/failure_table.hpp"
#include "core/failures/log_messages.hpp"
#include "core/util/child.hpp"
#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/process_stat.hpp"
#include "core/util/text.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/orphan_reaper.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/rendezvous_decision.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/launch/store_child.hpp"
#include "run/launch/store_query.hpp"
#include "run/launch/supervisor.hpp"
#include "run/store/client.hpp"
#include "run/store/store_watch.hpp"

namespace hpcml::launch {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_first_look{1000};
constexpr milliseconds k_longest_wait{30000};
constexpr std::chrono::seconds k_answer_timeout{2};

/// What the store has seen of the programs; nothing if it does not answer.
std::optional<SeparateWorldsEvidence> ask_store(const std::string& address, std::uint16_t port,
                                                const World& world,
                                                const std::optional<store::Credentials>& credentials) {
  if (!credentials) return std::nullopt;
  const auto answer = query_stores({{address, port}}, *credentials, k_answer_timeout);
  const auto* report = std::get_if<store::StoreReport>(&answer);
  if (report == nullptr) return std::nullopt;
  SeparateWorldsEvidence evidence;
  evidence.world_size = world.layout.world_size;
  evidence.serves_store = true;
  // A program that has disconnected may have sent no rank, but it has set a key.
  evidence.connected = report->connected + report->lost + report->keys > 0;
  evidence.seen = report->worlds;
  return evidence;
}

void report_not_connected(unsigned world_size) {
  util::log_warning(
      util::error_text({fmt::format("no program of the {} ranks connected to the rendezvous store: {}",
                                    world_size, failures::k_train_alone),
                        std::string(failures::known_error("unconnected-ranks").hint)}));
}

/// Waits until the process has ended, at most until the limit; true once it has.
bool has_ended(pid_t pid, int descriptor, milliseconds limit) {
  if (descriptor >= 0) {
    pollfd wait{descriptor, POLLIN, 0};
    return ::poll(&wait, 1, static_cast<int>(limit.count())) == 1;
  }
  ::usleep(static_cast<useconds_t>(limit.count()) * 1000); // a kernel before 5.3
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// Whether a process that has ended, and is still to be waited for, ended badly.
bool is_known_to_have_failed(pid_t pid) {
  const auto stat = util::read_process_stat(pid);
  return stat && stat->state == 'Z' && stat->status != 0;
}

int watch_world(pid_t program, const std::string& address, std::uint16_t port, const World& world) {
  ignore_signals();
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
  for (int fd : {STDIN_FILENO, STDOUT_FILENO}) ::close(fd);
  if (descriptor > STDERR_FILENO + 1)
    util::close_descriptors(STDERR_FILENO + 1, static_cast<unsigned>(descriptor) - 1);
  util::close_descriptors(static_cast<unsigned>(std::max(descriptor, STDERR_FILENO)) + 1);
  for (auto wait = k_first_look;; wait = std::min(wait * 2, k_longest_wait)) {
    const bool ended = has_ended(program, descriptor, wait);
    const bool failed = ended && is_known_to_have_failed(program);
    const auto evidence = ask_store(address, port, world, find_rank_credentials(world));
    if (failed || !evidence || evidence->seen.joined) return 0;
    const auto fault = check_worlds(*evidence);
    if (fault == SeparateWorldsResult::separate) util::log_error(describe_separate_worlds(*evidence));
    if (fault == SeparateWorldsResult::not_connected && ended) report_not_connected(world.layout.world_size);
    if (ended || fault == SeparateWorldsResult::separate) return 0;
  }
}

} // namespace

bool expects_one_world(const NodeSetup& node, const LaunchRequest& request) {
  return needs_rendezvous(node.world, request) && !node.agent &&
         !model::is_on(request.rank_settings.coordinator);
}

bool expects_connections(const std::shared_ptr<const NodeSetup>& node, const LaunchRequest& request) {
  return expects_one_world(*node, request) && node->store.own;
}

std::optional<SeparateWorldsEvidence> find_world_evidence(const std::shared_ptr<const NodeSetup>& node,
                                                          const LaunchRequest& request,
                                                          const Supervisor& ranks) {
  if (!expects_one_world(*node, request) || !ranks.all_succeeded()) return std::nullopt;
  SeparateWorldsEvidence evidence;
  evidence.world_size = node->world.layout.world_size;
  evidence.local_ranks = node->world.layout.local_world_size;
  evidence.reporting = ranks.output().ranks_in_worlds_of_one();
  evidence.is_reported = ranks.output().has_reported_worlds();
  evidence.serves_store = expects_connections(node, request);
  return evidence;
}

bool report_separate_worlds(SeparateWorldsEvidence evidence, const store::SharedStoreActivity* activity) {
  evidence.serves_store = evidence.serves_store && activity != nullptr;
  if (activity != nullptr) {
    evidence.connected = activity->last() != store::SharedStoreActivity::Time{};
    evidence.seen = activity->worlds();
  }
  switch (check_worlds(evidence)) {
  case SeparateWorldsResult::none: return false;
  case SeparateWorldsResult::not_connected: report_not_connected(evidence.world_size); return false;
  case SeparateWorldsResult::separate: break;
  }
  if (!evidence.is_reported) util::log_error(describe_separate_worlds(evidence));
  return true;
}

void leave_world_watch(const RankSetup& setup, const LaunchRequest& request) {
  const auto& layout = setup.world.layout;
  const bool supervised = setup.env.get(k_launch_variable).has_value(); // its parent reports it
  if (layout.rank != 0 || supervised || !setup.store_serves || !expects_one_world(*setup.node, request))
    return;
  const auto place = store::parse_place(setup.env.get_or(k_store_variable, ""));
  const auto addresses = place ? addresses_of(place->first) : std::vector<std::string>{};
  if (addresses.empty()) return;
  const pid_t program = ::getpid();
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::session;
  options.directory = "/";
  const auto left = util::leave_process(
      options, [&] { return watch_world(program, addresses.front(), place->second, setup.world); });
  if (!left) util::log_debug(left.error().what);
}

} // namespace hpcml::launch
