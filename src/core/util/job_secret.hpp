// SPDX-License-Identifier: MIT
// The variable that holds the key of a job.
#pragma once

namespace hpcml::util {

/// Only hpcml's own processes of a job have it: programs and other jobs do not get it.
inline constexpr const char* k_job_secret_variable = "HPCML_JOB_SECRET";

} // namespace hpcml::util
