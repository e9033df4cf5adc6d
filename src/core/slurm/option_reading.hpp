// SPDX-License-Identifier: MIT
// What the readers of values share; those of words and lists of words are in option_keywords.cpp.
#pragma once

#include <string>

#include "core/slurm/option_values.hpp"
#include "core/slurm/span_narrowing_version.hpp"

namespace hpcml::slurm {

/// One value on its way into the request.
struct OptionReading {
  const OptionSetting& setting;
  const std::string& text; ///< the value, "" without one
  SpanNarrowingVersion version;
  JobOptions& request;
};

// Each says whether sbatch takes the value.
bool read_exclusive(OptionReading& r);
bool read_open_mode(OptionReading& r);
bool read_no_kill(OptionReading& r);
bool read_yes_no(OptionReading& r);
bool read_requeue(OptionReading& r);
bool read_oom_kill_step(OptionReading& r);
bool read_get_user_env(OptionReading& r);
bool read_small_count(OptionReading& r);
bool read_hint(OptionReading& r);
bool read_wait_all_nodes(OptionReading& r);
bool read_nice(OptionReading& r);
bool read_acctg_freq(OptionReading& r);
bool read_profile(OptionReading& r);
bool read_propagate(OptionReading& r);
bool read_gres_flags(OptionReading& r);
bool read_gpu_bind(OptionReading& r);
bool read_tres_bind(OptionReading& r);
bool read_mem_bind(OptionReading& r);
bool read_switches(OptionReading& r);
bool read_cpu_freq(OptionReading& r);
bool read_gpu_freq(OptionReading& r);
bool read_distribution(OptionReading& r);
bool read_user(OptionReading& r);
bool read_wckey(OptionReading& r);
bool read_mem_update(OptionReading& r);
bool read_priority(OptionReading& r);

} // namespace hpcml::slurm
