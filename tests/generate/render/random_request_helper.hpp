// SPDX-License-Identifier: MIT
// Requests by seed: what a site needs, and a few keys of the request's table with likely and unlikely values.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"

namespace hpcml::test {

/// The same seed draws the same requests.
class RequestMaker {
public:
  explicit RequestMaker(unsigned seed) : x_random(seed) {}
  /// A request for the site; its words, for messages, are in `description`.
  model::JobSpec next(const model::Site& site);
  /// "--nodes 2 --array 0-3" of the last request, without what the site needs.
  const std::string& description() const { return x_written; }
  /// Whether the last request counts nodes, GPUs, tasks and cores: nothing is left for a planner to choose.
  bool is_counted() const { return x_counted; }
  /// How often each key was drawn.
  const std::map<std::string, unsigned>& drawn() const { return x_drawn; }
  unsigned below(unsigned end) { return static_cast<unsigned>(x_random() % end); }
  const std::string& pick(const std::vector<std::string>& values) {
    return values[below(static_cast<unsigned>(values.size()))];
  }

private:
  void draw_key(model::JobSpec& job, const model::Site& site);
  void count(model::JobSpec& job, const model::Site& site);

  std::mt19937 x_random;
  std::string x_written;
  bool x_counted = false;
  std::map<std::string, unsigned> x_drawn;
};

} // namespace hpcml::test
