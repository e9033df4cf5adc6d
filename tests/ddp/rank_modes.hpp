// SPDX-License-Identifier: MIT
// What the ranks of these tests are asked for, and what they have in common.
#pragma once

#include <map>
#include <string>

#include "models.hpp"

namespace ddp_test {

/// Flags by name, with their values or "".
struct RankOptions {
  std::map<std::string, std::string> values;
  bool has(const std::string& name) const { return values.count(name) > 0; }
  std::string get(const std::string& name, const std::string& otherwise) const {
    return has(name) ? values.at(name) : otherwise;
  }
  int64_t number(const std::string& name, int64_t otherwise) const {
    return has(name) ? std::stoll(values.at(name)) : otherwise;
  }
};

RankOptions parse_rank_options(int argc, char** argv);
/// Before a step: none, or with `keep` zeros in their place.
void clear_gradients(torch::nn::Module& module, bool keep);
/// All parameters and buffers as bytes; an exit code.
int write_state(const torch::nn::Module& module, const std::string& path);
int run_resume(const RankOptions& rank_options);
int run_sampler();
int run_overlap(const RankOptions& rank_options);
int run_late();
int run_exchange(const RankOptions& rank_options);
int run_forwards(const RankOptions& rank_options);
int run_fallback(const RankOptions& rank_options);

} // namespace ddp_test
