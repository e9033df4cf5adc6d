// SPDX-License-Identifier: MIT
#include "run/launch/output_routes.hpp"

#include <algorithm>

#include "core/util/dollar_template.hpp"

namespace hpcml::launch {

namespace {

bool names_any(const StreamsOfRanks& streams) {
  const auto any = [](const OutputStreams& of) { return of.out || of.err; };
  return any(streams.others) || std::any_of(streams.named.begin(), streams.named.end(),
                                            [&](const auto& entry) { return any(entry.second); });
}

std::string own_prefix(unsigned rank, bool colour) {
  static constexpr const char* k_colours[] = {"\033[36m", "\033[32m", "\033[33m",
                                              "\033[35m", "\033[34m", "\033[31m"};
  const std::string text = "[" + std::to_string(rank) + "]";
  return colour ? k_colours[rank % 6] + text + "\033[0m " : text + " ";
}

} // namespace

std::string fill_prefix(const OutputOptions& output_options, unsigned rank, unsigned local_rank) {
  return util::fill_dollar_template(output_options.prefix, {{"rank", std::to_string(rank)},
                                                            {"local_rank", std::to_string(local_rank)},
                                                            {"role_name", output_options.role}});
}

std::vector<OutputRoute> plan_routes(const OutputOptions& output_options, const LocalRankRange& ranks,
                                     bool is_error) {
  const bool all_in_files = !names_any(output_options.redirects) && !names_any(output_options.tee);
  const auto names = [&](const StreamsOfRanks& streams, unsigned local_rank) {
    const auto of = streams.of(local_rank);
    return is_error ? of.err : of.out;
  };
  std::vector<OutputRoute> routes;
  for (unsigned local = 0; local < ranks.count; ++local) {
    const bool redirected = names(output_options.redirects, local), teed = names(output_options.tee, local);
    OutputRoute route;
    route.rank = ranks.first_rank + local;
    route.local_rank = local;
    route.is_error = is_error;
    route.in_file = !output_options.directory.empty() && (all_in_files || redirected || teed);
    route.shown =
        (!redirected || teed) && (output_options.shown.empty() || output_options.shown.contains(local));
    route.filtered = !output_options.directory.empty() &&
                     !(is_error ? output_options.err_filters : output_options.out_filters).empty();
    const bool own = output_options.prefix.empty();
    route.plain_prefix = own ? own_prefix(route.rank, false) : fill_prefix(output_options, route.rank, local);
    route.prefix = own ? own_prefix(route.rank, ranks.colour) : route.plain_prefix;
    if (output_options.only_tee_has_prefix && !teed) route.prefix.clear();
    routes.push_back(std::move(route));
  }
  return routes;
}

std::string log_name(unsigned rank, bool is_error) {
  return std::to_string(rank) + (is_error ? "/stderr.log" : "/stdout.log");
}

std::string filtered_name(bool is_error, unsigned node_rank) {
  return std::string(is_error ? "filtered_stderr" : "filtered_stdout") +
         (node_rank == 0 ? "" : ".node" + std::to_string(node_rank)) + ".log";
}

} // namespace hpcml::launch
