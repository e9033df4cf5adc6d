// SPDX-License-Identifier: MIT
#include "live_record.hpp"

#include <regex>

#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

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
Record read_record(const std::string& line) {
  static const std::regex key("(^| )([A-Z][A-Za-z:/_]*)=");
  Record record;
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
                       const std::string& directory, bool only_tasks, bool padded) {
  const bool gres = key.starts_with("Tres") || key == "CpusPerTres" || key == "MemPerTres";
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
  if (key == "NumNodes" && value.starts_with("1-") && only_tasks) value = "1";
  if (key == "StdOut" || key == "StdErr" || key == "StdIn" || key == "WorkDir") {
    value = util::replace_all(value, directory + "/work", "WORK");
    if (key != "WorkDir") value = hide_number(value, job, padded);
  }
  return value;
}

} // namespace

Record read_job(const std::string& line, const Shown& shown) {
  // On one line nothing parts these two.
  const auto separated = util::replace_all(line, "GresEnforceBind=YesKill", "GresEnforceBind=Yes Kill");
  // 20.11 writes this one field with a colon.
  auto record =
      read_record(std::regex_replace(separated, std::regex(" NtasksPerTRES:([0-9]+)"), " NtasksPerTRES=$1"));
  if (record["Power"].empty()) record.erase("Power");
  if (record["NtasksPerTRES"] == "0" || shown.version == "20.11") record.erase("NtasksPerTRES");
  if (record.count("ReqTRES") == 0) record["ReqTRES"] = record["TRES"]; // up to 22.05
  Record fields;
  const auto tasks = record.find("NumTasks");
  const bool only_tasks =
      shown.version >= "26.05" && tasks != record.end() && record["NumNodes"] == "1-" + tasks->second;
  const std::string id = std::to_string(std::stoul(record.at("JobId")));
  for (const std::string_view field : k_fields) {
    const std::string key(field);
    const auto found = record.find(key);
    if (found == record.end()) continue;
    const auto value =
        normalised(key, found->second, id, shown.directory, only_tasks, shown.version >= "23.02");
    const auto plain = shown.plain.find(key);
    // Of the second component on it is always written down.
    const bool log = shown.is_later && key == "StdOut";
    const bool always = log || key.starts_with("Over") || key.starts_with("Exclu") ||
                        (key.starts_with("MinCPUs") && record.count("MinMemoryTRES") > 0);
    if (always || plain == shown.plain.end() || plain->second != value) fields[key] = value;
  }
  const auto out = record.find("StdOut");
  if (const auto err = record.find("StdErr");
      !shown.plain.empty() && out != record.end() && err != record.end() && out->second == err->second)
    fields.erase("StdErr");
  return fields;
}

} // namespace hpcml::agree
