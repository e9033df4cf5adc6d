// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/wait.h>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/recorded_file.hpp"
#include "run/launch/recorded_system.hpp"
#include "run/launch/stop_policy_play.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::testing {

namespace {

/// The program of a process was replaced: nothing of the launch's code runs there any more.
struct Executed {};
/// The launch has ended by a signal.
struct EndedBySignal {
  int signal;
};

constexpr pid_t k_init = 1;

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<long long>(seconds * 1e9));
}

bool is_ignored_by_default(int signal) {
  return signal == SIGCHLD || signal == SIGWINCH || signal == SIGURG || signal == SIGCONT;
}
bool is_stop(int signal) { return signal == SIGSTOP || signal == SIGTSTP; }

} // namespace

RecordedSystem::RecordedSystem() {
  auto& launcher = x_processes[x_self];
  launcher.pid = launcher.group = x_self;
  launcher.parent = k_init;
  launcher.cpus = cgroup_cpus;
  launcher.limits[RLIMIT_NOFILE] = {1024, 4096};
  launcher.limits[RLIMIT_MEMLOCK] = {RLIM_INFINITY, RLIM_INFINITY};
  launcher.fds[0] = std::make_shared<OpenFile>();
  for (const int fd : {1, 2}) {
    launcher.fds[fd] = std::make_shared<OpenFile>();
    launcher.fds[fd]->kind = OpenFile::Kind::stream;
    launcher.fds[fd]->stream = fd == 1 ? &out : &err;
  }
}

RecordedSystem::~RecordedSystem() = default;

void RecordedSystem::after(double seconds, std::function<void()> event) {
  x_events.emplace(x_now + duration_of(seconds), std::move(event));
}

void RecordedSystem::signal_after(double seconds, const std::string& name) {
  after(seconds, [this, number = signal_of(name)] { deliver(self(), number); });
}

void RecordedSystem::suspend(double seconds) {
  x_now += duration_of(seconds);
  for (auto& [pid, process] : x_processes)
    if (process.due != Time::max()) process.due += duration_of(seconds);
}

int RecordedSystem::run(const std::function<int()>& launch) {
  try {
    return launch();
  } catch (const Executed&) {
    return -1;
  } catch (const EndedBySignal& ended) {
    x_ended_by = ended.signal;
    return 128 + ended.signal;
  }
}

int RecordedSystem::run_program() {
  while (x_processes.count(x_self) == 1)
    if (!advance(std::nullopt)) throw std::logic_error("the program does not exit");
  return util::exit_code_of_status(x_status);
}

double RecordedSystem::seconds_of(Time time) const {
  return std::round(std::chrono::duration<double>(time - x_start).count() * 100) / 100;
}

double RecordedSystem::seconds() const { return seconds_of(x_now); }

std::string RecordedSystem::signals() const {
  std::string text;
  for (std::size_t i = 0; i < x_sent.size(); ++i) {
    const bool same_time = i > 0 && x_sent[i].at == x_sent[i - 1].at;
    if (same_time && x_sent[i].signal == x_sent[i - 1].signal) continue;
    if (!same_time) text += fmt::format("{}{:g} s: ", text.empty() ? "" : "; ", seconds_of(x_sent[i].at));
    text += (same_time ? ", " : "") + util::signal_name(x_sent[i].signal).substr(3);
  }
  return text;
}

std::vector<pid_t> RecordedSystem::left() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, process] : x_processes)
    if (pid != x_self && !process.is_service) pids.push_back(pid);
  return pids;
}

bool RecordedSystem::fails(const std::string& call) {
  const auto found = failures.find({call, ++x_calls[call]});
  if (found == failures.end()) return false;
  errno = found->second;
  return true;
}

// Processes.

RecordedProcess& RecordedSystem::add_process(pid_t parent) {
  auto process = x_processes.at(parent);
  process.parent = parent;
  process.pid = x_next++;
  process.pending.clear();
  process.is_subreaper = false;
  process.death_signal = 0;
  return x_processes[process.pid] = std::move(process);
}

