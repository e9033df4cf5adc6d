// SPDX-License-Identifier: MIT
// Network interfaces that the site's nodes do not use between each other.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_interface {

/// Whether NCCL would take one of the interfaces: names are beginnings, "=" asks for whole names, "^" omits
/// those.
bool nccl_takes_one(std::string_view value, const std::vector<std::string>& interfaces) {
  const bool without = value.starts_with("^");
  if (without) value.remove_prefix(1);
  const bool exact = value.starts_with("=");
  if (exact) value.remove_prefix(1);
  const auto listed = util::split(value, ',');
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const std::string& interface) {
    const bool match = std::any_of(listed.begin(), listed.end(), [&](const std::string& candidate) {
      const auto name = candidate.substr(0, candidate.find(':'));
      return !name.empty() && (exact ? interface == name : interface.starts_with(name));
    });
    return match != without;
  });
}

RuleMatches find(const LintContext& subject) {
  if (!subject.site) return {};
  const auto* node = only_node(subject);
  const auto& interfaces =
      node && !node->interfaces.empty() ? node->interfaces : subject.site->network.interfaces;
  if (interfaces.empty()) return {};
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"})) {
    if (!seen.value->known() || seen.value->text().empty()) continue;
    const auto value = seen.value->text();
    const bool nccl = seen.name == "NCCL_SOCKET_IFNAME";
    const auto listed = util::split(value, ',');
    const bool fits =
        nccl ? nccl_takes_one(value, interfaces)
             : std::any_of(listed.begin(), listed.end(), [&](const auto& name) {
                 return std::any_of(interfaces.begin(), interfaces.end(),
                                    [&](const auto& interface) { return interface.starts_with(name); });
               });
    if (fits) continue;
    const auto right = util::join(interfaces, ",");
    add_match(hits, {seen.value->place,
                     fmt::format("'{}' is not an interface between the nodes of {} ({})", value,
                                 subject.site->id, right),
                     std::string(seen.name) + "=" + (nccl ? right : interfaces.front()),
                     replace_end(subject, seen.value->place, value, nccl ? right : interfaces.front())});
  }
  return hits;
}

} // namespace launch_interface

Rule rule_launch_interface() {
  using namespace launch_interface;
  return {
      .id = "launch/interface",
      .severity = diag::Severity::warning,
      .title = "An interface from another cluster",
      .why =
          "NCCL and Gloo look for the interface by its name. Where no name fits NCCL ends with \"no socket "
          "interface found\"; where it is the service network the "
          "ranks hang or crawl.",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname",
      .bad = {R"(#!/bin/bash
#SBATCH -p standard-g -N2
export NCCL_SOCKET_IFNAME=ib0
srun python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -p standard-g -N2
export NCCL_SOCKET_IFNAME=hsn
srun python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
