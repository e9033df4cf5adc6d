// SPDX-License-Identifier: MIT
// Options that sbatch does not take together.
#include <algorithm>
#include <fmt/format.h>

#include "core/slurm/gres_check.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

constexpr std::string_view k_mutual = "slurm/exclusive-options";

bool has_per_task(const JobOptions& r, std::string_view name) {
  if (!r.tres_per_task) return false;
  const auto& items = r.tres_per_task->items;
  return std::any_of(items.begin(), items.end(), [&](const GresItem& item) { return item.name == name; });
}

class Checker {
public:
  Checker(const JobOptions& request, ComparisonTrackingVersion version, LocatedFindings& findings)
      : r(request), x_version(version), x_findings(findings) {}

  void run() {
    check_memory();
    if (r.nodes && r.nodes->min < 0)
      error("nodes", "slurm/value", fmt::format("--nodes cannot be '{}'", r.text("nodes")),
            "use a number or MIN-MAX");
    exclude("gpus-per-task", "ntasks-per-gpu");
    exclude("ntasks-per-node", "ntasks-per-gpu");
    exclude("gpus-per-socket", "ntasks-per-gpu");
    // A variable without GPUs goes with it from 25.05.
    const bool by_variable = is_by_variable("tres-per-task") && !has_per_task(r, "gpu");
    if (!(by_variable && from(Version::v25_05))) exclude("tres-per-task", "ntasks-per-gpu", Version::v23_02);
    if (!is_by_variable("exclusive")) exclude("exclusive", "oversubscribe", Version::v23_02);
    if (is_by_variable("core-spec") == is_by_variable("thread-spec"))
      exclude("core-spec", "thread-spec", Version::v21_08);
    exclude("cpus-per-gpu", "cpus-per-task", Version::v21_08);
    check_per_task();
    check_counts();
    check_times();
  }

private:
  bool from(Version version) const { return x_version >= version; }
  std::string dashed(std::string_view option) const { return "--" + std::string(option); }

  void error(std::string_view option, std::string code, std::string message, std::string hint) {
    x_findings.error(r.place(option), std::move(code), std::move(message), std::move(hint));
  }

  void exclude(std::string_view a, std::string_view b, Version since = k_oldest_version) {
    if (r.has(a) && r.has(b) && from(since))
      error(b, std::string(k_mutual), fmt::format("{} and {} exclude each other", dashed(a), dashed(b)),
            "remove one of them");
  }

  bool is_by_variable(std::string_view option) const {
    const auto found = r.settings.find(option);
    return found != r.settings.end() && found->second.source == OptionSource::environment;
  }

  void check_memory() {
    exclude("mem", "mem-per-cpu");
    exclude("mem", "mem-per-gpu");
    exclude("mem-per-cpu", "mem-per-gpu");
  }

  void check_per_task() {
    if (!r.tres_per_task) return;
    const auto clash = [&](std::string_view name, std::string_view option, Version since) {
      if (has_per_task(r, name) && r.has(option) && from(since))
        error("tres-per-task", std::string(k_mutual),
              fmt::format("--tres-per-task with {} and {} exclude each other", name, dashed(option)),
              "remove one of them");
    };
    if (r.tres_per_task->cpus_count) clash("cpu", "cpus-per-task", Version::v23_02);
    clash("cpu", "cpus-per-gpu", Version::v24_05);
    clash("gpu", "gpus-per-task", Version::v23_02);
  }

  void check_counts() {
    if (r.has("gpus-per-node") && util::to_lower(r.text("gres")).find("gpu") != std::string::npos &&
        from(Version::v26_05))
      error("gres", std::string(k_mutual), "--gpus-per-node and --gres=gpu exclude each other from 26.05",
            "remove one of them");
    if (r.has("gpus-per-socket") && r.count("sockets-per-node") == 0 && x_version == Version::v20_11)
      return error("gpus-per-socket", "slurm/missing-dependency",
                   "--gpus-per-socket needs --sockets-per-node", "add it");
    JobDescriptorCounts counts;
    if (counts_matter()) counts = count_sent(r, x_version);
    if (const auto refusal = check_gres(r, x_version, counts))
      error(refusal->option, "slurm/" + refusal->code, refusal->message, refusal->hint);
    if (r.count("threads-per-core") > 0 && r.count("ntasks-per-core") > r.count("threads-per-core") &&
        from(Version::v23_02))
      error("ntasks-per-core", "slurm/value", "--ntasks-per-core exceeds --threads-per-core",
            "use at most that number");
    check_plane();
    if (is_contradicted_hint() && from(Version::v23_02))
      error("hint", "slurm/value", "--hint requests both several threads of a core and one of them",
            "remove one of them");
  }

  /// "multithread,nomultithread", in which the tasks per core are more than the threads.
  bool is_contradicted_hint() const {
    const auto words = util::split(util::to_lower(r.text("hint")), ',');
    const auto several = std::find(words.begin(), words.end(), "multithread");
    return std::any_of(several, words.end(),
                       [](const std::string& word) { return !word.empty() && word != "multithread"; });
  }

  /// Whether a number of tasks or nodes decides on anything: GPUs per node alone go with all.
  bool counts_matter() const {
    static constexpr std::string_view c_options[] = {"gpus",          "gpus-per-task",  "gpus-per-socket",
                                                     "tres-per-task", "ntasks-per-gpu", "ntasks-per-tres",
                                                     "cpus-per-gpu",  "mem-per-gpu"};
    return std::any_of(std::begin(c_options), std::end(c_options),
                       [&](std::string_view option) { return r.has(option); });
  }

  /// Every node must get a task when blocks of the plane's size are dealt out.
  void check_plane() {
    const std::string text = util::to_lower(r.text("distribution"));
    const auto size =
        text.starts_with("plane=") ? parse_count(text.substr(6, text.find(',') - 6), 1) : std::nullopt;
    if (!size) return;
    const auto counts = count_written(r, x_version);
    const long nodes = counts.min_nodes, tasks = counts.tasks;
    if ((nodes <= 0 || tasks / *size < nodes) && (nodes - 1) * *size >= tasks)
      error("distribution", "slurm/value",
            fmt::format("there are too few tasks for blocks of {} on {} nodes", *size, nodes),
            counts.tasks_set ? "use a smaller plane size"
                             : "add --ntasks=N: without it, sbatch counts one task here");
  }

  void check_times() {
    const auto& time = r.times;
    const auto limit = time.find("time");
    const auto least = time.find("time-min");
    if (limit == time.end() || least == time.end() || !limit->second.minutes) return;
    if (!least->second.minutes || *least->second.minutes > *limit->second.minutes)
      error("time-min", "slurm/time-min", "--time-min exceeds --time", "use a shorter --time-min");
  }

  const JobOptions& r;
  ComparisonTrackingVersion x_version;
  LocatedFindings& x_findings;
};

} // namespace

void check_combinations(const JobOptions& request, ComparisonTrackingVersion version,
                        LocatedFindings& findings) {
  Checker(request, version, findings).run();
}

} // namespace hpcml::slurm
