// SPDX-License-Identifier: MIT
// The sandbox as its body sees it.
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <map>
#include <set>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/process.hpp"
#include "emulate/child_process.hpp"
#include "emulate/link_speed.hpp"
#include "emulate/net_link.hpp"
#include "emulate/node_processes.hpp"
#include "emulate/sandbox_parts.hpp"
#include "emulate/seccomp_supervisor.hpp"
#include "emulate/sysfs_tree.hpp"
#include "emulate/task_tag.hpp"

namespace hpcml::emulate {

namespace {

volatile std::sig_atomic_t g_command = 0; // the user's command while it runs

void pass_to_command(int number) {
  if (g_command > 0) ::kill(static_cast<pid_t>(g_command), number);
}

[[noreturn]] void be_supervisor(int socket, const EmulatedNodeView& node) {
  ::setsid();
  ::prctl(PR_SET_NAME, "hpcml-cpus");
  reset_signals();
  const int only = close_all_but(socket);
  [[maybe_unused]] const auto ignored = detach_from_terminal("");
  const int listener = receive_descriptor(only);
  ::close(only);
  if (listener >= 0) run_supervisor(listener, node);
  ::_exit(0);
}

class BodySandbox : public Sandbox {
public:
  explicit BodySandbox(const SandboxContext& context)
      : x_state_dir(context.state_dir), x_job_groups(context.job_groups), x_isolation(context.isolation) {
    ::mkdir((x_state_dir + "/.sandbox").c_str(), 0755);
    if (!x_isolation.network) return;
    // Before any node: daemons of the login node need an address to listen at.
    for (const auto& interface : context.options.login_interfaces)
      if (const auto step = add_bridge(interface.name, interface.ipv4); !step)
        x_isolation.limits.push_back(interface.name + ": " + step.error().what + ".");
  }

  const std::string& state_dir() const override { return x_state_dir; }
  bool has_networks() const override { return x_isolation.network; }
  const JobCgroups& job_groups() const override { return x_job_groups; }
  unsigned user_id() const override { return x_isolation.run_user; }
  const std::vector<std::string>& limits() const override { return x_isolation.limits; }
  util::Result<pid_t> start_node(const SandboxNode& node) override;
  util::Status switch_links(pid_t daemon, bool on) override;
  util::Status slow_links(pid_t daemon, unsigned factor) override;
  util::Status end_node(pid_t daemon) override;
  util::Result<pid_t> start_service(const std::vector<std::string>& argv, const util::EnvSnapshot& env,
                                    const std::string& log_file) override;
  util::Status mount_on_login(const SandboxMount& mount) override {
    return mount.add ? overlay_mount(mount.source, mount.target) : bind_mount(mount.source, mount.target);
  }
  int run_command(const std::vector<std::string>& argv, const util::EnvSnapshot& env) override;
  bool is_alive(pid_t pid) const override;

private:
  util::Result<std::vector<GeneratedFileMount>> find_view(const SandboxNode& node);
  util::Status add_bridge(const std::string& name, const std::string& address);
  util::Status plug_in(const SandboxNode& node, unsigned number, pid_t pid);

  /// What is to be known of a node that runs.
  struct StartedNode {
    std::vector<std::string> cables; ///< the bridges' ends of them
    std::vector<std::string> interfaces;
    std::string mark; ///< all its processes have it
  };

