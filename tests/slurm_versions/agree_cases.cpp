// SPDX-License-Identifier: MIT
#include "agree_cases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agree_fields.hpp"
#include "core/model/hostlist.hpp"
#include "core/util/text.hpp"
#include "test_data.hpp"

namespace hpcml::agree {
namespace {

using Json = nlohmann::json;

/// The cluster on which the cases were measured.
slurm::ClusterFacts measured_cluster() {
  slurm::ClusterFacts cluster;
  cluster.nodes = {"nid001", "nid002", "nid003", "nid004"};
  cluster.cores_per_socket = 64;
  cluster.threads_per_core = 2;
  cluster.memory_mb = 500000;
  cluster.default_memory_per_cpu_mb = 1000;
  cluster.gpus = slurm::GpuFacts{"mi250", 8};
  cluster.features = {"a", "b"};
  cluster.partitions = {
      {"standard-g", 2880, {}, true}, {"small-g", 4320, 2, false}, {"dev-g", 30, {}, false}};
  cluster.jobs = {"1", "2"};
  cluster.files = {"/etc/hostname", "/etc/passwd", "/dev/null"};
  cluster.users = {"root", "daemon", "bin", "sys", "nobody", "1000", "65534"};
  cluster.groups = {"root", "daemon", "bin", "sys", "nogroup", "1000", "65534"};
  for (const int number : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 33, 34, 38, 39}) { // Debian's
    cluster.users.insert(std::to_string(number));
    cluster.groups.insert(std::to_string(number));
  }
  cluster.drained = true;
  return cluster;
}

slurm::SbatchInvocation invocation_of(const Json& item) {
  slurm::SbatchInvocation invocation;
  if (item.contains("args")) invocation.arguments = item.at("args").get<std::vector<std::string>>();
  if (item.contains("env")) invocation.environment = item.at("env").get<std::map<std::string, std::string>>();
  return invocation;
}

struct Reading {
  bool accepted = true;
  std::string reason; ///< of the first refusal
  std::vector<Fields> components;
};

std::string one_line(const std::string& message) {
  return util::replace_all(message.substr(0, 150), "\n", " | ");
}

/// A component's wanted nodes are kept from the others.
void exclude_wanted(std::vector<Fields>& components) {
  for (std::size_t i = 0; i < components.size(); ++i)
    for (std::size_t j = 0; j < components.size(); ++j)
      if (const auto wanted = components[j].find("ReqNodeList"); i != j && wanted != components[j].end()) {
        auto& excluded = components[i]["ExcNodeList"];
        auto names = model::Hostlist::parse(excluded + (excluded.empty() ? "" : ",") + wanted->second)
                         .value_or(model::Hostlist())
                         .names();
        std::sort(names.begin(), names.end());
        excluded = excluded.empty() ? wanted->second : model::compress_hostlist(names);
      }
}

Reading read_script(const std::string& script, const slurm::SbatchInvocation& invocation,
                    const slurm::ClusterFacts& cluster, slurm::Version version) {
  slurm::LocatedFindings findings("case.sh", script);
  const auto header = slurm::read_header(script, version, findings);
  const auto components = slurm::read_settings(header, invocation, version, findings);
  Reading reading;
  for (unsigned i = 0; i < components.size(); ++i) {
    const auto request = slurm::make_request(components[i], version, findings);
    const auto size = slurm::size_job(request, version, slurm::listed_nodes(request));
    slurm::check_admission(request, size, cluster, version, findings);
    if (components.size() > 1 && !request.text("array").empty())
      findings.error({}, "slurm/array", "a heterogeneous job cannot be an array");
    if (request.has("test-only")) reading.accepted = false; // leaves no job
    reading.components.push_back(job_fields(request, size, cluster, version, i));
  }
  exclude_wanted(reading.components);
  for (const auto& finding : findings.list())
    if (finding.severity == diag::Severity::error) {
      reading.accepted = false;
      if (reading.reason.empty()) reading.reason = finding.message;
    }
  return reading;
}

void compare_fields(const Json& measured, Fields ours, const std::string& where,
                    std::vector<std::string>& differences) {
  // 26.05's "1-N" of N tasks was left out when the cases were written down, whether nodes were asked for or
  // not.
  if (const auto nodes = ours.find("NumNodes");
      nodes != ours.end() && !measured.contains("NumNodes") && measured.contains("NumTasks") &&
      nodes->second == "1-" + measured.at("NumTasks").get<std::string>())
    ours.erase(nodes);
  // Measured only where the case is about sharing: then the partition's way shows, too.
  const bool shares = ours.count("Partition") > 0; // the default one does not
  if (measured.contains("OverSubscribe") && ours.count("OverSubscribe") == 0)
    ours["OverSubscribe"] = shares && measured.at("OverSubscribe") == "OK" ? "OK" : "NO";
  if (measured.contains("Exclusive") && ours.count("Exclusive") == 0)
    ours["Exclusive"] = shares && measured.at("Exclusive") == "NO" ? "NO" : "NODE";
  for (const auto& [key, value] : measured.items()) {
    const auto found = ours.find(key);
    const std::string mine = found == ours.end() ? "(default)" : found->second;
    if (mine != value.get<std::string>())
      differences.push_back(
          fmt::format("{}{}: hpcml {}, Slurm {}", where, key, mine, value.get<std::string>()));
  }
  for (const auto& [key, value] : ours)
    if (!measured.contains(key))
      differences.push_back(fmt::format("{}{}: hpcml {}, Slurm (default)", where, key, value));
}

std::vector<std::string> compare(const Json& measured, const Reading& reading) {
  const bool accepted = measured.value("accepted", false);
  if (accepted != reading.accepted)
    return {accepted ? "hpcml refuses, Slurm accepts: " + reading.reason
                     : "hpcml accepts, Slurm refuses: " + one_line(measured.value("msg", std::string()))};
  std::vector<std::string> differences;
  if (!accepted) return differences;
  if (measured.contains("components")) {
    const auto& list = measured.at("components");
    if (list.size() != reading.components.size())
      return {fmt::format("hpcml sees {} components, Slurm {}", reading.components.size(), list.size())};
    for (std::size_t i = 0; i < list.size(); ++i)
      compare_fields(list[i], reading.components[i], fmt::format("component {} ", i), differences);
  } else if (reading.components.size() != 1) {
    differences.push_back(fmt::format("hpcml sees {} components, Slurm one job", reading.components.size()));
  } else {
    compare_fields(measured.value("fields", Json::object()), reading.components.front(), "", differences);
  }
  return differences;
}

} // namespace

util::Result<std::vector<Outcome>> run_cases(const std::filesystem::path& file) {
  const auto text = test::read_test_data(file);
  if (!text) return text.error();
  const Json root = Json::parse(*text, nullptr, false);
  if (!root.is_array()) return util::Error{file.string() + " holds no list of cases"};
  const auto cluster = measured_cluster();
  std::vector<Outcome> outcomes;
  for (const auto& item : root) {
    try {
      const auto invocation = invocation_of(item);
      const auto script = item.at("script").get<std::string>();
      for (const auto& [range, measured] : item.at("results").items())
        for (std::size_t i = 0; i < slurm::k_version_names.size(); ++i) {
          const auto version = static_cast<slurm::Version>(i);
          if (range != "all" && !slurm::is_in_range(range, version)) continue;
          outcomes.push_back({item.at("id"), item.value("group", std::string()), version,
                              compare(measured, read_script(script, invocation, cluster, version))});
        }
    } catch (const Json::exception& error) {
      return util::Error{file.string() + ": a case cannot be read: " + error.what()};
    }
  }
  return outcomes;
}

} // namespace hpcml::agree
