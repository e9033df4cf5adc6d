// SPDX-License-Identifier: MIT
#include "live_cluster.hpp"

#include <csignal>
#include <fcntl.h>
#include <regex>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "../free_port.hpp"
#include "util/file.hpp"
#include "util/process.hpp"
#include "util/text.hpp"

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

/// The cases' jobs are numbered from here: no number of a script is one of theirs.
constexpr int k_first_job = 7000001;

/// The fields that a measured case may hold.
constexpr const char* k_fields[] = {"Account",
                                    "ArrayTaskId",
                                    "ArrayTaskThrottle",
                                    "BurstBuffer",
                                    "CPU_max_freq",
                                    "CPU_min_freq",
                                    "CPUs/Task",
                                    "ClusterFeatures",
                                    "Comment",
                                    "Container",
                                    "ContainerID",
                                    "ContainerType",
                                    "Contiguous",
                                    "CpusPerTres",
                                    "Deadline",
                                    "DelayBoot",
                                    "Dependency",
                                    "ExcNodeList",
                                    "Exclusive",
                                    "Extra",
                                    "Features",
                                    "Governor",
                                    "GresEnforceBind",
                                    "JobName",
                                    "KillOInInvalidDependent",
                                    "KillOnInvalidDependent",
                                    "MailType",
                                    "MailUser",
                                    "MemPerTres",
                                    "MinCPUsNode",
                                    "MinMemoryCPU",
                                    "MinMemoryNode",
                                    "MinMemoryTRES",
                                    "MinTmpDiskNode",
                                    "Network",
                                    "Nice",
                                    "NtasksPerN:B:S:C",
                                    "NtasksPerTRES",
                                    "NumCPUs",
                                    "NumNodes",
                                    "NumTasks",
                                    "OOMKillStep",
                                    "OverSubscribe",
                                    "Partition",
                                    "Power",
                                    "Prefer",
                                    "QOS",
                                    "Reboot",
                                    "ReqB:S:C:T",
                                    "ReqNodeList",
                                    "ReqTRES",
                                    "Requeue",
                                    "SegmentSize",
                                    "Socks/Node",
                                    "SpreadJob",
                                    "StdErr",
                                    "StdIn",
                                    "StdOut",
                                    "Switches",
                                    "TimeLimit",
                                    "TimeMin",
                                    "TresBind",
                                    "TresFreq",
                                    "TresPerJob",
                                    "TresPerNode",
                                    "TresPerSocket",
                                    "TresPerTask",
                                    "WorkDir"};

/// "KEY=VALUE KEY=VALUE" where values may hold blanks: a key is one of the known ones after a blank.
std::map<std::string, std::string> read_record(const std::string& line) {
  static const std::regex key("(^| )([A-Z][A-Za-z:/_]*)=");
  std::map<std::string, std::string> record;
  std::string name;
  std::size_t from = 0;
  for (std::sregex_iterator at(line.begin(), line.end(), key), end;; ++at) {
    const std::size_t stop = at == end ? line.size() : static_cast<std::size_t>(at->position());
    if (!name.empty() && record.count(name) == 0)
      record[name] = line.substr(from, line.find_last_not_of(' ', stop - 1) + 1 - from);
    if (at == end) return record;
    name = (*at)[2];
    from = static_cast<std::size_t>(at->position() + at->length());
  }
}

/// Runs of digits that hold the job's number: more than once, after other digits, or (from 23.02) padded.
std::string hide_number(const std::string& text, const std::string& job, bool padded) {
  static const std::regex digits("[0-9]+");
  const bool unlike_others = job.size() >= std::to_string(k_first_job).size();
  std::string result;
  std::size_t from = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), digits), end; at != end; ++at) {
    std::string run = at->str();
    const bool alone = std::regex_match(run, std::regex("0*(" + job + ")+"));
    if (alone && padded) run.erase(0, run.find_first_not_of('0'));
    if (alone || unlike_others) run = util::replace_all(run, job, "JOBID");
    result += text.substr(from, static_cast<std::size_t>(at->position()) - from) + run;
    from = static_cast<std::size_t>(at->position() + at->length());
  }
  return result + text.substr(from);
}

