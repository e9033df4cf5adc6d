// SPDX-License-Identifier: MIT
// What the readers of values share; those of words and lists of words are in option_keywords.cpp.
#pragma once

#include <string>

#include "core/slurm/comparison_tracking_version.hpp"
#include "core/slurm/option_values.hpp"

namespace hpcml::slurm {

/// One value on its way into the request.
struct OptionParseContext {
  const OptionSetting& setting;
  const std::string& text; ///< the value, "" without one
  ComparisonTrackingVersion version;
  JobOptions& request;
};

// Each says whether sbatch takes the value.
bool read_exclusive(OptionParseContext& r);
bool read_open_mode(OptionParseContext& r);
bool read_no_kill(OptionParseContext& r);
bool read_yes_no(OptionParseContext& r);
bool read_requeue(OptionParseContext& r);
bool read_oom_kill_step(OptionParseContext& r);
bool read_get_user_env(OptionParseContext& r);
bool read_small_count(OptionParseContext& r);
bool read_hint(OptionParseContext& r);
bool read_wait_all_nodes(OptionParseContext& r);
bool read_nice(OptionParseContext& r);
bool read_acctg_freq(OptionParseContext& r);
bool read_profile(OptionParseContext& r);
bool read_propagate(OptionParseContext& r);
bool read_gres_flags(OptionParseContext& r);
bool read_gpu_bind(OptionParseContext& r);
bool read_tres_bind(OptionParseContext& r);
bool read_mem_bind(OptionParseContext& r);
bool read_switches(OptionParseContext& r);
bool read_cpu_freq(OptionParseContext& r);
bool read_gpu_freq(OptionParseContext& r);
bool read_distribution(OptionParseContext& r);
bool read_user(OptionParseContext& r);
bool read_wckey(OptionParseContext& r);
bool read_mem_update(OptionParseContext& r);
bool read_priority(OptionParseContext& r);

} // namespace hpcml::slurm
