// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "torch/preflight.hpp"

namespace hpcml::helper {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_period = 251; // prime, so that a shift by a power of two (a chunk in the wrong place) shows

/// 1, 2, … k_period, 1, 2, … : small whole numbers, whose sums over the ranks are exact in float32.
at::Tensor pattern(int64_t count, at::Device device) {
  return (at::arange(count, at::TensorOptions().dtype(at::kLong)).remainder(k_period) + 1)
      .to(at::kFloat)
      .to(device);
}

int64_t element_count(long long bytes) { return std::max<int64_t>(1, bytes / 4); }

void compare(const at::Tensor& got, const at::Tensor& expected, const std::string& what) {
  const at::Tensor wrong = got.ne(expected);
  const auto count = wrong.sum().item<int64_t>();
  if (count == 0) return;
  const auto index = wrong.nonzero()[0][0].item<int64_t>();
  std::ostringstream text;
  text << what << " is wrong in " << count << " of " << got.numel() << " elements; the first is element "
       << index << ": " << got[index].item<float>() << " instead of " << expected[index].item<float>();
  throw std::runtime_error(text.str());
}

} // namespace

Measured check_all_reduce(ProcessGroup& group, long long bytes) {
  // Making and comparing a few MB needs no second thread; where more threads than cores wait for each other
  // it takes minutes.
  at::set_num_threads(1);
  const double size = group.size();
  const at::Tensor base = pattern(element_count(bytes), group.device());
  // Rank r brings (r+1) times the pattern: a rank that is left out or counted twice changes the sum.
  const at::Tensor own = base * (group.rank() + 1);
  const at::Tensor expected = base * (size * (size + 1) / 2);
  at::Tensor tensor = own.clone();
  group.all_reduce_sum(tensor); // the first one also sets up connections, so it is checked but not timed
  compare(tensor, expected, "the sum over " + std::to_string(group.size()) + " ranks");
  constexpr int k_rounds = 3;
  double seconds = 0;
  for (int round = 0; round < k_rounds; ++round) {
    tensor.copy_(own);
    const auto start = Clock::now();
    group.all_reduce_sum(tensor);
    seconds += std::chrono::duration<double>(Clock::now() - start).count() / k_rounds;
    compare(tensor, expected, "the sum over " + std::to_string(group.size()) + " ranks");
  }
  // Each byte crosses the wire 2(n-1)/n times in any bandwidth-optimal all_reduce, so this figure compares
  // across sizes.
  const double moved = static_cast<double>(tensor.numel()) * 4 * 2 * (size - 1) / size;
  return {seconds, 8 * moved / seconds / 1e9};
}

Measured check_send_receive(ProcessGroup& group, long long bytes) {
  const at::Tensor base = pattern(element_count(bytes), group.device());
  const auto start = Clock::now();
  if (group.rank() == 0) {
    for (int to = 1; to < group.size(); ++to) {
      at::Tensor tensor = base + to;
      group.send(tensor, to);
    }
  } else {
    at::Tensor tensor = at::zeros_like(base);
    group.receive(tensor, 0);
    compare(tensor, base + group.rank(),
            "what rank " + std::to_string(group.rank()) + " received from rank 0");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double tensors = group.rank() == 0 ? group.size() - 1 : 1;
  return {seconds, 8 * tensors * static_cast<double>(base.numel()) * 4 / seconds / 1e9};
}

} // namespace hpcml::helper
