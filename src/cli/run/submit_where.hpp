// SPDX-License-Identifier: MIT
// hpcml submit --where: compares the places where a request fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/create/request_flags.hpp"

namespace hpcml::cli {

/// A partition as a place for the request, or a QoS if these choose the partition.
struct PartitionCandidate {
  std::string site;
  std::string partition; ///< empty: Slurm chooses it
  bool fits = false;
  std::string start;               ///< Slurm's estimate; empty if it was not asked
  std::optional<double> gpu_hours; ///< if the job runs to its limit
  std::string hardware;            ///< "16 x AMD MI250X (GCD)"
  std::string note;                ///< why it does not fit, or which option is missing
  std::string qos = {};            ///< the QoS to use in this place; empty: that of the request
};

/// Sorts the places: first those that fit, by start time and cost, then all others.
void sort_places(std::vector<PartitionCandidate>& places);
/// Returns the places as a table or JSON.
std::string render_places(const std::vector<PartitionCandidate>& places, const std::string& format);

/// The flags of submit --where.
struct PartitionSearchOptions {
  bool all_sites = false;
  std::string format;
};
/// Prints the places, with Slurm's estimates for one site if it answers on this machine. Returns exit code 0
/// if the request fits in one of them, else 4.
int run_where(const MergedRequest& request, const PartitionSearchOptions& options, const Context& context);

} // namespace hpcml::cli
