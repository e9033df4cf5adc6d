// SPDX-License-Identifier: MIT
// What is to go wrong on an emulated cluster, and when, as a user writes it: "node-down:2@30s".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// What can go wrong.
enum class FaultKind { node_down, link_cut, slow_link, controller_restart, preempt, out_of_memory };

/// What becomes of jobs whose nodes another takes; its words are those of `preemption_mode_names`.
enum class PreemptionMode { requeue, cancel, suspend };

/// How a way is called.
struct PreemptionModeNames {
  PreemptionMode mode;
  const char* word;  ///< "requeue": in a fault as a user writes it
  const char* done;  ///< "requeued"
  const char* slurm; ///< slurm.conf's PreemptMode
};
const PreemptionModeNames& preemption_mode_names(PreemptionMode mode);

/// One thing that goes wrong. Times count from when the first job begins on a node.
struct ClusterFault {
  FaultKind kind = FaultKind::node_down;
  std::string text;    ///< as it was written
  unsigned node = 0;   ///< counted from 1; 0 where it is not a node's
  unsigned factor = 1; ///< of a slow link: the link's speed divided by it is left
  PreemptionMode mode = PreemptionMode::requeue;
  bool by_qos = false; ///< the QoS of jobs decides who is preempted, not their partitions
  std::chrono::seconds grace{
      0}; ///< GraceTime of what is preempted: from its SIGTERM until it loses its nodes
  std::chrono::seconds from{0};
  std::optional<std::chrono::seconds> until; ///< none: it stays so, or is over at once
};

/// The faults that a user asked for, or all that is wrong with what was written.
struct FaultList {
  std::vector<ClusterFault> faults;
  std::vector<util::Error> errors;
};

/// The cluster on which they are to happen.
struct FaultValidationContext {
  unsigned nodes = 0;      ///< that run
  bool whole_site = false; ///< none of them runs
  bool networks = true;    ///< nodes have their own network
};

/// Reads each text, and checks it against the others and the cluster.
FaultList parse_faults(const std::vector<std::string>& texts, const FaultValidationContext& cluster);

/// Whether it happens to a node's links, so that nodes need their own network.
bool needs_links(FaultKind kind);

/// Whether one of them needs jobs whose memory is limited.
bool needs_memory_limits(const std::vector<ClusterFault>& faults);

/// Whether one of them needs a slurmdbd, where QoS live.
bool needs_accounting(const std::vector<ClusterFault>& faults);

/// The forms that can be written, with commas between them, for help and for what an error says.
std::string describe_faults();

/// How many seconds a node may be silent before its Slurm takes it for dead: few where a node is to die or is
/// cut off for longer than Slurm waits at sites (5 minutes), more than a shorter cut takes, 600 where all
/// nodes live (a laptop that sleeps must not lose them).
unsigned choose_node_timeout(const std::vector<ClusterFault>& faults);

/// "30 s", "2 min", "1 min 30 s".
std::string describe_seconds(std::chrono::seconds time);

} // namespace hpcml::emulate
