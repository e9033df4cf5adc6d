// SPDX-License-Identifier: MIT
#include "launch/output_routes.hpp"

#include <algorithm>
#include <cctype>

namespace hpcml::launch {

namespace {

bool names_any(const StreamsOfRanks& streams) {
  const auto any = [](const Streams& of) { return of.out || of.err; };
  return any(streams.others) || std::any_of(streams.named.begin(), streams.named.end(),
                                            [&](const auto& one) { return any(one.second); });
}

std::string own_prefix(unsigned rank, bool colour) {
  static constexpr const char* k_colours[] = {"\033[36m", "\033[32m", "\033[33m",
                                              "\033[35m", "\033[34m", "\033[31m"};
  const std::string text = "[" + std::to_string(rank) + "]";
  return colour ? k_colours[rank % 6] + text + "\033[0m " : text + " ";
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

} // namespace

std::string fill_prefix(const OutputWishes& wishes, unsigned rank, unsigned local_rank) {
  const std::string& text = wishes.prefix;
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const auto dollar = std::min(text.find('$', at), text.size());
    filled += text.substr(at, dollar - at);
    at = dollar;
    if (at == text.size()) break;
    const bool braced = text.compare(at, 2, "${") == 0;
    const std::size_t start = at + (braced ? 2 : 1);
    std::size_t end = start;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string name = text.substr(start, end - start);
    const bool whole = !braced || (end < text.size() && text[end] == '}');
    if (braced && whole) ++end;
    if (text.compare(at, 2, "$$") == 0) {
      filled += '$';
      end = at + 2;
    } else if (whole && name == "rank") {
      filled += std::to_string(rank);
    } else if (whole && name == "local_rank") {
      filled += std::to_string(local_rank);
    } else if (whole && name == "role_name") {
      filled += wishes.role;
    } else {
      filled += text.substr(at, end - at);
    }
    at = end;
  }
  return filled;
}

std::vector<OutputRoute> plan_routes(const OutputWishes& wishes, const RoutedRanks& ranks, bool is_error) {
  const bool all_in_files = !names_any(wishes.redirects) && !names_any(wishes.tee);
  const auto names = [&](const StreamsOfRanks& streams, unsigned local_rank) {
    const auto of = streams.of(local_rank);
    return is_error ? of.err : of.out;
  };
  std::vector<OutputRoute> routes;
  for (unsigned local = 0; local < ranks.count; ++local) {
    const bool redirected = names(wishes.redirects, local), teed = names(wishes.tee, local);
    OutputRoute route;
    route.rank = ranks.first_rank + local;
    route.local_rank = local;
    route.is_error = is_error;
    route.in_file = !wishes.folder.empty() && (all_in_files || redirected || teed);
    route.shown = (!redirected || teed) && (wishes.shown.empty() || wishes.shown.contains(local));
    route.filtered = !wishes.folder.empty() && !(is_error ? wishes.err_filters : wishes.out_filters).empty();
    const bool own = wishes.prefix.empty();
    route.plain_prefix = own ? own_prefix(route.rank, false) : fill_prefix(wishes, route.rank, local);
    route.prefix = own ? own_prefix(route.rank, ranks.colour) : route.plain_prefix;
    routes.push_back(std::move(route));
  }
  return routes;
}

std::string log_name(const OutputRoute& route) {
  return std::to_string(route.rank) + (route.is_error ? "/stderr.log" : "/stdout.log");
}

std::string filtered_name(bool is_error, unsigned node_rank) {
  return std::string(is_error ? "filtered_stderr" : "filtered_stdout") +
         (node_rank == 0 ? "" : ".node" + std::to_string(node_rank)) + ".log";
}

} // namespace hpcml::launch