  std::string x_state_dir;
  JobCgroups x_job_groups;
  SandboxNamespaces x_isolation;
  unsigned x_nodes = 0;
  std::map<pid_t, StartedNode> x_started;                         ///< by daemon
  std::map<std::string, std::vector<GeneratedFileMount>> x_views; ///< by description
  std::set<std::string> x_bridges;
  mutable std::set<pid_t> x_ended;
};

util::Result<std::vector<GeneratedFileMount>> BodySandbox::find_view(const SandboxNode& node) {
  const auto key = describe_node_view(node.cpu, node.mem_mib);
  if (const auto found = x_views.find(key); found != x_views.end()) return found->second;
  const std::string directory = x_state_dir + "/.sandbox/view" + std::to_string(x_views.size());
  TRY(auto view, write_node_view(directory, node.cpu, node.mem_mib));
  // A node with its own tree has no CPUs counted there.
  if (node.unified_group.empty()) {
    TRY(const auto cpuset, write_cpuset_view(directory, node.cpu));
    view.insert(view.end(), cpuset.begin(), cpuset.end());
  }
  x_views.emplace(key, view);
  return view;
}

util::Status BodySandbox::add_bridge(const std::string& name, const std::string& address) {
  TRY_DONE(create_bridge(name));
  TRY_DONE(add_address(name, address, 16));
  x_bridges.insert(name);
  return set_interface_up(name);
}

util::Status BodySandbox::plug_in(const SandboxNode& node, unsigned number, pid_t pid) {
  unsigned port = 0;
  for (const auto& interface : node.interfaces) {
    if (!x_bridges.count(interface.name))
      return util::Error{
          fmt::format("node {} has network interface {}, which the login node of the emulated cluster lacks",
                      node.name, interface.name),
          "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
    const std::string cable_name = "n" + std::to_string(number) + "p" + std::to_string(port++);
    TRY_DONE(create_cable(cable_name, interface.name, interface.name, pid));
    x_started[pid].cables.push_back(cable_name);
    x_started[pid].interfaces.push_back(interface.name);
  }
  return util::Success{};
}

util::Result<pid_t> BodySandbox::start_node(const SandboxNode& node) {
  const unsigned number = x_nodes++;
  NodeStartContext plan;
  plan.isolation = x_isolation;
  plan.scratch = x_state_dir + "/.sandbox/sys" + std::to_string(number);
  plan.first_tag = k_first_tag + number * k_tags_per_node;
  ::mkdir(plan.scratch.c_str(), 0755);
  const auto view = find_view(node);
  if (!view) return util::with_context(view.error(), fmt::format("cannot start node {}", node.name));
  for (const auto& part : *view) // an older kernel may lack one of the places
    if (::access(part.target.c_str(), F_OK) == 0) plan.mounts.push_back({part.source, part.target});
  plan.mounts.insert(plan.mounts.end(), node.mounts.begin(), node.mounts.end());
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return util::Error{
        fmt::format("cannot create a socket for emulated node {}: {}", node.name, std::strerror(errno)),
        "check `ulimit -n`, the limit of open files"};
  StartChannel channel;
  auto supervisor = util::ChildProcess::fork({}, [&]() -> int {
    be_supervisor(sockets[0], {complete_shape(node.cpu), plan.first_tag});
  });
  const auto run_node = [&]() -> int {
    ::close(sockets[0]);
    become_node(node, plan, channel, sockets[1]);
  };
  auto first = supervisor ? util::ChildProcess::fork({}, run_node) : std::move(supervisor);
  ::close(sockets[0]);
  ::close(sockets[1]);
  if (!first) return util::with_context(first.error(), fmt::format("cannot start node {}", node.name));
  const pid_t pid = first->release();
  if (x_isolation.network && channel.wait_for_child()) {
    if (const auto step = plug_in(node, number, pid); !step) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      return util::with_context(step.error(), fmt::format("cannot start node {}", node.name));
    }
    channel.release_child();
  }
  if (const auto error = channel.wait()) {
    ::waitpid(pid, nullptr, 0);
    return util::with_context(*error, fmt::format("cannot start node {}", node.name));
  }
  x_started[pid].mark = read_node_mark(pid);
  return pid;
}

util::Status BodySandbox::switch_links(pid_t daemon, bool on) {
  for (const auto& cable : x_started.at(daemon).cables) TRY_DONE(set_interface_up(cable, on));
  return util::Success{};
}

util::Status BodySandbox::slow_links(pid_t daemon, unsigned factor) {
  const auto& node = x_started.at(daemon);
  for (const auto& cable : node.cables) TRY_DONE(set_link_speed(cable, factor, std::nullopt)); // to the node
  for (const auto& interface : node.interfaces) TRY_DONE(set_link_speed(interface, factor, daemon));
  return util::Success{};
}

util::Status BodySandbox::end_node(pid_t daemon) {
  const auto& node = x_started.at(daemon);
  // First the links: the kernel closes the connections of a process that it kills, which peers would notice.
  TRY_DONE(switch_links(daemon, false));
  return end_processes_of(node.mark);
}

util::Result<pid_t> BodySandbox::start_service(const std::vector<std::string>& argv,
                                               const util::EnvSnapshot& env, const std::string& log_file) {
  StartChannel channel;
  TRY(auto service, util::ChildProcess::fork({}, [&]() -> int {
        channel.keep_child_end();
        reset_signals();
        if (const auto step = detach_from_terminal(log_file); !step) channel.fail(step.error());
        if (const auto step = become_user(x_isolation); !step) channel.fail(step.error());
        channel.fail(execute(argv, env));
      }));
  if (const auto error = channel.wait()) {
    service.wait();
    return *error;
  }
  return service.release();
}

int BodySandbox::run_command(const std::vector<std::string>& argv, const util::EnvSnapshot& env) {
  // The command shares this process group and so has the terminal: Ctrl-C and a new window size reach it from
  // there.
  constexpr int passed[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
  struct sigaction before[NSIG] {};
  struct sigaction action {};
  action.sa_handler = pass_to_command;
  action.sa_flags = SA_RESTART;
  sigset_t block, mask;
  ::sigemptyset(&block);
  for (const int number : passed) ::sigaddset(&block, number);
  ::sigprocmask(SIG_BLOCK, &block, &mask); // none is lost between fork and the first wait
  util::ChildOptions options;
  options.mask = mask;
  auto child = util::ChildProcess::fork(options, [&] {
    const auto step = become_user(x_isolation);
    const auto error = step ? execute(argv, env) : step.error();
    const std::string text = "hpcml: " + error.what + (error.hint.empty() ? "" : ". " + error.hint) + "\n";
    [[maybe_unused]] const auto ignored = ::write(2, text.data(), text.size());
    return 127;
  });
  const pid_t pid = child ? child->release() : -1;
  g_command = pid;
  for (const int number : passed) {
    ::sigaction(number, nullptr, &before[number]);
    if (before[number].sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  int status = 0;
  pid_t waited;
  do waited = ::waitpid(pid, &status, 0);
  while (waited < 0 && errno == EINTR);
  g_command = 0;
  for (const int number : passed) ::sigaction(number, &before[number], nullptr);
  if (waited < 0) return 125;
  return util::exit_code_of_status(status);
}

bool BodySandbox::is_alive(pid_t pid) const {
  if (x_ended.count(pid)) return false;
  if (::waitpid(pid, nullptr, WNOHANG) == pid) {
    x_ended.insert(pid);
    return false;
  }
  return ::kill(pid, 0) == 0;
}

} // namespace

std::unique_ptr<Sandbox> make_sandbox(const SandboxContext& context) {
  return std::make_unique<BodySandbox>(context);
}

} // namespace hpcml::emulate
