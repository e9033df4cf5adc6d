// SPDX-License-Identifier: MIT
// Which gradients are reduced together.
#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "ddp/bucket_assignment.hpp"

using namespace hpcml::ddp;

namespace {

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

} // namespace

TEST_CASE("a bucket is full once it holds its limit; the first one of each kind has the first limit") {
  const std::vector<GradientBucketCriteria> gradients = {{"f", 4},  {"f", 6}, {"f", 10}, {"h", 3},
                                                         {"f", 30}, {"f", 1}, {"h", 3}};
  CHECK(assign_buckets(gradients, in_order(7), {10, 20}) == BucketAssignment{{0, 1}, {2, 4}, {3, 6}, {5}});
}

TEST_CASE("each gradient is in one bucket, in the order given, with its own kind") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<GradientBucketCriteria> gradients(1 + random() % 40);
    for (auto& gradient : gradients) gradient = {random() % 3 == 0 ? "h" : "f", 1 + random() % 50};
    auto order = in_order(gradients.size());
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<std::size_t> limits = {1 + random() % 60, 1 + random() % 90};
    std::vector<int> seen(gradients.size());
    std::vector<std::size_t> place(gradients.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (const auto& bucket : assign_buckets(gradients, order, limits)) {
      REQUIRE_FALSE(bucket.empty());
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < bucket.size(); ++i) {
        ++seen[bucket[i]];
        CHECK(gradients[bucket[i]].kind == gradients[bucket[0]].kind);
        if (i > 0) CHECK(place[bucket[i - 1]] < place[bucket[i]]);
        // Without its last member no bucket is full.
        if (i + 1 < bucket.size()) bytes += gradients[bucket[i]].bytes;
      }
      CHECK(bytes < std::max(limits[0], limits[1]));
    }
    CHECK(seen == std::vector<int>(gradients.size(), 1));
  }
}
