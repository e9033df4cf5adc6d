// SPDX-License-Identifier: MIT
// The supervisor and its ranks' output: which stream goes where, and what is known of what they wrote.
#include <algorithm>

#include "run/launch/separate_worlds.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::launch {

namespace {

bool in_colour(const RuntimeContext& context, bool terminal) {
  return terminal && context.env.get_or("NO_COLOR", "").empty();
}

LocalRankRange routed_ranks(const NodeSetup& node, bool colour) {
  const auto& layout = node.world.layout;
  return {layout.rank - layout.local_rank, layout.local_world_size, colour};
}

} // namespace

std::vector<OutputRoute> Supervisor::routes_to_output(bool errors_too) const {
  const auto ranks = routed_ranks(*x_start_of_ranks.node, in_colour(x_context, x_context.stdout_is_terminal));
  auto routes = plan_routes(x_request.output, ranks, false);
  if (!errors_too) return routes;
  auto errors = plan_routes(x_request.output, ranks, true);
  routes.insert(routes.end(), std::make_move_iterator(errors.begin()), std::make_move_iterator(errors.end()));
  return routes;
}

std::vector<OutputRoute> Supervisor::routes_to_errors(bool terminal) const {
  return plan_routes(x_request.output, routed_ranks(*x_start_of_ranks.node, in_colour(x_context, terminal)),
                     true);
}

std::size_t Supervisor::file_count() const {
  return x_request.output.directory.empty() ? 0 : x_out.file_count() + (x_err ? x_err->file_count() : 0);
}

util::Status Supervisor::open_files() {
  const auto node = x_start_of_ranks.node->world.layout.node_rank;
  TRY_DONE(x_out.open_files(x_request.output, node));
  return x_err ? x_err->open_files(x_request.output, node) : util::Status(util::Success{});
}

void Supervisor::take_last_lines(unsigned local_rank) {
  if (x_err)
    x_err->read_to_end(local_rank);
  else
    x_out.read_to_end(x_count + local_rank);
}

std::vector<std::string> Supervisor::last_lines(unsigned local_rank) const {
  return x_err ? x_err->last_lines(local_rank) : x_out.last_lines(x_count + local_rank);
}

std::optional<std::chrono::steady_clock::time_point> Supervisor::last_written(unsigned local_rank) const {
  const auto out = x_out.last_written(local_rank);
  const auto err = x_err ? x_err->last_written(local_rank) : x_out.last_written(x_count + local_rank);
  return std::max(out, err); // nothing is less than any time
}

std::optional<std::chrono::steady_clock::time_point> Supervisor::first_written(unsigned local_rank) const {
  const auto out = x_out.first_written(local_rank);
  const auto err = x_err ? x_err->first_written(local_rank) : x_out.first_written(x_count + local_rank);
  return out && err ? std::min(out, err) : std::max(out, err);
}

/// A training that cannot be right is reported when it begins.
void Supervisor::look_at_worlds() {
  const auto reports = x_out.world_reports() + (x_err ? x_err->world_reports() : 0);
  if (reports == x_world_reports || x_worlds_reported) return;
  x_world_reports = reports;
  const auto& node = *x_start_of_ranks.node;
  WorldEvidence evidence;
  evidence.world_size = node.world.layout.world_size;
  evidence.local_ranks = x_count;
  evidence.reporting = ranks_in_worlds_of_one();
  if (!expects_one_world(node, x_request) || check_worlds(evidence) != WorldFault::separate) return;
  print_line(util::LogLevel::error, util::error_text(describe_separate_worlds(evidence)));
  x_worlds_reported = true;
}

std::vector<unsigned> Supervisor::ranks_in_worlds_of_one() const {
  const auto& layout = x_start_of_ranks.node->world.layout;
  std::vector<unsigned> ranks;
  for (unsigned local = 0; local < x_count; ++local)
    if (x_out.reports_world_of_one(local) ||
        (x_err ? x_err->reports_world_of_one(local) : x_out.reports_world_of_one(x_count + local)))
      ranks.push_back(layout.rank - layout.local_rank + local);
  return ranks;
}

} // namespace hpcml::launch
