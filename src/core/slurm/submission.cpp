// SPDX-License-Identifier: MIT
#include "core/slurm/submission.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <optional>

#include "core/slurm/values.hpp"
#include "core/slurm/variables.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

/// The line without "sbatch: ", "error: " and the like.
std::string bare(std::string_view line) {
  line = util::trim(line);
  for (const std::string_view prefix :
       {"sbatch: ", "error: ", "fatal: ", "Batch job submission failed: ", "allocation failure: "})
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
  return std::string(line);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto& line : util::split(text, '\n'))
    if (!util::trim(line).empty()) lines.push_back(line);
  return lines;
}

struct Advice {
  std::string_view part; ///< of Slurm's message
  std::string_view hint;
};

constexpr std::string_view k_no_cluster = "establish a configuration source";
constexpr std::string_view k_no_answer = "Unable to contact slurm controller";

constexpr Advice k_advice[] = {
    {"Invalid account",
     "run sacctmgr show assoc user=$USER to see your accounts, and use --account with one of them"},
    {"Invalid qos", "run sacctmgr show assoc user=$USER format=account,qos to see your QoS"},
    {"time limit is invalid", "use a shorter --time, or another partition"},
    {"node configuration is not available",
     "run sinfo -o '%P %c %m %G' to see what the nodes have: none of the partition has what one node needs"},
    {"Node count specification invalid", "use fewer nodes: scontrol show partition shows the limit"},
    {"nvalid partition", "run sinfo -s to see the partitions"},
    {"not permitted to use this partition", "use another partition, or request access from the site"},
    {"violates accounting/QOS policy",
     "run squeue --me to see your jobs: a limit of you or of the account is reached"},
    {k_no_cluster, "run this on a login node of the cluster, or rehearse it: hpcml emulate --site SITE -- "
                   "hpcml submit ..."},
    {"dependency problem", "run squeue --me to see your jobs: the job that it depends on is unknown"},
    {k_no_answer, "run it again later: Slurm does not answer (the site's status page may state why)"},
    {"Socket timed out", "check squeue --me before you submit again: Slurm may have accepted the job"},
    {"Zero Bytes were transmitted",
     "check squeue --me before you submit again: Slurm may have accepted the job"},
    {"temporarily unable to accept job", "run it again later: too many jobs are in the queue"},
    {"invalid generic resource",
     "run sinfo -o '%P %G' to see the names of the GPUs here, and use --gpu-type"},
};

struct InputVariable {
  std::string_view name;
  std::string_view option; ///< what the script says about it; empty: no generated script may run with it
};

/// Variables that sbatch obeys before the script's directive of the same meaning.
constexpr InputVariable k_inputs[] = {
    {"SBATCH_ACCOUNT", "--account"},
    {"SLURM_ACCOUNT", "--account"},
    {"SBATCH_PARTITION", "--partition"},
    {"SBATCH_QOS", "--qos"},
    {"SBATCH_TIMELIMIT", "--time"},
    {"SBATCH_JOB_NAME", "--job-name"},
    {"SBATCH_OUTPUT", "--output"},
    {"SBATCH_CONSTRAINT", "--constraint"},
    {"SBATCH_REQUEUE", "--no-requeue"},
    {"SBATCH_NO_REQUEUE", "--requeue"},
    {"SBATCH_SIGNAL", "--signal"},
    // How many GPUs, cores, tasks and how much memory is planned together; another job's worth of one breaks
    // all.
    {"SBATCH_GPUS", ""},
    {"SBATCH_GPUS_PER_NODE", ""},
    {"SBATCH_GPUS_PER_TASK", ""},
    {"SBATCH_GPU_BIND", ""},
    {"SBATCH_GRES", ""},
    {"SBATCH_MEM_PER_NODE", ""},
    {"SBATCH_MEM_PER_CPU", ""},
    {"SBATCH_MEM_PER_GPU", ""},
    {"SBATCH_CPUS_PER_GPU", ""},
    {"SBATCH_THREADS_PER_CORE", ""},
    {"SBATCH_DISTRIBUTION", ""},
    {"SBATCH_OVERCOMMIT", ""},
    {"SBATCH_HINT", ""},
    {"SLURM_HINT", ""},
    {"SBATCH_ARRAY_INX", ""},
    {"SBATCH_EXPORT", ""}, // the ranks need what the script exports
    {"SBATCH_WAIT", ""},
    {"SBATCH_WAIT_ALL_NODES", ""},
    {"SBATCH_TEST_ONLY", ""},
};

bool contradicts(const std::string& name, const std::vector<std::string>& options) {
  return std::any_of(std::begin(k_inputs), std::end(k_inputs), [&](const InputVariable& input) {
    return input.name == name &&
           (input.option.empty() || std::find(options.begin(), options.end(), input.option) != options.end());
  });
}

