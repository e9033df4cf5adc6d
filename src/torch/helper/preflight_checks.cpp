// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "ddp/format_message.hpp"
#include "torch/helper/pairing.hpp"
#include "torch/helper/preflight.hpp"

namespace hpcml::helper {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_period = 251; // prime, so that a shift by a power of two (a chunk in the wrong place) shows

/// Element `index` of the pattern: small whole numbers, whose sums over the ranks are exact in float32.
int pattern_value(int64_t index, int seed) { return static_cast<int>((index + seed) % k_period) + 1; }

/// The same as a tensor; made by other means than what it is later compared with.
at::Tensor pattern(int64_t count, at::Device device, int seed = 0) {
  return ((at::arange(count, at::TensorOptions().dtype(at::kLong)) + seed).remainder(k_period) + 1)
      .to(at::kFloat)
      .to(device);
}

/// Of pairs that send: all pairs of up to eight ranks.
constexpr int k_send_rounds = 7;

int64_t element_count(long long bytes) { return std::max<int64_t>(1, bytes / 4); }

/// Uses one thread: a few MB do not need a second one, and more threads than cores that wait for each other
/// take minutes.
void take_one_thread() { at::set_num_threads(1); }

/// Returns what is wrong in `got`, else an empty text.
std::string difference(const at::Tensor& got, const at::Tensor& expected, const std::string& what) {
  const at::Tensor wrong = got.ne(expected);
  const auto count = wrong.sum().item<int64_t>();
  if (count == 0) return {};
  const auto index = wrong.nonzero()[0][0].item<int64_t>();
  return ddp::format_message("{} is wrong in {} of {} elements; the first is element {}: {} instead of {}",
                             what, count, got.numel(), index, got[index].item<float>(),
                             expected[index].item<float>());
}

/// Returns what is wrong in a tensor that should be `factor` times the pattern plus `more`, else an empty
/// text. Expected values are computed one by one on the CPU, because the device of the tensor may be faulty.
std::string input_fault(const at::Tensor& own, int rank, int seed, int factor, int more) {
  const at::Tensor contiguous = own.detach().cpu().contiguous();
  const float* values = contiguous.data_ptr<float>();
  int64_t wrong = 0, first = 0;
  for (int64_t i = 0; i < contiguous.numel(); ++i)
    if (values[i] != static_cast<float>(pattern_value(i, seed) * factor + more) && wrong++ == 0) first = i;
  if (wrong == 0) return {};
  return ddp::format_message(
      "its own tensor on {} (rank {}) is wrong in {} of {} elements before anything is sent; "
      "the first is element {}: {} instead of {}",
      own.device().str(), rank, wrong, contiguous.numel(), first, values[first],
      pattern_value(first, seed) * factor + more);
}

/// Returns seeds that differ for each pair, direction and round, so that data that remains from another round
/// is detected.
int seed_of(int round, int side) { return (round * 2 + side) * 37 % k_period; }

} // namespace

Measurement check_all_reduce(Communicator& group, long long bytes) {
  take_one_thread();
  const double size = group.size();
  const at::Tensor base = pattern(element_count(bytes), group.device());
  // Rank r contributes (r+1) times the pattern, so that a rank that is omitted or counted twice changes
  // the sum.
  const at::Tensor own = base * (group.rank() + 1);
  const at::Tensor expected = base * (size * (size + 1) / 2);
  at::Tensor tensor = own.clone();
  const auto compare = [&] {
    const auto wrong =
        difference(tensor, expected, ddp::format_message("the sum over {} ranks", group.size()));
    if (wrong.empty()) return;
    if (const auto fault = input_fault(own, group.rank(), 0, group.rank() + 1, 0); !fault.empty())
      throw FaultyLocalInputError(fault);
    throw std::runtime_error(wrong);
  };
  group.all_reduce_sum(tensor); // the first one also sets up connections, so it is checked but not timed
  compare();
  constexpr int k_rounds = 3;
  double seconds = 0;
  for (int round = 0; round < k_rounds; ++round) {
    tensor.copy_(own);
    const auto start = Clock::now();
    group.all_reduce_sum(tensor);
    seconds += std::chrono::duration<double>(Clock::now() - start).count() / k_rounds;
    compare();
  }
  // Each byte crosses the wire 2(n-1)/n times in any bandwidth-optimal all_reduce, so this figure compares
  // across sizes.
  const double moved = static_cast<double>(tensor.numel()) * 4 * 2 * (size - 1) / size;
  return {seconds, 8 * moved / seconds / 1e9};
}

Measurement check_send_receive(Communicator& group, long long bytes) {
  take_one_thread();
  const at::Tensor base = pattern(element_count(bytes), group.device());
  const int rank = group.rank(), rounds = std::min(rounds_of(group.size()), k_send_rounds);
  double seconds = 0, tensors = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto peer = partner_of(rank, group.size(), round);
    if (!peer) continue;
    at::Tensor out = base + *peer, in = at::zeros_like(base);
    const auto start = Clock::now();
    // One after the other: two ranks that both send first may wait for each other for ever.
    if (rank < *peer) group.send(out, *peer);
    group.receive(in, *peer);
    if (rank > *peer) group.send(out, *peer);
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    tensors += 2;
    const auto wrong =
        difference(in, base + rank, ddp::format_message("what rank {} received from rank {}", rank, *peer));
    if (const auto fault = input_fault(out, rank, 0, 1, *peer); !fault.empty())
      throw FaultyLocalInputError(fault);
    if (!wrong.empty()) throw std::runtime_error(wrong);
  }
  if (tensors == 0) return {};
  return {seconds / tensors, 8 * tensors * static_cast<double>(base.numel()) * 4 / seconds / 1e9};
}

PairCheckErrors check_pair(Communicator& pair, long long bytes, int round) {
  take_one_thread();
  const auto count = element_count(bytes);
  const int side = pair.rank();
  const int own_seed = seed_of(round, side), other_seed = seed_of(round, 1 - side);
  const at::Tensor own = pattern(count, pair.device(), own_seed);
  const at::Tensor expected = pattern(count, at::kCPU, other_seed);
  PairCheckErrors found;
  found.input = input_fault(own, side, own_seed, 1, 0);
  at::Tensor sum = own.clone();
  pair.all_reduce_sum(sum);
  found.sum = difference(sum.cpu(), expected + pattern(count, at::kCPU, own_seed), "the sum over the two");
  at::Tensor out = own.clone(), in = at::zeros_like(own);
  if (side == 0) pair.send(out, 1);
  pair.receive(in, 1 - side);
  if (side == 1) pair.send(out, 0);
  found.message = difference(in.cpu(), expected, "what it received from the other");
  return found;
}

} // namespace hpcml::helper
