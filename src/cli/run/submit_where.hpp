// SPDX-License-Identifier: MIT
// hpcml submit --where: one request, many places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/create/request_flags.hpp"

namespace hpcml::cli {

/// A partition as a place for the request, or a QoS where these choose the partition.
struct CandidatePlace {
  std::string site;
  std::string partition; ///< empty where Slurm chooses it
  bool fits = false;
  std::string start;               ///< Slurm's estimate; empty where it was not asked
  std::optional<double> gpu_hours; ///< if the job runs to its limit
  std::string hardware;            ///< "16 x AMD MI250X (GCD)"
  std::string note;                ///< why not, or what is still missing
  std::string qos = {};            ///< that the request would name there; empty: its own
};

/// Those that fit first: soonest start, then least cost; all others behind them.
void sort_places(std::vector<CandidatePlace>& places);
/// The places as a table or JSON.
std::string render_places(const std::vector<CandidatePlace>& places, const std::string& format);

/// The flags of submit --where.
struct PartitionSearchOptions {
  bool all_sites = false;
  std::string format;
};
/// Asks Slurm where it is here and one site is meant; else the profiles alone. Exit code 0 if the request
/// fits somewhere, else 4.
int run_where(const MergedRequest& request, const PartitionSearchOptions& options, const Context& context);

} // namespace hpcml::cli
