// SPDX-License-Identifier: MIT
// One judge per kind of case: what differs between hpcml's answer and what the case expects.
#pragma once

#include "agree_cases.hpp"
#include "agree_request.hpp"

namespace hpcml::agree {

/// A case with its node read.
struct Case {
  const Json& item;
  const topo::Node& node;
  Outcome& outcome;

  const Json& request() const { return item.at("request"); }
  const Json& expected() const { return item.at("expected"); }
  void differ(std::string text) const { outcome.differences.push_back(std::move(text)); }
  void leave_open(std::string text) const { outcome.open.push_back(std::move(text)); }
};

void check_plan(const Case& item);
void check_compat(const Case& item, const std::string& policy);
void check_inventory(const Case& item);
void check_parser(const Case& item);
/// Published placements: the checker's verdicts, and Slurm's rules where the request determines the result.
void check_observed(const Case& item);

/// Differences between ranks and the expectations of their tasks; `steps` gives a task's rank on its node.
void compare_ranks(const Case& item, const std::vector<model::PlannedRankBinding>& ranks);

/// PCI addresses of the task's GPUs, as `gpus` has them, against the expectation's.
void compare_pci(const Case& item, const std::string& who, const Json& entry,
                 const std::vector<topo::Gpu>& gpus, const std::vector<unsigned>& indices);

/// A set as people read it; "none" when empty.
std::string shown(const model::IdSet& set);
std::string shown(const std::vector<unsigned>& ids);

} // namespace hpcml::agree