/// As the cases were written down.
std::string normalised(const std::string& key, std::string value, const std::string& job,
                       const std::string& folder, bool only_tasks, bool padded) {
  const bool gres = util::starts_with(key, "Tres") || key == "CpusPerTres" || key == "MemPerTres";
  if (gres) {
    static const std::regex name("(^|,)(gres[:/])?gpu");
    static const std::regex cpu("(^|,)cpu:");
    value = std::regex_replace(value, name, "$1gres/gpu");
    value = std::regex_replace(value, cpu, "$1cpu=");
  }
  static const std::regex count(":([0-9])");
  if (key == "TresPerTask") value = std::regex_replace(value, count, "=$1");
  if (key == "ReqTRES") value = std::regex_replace(value, std::regex(",billing=[0-9]+"), "");
  if (key == "Deadline") value = value == "N/A" || value == "Unknown" ? value : "<time>";
  if (key == "NumNodes")
    if (const auto dash = value.find('-');
        dash != std::string::npos && value.substr(0, dash) == value.substr(dash + 1))
      value.resize(dash);
  // 26.05 shows as many nodes as tasks where only tasks were asked for.
  if (key == "NumNodes" && util::starts_with(value, "1-") && only_tasks) value = "1";
  if (key == "StdOut" || key == "StdErr" || key == "StdIn" || key == "WorkDir") {
    value = util::replace_all(value, folder + "/work", "WORK");
    if (key != "WorkDir") value = hide_number(value, job, padded);
  }
  return value;
}

} // namespace

LiveCluster::LiveCluster(LiveCluster&& other) noexcept
    : x_prefix(std::move(other.x_prefix)), x_folder(std::move(other.x_folder)),
      x_version(std::move(other.x_version)), x_plain(std::move(other.x_plain)),
      x_controller(std::exchange(other.x_controller, -1)) {
  other.x_folder.clear();
}

LiveCluster::~LiveCluster() {
  if (x_controller > 0) {
    ::kill(x_controller, SIGKILL);
    ::waitpid(x_controller, nullptr, 0);
  }
  std::error_code ignored;
  if (!x_folder.empty()) std::filesystem::remove_all(x_folder, ignored);
}

void LiveCluster::write_configuration(int port) const {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::string text = k_configuration;
  text = util::replace_all(text, "{host}", std::string(host).substr(0, std::string(host).find('.')));
  text = util::replace_all(text, "{port}", std::to_string(port));
  text = util::replace_all(text, "{slurmd_port}", std::to_string(test::free_port()));
  text = util::replace_all(text, "{folder}", x_folder.string());
  for (const char* name : {"state", "spool", "work"}) std::filesystem::create_directories(x_folder / name);
  (void)util::write_file(x_folder / "slurm.conf", text);
  (void)util::write_file(x_folder / "cgroup.conf", x_version >= "24.05" ? "CgroupPlugin=disabled\n" : "");
}

