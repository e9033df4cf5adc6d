// SPDX-License-Identifier: MIT
#include "core/slurm/job_record.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <functional>
#include <map>

#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

/// What scontrol and sacct write where there is nothing.
std::string known_or_empty(std::string_view value) {
  for (const std::string_view nothing : {"(null)", "None", "Unknown", "N/A"})
    if (value == nothing) return {};
  return std::string(value);
}

int number_of(std::string_view text) { return static_cast<int>(util::parse_unsigned(text).value_or(0)); }

void set_exit(JobRecord& job, std::string_view value) {
  const auto parts = util::split(value, ':');
  job.exit_code = number_of(parts[0]);
  if (parts.size() > 1) job.signal = number_of(parts[1]);
}

using Setter = std::function<void(JobRecord&, std::string_view)>;

Setter text_into(std::string JobRecord::*member) {
  return [member](JobRecord& job, std::string_view value) { job.*member = known_or_empty(value); };
}

const std::map<std::string, Setter, std::less<>>& setters() {
  static const std::map<std::string, Setter, std::less<>> k_setters = {
      {"JobId", text_into(&JobRecord::id)},
      {"ArrayJobId", text_into(&JobRecord::array_id)},
      {"ArrayTaskId", text_into(&JobRecord::array_tasks)},
      {"JobState", text_into(&JobRecord::state)},
      {"Reason", text_into(&JobRecord::reason)},
      {"StartTime", text_into(&JobRecord::start)},
      {"RunTime", text_into(&JobRecord::run_time)},
      {"TimeLimit", text_into(&JobRecord::time_limit)},
      {"NodeList", text_into(&JobRecord::nodes)},
      {"BatchHost", text_into(&JobRecord::batch_host)},
      {"Restarts", [](JobRecord& job,
                      std::string_view value) { job.restarts = static_cast<unsigned>(number_of(value)); }},
      {"PreemptTime", text_into(&JobRecord::preempted)},
      {"ExitCode", set_exit},
  };
  return k_setters;
}

/// Values that users choose: they may hold spaces and "=", and are last on their line.
const std::map<std::string, std::string JobRecord::*, std::less<>>& line_ends() {
  static const std::map<std::string, std::string JobRecord::*, std::less<>> k_ends = {
      {"JobName", &JobRecord::name},
      {"StdOut", &JobRecord::log},
      {"StdErr", &JobRecord::error_log},
      {"WorkDir", &JobRecord::work_dir}};
  return k_ends;
}

/// Others that are last on their line; nothing in them may be taken for a value.
bool is_free_text(std::string_view key) {
  for (const std::string_view name :
       {"Command", "StdIn", "Comment", "AdminComment", "SystemComment", "SubmitLine", "Extra"})
    if (key == name) return true;
  return false;
}

void read_line(JobRecord& job, std::string_view line) {
  line = util::trim(line);
  while (!line.empty()) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const auto key = line.substr(0, equals);
    auto value = line.substr(equals + 1);
    if (const auto end = line_ends().find(key); end != line_ends().end()) {
      job.*end->second = std::string(value);
      return;
    }
    if (is_free_text(key)) return;
    const auto blank = value.find(' ');
    line = blank == std::string_view::npos ? std::string_view{} : util::trim(value.substr(blank + 1));
    value = value.substr(0, blank);
    if (const auto setter = setters().find(key); setter != setters().end()) setter->second(job, value);
  }
}

/// Older Slurms report %N in the paths of logs also when the job has started.
void fill_in_host(JobRecord& job) {
  if (job.batch_host.empty()) return;
  const auto host = job.batch_host.substr(0, job.batch_host.find('.'));
  for (auto* log : {&job.log, &job.error_log}) *log = util::replace_all(*log, "%N", host);
}

struct Reason {
  std::string_view name; ///< or its beginning, where it ends in '*'
  std::string_view text;
  bool hopeless = false;
};

