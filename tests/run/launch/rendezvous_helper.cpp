// SPDX-License-Identifier: MIT
#include "run/launch/rendezvous_helper.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "core/util/process.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/channel_key.hpp"

namespace hpcml::testing {

util::EnvSnapshot task(unsigned rank, unsigned ranks, unsigned job) {
  auto env = step_environment(rank, ranks);
  env.set("SLURM_JOB_ID", std::to_string(job));
  env.set("SLURM_STEP_NODELIST", util::read_host_name());
  env.set("SLURMD_NODENAME", util::read_host_name());
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  env.set("HPCML_JOB_SECRET", secret_of(job));
  return env;
}

std::string secret_of(unsigned job) {
  return store::SecretKey::take(util::sha256("job " + std::to_string(job))).to_hex();
}

unsigned new_job() {
  static unsigned next = static_cast<unsigned>(::getpid()) % 100000 * 100;
  return ++next;
}

std::vector<Said> run_step(const std::vector<util::EnvSnapshot>& tasks,
                           const std::vector<std::string>& words) {
  std::vector<Said> outputs(tasks.size());
  std::vector<std::thread> waits;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    waits.emplace_back([&, i] {
      const auto output = util::run_process(words, tasks[i], std::chrono::seconds(600));
      if (output) outputs[i] = {output->out, output->err, output->exit_code};
    });
  for (auto& thread : waits) thread.join();
  return outputs;
}

std::vector<std::string> launch_words(const std::string& script, std::vector<std::string> flags) {
  std::vector<std::string> words = {HPCML_BINARY, "launch", "--bind", "none"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "bash", "-c", script});
  return words;
}

std::vector<util::EnvSnapshot> tasks_of(unsigned ranks, unsigned job) {
  std::vector<util::EnvSnapshot> tasks;
  for (unsigned rank = 0; rank < ranks; ++rank) tasks.push_back(task(rank, ranks, job));
  return tasks;
}

unsigned port_of_job(unsigned job) { return launch::step_port({job, 0, 0}); }

Shell::Shell(const std::string& script, const util::EnvSnapshot& env) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  std::vector<std::string> words = {"/bin/bash", "-c", script}, variables = env.to_envp();
  x_pid = ::fork();
  if (x_pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execve("/bin/bash", util::exec_pointers(words).data(), util::exec_pointers(variables).data());
    ::_exit(99);
  }
  ::close(ends[1]);
  x_out = ends[0];
}

Shell::~Shell() {
  ::kill(x_pid, SIGKILL);
  ::waitpid(x_pid, nullptr, 0);
  ::close(x_out);
}

std::string Shell::read_line() const {
  std::string line;
  for (char c; ::read(x_out, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

void Shell::signal(int number) const { ::kill(x_pid, number); }

Squatter::Squatter(unsigned port) : x_listening(store::listen_at({}, static_cast<std::uint16_t>(port))) {
  REQUIRE(x_listening);
}

Squatter::~Squatter() {
  for (const int fd : x_listening->sockets) ::close(fd);
}

bool answers(unsigned port) {
  const auto to = store::parse_address("127.0.0.1", static_cast<std::uint16_t>(port));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool yes = ::connect(fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0;
  ::close(fd);
  return yes;
}

bool falls_silent(unsigned port) {
  for (int i = 0; i < 90; ++i) {
    if (!answers(port)) return true;
    ::usleep(700'000);
  }
  return false;
}

} // namespace hpcml::testing
