// SPDX-License-Identifier: MIT
// Which processes a request to save reaches: on process trees as values, and on real ones.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"
#include "run/launch/signal_targets.hpp"

using namespace hpcml;
using namespace hpcml::launch;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

ProcessSignalState process(pid_t pid, pid_t parent, bool handles, const std::string& name = "program",
                           std::uint64_t image = 0) {
  return {pid, parent, pid, image == 0 ? static_cast<std::uint64_t>(pid) : image, name, handles, false};
}

std::vector<pid_t> targets_of(const std::vector<ProcessSignalState>& tree) {
  std::vector<pid_t> pids;
  for (const auto& target : choose_targets(tree)) pids.push_back(target.pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

util::EnvSnapshot saving(util::EnvSnapshot env) {
  env.set("HPCML_SAVE_SIGNAL", "USR2");
  return env;
}

/// `hpcml launch` of this Python program, in a task or as the parent of two ranks.
std::vector<std::string> launch_words(bool supervised, const std::string& program) {
  std::vector<std::string> words = {"launch", "--bind", "none"}; // no warning about shared cores
  if (supervised) words.insert(words.end(), {"--nproc-per-node", "2"});
  words.insert(words.end(), {"--", "python3", "-c", program});
  return words;
}

/// What both ranks of a supervised launch, or the one of a task, print in their next line, without prefix.
std::string next_line(Running& launch, bool supervised) {
  auto line = launch.read_line();
  if (!supervised) return line;
  auto second = launch.read_line();
  CHECK(line.substr(line.find(' ') + 1) == second.substr(second.find(' ') + 1));
  return line.substr(line.find(' ') + 1);
}

bool blocks_signal(pid_t pid, int signal) {
  const auto status = util::read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const auto at = status.find("SigBlk:");
  return at != std::string::npos &&
         (std::stoull(status.substr(at + 7), nullptr, 16) >> (signal - 1) & 1) != 0;
}

/// Reads up to a line that contains `text`, past warnings about this machine's cores. Empty at the end.
std::string read_until(Running& launch, const std::string& text) {
  auto line = launch.read_line();
  while (!line.empty() && line.find(text) == std::string::npos) line = launch.read_line();
  return line;
}

util::EnvSnapshot environment(bool supervised) {
  return saving(supervised ? bare_environment() : step_environment(0, 1));
}

} // namespace

TEST_CASE("save signal goes only to processes that handle it") {
  CHECK(targets_of({}).empty());
  CHECK(targets_of({process(1, 0, false)}).empty());
  CHECK(targets_of({process(1, 0, false, "bash"), process(2, 1, true), process(3, 2, false)}) ==
        std::vector<pid_t>{2});
  // A shell with a trap and its program: both.
  CHECK(targets_of({process(1, 0, true, "bash"), process(2, 1, true)}) == std::vector<pid_t>{1, 2});
}

TEST_CASE("save signal does not go to forks of its receivers") {
  // 1 python, 2 and 3 its data loaders (forks), 4 a fork of a fork, 5 a program that 3 has started
  CHECK(targets_of({process(1, 0, true, "python3", 77), process(2, 1, true, "python3", 77),
                    process(3, 1, true, "pt_data_worker", 77), process(4, 3, true, "python3", 77),
                    process(5, 3, true, "python3", 99)}) == std::vector<pid_t>{1, 5});
  // The parent of a fork has put its handler away: the fork's is the only one.
  CHECK(targets_of({process(1, 0, false, "python3", 77), process(2, 1, true, "python3", 77)}) ==
        std::vector<pid_t>{2});
}

TEST_CASE("container starter is skipped when its program gets the signal") {
  CHECK(targets_of({process(1, 0, true, "starter-suid"), process(2, 1, true, "python3")}) ==
        std::vector<pid_t>{2});
  CHECK(targets_of({process(1, 0, true, "starter"), process(2, 1, false, "bash"),
                    process(3, 2, true, "python3")}) == std::vector<pid_t>{3});
  // A pid namespace may hide the program; a user's program may have the name.
  CHECK(targets_of({process(1, 0, true, "starter")}) == std::vector<pid_t>{1});
}

TEST_CASE("nested launcher forwards the save request to its ranks once") {
  auto inner = process(2, 1, true, "hpcml");
  inner.is_launcher = true;
  const auto targets = choose_targets(
      {process(1, 0, false, "bash"), inner, process(3, 2, true), process(4, 3, true), process(5, 1, true)});
  CHECK(targets == std::vector<SignalTarget>{{2, true}, {5, false}});
}

TEST_CASE("program in sigwait gets the save signal") {
  const bool supervised = GENERATE(false, true);
  const std::string program = R"(
import signal, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("ready", flush=True)
print("got", signal.sigwait([signal.SIGUSR2]) == signal.SIGUSR2, flush=True)
)";
  Running launch(launch_words(supervised, program), environment(supervised));
  CHECK(next_line(launch, supervised) == "ready");
  launch.signal(SIGURG);
  CHECK(next_line(launch, supervised) == "got True");
  CHECK(launch.wait() == 0);
}

