// SPDX-License-Identifier: MIT
#include "run/batch/job_time.hpp"

#include <algorithm>

#include "core/slurm/job_record.hpp"
#include "core/slurm/records.hpp"
#include "core/util/text.hpp"

namespace hpcml::batch {

std::time_t end_time_of_environment(const util::EnvSnapshot& env) {
  return static_cast<std::time_t>(util::parse_unsigned(env.get_or("SLURM_JOB_END_TIME", "0")).value_or(0));
}

std::time_t parse_end_time(const std::string& record) {
  const auto records = slurm::read_records(record, "JobId");
  // A job that was cancelled ends now, which is not its time limit.
  if (records.empty() || records.front().get("JobState") != "RUNNING") return 0;
  const auto text = records.front().get("EndTime").value_or("");
  std::tm time{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr || *end != '\0') return 0;
  time.tm_isdst = -1; // Slurm prints local time
  return std::max<std::time_t>(std::mktime(&time), 0);
}

SaveTimes save_times(std::time_t end, long lead) {
  return {end - lead, end - std::clamp(lead / 10, 1L, 30L)};
}

bool is_cancelled(const slurm::Commands& commands, const std::string& job) {
  const auto answer = commands.ask({"scontrol", "show", "job", job});
  if (!answer.ok()) return false;
  const auto records = slurm::read_job_records(answer.output.out);
  return std::any_of(records.begin(), records.end(), [](const auto& record) {
    return slurm::why_ended(record) == model::FailureClass::user;
  });
}

bool is_preempted(const slurm::Commands& commands, const std::string& job, const std::string& restarts) {
  // Not with -o: a job's name, which may contain anything, ends its line.
  const auto answer = commands.ask({"scontrol", "show", "job", job});
  if (!answer.ok()) return false;
  const auto count = util::parse_unsigned(restarts).value_or(0);
  for (const auto& record : slurm::read_job_records(answer.output.out))
    if (record.restarts == count && !record.preempted.empty()) return true;
  return false;
}

} // namespace hpcml::batch
