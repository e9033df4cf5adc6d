// SPDX-License-Identifier: MIT
#include "cli/other/job_store_addresses.hpp"

#include <fmt/format.h>

#include "core/model/hostlist.hpp"
#include "core/slurm/jobs.hpp"
#include "core/util/text.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/store_query.hpp"
#include "run/store/client.hpp"

namespace hpcml::cli {

using util::Error;
using util::Result;

namespace {

/// A job whose stores are looked for, and the hosts that may have them.
struct JobHosts {
  slurm::StepIdentity job;
  std::vector<std::string> hosts;
  std::vector<unsigned long long> steps;
};

std::string first_host(const std::string& list) {
  auto hosts = model::Hostlist::parse(list);
  return hosts && hosts->size() > 0 ? std::move(*hosts).take().front() : std::string();
}

/// The numbered steps of the job, and their first nodes: rank 0's launcher serves there.
void add_steps(const slurm::Commands& commands, JobHosts& job) {
  const auto answer = commands.ask(
      {"squeue", "--steps", "--noheader", "--jobs=" + std::to_string(job.job.job), "--format=%i|%N"});
  if (!answer.ok()) return;
  for (const auto& line : util::split(answer.output.out, '\n')) {
    const auto words = util::split(util::trim(line), '|');
    if (words.size() != 2) continue;
    const auto dot = words[0].rfind('.');
    const auto step =
        dot == std::string::npos ? std::nullopt : util::parse_unsigned(words[0].substr(dot + 1));
    if (!step) continue; // "batch", "extern"
    job.steps.push_back(*step);
    if (const auto host = first_host(words[1]); !host.empty()) util::add_once(job.hosts, host);
  }
}

/// Returns the hosts and steps of the job as reported by Slurm.
Result<JobHosts> ask_slurm(const std::string& id, const slurm::Commands& commands) {
  TRY(const auto records, slurm::find_job(commands, id));
  for (const auto& record : records) {
    const auto number = util::parse_unsigned(record.id);
    if (record.phase() != slurm::JobPhase::running || !number) continue;
    JobHosts job{{*number, 0, record.restarts}, {}, {}};
    for (const auto& host : {record.batch_host, first_host(record.nodes)})
      if (!host.empty()) util::add_once(job.hosts, host);
    add_steps(commands, job);
    return job;
  }
  return Error{fmt::format("job {} is not running, so it has no rendezvous store", id),
               "use the number of a running job: squeue --me lists yours"};
}

/// Returns the same from the variables of a step of the job, if Slurm's commands are missing.
std::optional<JobHosts> read_variables(const util::EnvSnapshot& env) {
  JobHosts job{slurm::read_step_identity(env), {}, {}};
  const auto host = first_host(env.get_or("SLURM_JOB_NODELIST", env.get_or("SLURM_NODELIST", "")));
  if (job.job.job == 0 || host.empty()) return std::nullopt;
  job.hosts = {host};
  for (unsigned step = 1; step < 4; ++step) job.steps.push_back(step);
  return job;
}

Result<JobStoreAddresses> places_of_job(const std::string& id, const util::EnvSnapshot& env,
                                        const slurm::Commands& commands) {
  auto job = ask_slurm(id, commands);
  if (!job && env.get_or("SLURM_JOB_ID", "") == id)
    if (auto own = read_variables(env)) job = std::move(*own);
  if (!job) return job.error();
  JobStoreAddresses found{job->job, {}};
  for (const auto& host : job->hosts)
    for (const auto& address : launch::addresses_of(host))
      for (const auto port : launch::ports_of_job(job->job, job->steps))
        found.places.push_back({address, port});
  if (found.places.empty())
    return Error{
        fmt::format("the names of the nodes of job {} do not resolve on this machine: {}", id,
                    util::join(job->hosts, ", ")),
        fmt::format("run srun --jobid={} --overlap -n1 hpcml store show to query its store in the job", id)};
  return found;
}

Result<JobStoreAddresses> places_at(const std::string& text, const util::EnvSnapshot& env) {
  const auto where = store::parse_place(text);
  if (!where)
    return Error{fmt::format("'{}' is neither the number of a job nor the address of a store", text),
                 "use a job number such as 1234, or ADDRESS:PORT ([ADDRESS]:PORT for IPv6)"};
  JobStoreAddresses found{slurm::read_step_identity(env), {}};
  for (const auto& address : launch::addresses_of(where->first))
    found.places.push_back({address, where->second});
  if (found.places.empty())
    return Error{
        fmt::format("the host name '{}' of the store does not resolve on this machine", where->first),
        "use the IP address of the host, or run hpcml store show on a node of the job"};
  return found;
}

} // namespace

Result<JobStoreAddresses> find_store_places(const std::string& named, const util::EnvSnapshot& env,
                                            const slurm::Commands& commands) {
  if (util::parse_unsigned(named)) return places_of_job(named, env, commands);
  if (!named.empty()) return places_at(named, env);
  if (const auto place = env.get_or("HPCML_STORE_ADDR", ""); !place.empty()) return places_at(place, env);
  const auto address = env.get_or("MASTER_ADDR", ""), port = env.get_or("MASTER_PORT", "");
  if (!address.empty() && !port.empty())
    return places_at((address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + port,
                     env);
  if (const auto job = env.get_or("SLURM_JOB_ID", ""); !job.empty()) return places_of_job(job, env, commands);
  return Error{"no job is named, and HPCML_STORE_ADDR, MASTER_ADDR and SLURM_JOB_ID are not set",
               "run hpcml store show JOB with the number of a running job, or ADDRESS:PORT of a store"};
}

} // namespace hpcml::cli
