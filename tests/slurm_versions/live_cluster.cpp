// SPDX-License-Identifier: MIT
#include "live_cluster.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "../free_port.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "live_record.hpp"

namespace hpcml::agree {
namespace {

constexpr const char* k_configuration = R"(ClusterName=measured
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=3000
GresTypes=gpu
DefMemPerCPU=1000
MaxJobCount=500000
MinJobAge=2
MessageTimeout=30
SlurmdTimeout=0
ReturnToService=0
NodeName=nid[001-004] NodeAddr=127.0.0.[1-4] CPUs=128 Sockets=1 CoresPerSocket=64 ThreadsPerCore=2 RealMemory=500000 Gres=gpu:mi250:8 Feature=a,b State=DRAIN Reason=never
PartitionName=standard-g Nodes=nid[001-004] Default=YES OverSubscribe=EXCLUSIVE MaxTime=2-00:00:00 State=UP
PartitionName=small-g Nodes=nid[001-004] OverSubscribe=NO MaxTime=3-00:00:00 MaxNodes=2 State=UP
PartitionName=dev-g Nodes=nid[001-004] OverSubscribe=NO MaxTime=30 State=UP
)";

} // namespace

LiveCluster::LiveCluster(LiveCluster&& other) noexcept
    : x_prefix(std::move(other.x_prefix)), x_directory(std::move(other.x_directory)),
      x_version(std::move(other.x_version)), x_plain(std::move(other.x_plain)),
      x_controller(std::exchange(other.x_controller, -1)) {
  other.x_directory.clear();
}

LiveCluster::~LiveCluster() {
  if (x_controller > 0) {
    ::kill(x_controller, SIGKILL);
    ::waitpid(x_controller, nullptr, 0);
  }
  std::error_code ignored;
  if (!x_directory.empty()) std::filesystem::remove_all(x_directory, ignored);
}

void LiveCluster::write_configuration(int port) const {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::string text = k_configuration;
  text = util::replace_all(text, "{host}", std::string(host).substr(0, std::string(host).find('.')));
  text = util::replace_all(text, "{port}", std::to_string(port));
  text = util::replace_all(text, "{slurmd_port}", std::to_string(test::free_port()));
  text = util::replace_all(text, "{folder}", x_directory.string());
  for (const char* name : {"state", "spool", "work"}) std::filesystem::create_directories(x_directory / name);
  (void)util::write_file(x_directory / "slurm.conf", text);
  (void)util::write_file(x_directory / "cgroup.conf", x_version >= "24.05" ? "CgroupPlugin=disabled\n" : "");
}

