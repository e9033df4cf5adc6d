// SPDX-License-Identifier: MIT
// A machine in memory that launches are performed on: processes that follow scripts, pipes, signals and a
// clock that stands still while anything runs. It records what launches do.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "run/launch/system.hpp"

namespace hpcml::testing {

/// What an open descriptor leads to (recorded_file.hpp).
struct OpenFile;

/// What was written to a descriptor of the launch, and what its reader accepts.
struct RecordedStream {
  std::string text{};
  std::size_t room = std::string::npos; ///< bytes that are accepted from now on
  int error = 0;                        ///< errno of further writes
  int unread = 0;                       ///< bytes that its reader has not read yet
};

/// A process of a recorded system.
struct RecordedProcess {
  pid_t pid = 0, parent = 0, group = 0;
  bool is_service = false; ///< it has its own session: its body is not run
  bool is_subreaper = false;
  bool ended = false; ///< and not waited for
  bool stopped = false;
  int status = 0;
  int death_signal = 0;
  sigset_t mask{};
  std::set<int> pending{}, ignored{};
  std::map<int, std::shared_ptr<OpenFile>> fds{};
  std::map<int, rlimit> limits{};
  model::IdSet cpus{}, memory{};
  std::string path{}; ///< of the executed program; empty: a fork of the launch
  std::string name = "hpcml";
  pid_t image = 0; ///< differs between executions
  std::vector<std::string> argv{};
  util::EnvSnapshot env{};
  std::deque<std::string> steps{};       ///< that are left
  std::map<int, std::string> handlers{}; ///< steps after a signal
  launch::System::Time due{};            ///< of the next step
};

class RecordedSystem : public launch::System {
public:
  RecordedSystem();
  ~RecordedSystem() override;

  // What the machine has and does.

  /// Scripts of programs by their RANK: "1 s; out hello; exit 3 | TERM: 2 s; exit 0 | INT: ignore". Steps:
  /// `2 s`, `5 ms`; `out TEXT`, `err TEXT`, and `part TEXT` without the end of the line, in which $NAME is a
  /// variable; `exit 3`, `die SEGV`;
  /// `start 0`: a process of the same group that follows `helpers[0]`, `leave 0`: one of its own group;
  /// `fork`: a copy of it that does nothing; `wait`: exits as its child does. A
  /// program whose steps are done runs on. A signal replaces its steps.
  std::vector<std::string> programs;
  std::vector<std::string> helpers;
  std::set<std::string> executables{"/bin/rank"};
  std::map<std::string, int> exec_errors;   ///< errno by path
  std::map<std::string, std::string> files; ///< texts of other files
  model::IdSet cgroup_cpus = model::IdSet::range(0, 31);
  bool has_terminal = false; ///< standard input
  RecordedStream out, err;   ///< of the launch
  /// errno by the system call and the number of its use: {"fork", 2} is the second.
  std::map<std::pair<std::string, int>, int> failures;
  /// Does something when `seconds` have passed.
  void after(double seconds, std::function<void()> event);
  /// Sends the launch a signal: "TERM".
  void signal_after(double seconds, const std::string& name);
  /// Nothing runs for this time, as on a suspended machine.
  void suspend(double seconds);

  // The launch.

  /// Returns its exit code, as shells count; -1 if it executes a program.
  int run(const std::function<int()>& launch);
  /// Returns the exit code of the program that the launch has executed.
  int run_program();

  // What it has done.

  /// The signal that it has ended by; 0: none.
  int ended_by() const { return x_ended_by; }
  double seconds() const; ///< that have passed, to 10 ms
  /// Signals that it has sent: "0 s: TERM, CONT; 10 s: KILL". One signal to several groups is one.
  std::string signals() const;
  /// Executed programs, by RANK.
  const std::vector<RecordedProcess>& executed() const { return x_executed; }
  /// Processes that run or were not waited for, without services.
  std::vector<pid_t> left() const;
  RecordedProcess& process(pid_t pid) { return x_processes.at(pid); }
  RecordedProcess& self() { return x_processes.at(x_self); }

  // System.