pid_t RecordedSystem::fork(const util::ChildOptions& options, const std::function<int()>& body) {
  if (fails("fork")) return -1;
  const pid_t forker = x_current;
  auto& child = add_process(forker);
  if (options.is_sibling) child.parent = x_processes.at(forker).parent;
  if (options.group != util::ChildOptions::Group::inherited) child.group = child.pid;
  child.is_service = options.group == util::ChildOptions::Group::session;
  child.death_signal = options.death_signal;
  if (options.mask) child.mask = *options.mask;
  for (const int signal : options.ignored_signals) child.ignored.insert(signal);
  for (const int signal : options.default_signals) child.ignored.erase(signal);
  const pid_t pid = child.pid;
  if (child.is_service) {
    child.fds.clear();
    return pid;
  }
  const auto before = child.fds;
  for (const auto& [number, source] : options.descriptors)
    child.fds[number] =
        source == util::ChildOptions::k_null_device ? std::make_shared<OpenFile>() : before.at(source);
  x_current = pid;
  try {
    const int code = body();
    end(current(), code << 8);
  } catch (const Executed&) {
  } catch (const EndedBySignal& ended) {
    end(current(), ended.signal);
  }
  x_current = forker;
  return pid;
}

void RecordedSystem::execve(const std::string& path, std::vector<std::string> argv,
                            std::vector<std::string> variables) {
  const auto error = exec_errors.find(path);
  if (error != exec_errors.end()) {
    errno = error->second;
    return;
  }
  auto& process = current();
  process.path = path;
  process.name = path.substr(path.rfind('/') + 1);
  process.image = process.pid;
  process.argv = std::move(argv);
  process.env = {};
  for (const auto& variable : variables) {
    const auto at = variable.find('=');
    process.env.set(variable.substr(0, at), variable.substr(at + 1));
  }
  for (auto fd = process.fds.begin(); fd != process.fds.end();) // all others are closed by exec
    fd = fd->first > 2 ? process.fds.erase(fd) : std::next(fd);
  const auto rank = util::parse_unsigned(process.env.get_or("RANK", "0")).value_or(0);
  follow(process, programs.empty() ? "exit 0" : programs[rank % programs.size()]);
  x_executed.push_back(process);
  throw Executed();
}

void RecordedSystem::follow(RecordedProcess& process, const std::string& script) {
  const auto parts = util::split(script, '|');
  process.due = x_now;
  for (const auto& step : util::split(parts[0], ';'))
    if (!util::trim(step).empty()) process.steps.emplace_back(util::trim(step));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto colon = parts[i].find(':');
    process.handlers[signal_of(std::string(util::trim(parts[i].substr(0, colon))))] =
        util::trim(parts[i].substr(colon + 1));
  }
}

void RecordedSystem::run_step(RecordedProcess& process, const std::string& step) {
  const auto words = util::split(step, ' ');
  const auto rest = step.substr(std::min(step.size(), words[0].size() + 1));
  const auto text = launch::expand_variables(rest, process.env).value_or(rest);
  if (words.size() > 1 && (words[1] == "s" || words[1] == "ms"))
    process.due += duration_of(std::stod(words[0]) / (words[1] == "s" ? 1 : 1000));
  else if (words[0] == "out" || words[0] == "part")
    write_text(process, 1, text + (words[0] == "out" ? "\n" : ""));
  else if (words[0] == "err")
    write_text(process, 2, text + "\n");
  else if (words[0] == "start" || words[0] == "leave")
    start_helper(process, std::stoul(text), words[0] == "start");
  else if (words[0] == "fork")
    add_process(process.pid).steps.clear();
  else if (words[0] == "wait")
    wait_for_child(process);
  else if (words[0] == "exit")
    end(process, std::stoi(text) << 8);
  else if (words[0] == "die")
    end(process, signal_of(text));
  else
    throw std::logic_error("unknown step of a program: " + step);
}

void RecordedSystem::start_helper(const RecordedProcess& process, std::size_t index, bool in_group) {
  auto& helper = add_process(process.pid);
  if (!in_group) helper.group = helper.pid;
  helper.image = helper.pid;
  helper.steps.clear();
  helper.handlers.clear();
  follow(helper, helpers.at(index));
}

/// Exits as its child does, as a shell.
void RecordedSystem::wait_for_child(RecordedProcess& process) {
  for (const auto& [pid, child] : x_processes)
    if (child.parent == process.pid && child.ended) {
      const int status = child.status;
      x_processes.erase(pid);
      return end(process, util::exit_code_of_status(status) << 8);
    }
  process.steps.emplace_front("wait");
  process.due = Time::max();
}

