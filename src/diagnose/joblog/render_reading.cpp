// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>

#include "core/failures/failure_report.hpp"
#include "core/model/id_set.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "diagnose/joblog/log_reader.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::joblog {

namespace {

/// "ranks 0-3,8", "rank 2"; empty where none is known.
std::string ranks_of(const std::set<unsigned>& ranks) {
  if (ranks.empty()) return {};
  model::IdSet set;
  for (const auto rank : ranks) set.add(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + set.to_list();
}

/// "nid000012, nid000013 and 6 more"
std::string hosts_of(const std::set<std::string>& hosts) {
  return util::join_some({hosts.begin(), hosts.end()}, 4);
}

std::string who(const NetworkGroup& group) {
  const auto ranks = ranks_of(group.ranks), hosts = hosts_of(group.hosts);
  const auto processes = ranks.empty() ? util::counted(group.processes, "process") : ranks;
  return hosts.empty() ? processes : fmt::format("{} on {}", processes, hosts);
}

std::string place(const LogReport& report, const NetworkEvidence& evidence) {
  return fmt::format("{}:{}: {}", report.name, evidence.line, evidence.text);
}

std::string text_of(const failures::FailureReport& report) {
  return util::join(failures::render_lines(report), "\n") + "\n";
}

failures::FailureReport make_failure_report(const LogReport& report, const LogFailure& failure) {
  const auto ranks = ranks_of(failure.ranks), line = place(report, {failure.line, failure.text});
  failures::FailureReport shown{
      fmt::format("{}: {}", failure.error != nullptr ? "failure" : "unknown error", line), {}, {}};
  if (!ranks.empty() || !failure.host.empty())
    shown.details.push_back(
        fmt::format("of: {}{}{}", ranks, ranks.empty() || failure.host.empty() ? "" : " on ", failure.host));
  if (failure.count > 1) shown.details.push_back(fmt::format("on {} lines", failure.count));
  shown.hints.push_back(failure.hint);
  return shown;
}

std::string network_text(const LogReport& report) {
  const auto& network = report.network;
  if (network.processes == 0)
    return "network: unknown: the log has no such line of NCCL or RCCL\n"
           "  hint: run with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET (hpcml gen --nccl-debug)\n";
  std::string text;
  for (const auto& group : network.groups) {
    failures::FailureReport shown{fmt::format("network: {}: {}", who(group), group.how), {}, {}};
    for (const auto& evidence : group.evidence) shown.details.push_back(place(report, evidence));
    if (!group.warning.empty()) {
      for (const auto& [what, evidence] : group.obstacles) shown.details.push_back(place(report, evidence));
      shown.details.push_back(fmt::format("warning: {}", group.warning));
      shown.hints = group.next;
    }
    text += text_of(shown);
  }
  if (!network.several_nodes)
    text += "network: according to the log, all processes are on one node: no traffic crosses the network\n";
  if (!network.complete) text += "network: more than 65,536 processes: only the first are counted\n";
  return text;
}

std::string carrier_word(NetworkTransport carrier) {
  switch (carrier) {
  case NetworkTransport::sockets: return "sockets";
  case NetworkTransport::infiniband: return "infiniband";
  case NetworkTransport::libfabric: return "libfabric";
  case NetworkTransport::plugin: return "plugin";
  case NetworkTransport::unknown: break;
  }
  return "unknown";
}

JsonLine json_of(const NetworkEvidence& evidence) {
  JsonLine line;
  line.add("line", evidence.line).add("text", util::visible(evidence.text));
  return line;
}

std::string json_of(const NetworkGroup& group) {
  JsonLine line;
  std::vector<JsonLine> evidence, obstacles;
  for (const auto& item : group.evidence) evidence.push_back(json_of(item));
  for (const auto& [what, item] : group.obstacles) obstacles.push_back(json_of(item));
  line.add("carrier", carrier_word(group.carrier))
      .add("how", util::visible(group.how))
      .add("processes", group.processes)
      .add("hosts", std::vector<std::string>(group.hosts.begin(), group.hosts.end()))
      .add("ranks", std::vector<unsigned>(group.ranks.begin(), group.ranks.end()))
      .add("evidence", evidence)
      .add("obstacles", obstacles)
      .add("warning", group.warning)
      .add("hints", group.next);
  return line.text();
}

} // namespace

std::string render_text(const LogReport& report) {
  std::string text = network_text(report);
  for (const auto& failure : report.failures) text += text_of(make_failure_report(report, failure));
  if (report.failures.empty()) text += "failures: none found\n";
  return util::visible(text);
}

std::string render_json(const LogReport& report) {
  JsonLine line;
  std::vector<std::string> groups, failures;
  for (const auto& group : report.network.groups) groups.push_back(json_of(group));
  for (const auto& failure : report.failures) {
    const auto* error = failure.error;
    failures.push_back(
        JsonLine()
            .add("line", failure.line)
            .add("text", util::visible(failure.text))
            .add("count", failure.count)
            .add("ranks", std::vector<unsigned>(failure.ranks.begin(), failure.ranks.end()))
            .add("host", failure.host)
            .add("known", error != nullptr)
            .add("id", error ? std::optional(error->id) : std::nullopt)
            .add("class", error ? std::optional(model::word_of(error->failure_class)) : std::nullopt)
            .add("hint", failure.hint)
            .text());
  }
  line.add("log", util::visible(report.name))
      .add("lines", report.lines)
      .add("several_nodes", report.network.several_nodes)
      .add("processes", report.network.processes)
      .add("hosts", report.network.hosts)
      .add_json_list("networks", groups)
      .add_json_list("failures", failures);
  return line.text() + "\n";
}

} // namespace hpcml::joblog
