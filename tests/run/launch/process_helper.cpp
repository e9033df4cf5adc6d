// SPDX-License-Identifier: MIT
#include "run/launch/process_helper.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"

namespace hpcml::testing {

namespace {

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 12000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

} // namespace

util::EnvSnapshot bare_environment() {
  util::EnvSnapshot env;
  env.set("PATH", "/usr/bin:/bin");
  env.set("HOME", "/tmp");
  env.set("HPCML_KEY_FILE", "/nowhere/key"); // none: tests that need a key say which
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "0");  // most of these ranks are alone, whatever their number says
  return env;
}

util::EnvSnapshot step_environment(unsigned rank, unsigned ranks) {
  auto env = bare_environment();
  env.set("SLURM_JOB_ID", "4242");
  env.set("SLURM_STEP_ID", "0");
  env.set("SLURM_PROCID", std::to_string(rank));
  env.set("SLURM_LOCALID", std::to_string(rank));
  env.set("SLURM_NODEID", "0");
  env.set("SLURM_STEP_NUM_TASKS", std::to_string(ranks));
  env.set("SLURM_STEP_NODELIST", "nid001");
  env.set("SLURM_STEP_TASKS_PER_NODE", std::to_string(ranks));
  return env;
}

util::ProcessOutput run_hpcml(const std::vector<std::string>& words, const util::EnvSnapshot& env) {
  std::vector<std::string> argv = {HPCML_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  auto output = util::run_process(argv, env, std::chrono::seconds(600));
  if (!output) throw std::runtime_error(output.error().what);
  return *output;
}

util::ProcessOutput run_line(const std::string& line, const util::EnvSnapshot& env) {
  auto output = util::run_process({"bash", "-c", line}, env, std::chrono::seconds(300));
  if (!output) throw std::runtime_error(output.error().what);
  return *output;
}

Running::Running(const std::vector<std::string>& words, const util::EnvSnapshot& env, bool errors_too) {
  std::vector<std::string> argv = {HPCML_BINARY}, variables = env.to_envp();
  argv.insert(argv.end(), words.begin(), words.end());
  std::vector<char*> argument_list, variable_list;
  for (auto& word : argv) argument_list.push_back(word.data());
  for (auto& variable : variables) variable_list.push_back(variable.data());
  argument_list.push_back(nullptr);
  variable_list.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  x_pid = ::fork();
  if (x_pid == 0) {
    ::dup2(ends[1], 1);
    if (errors_too) ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execve(argument_list[0], argument_list.data(), variable_list.data());
    ::_exit(99);
  }
  ::close(ends[1]);
  x_out = ends[0];
}

Running::~Running() {
  if (x_pid > 0) {
    ::kill(x_pid, SIGKILL);
    ::waitpid(x_pid, nullptr, 0);
  }
  ::close(x_out);
}

std::string Running::read_line() {
  std::string line;
  for (char c; ::read(x_out, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

void Running::signal(int number) const { ::kill(x_pid, number); }

int Running::wait() {
  int status = 0;
  ::waitpid(x_pid, &status, 0);
  x_pid = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_lost(pid_t pid) {
  return becomes_true([&] {
    // A killed orphan stays a zombie until init finds it: dead is dead.
    const auto stat = util::read_file("/proc/" + std::to_string(pid) + "/stat");
    return !stat || stat->find(") Z ") != std::string::npos || stat->find(") X ") != std::string::npos;
  });
}

bool is_removed(const std::string& path) {
  return becomes_true([&] { return !std::filesystem::exists(std::filesystem::symlink_status(path)); });
}

std::string make_directory() {
  std::string name = "/tmp/hpcml-launch-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  return name;
}

} // namespace hpcml::testing
