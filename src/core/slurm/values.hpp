// SPDX-License-Identifier: MIT
// Values of sbatch's options, read as its own parser reads them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/comparison_tracking_version.hpp"

namespace hpcml::slurm {

/// A time limit; no minutes: unlimited.
struct TimeLimit {
  std::optional<std::uint64_t> minutes;
  std::uint64_t seconds = 0; ///< before they were rounded up to minutes
};
/// "90", "MM:SS", "HH:MM:SS", "D-", "D-HH", "D-HH:MM", "D-HH:MM:SS", "UNLIMITED", "INFINITE", "-1"; seconds
/// round up.
std::optional<TimeLimit> parse_time_limit(std::string_view text);

/// Memory in MB: "16", "16G", "16gb", "1K" (rounds up); no fractions, no "GiB", no "B" alone, nothing above
/// T.
std::optional<std::uint64_t> parse_memory_mb(std::string_view text);

/// A decimal integer as strtol takes it, whole text, at least `least`.
std::optional<long> parse_count(std::string_view text, long least);

/// "2", "2-4", "-4", "1k"; from 23.02 also "1,3" and "1-3:2".
struct NodeCount {
  long min = 1;
  long max = 1;             ///< 0: no limit
  bool is_list = false;     ///< only some counts of the range will do
  std::vector<long> counts; ///< those, of a list
};
/// The value of --nodes; nullopt where its form is wrong, -1 where it names no number, which another --nodes
/// puts aside.
std::optional<NodeCount> parse_node_count(std::string_view text, ComparisonTrackingVersion version);

/// The indices of an array, sorted, each once, and the most that run at once (0: no limit).
struct ArraySpec {
  std::vector<unsigned> indices;
  unsigned at_once = 0;
};
/// Errors where an index is not below `max_size` (the site's MaxArraySize).
std::optional<ArraySpec> parse_array(std::string_view text, unsigned max_size);
/// Whether parse_array reads it, without making a list of what may be millions.
bool is_array(std::string_view text, unsigned max_size);

/// Sockets, cores and threads of "S[:C[:T]]" (--extra-node-info), the least of each; nothing for "*" or where
/// it is omitted.
std::optional<std::array<std::optional<long>, 3>> parse_geometry(std::string_view text);

/// The value of --signal.
struct SignalSpec {
  bool to_batch_shell = false;
  bool at_reservation = false; ///< R: on preemption for a reservation
  std::string signal;
  unsigned seconds = 60;
};
/// "[{R|B}:]NAME or number[@seconds]".
std::optional<SignalSpec> parse_signal(std::string_view text, ComparisonTrackingVersion version);

/// The types in Slurm's own order ("ALL" is several); empty for NONE.
std::optional<std::vector<std::string>> parse_mail_types(std::string_view text);

/// One condition of --dependency.
struct Dependency {
  std::string type;  ///< "afterok"
  std::string job;   ///< "1", "1_*", "1_[2-4]"; empty for singleton
  std::string delay; ///< "5" of "after:1+5"
};
/// The value of --dependency.
struct Dependencies {
  std::vector<Dependency> list;
  bool any = false; ///< joined by '?': one is enough
};
/// Nullopt where its form is wrong.
std::optional<Dependencies> parse_dependencies(std::string_view text, ComparisonTrackingVersion version);

/// The names in a feature expression; nullopt where its form is wrong.
std::optional<std::vector<std::string>> parse_features(std::string_view text,
                                                       ComparisonTrackingVersion version);

/// A value of --gpu-bind that this version takes.
bool is_gpu_bind(std::string_view value, ComparisonTrackingVersion version);

/// A value of --tres-bind: "gres/gpu:closest", several joined by '+'.
bool is_tres_bind(std::string_view text, ComparisonTrackingVersion version);

/// A value of --mem-bind that this version takes.
bool is_mem_bind(std::string_view text, ComparisonTrackingVersion version);

/// A value of --distribution that this version takes.
bool is_distribution(std::string_view text, ComparisonTrackingVersion version);

/// A value of --gpu-freq.
bool is_gpu_freq(std::string_view text);

/// The value of --cpu-freq, in the words of scontrol; a text is empty where nothing is asked for.
struct CpuFrequency {
  std::string min;
  std::string max;
  std::string governor;
};
/// "P1", "P1-P2[:GOVERNOR]", from 23.11 "P1:UserSpace", or a governor.
std::optional<CpuFrequency> parse_cpu_frequency(std::string_view text, ComparisonTrackingVersion version);

/// What --begin and --deadline say, as far as it can be known without a clock.
struct ScheduledTime {
  bool is_from_now = false;
  long long seconds = 0; ///< from now, of "now+1hour"
  int year = 0;          ///< of "2030-01-31"; 0: none is named
};
/// "now+1hour", "16:00", "4:00 PM", "tomorrow", "2030-01-31T10:00", "01/31/30", "uts1893456000", one after
/// another.
std::optional<ScheduledTime> parse_moment(std::string_view text, ComparisonTrackingVersion version);

} // namespace hpcml::slurm