util::Result<LiveCluster> LiveCluster::start(const std::filesystem::path& prefix) {
  LiveCluster cluster;
  cluster.x_prefix = std::filesystem::absolute(prefix); // its commands run in another folder
  std::string directory = (std::filesystem::temp_directory_path() / "hpcml-sbatch-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return util::Error{"cannot make a folder " + directory};
  cluster.x_directory = directory;
  const int port = test::free_port();
  cluster.write_configuration(port);
  const auto version = cluster.run({"sbatch", "--version"});
  if (!version) return version.error();
  cluster.x_version = version->substr(version->find(' ') + 1, 5);
  cluster.write_configuration(port); // for its version

  if (const auto up = cluster.start_controller(); !up) return up.error();

  std::string message;
  const Case plain{"", "", "#!/bin/bash\nexit 0\n", {}, {}};
  if (const auto written = util::write_file(cluster.x_directory / "work/case.sh", plain.script); !written)
    return written.error();
  // Jobs 1 and 2 stay: dependencies name them.
  for (int i = 0; i < 2; ++i) {
    const auto job = cluster.submit(plain, true, message);
    if (!job || job->empty()) return util::Error{"a plain job is refused: " + message};
    if (i == 1) cluster.x_plain = cluster.show(*job).at(0);
  }
  // The cases' jobs have numbers of their own. A later slurmctld forgets who started it where it reads its
  // file again.
  const auto file = cluster.x_directory / "slurm.conf";
  if (const auto written = util::write_file(file, util::read_file(file).value_or("") +
                                                      fmt::format("FirstJobId={}\n", k_first_job));
      !written)
    return written.error();
  if (cluster.x_version < "23.11") {
    (void)cluster.run({"scontrol", "reconfigure"});
    return cluster;
  }
  ::kill(cluster.x_controller, SIGTERM);
  ::waitpid(cluster.x_controller, nullptr, 0);
  if (const auto up = cluster.start_controller(); !up) return up.error();
  return cluster;
}

util::Status LiveCluster::start_controller() {
  const std::string log = (x_directory / "slurmctld.out").string();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<std::string> words = {(x_prefix / "sbin/slurmctld").string(), "-D", "-f",
                                    (x_directory / "slurm.conf").string()};
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin:/usr/sbin",
                                        "SLURM_CONF=" + (x_directory / "slurm.conf").string()};
  const int status = ::posix_spawn(&x_controller, words[0].c_str(), &actions, nullptr,
                                   util::exec_pointers(words).data(), util::exec_pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return util::Error{"cannot start " + words[0]};
  if (!wait_until_up()) return util::Error{"slurmctld does not answer: " + util::read_file(log).value_or("")};
  return util::Success{};
}

bool LiveCluster::wait_until_up() {
  for (int i = 0; i < 300; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    int status = 0;
    if (::waitpid(x_controller, &status, WNOHANG) == x_controller) {
      x_controller = -1;
      return false;
    }
    std::string error;
    const auto answer = run({"scontrol", "ping"}, {}, &error);
    if (answer && answer->find(" UP") != std::string::npos) return true;
  }
  return false;
}

util::Result<std::string> LiveCluster::run(std::vector<std::string> words,
                                           const std::map<std::string, std::string>& more,
                                           std::string* error) {
  words[0] = (x_prefix / "bin" / words[0]).string();
  words.insert(words.begin(), {"/usr/bin/env", "-C", (x_directory / "work").string()});
  util::EnvSnapshot env({{"PATH", "/usr/bin:/bin"},
                         {"HOME", "/root"},
                         {"USER", "root"},
                         {"SLURM_CONF", (x_directory / "slurm.conf").string()}});
  for (const auto& [name, value] : more) env.set(name, value);
  const auto result = util::run_process(words, env, std::chrono::seconds(300));
  if (!result) return result.error();
  if (error != nullptr) *error = result->err;
  return result->exit_code == 0 ? result->out : std::string();
}

/// The job's number; empty where it was refused.
util::Result<std::string> LiveCluster::submit(const Case& item, bool held, std::string& message) {
  std::vector<std::string> words = {"sbatch"};
  if (held) words.push_back("-H");
  words.insert(words.end(), item.arguments.begin(), item.arguments.end());
  words.push_back("case.sh");
  const auto out = run(words, item.environment, &message);
  if (!out) return out.error();
  const auto digit = out->find_first_of("0123456789");
  if (digit == std::string::npos) return std::string();
  return out->substr(digit, out->find_first_not_of("0123456789", digit) - digit);
}

/// What is left out unless the case speaks of it.
void leave_out(const Case& item, LiveCluster::Fields& fields) {
  std::string all = util::to_lower(item.script + util::join(item.arguments, " "));
  for (const auto& [name, value] : item.environment) all += util::to_lower(name);
  const auto speaks_of = [&](const char* word) { return all.find(word) != std::string::npos; };
  const bool sharing = speaks_of("excl") || speaks_of("overs") || speaks_of(" -s");
  if (!sharing) fields.erase("OverSubscribe");
  if (!sharing) fields.erase("Exclusive");
  if (!speaks_of("mail-u") && !speaks_of("#pbs")) fields.erase("MailUser");
}

std::vector<LiveCluster::Fields> LiveCluster::show(const std::string& job) {
  const auto text = run({"scontrol", "show", "job", "-o", job});
  std::vector<Fields> components;
  for (const auto& line : util::split(text.value_or(""), '\n')) {
    if (!line.starts_with("JobId=")) continue;
    components.push_back(read_job(line, {x_version, x_directory.string(), x_plain, !components.empty()}));
  }
  return components;
}

util::Result<Answer> LiveCluster::ask(const Case& item) {
  Answer answer;
  if (const auto written = util::write_file(x_directory / "work/case.sh", item.script); !written)
    return written.error();
  const auto held = submit(item, true, answer.message);
  if (!held) return held.error();
  answer.held_accepted = !held->empty();
  if (!answer.held_accepted) return answer;
  answer.components = show(*held);
  for (auto& fields : answer.components) leave_out(item, fields);
  const auto plain = submit(item, false, answer.message);
  if (!plain) return plain.error();
  answer.accepted = !plain->empty();
  (void)run({"scancel", *held, answer.accepted ? *plain : *held});
  return answer;
}

} // namespace hpcml::agree