TEST_CASE("program survives when one thread does not block the signal") {
  const bool supervised = GENERATE(false, true);
  const std::string program = R"(
import signal, sys, threading
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
print("ready", flush=True)
print("got", signal.sigtimedwait([signal.SIGUSR2], 1.5), flush=True)
)";
  Running launch(launch_words(supervised, program), environment(supervised));
  CHECK(next_line(launch, supervised) == "ready");
  launch.signal(SIGURG);
  CHECK(next_line(launch, supervised) == "got None");
  CHECK(launch.wait() == 0);
}

TEST_CASE("handler runs in an executed program, not in a fork") {
  const bool supervised = GENERATE(false, true);
  const std::string program = R"py(
import os, signal, subprocess, sys, time
r, w = os.pipe()
signal.signal(signal.SIGUSR2, lambda number, frame: os.write(w, b"%d " % os.getpid()))
loader = os.fork()
if loader == 0:
    while True: time.sleep(0.02)
child = subprocess.Popen([sys.executable, "-c", "import signal, time, sys\n"
    "signal.signal(signal.SIGUSR2, lambda number, frame: sys.exit(7))\n"
    "print('x', flush=True)\nwhile True: time.sleep(0.02)"], stdout=subprocess.PIPE)
child.stdout.read(1)
plain = subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
code = child.wait()
time.sleep(0.5)
found = os.read(r, 1000).decode().split()
print(code, found == [str(os.getpid())], plain.poll(), os.waitpid(loader, os.WNOHANG), flush=True)
os.kill(loader, signal.SIGKILL); plain.kill()
)py";
  Running launch(launch_words(supervised, program), environment(supervised));
  CHECK(next_line(launch, supervised) == "ready");
  launch.signal(SIGURG);
  CHECK(next_line(launch, supervised) == "7 True None (0, 0)");
  CHECK(launch.wait() == 0);
}

TEST_CASE("trap of a shell script runs at the save signal") {
  const bool supervised = GENERATE(false, true);
  std::vector<std::string> words = {"launch", "--bind", "none"}; // no warning about shared cores
  if (supervised) words.insert(words.end(), {"--nproc-per-node", "2"});
  words.insert(words.end(), {"--", "bash", "-c",
                             "trap 'echo saved; exit 0' USR2; echo ready; while :; do sleep 0.05; done"});
  Running launch(words, environment(supervised));
  CHECK(next_line(launch, supervised) == "ready");
  launch.signal(SIGURG);
  CHECK(next_line(launch, supervised) == "saved");
  CHECK(launch.wait() == 0);
}

TEST_CASE("tasks of a node without a handler are reported together") {
  const auto words =
      launch_words(false, "import os, signal, time\n"
                          "if os.environ['RANK'] == '2': signal.signal(signal.SIGUSR2, lambda n, f: None)\n"
                          "print('ready', flush=True); time.sleep(2)");
  std::vector<std::unique_ptr<Running>> tasks;
  for (unsigned rank = 0; rank < 4; ++rank) {
    tasks.push_back(std::make_unique<Running>(words, saving(step_environment(rank, 4)), true));
    CHECK(read_until(*tasks.back(), "ready") == "ready");
  }
  // Launchers recognise each other by it, also if the kernel lets none look into the others (Yama).
  for (const auto& task : tasks) CHECK(blocks_signal(task->pid(), SIGURG));
  for (const auto& task : tasks) task->signal(SIGURG);
  std::string lines;
  for (const auto& task : tasks)
    for (std::string line; !(line = read_until(*task, "handle")).empty();) lines += line + "\n";
  CHECK_THAT(lines, Contains("ranks 0-1,3/4 ("));
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 1);
  for (const auto& task : tasks) CHECK(task->wait() == 0);
}

TEST_CASE("ranks of a nested launch get the save signal once") {
  const std::string program = R"(
import signal, time
got = []
signal.signal(signal.SIGUSR2, lambda number, frame: got.append(number))
print("ready", flush=True)
while not got: time.sleep(0.02)
time.sleep(0.5)
print("got", len(got), flush=True)
)";
  Running launch({"launch", "--", "bash", "-c",
                  std::string(HPCML_BINARY) + " launch --nproc-per-node 2 -- python3 -c \"$0\"; exit $?",
                  program},
                 saving(step_environment(0, 1)));
  CHECK(next_line(launch, true) == "ready");
  launch.signal(SIGURG);
  CHECK(next_line(launch, true) == "got 1");
  CHECK(launch.wait() == 0);
}
