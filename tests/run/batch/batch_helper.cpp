// SPDX-License-Identifier: MIT
#include "run/batch/batch_helper.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"

namespace hpcml::testing {

namespace {

bool becomes_true(const std::function<bool()>& condition) {
  for (int count = 0; count < 12000; ++count) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

} // namespace

BatchRun::BatchRun() {
  std::filesystem::create_directory(x_directory / "bin");
  std::filesystem::copy(HPCML_FAKE_SRUN, x_directory / "bin/srun");
  x_env.set("PATH", (x_directory / "bin").string() + ":/usr/bin:/bin");
  x_env.set("HOME", x_directory.path().string());
  x_env.set("PWD", x_directory.path().string());
  x_env.set("LOG", path("log").string());
  x_env.set("RELEASE", path("release").string());
  x_env.set("HEALTH", path("health").string());
  x_env.set("SLURM_JOB_ID", "70");
  x_env.set("SLURM_JOB_NODELIST", "n[1-2]");
  x_env.set("SLURMD_NODENAME", "n1");
  for (const char* name : {"scontrol", "sbatch", "sinfo"}) set_command(name, "");
  // As Slurm signals the tasks of all steps.
  set_command("scancel", "[[ $1 != --signal=* ]] || kill -${1#*=} $(pgrep -g $GROUP -x srun)");
}

BatchRun::~BatchRun() {
  if (x_group == 0) return;
  ::kill(-x_group, SIGKILL);
  while (::waitpid(-x_group, nullptr, 0) > 0 || errno == EINTR) {
  }
}

void BatchRun::set_command(const std::string& name, const std::string& body) {
  const auto text = "#!/bin/bash\necho \"" + name + " $*\" >> \"$LOG\"\n" + body + "\n";
  const auto written = util::write_file(path("bin/" + name), text, 0755);
  if (!written) throw std::runtime_error(written.error().what);
}

void BatchRun::set_record(const std::string& record, const std::string& line) {
  set_command("scontrol", "[[ $* == *'show job'* ]] || exit 0\nuntil grep -q '" + line +
                              "' \"$LOG\"; do sleep 0.01; done\necho '" + record + "'");
}

void BatchRun::start(const std::vector<std::string>& options, const std::string& script,
                     const std::vector<std::string>& arguments) {
  const auto written = util::write_file(path("job.sh"), script);
  if (!written) throw std::runtime_error(written.error().what);
  std::vector<std::string> words = {HPCML_BINARY, "internal", "batch"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "bash", path("job.sh").string()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  start_program(std::move(words));
}

void BatchRun::start_script(const std::string& script) {
  const auto written = util::write_file(path("job.sh"), script);
  if (!written) throw std::runtime_error(written.error().what);
  start_program({"/bin/bash", path("job.sh").string()});
}

void BatchRun::start_program(std::vector<std::string> words) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what the job leaves is seen
  x_pid = ::fork();
  if (x_pid < 0) throw std::runtime_error("fork");
  if (x_pid == 0) {
    ::setpgid(0, 0);
    x_env.set("GROUP", std::to_string(::getpid()));
    auto variables = x_env.to_envp();
    auto argument_list = util::exec_pointers(words), variable_list = util::exec_pointers(variables);
    const int out = ::open(path("output").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (::chdir(x_directory.path().c_str()) != 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 ||
        ::dup2(out, 2) < 0)
      ::_exit(125);
    ::execve(argument_list.front(), argument_list.data(), variable_list.data());
    ::_exit(126);
  }
  ::setpgid(x_pid, x_pid);
  x_group = x_pid;
}

void BatchRun::wait_for(const std::string& text) const {
  if (becomes_true([&] { return test::holds(log() + output(), text); })) return;
  throw std::runtime_error("\"" + text + "\" does not come; log:\n" + log() + "output:\n" + output());
}

void BatchRun::signal(int number) const { ::kill(x_pid, number); }

void BatchRun::signal_steps(int number) const {
  const auto group = std::to_string(x_group);
  (void)util::run_process({"pkill", "-" + std::to_string(number), "-g", group, "-x", "srun"}, x_env);
}

int BatchRun::wait() {
  int status = 0;
  if (!becomes_true([&] { return ::waitpid(x_pid, &status, WNOHANG) == x_pid; }))
    throw std::runtime_error("the job does not end; log:\n" + log() + "output:\n" + output());
  x_pid = 0;
  return util::exit_code_of_status(status);
}

int BatchRun::run(const std::vector<std::string>& options, const std::string& script,
                  const std::vector<std::string>& arguments) {
  start(options, script, arguments);
  return wait();
}

bool BatchRun::has_leftovers() const {
  return !becomes_true([&] { return ::waitpid(-x_group, nullptr, WNOHANG) < 0 && errno == ECHILD; });
}

std::string BatchRun::log() const { return util::read_file(path("log")).value_or(""); }

std::string BatchRun::actions() const {
  std::string text;
  for (const auto& line : util::split(log(), '\n')) {
    const bool is_question = test::holds(line, "show job") || line.starts_with("sinfo ");
    if (!line.empty() && !is_question && !line.starts_with("scancel --signal=")) text += line + "\n";
  }
  return text;
}

std::string BatchRun::output() const { return util::read_file(path("output")).value_or(""); }

bool has_ended(pid_t pid) {
  const auto stat = "/proc/" + std::to_string(pid) + "/stat";
  if (becomes_true([&] {
        const auto text = util::read_file(stat);
        return !text || test::holds(*text, ") Z ");
      }))
    return true;
  throw std::runtime_error("process " + std::to_string(pid) + " does not end");
}

pid_t read_pid(const std::filesystem::path& file) {
  pid_t pid = 0;
  becomes_true([&] {
    const auto text = util::read_file(file).value_or("");
    if (text.ends_with("\n")) pid = static_cast<pid_t>(util::parse_unsigned(util::trim(text)).value_or(0));
    return pid > 0;
  });
  if (pid == 0) throw std::runtime_error("no number in " + file.string());
  return pid;
}

} // namespace hpcml::testing
