// SPDX-License-Identifier: MIT
#include "run/launch/output_files.hpp"

#include <algorithm>

namespace hpcml::launch {

OutputFiles::OutputFiles(const std::vector<OutputRoute>& routes, MessageSink report)
    : x_entries(routes.size()), x_report(std::move(report)) {
  for (std::size_t i = 0; i < routes.size(); ++i) x_entries[i].route = routes[i];
}

OutputFiles::~OutputFiles() {
  // Of two at once the second has found what the first has set.
  if (x_size_handler && *x_size_handler != SIG_IGN) ::signal(SIGXFSZ, *x_size_handler);
}

std::size_t OutputFiles::count() const {
  const auto files = std::count_if(x_entries.begin(), x_entries.end(),
                                   [](const Entry& entry) { return entry.route.in_file; });
  return static_cast<std::size_t>(files) + x_filtered.size();
}

util::Status OutputFiles::open(const OutputOptions& output_options, unsigned node_rank) {
  for (auto& [route, file, filter] : x_entries) {
    if (route.in_file)
      TRY_DONE(file.open(output_options.directory + "/" + log_name(route.rank, route.is_error)));
    if (!route.filtered) continue;
    filter = MatchingLineFilter(route.is_error ? output_options.err_filters : output_options.out_filters,
                                route.plain_prefix);
    auto& shared = x_filtered[route.is_error ? 1 : 0];
    if (!shared.is_open())
      TRY_DONE(shared.open(output_options.directory + "/" + filtered_name(route.is_error, node_rank)));
  }
  return util::Success{};
}

void OutputFiles::report(const std::string& sentence) const {
  if (!sentence.empty() && x_report) x_report(sentence);
}

void OutputFiles::add(std::size_t index, std::string_view bytes) {
  auto& [route, file, filter] = x_entries[index];
  if (!route.in_file && !route.filtered) return;
  // Not earlier: the ranks are to find it as we have found it.
  if (!x_size_handler) x_size_handler = ::signal(SIGXFSZ, SIG_IGN);
  report(file.write(bytes));
  if (route.filtered) report(x_filtered[route.is_error ? 1 : 0].write(filter.add(bytes)));
}

void OutputFiles::finish(std::size_t index) {
  auto& [route, file, filter] = x_entries[index];
  if (route.filtered) report(x_filtered[route.is_error ? 1 : 0].write(filter.finish()));
  report(file.close());
}

void OutputFiles::close() {
  for (auto& shared : x_filtered) report(shared.close());
}

} // namespace hpcml::launch
