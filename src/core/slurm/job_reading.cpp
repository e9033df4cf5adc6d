// SPDX-License-Identifier: MIT
#include "core/slurm/job_reading.hpp"

namespace hpcml::slurm {

ScriptAsRead read_job(std::string_view text, ComparisonTrackingVersion version, LocatedFindings& findings) {
  ScriptAsRead job;
  job.header = read_header(text, version, findings);
  job.settings = read_settings(job.header, {}, version, findings);
  for (const auto& settings : job.settings) {
    const auto& request = job.requests.emplace_back(make_request(settings, version, findings));
    job.sizes.push_back(size_job(request, version, listed_nodes(request)));
  }
  return job;
}

} // namespace hpcml::slurm
