// SPDX-License-Identifier: MIT
#include "diagnose/preflight/preflight_report.hpp"

#include <cstdio>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/failures/failure_report.hpp"
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
  for (const auto& rank : summary.at("ranks")) {
    const auto interface = rank.at("interface").get<std::string>();
    rows.push_back({std::to_string(rank.at("rank").get<long long>()), rank.at("host"), rank.at("device"),
                    interface.empty() ? "-" : interface, figure(rank.at("all_reduce_gbps")),
                    figure(rank.at("send_recv_gbps"))});
  }
  return fmt::format("{}ok: {}\n", util::render_columns(rows, {0, 4, 5}), launch::describe_summary(summary));
}

std::string render_faulty_rank(const json& event) {
  const auto fault = launch::read_fault(event);
  failures::FailureReport report{fault.what.empty() ? "the helper reported no reason" : fault.what, {}, {}};
  if (!fault.hint.empty()) report.hints.push_back(fault.hint);
  if (const auto hosts = launch::hosts_at_fault(event); !hosts.empty())
    report.hints.push_back(fmt::format("use --exclude={} if the failure stays there",
                                       util::join({hosts.begin(), hosts.end()}, ",")));
  return util::join(failures::render_lines(report), "\n");
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