std::optional<std::string> between(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(at + before.size());
  return std::string(util::trim(rest.substr(0, rest.find(' '))));
}

} // namespace

util::Result<SubmittedJob> parse_submitted(std::string_view out, std::string_view err) {
  SubmittedJob job;
  for (const auto& line : lines_of(out)) {
    if (const auto id = between(line, "Submitted batch job "); id && util::parse_unsigned(*id)) {
      job.id = *id;
      job.cluster = between(line, " on cluster ").value_or("");
      continue;
    }
    const auto parts = util::split(util::trim(line), ';');
    if (parts.size() <= 2 && util::parse_unsigned(parts[0])) {
      job.id = parts[0];
      job.cluster = parts.size() == 2 ? parts[1] : "";
    } else {
      job.messages.push_back(line);
    }
  }
  for (const auto& line : lines_of(err)) job.messages.push_back(bare(line));
  if (job.id.empty())
    return util::Error{"sbatch succeeded, but its output contains no job ID",
                       "check squeue --me for the job"};
  return job;
}

util::Result<StartEstimate> parse_estimate(std::string_view err) {
  for (const auto& line : lines_of(err)) {
    const auto start = between(line, " to start at ");
    if (!start) continue;
    return StartEstimate{*start, between(line, " on nodes ").value_or(""),
                         between(line, " in partition ").value_or("")};
  }
  return explain_refusal(err);
}

util::Error explain_refusal(std::string_view err) {
  util::Error error;
  for (const auto& line : lines_of(err)) {
    const auto text = bare(line);
    // Slurm says that it failed and, on another line, why.
    if (text.empty() || error.what.find(text) != std::string::npos) continue;
    error.what += (error.what.empty() ? "" : "; ") + text;
    for (const auto& advice : k_advice)
      if (error.hint.empty() && text.find(advice.part) != std::string::npos) error.hint = advice.hint;
  }
  error.what = fmt::format("Slurm rejected the job: {}", error.what.empty() ? "no reason given" : error.what);
  return error;
}

bool is_unreachable(std::string_view message) {
  static constexpr std::array<std::string_view, 9> k_signs = {k_no_cluster,
                                                              k_no_answer,
                                                              util::k_time_limit_exceeded,
                                                              "Connection refused",
                                                              "Connection timed out",
                                                              "Socket timed out",
                                                              "Slurm backup controller",
                                                              "Resource temporarily unavailable",
                                                              "Zero Bytes were transmitted"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](std::string_view sign) { return message.find(sign) != std::string_view::npos; });
}

SanitizedEnvironment make_submit_environment(const util::EnvSnapshot& env,
                                             const std::vector<std::string>& options) {
  SanitizedEnvironment result;
  const bool inside = env.get("SLURM_JOB_ID").has_value();
  for (const auto& [name, value] : env.variables()) {
    if (contradicts(name, options))
      result.left_out.push_back(name + "=" + value);
    else if (!inside || classify_variable(name) != SlurmVariableKind::job)
      result.env.set(name, value);
  }
  return result;
}

std::string expand_log_pattern(std::string_view pattern, const LogPatternValues& names) {
  // Slurm takes a path with a backslash unchanged.
  if (pattern.find('\\') != std::string_view::npos) return std::string(pattern);
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      path += pattern[i];
      continue;
    }
    std::size_t at = i + 1;
    while (at < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[at])) != 0) ++at;
    const auto width =
        static_cast<std::size_t>(util::parse_unsigned(pattern.substr(i + 1, at - i - 1)).value_or(0));
    const char what = at < pattern.size() ? pattern[at] : '\0';
    std::string value;
    switch (what) {
    case '%': value = "%"; break;
    case 'j':
    case 'J':
    case 'A': value = names.job_id; break;
    case 'a': value = names.task; break;
    case 'x': value = names.job_name; break;
    case 'u': value = names.user; break;
    case 'n':
    case 't': value = "0"; break;
    default: value = std::string(pattern.substr(i, at + (what == '\0' ? 0 : 1) - i));
    }
    const bool number = what == 'j' || what == 'A' || what == 'a' || what == 'n' || what == 't';
    if (number && !value.empty() && value.size() < std::min<std::size_t>(width, 10))
      value.insert(0, std::min<std::size_t>(width, 10) - value.size(), '0');
    path += value;
    i = at;
  }
  return path;
}

unsigned long long count_array_tasks(std::string_view array) {
  constexpr unsigned most = 4000001; // the highest MaxArraySize that a site can set
  const auto spec = parse_array(array, most);
  return spec ? spec->indices.size() : 0;
}

} // namespace hpcml::slurm
