// SPDX-License-Identifier: MIT
#include "diagnose/preflight/preflight_report.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <set>

#include <nlohmann/json.hpp>

#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "run/launch/preflight_check.hpp"

namespace hpcml::preflight {

namespace {

using nlohmann::json;

std::string figure(const json& value) {
  if (!value.is_number()) return "-";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", value.get<double>());
  return digits;
}

std::string render_table(const json& summary) {
  std::vector<std::vector<std::string>> rows = {
      {"rank", "host", "device", "interface", "all_reduce Gbit/s", "send_recv Gbit/s"}};
  std::set<std::string> hosts;
  for (const auto& rank : summary.at("ranks")) {
    hosts.insert(rank.at("host").get<std::string>());
    const auto interface = rank.at("interface").get<std::string>();
    rows.push_back({std::to_string(rank.at("rank").get<long long>()), rank.at("host"), rank.at("device"),
                    interface.empty() ? "-" : interface, figure(rank.at("all_reduce_gbps")),
                    figure(rank.at("send_recv_gbps"))});
  }
  const auto ranks = rows.size() - 1;
  return fmt::format("{}ok: {} on {} connected, all sums and messages are correct ({}, {} s)\n",
                     util::render_columns(rows, {0, 4, 5}), util::counted(ranks, "rank"),
                     util::counted(hosts.size(), "host"), summary.at("backend").get<std::string>(),
                     figure(summary.at("seconds")));
}

std::string render_faulty_rank(const json& event) {
  std::string text = event.value("what", "the helper reported no reason");
  const auto next = event.value("next", "");
  if (!next.empty()) text += fmt::format("\n  hint: {}", next);
  if (const auto hosts = launch::hosts_at_fault(event); !hosts.empty())
    text += fmt::format("\n  hint: use --exclude={} if the failure stays there",
                        util::join({hosts.begin(), hosts.end()}, ","));
  return text;
}

} // namespace

PreflightResult read_preflight(const std::string& output) {
  PreflightResult result;
  for (const auto& line : util::split(output, '\n')) {
    const auto start = line.find('{');
    if (start == std::string::npos) continue;
    const auto event = json::parse(line.substr(start), nullptr, false);
    if (!event.is_object() || !event.contains("event")) continue;
    result.events.push_back(line.substr(start));
    const auto name = event.value("event", "");
    result.first = result.first || event.value("rank", -1) == 0;
    if (name == "summary") result.table = render_table(event);
    if (name == "cause" || (name == "failed" && !result.faulty_rank)) {
      result.faulty_rank = render_faulty_rank(event);
      result.speaks = result.speaks || name == "cause";
    }
  }
  return result;
}

} // namespace hpcml::preflight
