// SPDX-License-Identifier: MIT
#include "run/launch/store_query.hpp"

#include <deque>
#include <fmt/format.h>
#include <optional>
#include <poll.h>

#include "core/util/text.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::launch {

namespace {

using Clock = std::chrono::steady_clock;

/// One store that is asked.
struct Query {
  store::Client client;
  std::optional<store::StoreReport> report = {};
  std::string fault = {}; ///< why an answer is not a report
  bool is_done = false;
};

void advance(Query& query) {
  const bool lasts = query.client.advance();
  const auto value = query.client.take_value();
  if (value) {
    if (const auto report = store::unpack_message<store::StoreReport>(*value))
      query.report = *report;
    else
      query.fault =
          store::other_version(*value) ? report.error().what : "does not use the protocol of this version";
  }
  query.is_done = value || !lasts || query.client.fd() < 0;
}

/// Asks until all have answered, or the limit has passed.
void run(std::deque<Query>& queries, Clock::time_point deadline) {
  for (;;) {
    std::vector<pollfd> waits;
    for (auto& query : queries) {
      if (!query.is_done) advance(query);
      if (!query.is_done) waits.push_back({query.client.fd(), query.client.wanted(), 0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (waits.empty() || left <= 0) return;
    ::poll(waits.data(), waits.size(), static_cast<int>(left));
  }
}

std::string describe(const Query& query) {
  const auto& client = query.client;
  if (client.session_error() != store::SessionError::none)
    return fmt::format("{} {}", client.place(), client.fault());
  if (!client.fault().empty()) return fmt::format("{}: {}", client.place(), client.fault());
  if (query.is_done) return fmt::format("{} {}", client.place(), query.fault);
  return fmt::format("{} {}", client.place(),
                     client.is_connected() ? "does not answer" : "cannot be reached");
}

} // namespace

std::vector<std::uint16_t> ports_of_job(const slurm::StepIdentity& job,
                                        const std::vector<unsigned long long>& steps) {
  std::vector<std::uint16_t> ports;
  const auto add = [&](unsigned long long step) {
    for (const auto port : rendezvous_ports(step_port({job.job, step, job.restart})))
      if (!util::contains(ports, port)) ports.push_back(port);
  };
  for (const auto step : steps) add(step);
  add(0); // the script's
  return ports;
}

std::variant<store::StoreReport, StoreQueryError> query_stores(const std::vector<store::StoreAddress>& places,
                                                               const store::Credentials& credentials,
                                                               std::chrono::milliseconds limit) {
  std::deque<Query> queries;
  for (const auto& place : places) {
    queries.push_back({store::Client(place.address, place.port, credentials)});
    queries.back().client.put_compare_set(store::k_show_key, store::k_not_ours, "");
  }
  run(queries, Clock::now() + limit);
  const Query* found = nullptr;
  for (const auto& query : queries)
    if (query.report && (found == nullptr || (found->report->ranks == 0 && query.report->ranks > 0)))
      found = &query;
  if (found != nullptr) return *found->report;
  StoreQueryError none{"no address to query"};
  if (!queries.empty()) none = {describe(queries.front()), queries.front().client.session_error()};
  // The error of a store of hpcml's is more useful than that of a closed port.
  for (const auto& query : queries) {
    const auto error = query.client.session_error();
    if (error == store::SessionError::none || error == store::SessionError::other_job) continue;
    none = {describe(query), error};
  }
  return none;
}

} // namespace hpcml::launch