void RecordedSystem::write_text(RecordedProcess& process, int fd, const std::string& text) {
  const auto file = process.fds.at(fd);
  if (file->kind == OpenFile::Kind::stream) file->stream->text += text;
  if (file->kind != OpenFile::Kind::pipe_writer) return;
  if (file->pipe->reader.expired())
    act(process, SIGPIPE);
  else
    file->pipe->bytes += text;
}

void RecordedSystem::end(RecordedProcess& process, int status) {
  process.ended = true;
  process.status = status;
  process.steps.clear();
  process.fds.clear();
  const pid_t pid = process.pid;
  std::vector<pid_t> orphans;
  for (auto& [number, candidate] : x_processes)
    if (candidate.parent == pid) orphans.push_back(number);
  pid_t heir = process.parent;
  while (heir > k_init && !x_processes.at(heir).is_subreaper) heir = x_processes.at(heir).parent;
  for (const pid_t orphan : orphans) {
    x_processes.at(orphan).parent = heir;
    const int signal = x_processes.at(orphan).death_signal;
    if (signal != 0) deliver(x_processes.at(orphan), signal);
  }
  const auto parent = x_processes.find(process.parent);
  if (pid == x_self) x_status = status;
  if (parent == x_processes.end())
    x_processes.erase(pid); // init has waited for it
  else
    deliver(parent->second, SIGCHLD);
}

pid_t RecordedSystem::waitpid(pid_t pid, int* status, int options) {
  for (;;) {
    bool any = false;
    for (auto& [number, process] : x_processes) {
      if (process.parent != x_current || (pid > 0 && number != pid)) continue;
      any = true;
      if (process.is_service && pid == number) process.ended = true; // it ends when its line is closed
      if (!process.ended) continue;
      if (status != nullptr) *status = process.status;
      const pid_t found = number;
      x_processes.erase(found);
      return found;
    }
    if (!any) errno = ECHILD;
    if (!any) return -1;
    if ((options & WNOHANG) != 0) return 0;
    if (!advance(std::nullopt)) throw std::logic_error("launch waits for a process that does not end");
  }
}

int RecordedSystem::kill(pid_t pid, int signal) {
  std::vector<pid_t> targets;
  for (const auto& [number, process] : x_processes)
    if (number == pid || (pid < 0 && process.group == -pid)) targets.push_back(number);
  if (targets.empty()) errno = ESRCH;
  if (targets.empty()) return -1;
  if (signal == 0) return 0;
  if (pid != x_self) x_sent.push_back({x_now, signal});
  for (const pid_t target : targets)
    if (const auto found = x_processes.find(target); found != x_processes.end())
      deliver(found->second, signal);
  return 0;
}

void RecordedSystem::deliver(RecordedProcess& process, int signal) {
  if (process.ended) return;
  if (signal == SIGCHLD && process.due == Time::max()) process.due = x_now; // it waits for a child
  const bool ends = signal == SIGKILL || signal == SIGCONT || is_stop(signal);
  if (!ends && (process.stopped || ::sigismember(&process.mask, signal) == 1)) {
    process.pending.insert(signal);
    return;
  }
  if (signal == SIGCONT && process.pid == x_self && ::sigismember(&process.mask, signal) == 1)
    process.pending.insert(signal);
  if (signal == SIGTSTP && ::sigismember(&process.mask, signal) == 1) {
    process.pending.insert(signal);
    return;
  }
  act(process, signal);
}

/// What the signal does to a process that does not block it.
void RecordedSystem::act(RecordedProcess& process, int signal) {
  const auto handler = process.handlers.find(signal);
  if (is_stop(signal) && handler == process.handlers.end()) {
    process.stopped = true;
    while (process.pid == x_self && process.stopped)
      if (!advance(std::nullopt)) throw std::logic_error("launch stays stopped");
    return;
  }
  if (signal == SIGCONT && process.stopped) {
    process.stopped = false;
    process.due = std::max(process.due, x_now);
    for (const int pending : std::exchange(process.pending, {})) deliver(process, pending);
  }
  if (handler != process.handlers.end()) {
    if (handler->second == "ignore") return;
    process.steps.clear();
    for (const auto& step : util::split(handler->second, ';')) process.steps.emplace_back(util::trim(step));
    process.due = x_now;
    return;
  }
  if (process.ignored.count(signal) == 1 || (is_ignored_by_default(signal))) return;
  if (process.pid == x_current) throw EndedBySignal{signal};
  end(process, signal);
}