constexpr Reason k_reasons[] = {
    {"Priority", "waits for jobs of higher priority"},
    {"Resources", "next in line, waits for free nodes"},
    {"Dependency", "waits for another job"},
    {"DependencyNeverSatisfied", "the job that it depends on did not end as required", true},
    {"BeginTime", "waits for its begin time"},
    {"JobArrayTaskLimit", "the array runs as many tasks at once as it allows"},
    {"JobHeldUser", "held by its owner; scontrol release starts it"},
    {"JobHeldAdmin", "held by an administrator: ask the site's support"},
    {"ReqNodeNotAvail*", "nodes it needs are down, drained or reserved, often for maintenance"},
    {"Reservation", "its reservation has not started"},
    {"Licenses", "waits for a licence"},
    {"PartitionDown", "the partition accepts jobs but starts none now"},
    {"PartitionInactive", "the partition accepts and starts no jobs now"},
    {"PartitionTimeLimit", "requests more time than the partition allows"},
    {"PartitionNodeLimit", "requests more nodes than the partition allows or has up"},
    {"BadConstraints", "no nodes can ever satisfy its constraints", true},
    {"InvalidAccount", "its account does not exist", true},
    {"InvalidQOS", "its QOS does not exist", true},
    {"NodeDown", "a node that it needs is down"},
    {"launch_failed_requeued_held", "the nodes could not start it, and it is held: ask the site's support"},
    {"AssocGrp*", "the account's limit is reached: other jobs of the project must end, or its budget grow"},
    {"AssocMax*", "your limit in this account is reached: jobs of yours must end first"},
    {"QOSGrp*", "the limit of the QOS for all users is reached"},
    {"QOSMax*", "your limit in this QOS is reached: jobs of yours must end first"},
    {"QOSMin*", "requests less than the QOS requires"},
    {"MaxGRESPerAccount", "the account has reached its number of GPUs"},
};

/// Days since 1970-01-01 and seconds of the day of a time without zone.
std::optional<long long> seconds_of(std::string_view time) {
  if (time.size() < 19 || time[4] != '-' || time[7] != '-' || time[10] != 'T' || time[13] != ':' ||
      time[16] != ':')
    return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t length) {
    return util::parse_unsigned(time.substr(at, length));
  };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2),
             minute = part(14, 2), second = part(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(static_cast<int>(*year)),
                            std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<long long>(sys_days(date).time_since_epoch().count()) * 86400 +
         static_cast<long long>(*hour * 3600 + *minute * 60 + *second);
}

std::string describe_start(const JobRecord& job, std::string_view now) {
  const auto wait = seconds_between(now, job.start);
  if (!wait) return {};
  if (*wait <= 0) return ", starts any moment";
  const bool today = now.substr(0, 10) == std::string_view(job.start).substr(0, 10);
  return fmt::format(", starts about {}, in {}",
                     today ? job.start.substr(11, 5)
                           : job.start.substr(0, 10) + " " + job.start.substr(11, 5),
                     describe_duration(*wait));
}

std::string describe_end(const JobRecord& job) {
  std::string text = util::to_lower(job.state);
  std::replace(text.begin(), text.end(), '_', ' ');
  if (job.state == "COMPLETED") return text;
  if (job.state == "TIMEOUT" && !job.time_limit.empty())
    return fmt::format("{}: reached its time limit of {}", text, job.time_limit);
  if (job.state == "OUT_OF_MEMORY") return fmt::format("{}: requested less memory than it used", text);
  if (job.signal != 0) return fmt::format("{}: killed by signal {}", text, job.signal);
  return job.exit_code != 0 ? fmt::format("{}: exit code {}", text, job.exit_code) : text;
}

} // namespace