util::Result<LiveCluster> LiveCluster::start(const std::filesystem::path& prefix) {
  LiveCluster cluster;
  cluster.x_prefix = prefix;
  std::string folder = (std::filesystem::temp_directory_path() / "hpcml-sbatch-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return util::Error{"cannot make a folder " + folder};
  cluster.x_folder = folder;
  const int port = test::free_port();
  cluster.write_configuration(port);
  const auto version = cluster.run({"sbatch", "--version"});
  if (!version) return version.error();
  cluster.x_version = version->substr(version->find(' ') + 1, 5);
  cluster.write_configuration(port); // for its version

  const std::string log = (cluster.x_folder / "slurmctld.out").string();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<std::string> words = {(prefix / "sbin/slurmctld").string(), "-D", "-f",
                                    (cluster.x_folder / "slurm.conf").string()};
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin:/usr/sbin",
                                        "SLURM_CONF=" + (cluster.x_folder / "slurm.conf").string()};
  const int status = ::posix_spawn(&cluster.x_controller, words[0].c_str(), &actions, nullptr,
                                   util::exec_pointers(words).data(), util::exec_pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return util::Error{"cannot start " + words[0]};
  if (!cluster.wait_until_up())
    return util::Error{"slurmctld does not answer: " + util::read_file(log).value_or("")};

  std::string message;
  const Case plain{"", "", "#!/bin/bash\nexit 0\n", {}, {}};
  if (const auto written = util::write_file(cluster.x_folder / "work/case.sh", plain.script); !written)
    return written.error();
  // Jobs 1 and 2 stay: dependencies name them.
  for (int i = 0; i < 2; ++i) {
    const auto job = cluster.submit(plain, true, message);
    if (!job || job->empty()) return util::Error{"a plain job is refused: " + message};
    if (i == 1) cluster.x_plain = cluster.show(*job).at(0);
  }
  // A later slurmctld starts anew where it reads its file again.
  if (cluster.x_version < "23.11") {
    const auto file = cluster.x_folder / "slurm.conf";
    const auto written = util::write_file(file, util::read_file(file).value_or("") +
                                                    "FirstJobId=" + std::to_string(k_first_job) + "\n");
    if (!written) return written.error();
    (void)cluster.run({"scontrol", "reconfigure"});
  }
  return cluster;
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
  words.insert(words.begin(), {"/usr/bin/env", "-C", (x_folder / "work").string()});
  util::EnvSnapshot env({{"PATH", "/usr/bin:/bin"},
                         {"HOME", "/root"},
                         {"USER", "root"},
                         {"SLURM_CONF", (x_folder / "slurm.conf").string()}});
  for (const auto& [name, value] : more) env.set(name, value);
  const auto result = util::run_process(words, env, std::chrono::seconds(60));
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
    if (!util::starts_with(line, "JobId=")) continue;
    // 20.11 writes this one field with a colon.
    auto record =
        read_record(std::regex_replace(line, std::regex(" NtasksPerTRES:([0-9]+)"), " NtasksPerTRES=$1"));
    if (record["Power"].empty()) record.erase("Power");
    if (record["NtasksPerTRES"] == "0" || x_version == "20.11") record.erase("NtasksPerTRES");
    if (record.count("ReqTRES") == 0) record["ReqTRES"] = record["TRES"]; // up to 22.05
    auto fields = Fields();
    const auto tasks = record.find("NumTasks");
    const bool only_tasks =
        x_version >= "26.05" && tasks != record.end() && record["NumNodes"] == "1-" + tasks->second;
    const std::string id = std::to_string(std::stoul(record.at("JobId")));
    for (const char* key : k_fields) {
      const auto found = record.find(key);
      if (found == record.end()) continue;
      const auto value =
          normalised(key, found->second, id, x_folder.string(), only_tasks, x_version >= "23.02");
      const auto plain = x_plain.find(key);
      // Of the second component on it is always written down.
      const bool log = !components.empty() && std::string_view(key) == "StdOut";
      const bool always = log || util::starts_with(key, "Over") || util::starts_with(key, "Exclu") ||
                          (util::starts_with(key, "MinCPUs") && record.count("MinMemoryTRES") > 0);
      if (always || plain == x_plain.end() || plain->second != value) fields[key] = value;
    }
    const auto out = record.find("StdOut");
    if (const auto err = record.find("StdErr");
        !x_plain.empty() && out != record.end() && err != record.end() && out->second == err->second)
      fields.erase("StdErr");
    components.push_back(std::move(fields));
  }
  return components;
}

util::Result<Answer> LiveCluster::ask(const Case& item) {
  Answer answer;
  if (const auto written = util::write_file(x_folder / "work/case.sh", item.script); !written)
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
