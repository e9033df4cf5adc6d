// SPDX-License-Identifier: MIT
// A command line of torchrun as values: its flags as in torch 2.13, its variables PET_*, and the program
// after them. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/resolve/output_options.hpp"

namespace hpcml::torchrun {

/// How many ranks a node is to have: a number, or one for each of something that is counted there.
struct RanksPerNode {
  enum class Of { number, gpus_or_cpus, cpus, gpus, xpus };
  Of of = Of::number;
  unsigned number = 1;
  bool operator==(const RanksPerNode&) const = default;
};

/// "HOST[:PORT]".
struct Endpoint {
  std::string host;
  std::optional<std::uint16_t> port;
  bool operator==(const Endpoint&) const = default;
};

/// What a line of torchrun asks for; the defaults are torchrun's.
struct TorchrunRequest {
  unsigned min_nodes = 1;
  unsigned max_nodes = 1;
  std::optional<RanksPerNode> ranks; ///< unset: 1
  std::string backend = "static";
  std::optional<Endpoint> endpoint;
  std::string run_id = "none";
  std::vector<std::pair<std::string, std::string>> conf; ///< of --rdzv-conf, in its order
  bool standalone = false;
  unsigned max_restarts = 0;
  std::string role = "default";
  bool module = false;       ///< `script` is a module
  bool no_python = false;    ///< `script` is a program
  bool run_path = false;     ///< `script` is a script whatever the other two say
  std::string log_directory; ///< empty: not said
  launch::StreamsOfRanks redirects;
  launch::StreamsOfRanks tee;
  std::set<unsigned> shown; ///< local ranks; empty: all
  std::vector<std::string> out_filters;
  std::vector<std::string> err_filters;
  std::optional<unsigned> node_rank;
  std::string master_host; ///< empty: not said
  std::optional<std::uint16_t> master_port;
  std::optional<std::chrono::seconds> shutdown_timeout;
  std::string signals_to_handle =
      "SIGTERM,SIGINT,SIGHUP,SIGQUIT"; ///< the ranks' TORCHELASTIC_SIGNALS_TO_HANDLE
  bool virtual_local_rank = false;
  bool pass_local_rank = false; ///< --local-rank=N is each rank's first argument
  std::string script;
  std::vector<std::string> arguments;
  std::vector<std::string> notes; ///< messages about options without effect
};

/// What became of a line: what it asks for, or what is wrong with it, or a text that it asks for.
struct TorchrunParseResult {
  enum class Output { ranks, help, table };
  Output output = Output::ranks;
  TorchrunRequest request;
  std::vector<util::Error> errors;
};

/// Reads the `words` after "torchrun". Flags are parsed as by argparse: `--flag value`, `--flag=value`, with
/// dashes or underscores, unambiguous abbreviations, `-r3`. The first word that is neither a flag nor its
/// value is the script, and all words after it are its arguments.
TorchrunParseResult read_torchrun_line(const std::vector<std::string>& words, const util::EnvSnapshot& env);

} // namespace hpcml::torchrun