JobPhase phase_of(std::string_view state) {
  for (const std::string_view waiting :
       {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
    if (state == waiting) return JobPhase::waiting;
  for (const std::string_view running :
       {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
    if (state == running) return JobPhase::running;
  return JobPhase::ended;
}

JobPhase JobRecord::phase() const { return phase_of(state); }

std::vector<JobRecord> read_job_records(std::string_view text) {
  std::vector<JobRecord> records;
  for (const auto& line : util::split(text, '\n')) {
    if (line.starts_with("JobId=")) records.emplace_back();
    if (!records.empty()) read_line(records.back(), line);
  }
  for (auto& job : records) fill_in_host(job);
  return records;
}

std::vector<JobRecord> read_accounting(std::string_view text) {
  std::vector<JobRecord> records;
  for (const auto& line : util::split(text, '\n')) {
    const auto fields = util::split(line, '|');
    if (fields.size() < 5 || !util::parse_unsigned(fields[1])) continue;
    JobRecord job;
    job.id = fields[1];
    // "7_3", and "7_[4-9%2]" of tasks that never started
    if (const auto mark = fields[0].find('_'); mark != std::string::npos) {
      job.array_id = fields[0].substr(0, mark);
      job.array_tasks = fields[0].substr(mark + 1);
      std::erase_if(job.array_tasks, [](char c) { return c == '[' || c == ']'; });
    }
    job.state = fields[2].substr(0, fields[2].find(' ')); // "CANCELLED by 1000"
    set_exit(job, fields[3]);
    job.nodes = fields[4] == "None assigned" ? "" : known_or_empty(fields[4]);
    records.push_back(std::move(job));
  }
  return records;
}

PendingReason explain_reason(std::string_view reason) {
  for (const auto& known : k_reasons) {
    const bool open = known.name.back() == '*';
    const auto name = known.name.substr(0, known.name.size() - (open ? 1 : 0));
    if (open ? reason.starts_with(name) : reason == name) return {std::string(known.text), known.hopeless};
  }
  return {};
}

std::optional<long long> seconds_between(std::string_view from, std::string_view to) {
  const auto first = seconds_of(from), second = seconds_of(to);
  if (!first || !second) return std::nullopt;
  return *second - *first;
}

std::string describe_duration(long long seconds) {
  if (seconds < 60) return fmt::format("{} s", std::max(0LL, seconds));
  const long long minutes = (seconds + 30) / 60;
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 48LL * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / 1440, minutes % 1440 / 60);
}

std::string describe_job(const JobRecord& job, std::string_view now) {
  if (job.phase() == JobPhase::ended) return describe_end(job);
  std::string state = util::to_lower(job.state);
  std::replace(state.begin(), state.end(), '_', ' ');
  if (job.phase() == JobPhase::running) {
    if (!job.nodes.empty()) state += fmt::format(" on {}", job.nodes);
    return state;
  }
  if (!job.reason.empty()) {
    const auto why = explain_reason(job.reason);
    state += " (" + job.reason + (why.text.empty() ? "" : ": " + why.text) + ")";
  }
  return state + describe_start(job, now);
}

std::optional<model::FailureClass> why_ended(const JobRecord& job) {
  using model::FailureClass;
  static const std::map<std::string, FailureClass, std::less<>> k_states = {
      {"CANCELLED", FailureClass::user},
      {"PREEMPTED", FailureClass::preempted},
      {"TIMEOUT", FailureClass::time_limit},
      {"DEADLINE", FailureClass::time_limit},
      {"NODE_FAIL", FailureClass::node},
      {"BOOT_FAIL", FailureClass::node},
      {"OUT_OF_MEMORY", FailureClass::out_of_memory},
  };
  if (const auto known = k_states.find(job.state); known != k_states.end()) return known->second;
  // While those that are to go have time to do so, and once they wait again, the state does not say why.
  if (!job.preempted.empty()) return FailureClass::preempted;
  const bool cancelled = job.state == "COMPLETING" && job.signal == SIGTERM && job.reason.empty();
  return cancelled ? std::optional(FailureClass::user) : std::nullopt;
}

std::optional<model::FailureClass> class_of_end(const JobRecord& job) {
  if (exit_code_of(job) == 0) return std::nullopt;
  return why_ended(job).value_or(model::FailureClass::program);
}

int exit_code_of(const JobRecord& job) {
  if (job.state == "COMPLETED") return 0;
  if (job.exit_code != 0) return job.exit_code;
  constexpr int k_out_of_memory = 125; // Slurm's own number for it: the kernel sent KILL
  if (job.signal == k_out_of_memory) return 128 + SIGKILL;
  return job.signal != 0 ? 128 + job.signal : 1;
}

} // namespace hpcml::slurm