  Time now() override { return x_now; }
  pid_t getpid() override { return x_current; }
  pid_t getppid() override { return current().parent; }
  pid_t fork(const util::ChildOptions& options, const std::function<int()>& body) override;
  void execve(const std::string& path, std::vector<std::string> argv,
              std::vector<std::string> variables) override;
  pid_t waitpid(pid_t pid, int* status, int options) override;
  int kill(pid_t pid, int signal) override;
  int setpgid(pid_t pid, pid_t group) override;
  void become_subreaper() override { current().is_subreaper = true; }
  int getrlimit(int resource, rlimit& limit) override;
  int setrlimit(int resource, const rlimit& limit) override;
  util::Result<model::IdSet> allowed_cpus() override { return current().cpus; }
  int set_affinity(const model::IdSet& cpus) override;
  int set_mempolicy(int policy, const model::IdSet& nodes) override;
  std::optional<topo::MemoryPolicy> memory_policy() override;
  int sigprocmask(int how, const sigset_t* set, sigset_t* before) override;
  void set_action(int signal, sighandler_t action) override;
  int signalfd(const sigset_t& set) override;
  int sigtimedwait(const sigset_t& set, std::chrono::nanoseconds limit) override;
  int poll(std::span<pollfd> ends, int milliseconds) override;
  ssize_t read(int fd, void* bytes, std::size_t count) override;
  ssize_t pread(int, void*, std::size_t, off_t) override { return -1; }
  ssize_t write(int fd, const void* bytes, std::size_t count) override;
  ssize_t send(int fd, const void* bytes, std::size_t count) override { return write(fd, bytes, count); }
  int open(const std::string& path, int flags) override;
  int close(int fd) override;
  int pipe(int (&ends)[2]) override;
  int set_nonblocking(int) override { return 0; }
  int flags(int fd) override;
  int fstat(int fd, struct stat& found) override;
  bool isatty(int fd) override { return fd == 0 && has_terminal; }
  int unread_bytes(int fd) override;
  bool is_foreground(int) override { return true; }
  int epoll_create() override;
  int epoll_add(int set, int fd, std::uint64_t key) override;
  int epoll_ready(int set, std::span<std::uint64_t> keys) override;
  int socketpair(int (&ends)[2]) override;
  bool send_descriptors(int line, std::string_view message, std::span<const int> fds) override;
  int receive_descriptors(int line, std::span<char> message, std::span<int> fds) override;
  int access(const std::string& path, int mode) override;
  int stat(const std::string& path, struct stat& found) override;
  util::Result<std::string> read_file(const std::string& path) override;
  std::vector<std::string> list_directory(const std::string& path) override;

private:
  struct SentSignal {
    Time at;
    int signal;
  };
  double seconds_of(Time time) const;
  RecordedProcess& current() { return x_processes.at(x_current); }
  bool fails(const std::string& call);
  int add_file(std::shared_ptr<OpenFile> file);
  OpenFile* find_file(int fd);
  bool is_readable(const OpenFile& file) const;
  short ready_events(const pollfd& end);
  RecordedProcess& add_process(pid_t parent);
  void follow(RecordedProcess& process, const std::string& script);
  void run_step(RecordedProcess& process, const std::string& step);
  void start_helper(const RecordedProcess& process, std::size_t index, bool in_group);
  void wait_for_child(RecordedProcess& process);
  void write_text(RecordedProcess& process, int fd, const std::string& text);
  void end(RecordedProcess& process, int status);
  void deliver(RecordedProcess& process, int signal);
  void act(RecordedProcess& process, int signal);
  /// Does what is due next, at most until then; false if that is nothing.
  bool advance(std::optional<Time> limit);
  std::string render_stat(const RecordedProcess& process) const;
  std::string render_status(const RecordedProcess& process) const;

  Time x_now{std::chrono::seconds(1000)}, x_start = x_now;
  pid_t x_self = 100, x_current = x_self, x_next = 101;
  std::map<pid_t, RecordedProcess> x_processes;
  std::multimap<Time, std::function<void()>> x_events;
  std::map<std::string, int> x_calls;
  std::vector<SentSignal> x_sent;
  int x_ended_by = 0, x_status = 0;
  std::vector<RecordedProcess> x_executed;
};

} // namespace hpcml::testing
