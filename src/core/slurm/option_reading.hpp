// SPDX-License-Identifier: MIT
// What the readers of values share; those of words and lists of words are in option_keywords.cpp.
#pragma once

#include <string>

#include "core/slurm/as_version.hpp"
#include "core/slurm/option_values.hpp"

namespace hpcml::slurm {

/// One value on its way into the request.
struct Reading {
  const Setting& setting;
  const std::string& text; ///< the value, "" without one
  TrackedVersion version;
  JobOptions& request;
};

// Each says whether sbatch takes the value.
bool read_exclusive(Reading& r);
bool read_open_mode(Reading& r);
bool read_no_kill(Reading& r);
bool read_yes_no(Reading& r);
bool read_requeue(Reading& r);
bool read_oom_kill_step(Reading& r);
bool read_get_user_env(Reading& r);
bool read_small_count(Reading& r);
bool read_hint(Reading& r);
bool read_wait_all_nodes(Reading& r);
bool read_nice(Reading& r);
bool read_acctg_freq(Reading& r);
bool read_profile(Reading& r);
bool read_propagate(Reading& r);
bool read_gres_flags(Reading& r);
bool read_gpu_bind(Reading& r);
bool read_tres_bind(Reading& r);
bool read_mem_bind(Reading& r);
bool read_switches(Reading& r);
bool read_cpu_freq(Reading& r);
bool read_gpu_freq(Reading& r);
bool read_distribution(Reading& r);
bool read_user(Reading& r);
bool read_wckey(Reading& r);
bool read_mem_update(Reading& r);
bool read_priority(Reading& r);

} // namespace hpcml::slurm
