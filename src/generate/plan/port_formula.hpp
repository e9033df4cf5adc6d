// SPDX-License-Identifier: MIT
// The numbers from which the port of the ranks' rendezvous follows: FIRST + (job * JOB + restart * RESTART +
// step) % COUNT. Launch computes it in the task; a plain script leaves the restart and the step out.
#pragma once

namespace hpcml::plan {

constexpr unsigned k_first_port = 15000;    ///< below the ephemeral ports of Linux (32768 and up)
constexpr unsigned k_port_count = 17000;    ///< so that the last is below them as well
constexpr unsigned k_job_stride = 97;       ///< steps of a job are consecutive numbers, so they never collide
constexpr unsigned k_restart_stride = 5003; ///< a requeued job does not collide with its first run

} // namespace hpcml::plan