int RecordedSystem::setpgid(pid_t pid, pid_t group) {
  const auto found = x_processes.find(pid);
  if (found == x_processes.end() || !found->second.path.empty()) return -1;
  found->second.group = group;
  return 0;
}

int RecordedSystem::getrlimit(int resource, rlimit& limit) {
  limit = current().limits[resource];
  return 0;
}

int RecordedSystem::setrlimit(int resource, const rlimit& limit) {
  if (fails("setrlimit")) return -1;
  current().limits[resource] = limit;
  return 0;
}

int RecordedSystem::set_affinity(const model::IdSet& cpus) {
  if (fails("set_affinity")) return -1;
  const auto granted = cpus & cgroup_cpus;
  errno = EINVAL;
  if (granted.empty()) return -1;
  current().cpus = granted;
  return 0;
}

int RecordedSystem::set_mempolicy(int, const model::IdSet& nodes) {
  if (fails("set_mempolicy")) return -1;
  current().memory = nodes;
  return 0;
}

std::optional<topo::MemoryPolicy> RecordedSystem::memory_policy() {
  const auto& nodes = current().memory;
  return topo::MemoryPolicy{nodes.empty() ? topo::MemoryPolicyMode::local : topo::MemoryPolicyMode::preferred,
                            nodes};
}

// Signals of the launch.

int RecordedSystem::sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  auto& process = current();
  if (before != nullptr) *before = process.mask;
  for (int signal = 1; set != nullptr && signal < 32; ++signal) {
    const bool is_member = ::sigismember(set, signal) == 1;
    if (how == SIG_SETMASK ? is_member : (how == SIG_BLOCK && is_member)) ::sigaddset(&process.mask, signal);
    if (how == SIG_SETMASK ? !is_member : (how == SIG_UNBLOCK && is_member))
      ::sigdelset(&process.mask, signal);
  }
  for (const int signal : std::set<int>(process.pending))
    if (::sigismember(&process.mask, signal) == 0) {
      process.pending.erase(signal);
      act(process, signal);
    }
  return 0;
}

void RecordedSystem::set_action(int signal, sighandler_t action) {
  if (action == SIG_IGN)
    current().ignored.insert(signal);
  else
    current().ignored.erase(signal);
}

int RecordedSystem::signalfd(const sigset_t& set) {
  if (fails("signalfd")) return -1;
  auto file = std::make_shared<OpenFile>();
  file->kind = OpenFile::Kind::signals;
  file->signals = set;
  return add_file(std::move(file));
}

int RecordedSystem::sigtimedwait(const sigset_t& set, std::chrono::nanoseconds limit) {
  const auto until = x_now + limit;
  do {
    for (const int signal : current().pending)
      if (::sigismember(&set, signal) == 1) {
        current().pending.erase(signal);
        return signal;
      }
  } while (advance(until));
  errno = EAGAIN;
  return -1;
}

// Time.

bool RecordedSystem::advance(std::optional<Time> limit) {
  RecordedProcess* next = nullptr;
  for (auto& [pid, process] : x_processes)
    if (!process.steps.empty() && !process.stopped && process.due != Time::max() &&
        (next == nullptr || process.due < next->due))
      next = &process;
  const bool is_event = !x_events.empty() && (next == nullptr || x_events.begin()->first <= next->due);
  const auto due = is_event ? x_events.begin()->first : next != nullptr ? next->due : Time::max();
  if ((!is_event && next == nullptr) || (limit && due > *limit)) {
    if (limit) x_now = std::max(x_now, *limit);
    return false;
  }
  x_now = std::max(x_now, due);
  if (is_event) {
    const auto event = std::move(x_events.begin()->second);
    x_events.erase(x_events.begin());
    event();
  } else {
    const auto step = std::move(next->steps.front());
    next->steps.pop_front();
    run_step(*next, step);
  }
  return true;
}

int RecordedSystem::poll(std::span<pollfd> ends, int milliseconds) {
  const auto until =
      milliseconds < 0 ? std::nullopt : std::optional<Time>(x_now + std::chrono::milliseconds(milliseconds));
  for (;;) {
    int ready = 0;
    for (auto& end : ends) {
      end.revents = ready_events(end);
      ready += end.revents != 0 ? 1 : 0;
    }
    if (ready > 0) return ready;
    if (advance(until)) continue;
    if (!until) throw std::logic_error("launch waits for ever");
    return 0;
  }
}

} // namespace hpcml::testing
