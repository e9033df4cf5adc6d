// SPDX-License-Identifier: MIT
#include "run/agent/agent_helper.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "run/agent/agent.hpp"
#include "run/store/channel_key.hpp"

namespace hpcml::testing {

std::string secret_of_agents() {
  return store::SecretKey::take(util::sha256("agents of the tests")).to_hex();
}

namespace {

launch::RuntimeContext make_context(const std::string& host, bool has_key) {
  launch::RuntimeContext context;
  for (const auto* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = ::getenv(name)) context.env.set(name, value);
  if (has_key) context.env.set("HPCML_JOB_SECRET", secret_of_agents());
  context.env.set("HPCML_KEY_FILE", "/nowhere/key");
  context.host = context.machine = host;
  context.program = HPCML_BINARY;
  return context;
}

void send_into(const std::string& path, int descriptor) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(fd, descriptor);
  ::close(fd);
}

} // namespace

agent::AgentRequest agent_of(unsigned ranks, const std::string& script) {
  agent::AgentRequest request;
  request.launch.command = {"sh", "-c", script};
  request.launch.processes_per_node = ranks;
  request.launch.grace = std::chrono::seconds(5);
  return request;
}

agent::AgentRequest agent_at(unsigned port, unsigned ranks, const std::string& script, unsigned nodes) {
  auto request = agent_of(ranks, script);
  request.min_nodes = request.max_nodes = nodes;
  request.place = agent::RendezvousParameters{};
  request.place->host = "127.0.0.1";
  request.place->port = static_cast<std::uint16_t>(port);
  request.place->run_id = "test";
  request.place->join_timeout = std::chrono::seconds(60);
  return request;
}

AgentProcess::AgentProcess(const agent::AgentRequest& request, const std::string& host, bool has_key) {
  x_pid = ::fork();
  if (x_pid == 0) {
    send_into((x_directory / "out").string(), STDOUT_FILENO);
    send_into((x_directory / "err").string(), STDERR_FILENO);
    for (const int signal : {SIGINT, SIGTERM, SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);
    ::_exit(agent::run_agent(request, make_context(host, has_key)));
  }
}

AgentProcess::~AgentProcess() {
  if (x_pid <= 0) return;
  ::kill(x_pid, SIGKILL);
  ::waitpid(x_pid, nullptr, 0);
}

std::string AgentProcess::out() const { return util::read_file((x_directory / "out").string()).value_or(""); }

bool AgentProcess::shows(const std::string& text) const {
  for (int i = 0; i < 6000; ++i) {
    if (out().find(text) != std::string::npos) return true;
    ::usleep(10000);
  }
  return false;
}

AgentEnd AgentProcess::wait() {
  int status = 0;
  for (int i = 0; i < 12000; ++i) {
    rusage used{};
    if (::wait4(x_pid, &status, WNOHANG, &used) == x_pid) {
      x_pid = -1;
      const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
      };
      return {util::exit_code_of_status(status), out(),
              util::read_file((x_directory / "err").string()).value_or(""),
              seconds(used.ru_utime) + seconds(used.ru_stime)};
    }
    ::usleep(10000);
  }
  FAIL("an agent did not end within two minutes: "
       << out() << util::read_file((x_directory / "err").string()).value_or(""));
  return {};
}

bool is_lost(const std::string& pid) {
  for (int i = 0; i < 6000; ++i) {
    const auto text = util::read_file("/proc/" + pid + "/stat");
    if (!text || text->find(") Z ") != std::string::npos) return true;
    ::usleep(10000);
  }
  return false;
}

AgentEnd run_one(const agent::AgentRequest& request) { return AgentProcess(request).wait(); }

} // namespace hpcml::testing
