// SPDX-License-Identifier: MIT
#include "run/launch/rank_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

#include "core/util/process_stat.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

namespace {

bool group_exists(System& system, pid_t group) { return system.kill(-group, 0) == 0 || errno == EPERM; }

} // namespace

void RankProcessGroups::add(const RankProcess& process) {
  x_guard.set_group(x_ranks.size(), process.pid);
  x_by_pid[process.pid] = x_ranks.size();
  x_ranks.push_back(process);
  ++x_left;
}

void RankProcessGroups::signal(int number) const {
  for (const auto& process : x_ranks)
    if (process.running || process.lingers) x_system.kill(-process.pid, number);
}

std::vector<std::size_t> RankProcessGroups::reap() {
  std::vector<std::size_t> ended;
  for (;;) {
    int status = 0;
    const pid_t pid = x_system.waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return ended;
    const auto found = x_by_pid.find(pid);
    if (found == x_by_pid.end()) { // else an orphan of a rank: it came to us, as no other was left
      const auto spared = std::find(x_spared.begin(), x_spared.end(), pid);
      if (spared == x_spared.end()) continue;
      x_spared.erase(spared);
      x_ended_spared.emplace_back(pid, status);
      continue;
    }
    auto& process = x_ranks[found->second];
    process.status = status;
    process.running = false;
    process.end = x_system.now();
    x_guard.set_group(found->second, 0);
    ended.push_back(found->second);
    x_by_pid.erase(found);
    --x_left;
  }
}

std::optional<int> RankProcessGroups::ended_spared(pid_t child) const {
  for (const auto& [pid, status] : x_ended_spared)
    if (pid == child) return status;
  return std::nullopt;
}

bool RankProcessGroups::wait_for_group(std::size_t index) {
  auto& process = x_ranks[index];
  // The group's number is not reused as long as the group has a member.
  if (process.lingers || !group_exists(x_system, process.pid)) return process.lingers;
  process.lingers = true;
  x_guard.set_group(index, process.pid);
  ++x_left;
  ++x_lingering;
  return true;
}

void RankProcessGroups::stop_waiting(std::size_t index) {
  x_ranks[index].lingers = false;
  x_guard.set_group(index, 0);
  --x_left;
  --x_lingering;
}

std::vector<std::size_t> RankProcessGroups::take_ended_groups() {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; x_lingering > 0 && i < x_ranks.size(); ++i)
    if (x_ranks[i].lingers && !group_exists(x_system, x_ranks[i].pid)) {
      stop_waiting(i);
      ended.push_back(i);
    }
  return ended;
}

RankProcessGroups::RankProcessGroups(System& system, std::size_t count)
    : x_system(system), x_spare(system.open("/dev/null", O_RDONLY)), x_guard(system, count) {}

RankProcessGroups::~RankProcessGroups() {
  if (x_spare >= 0) x_system.close(x_spare);
}

std::vector<pid_t> RankProcessGroups::children() const {
  std::vector<pid_t> found;
  for (const auto& name : x_system.list_directory("/proc")) {
    const auto number = util::parse_unsigned(name);
    const auto pid = static_cast<pid_t>(number.value_or(0));
    if (pid == 0 || pid == x_guard.pid() || util::contains(x_spared, pid)) continue;
    const auto text = x_system.read_file("/proc/" + name + "/stat");
    const auto stat = text ? util::parse_process_stat(*text) : std::nullopt;
    if (stat && stat->parent == x_system.getpid()) found.push_back(pid);
  }
  return found;
}

void RankProcessGroups::kill_children(std::chrono::steady_clock::duration limit) {
  if (x_spare >= 0) x_system.close(x_spare); // reading /proc takes one
  x_spare = -1;
  // Orphans of those that die come to us and die in the next round. One that comes while we look may be
  // missed once, so that none must be seen twice.
  std::vector<pid_t> before;
  auto changed = x_system.now();
  for (int rounds_without = 0; rounds_without < 2;) {
    auto left = children();
    rounds_without = left.empty() ? rounds_without + 1 : 0;
    const auto now = x_system.now();
    if (left != before) changed = now;
    if (now - changed > limit) return;
    for (const pid_t child : left) x_system.kill(child, SIGKILL);
    if (!left.empty()) x_system.poll({}, 1);
    reap();
    before = std::move(left);
  }
}

std::vector<std::size_t> RankProcessGroups::give_up() {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < x_ranks.size(); ++i)
    if (x_ranks[i].lingers) {
      stop_waiting(i);
      left.push_back(i);
    }
  return left;
}

failures::RankFailure failure_of(const RankProcess& process, const std::string& host,
                                 std::chrono::steady_clock::time_point start) {
  failures::RankFailure failure;
  failure.rank = process.rank;
  failure.local_rank = process.local_rank;
  failure.host = host;
  failure.pid = process.pid;
  failure.status = process.status;
  failure.seconds = std::chrono::duration<double>(process.end - start).count();
  return failure;
}

} // namespace hpcml::launch
