// SPDX-License-Identifier: MIT
// The table of site rules: a row for each, which `gen`, `check` and the emulation read.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/diag/diagnostic.hpp"
#include "core/site_rules/policy_violation.hpp"

namespace hpcml::site_rules {

/// How a hint writes options: `--mem 4G` in a request, `--mem=4G` in a script.
enum class OptionForm { request, script };

/// The part of a request's planning that reports the rule.
enum class PlanningStep {
  none, ///< no request breaks it, or another part of the planner reports it
  partition,
  nodes,
  gpus,
  cpus,
  memory,
  time,
  job,    ///< the numbers of the whole job
  names,  ///< QoS and features
  options ///< of sbatch, with the option's name in the code
};

/// Which violations the job filter of an emulated site rejects.
enum class JobFilterRejectionThreshold {
  none, ///< advice, or a rule that Slurm's own configuration has
  all,
  definite,
  definite_or_likely,
  beyond_slurm_conf,     ///< definite ones, but for the limits of a partition, which Slurm enforces
  beyond_slurm_conf_time ///< the same; slurm.conf has one time limit of a partition, whatever the job's size
};

/// The severity of a finding in a script.
enum class SeveritySource {
  of_rule,   ///< that of the rule of `hpcml check`
  certainty, ///< by how certain the violation is
};

/// A violation with everything that its sentence names.
struct ViolationContext {
  const PolicyViolation& violation;
  const model::Site& site;
  const ResolvedPlacement& placement;
  const ResourceRequest& demand;
};

/// Everything about a rule but how it is found.
struct SiteRuleRow {
  SiteRule rule;
  std::string_view check_id; ///< ID of the rule of `hpcml check`
  std::string_view
      request_code; ///< code of the finding in a request; after "/" the name of the option follows
  PlanningStep step;
  diag::Severity request_severity;
  SeveritySource severity_source;
  JobFilterRejectionThreshold rejection_scope;
  /// Options of a script that the finding points at: the first one that it has. None: the violation's option.
  std::array<std::string_view, 5> options;
  std::string (*sentence)(const ViolationContext&);
  std::string (*hint)(const ViolationContext&, OptionForm); ///< its text may be empty
};

/// Returns the row of a rule.
const SiteRuleRow& row_of(SiteRule rule);

} // namespace hpcml::site_rules
