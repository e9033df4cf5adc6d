// SPDX-License-Identifier: MIT
#include "hpcml/ddp/distributed_sampler.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include "ddp/format_message.hpp"

namespace hpcml::ddp {

DistributedSampler::DistributedSampler(std::size_t size, int world_size, int rank, bool shuffle,
                                       std::uint64_t seed, bool drop_last)
    : x_size(size), x_world_size(static_cast<std::size_t>(world_size)),
      x_rank(static_cast<std::size_t>(rank)), x_shuffle(shuffle), x_drop_last(drop_last), x_seed(seed) {
  if (world_size < 1 || rank < 0 || rank >= world_size)
    throw std::invalid_argument(format_message(
        "rank {} of a sampler is not within world_size {}; use rank() and size() of the process group", rank,
        world_size));
  deal();
}

void DistributedSampler::deal() {
  const std::size_t even = x_size / x_world_size;
  x_samples = x_drop_last || x_size % x_world_size == 0 ? even : even + 1;
  x_indices.clear();
  if (x_size == 0) return;
  at::Tensor order;
  if (x_shuffle)
    order = at::randperm(static_cast<int64_t>(x_size), at::detail::createCPUGenerator(x_seed + x_epoch),
                         at::TensorOptions().dtype(at::kLong));
  for (std::size_t i = 0; i < x_samples; ++i) {
    const std::size_t place = (i * x_world_size + x_rank) % x_size;
    x_indices.push_back(x_shuffle ? static_cast<std::size_t>(order.data_ptr<int64_t>()[place]) : place);
  }
}

void DistributedSampler::set_epoch(std::size_t epoch) {
  if (epoch == x_epoch) return;
  x_epoch = epoch;
  x_position = 0;
  x_resumed = false;
  deal();
}

void DistributedSampler::reset(Size new_size) {
  if (new_size.has_value() && *new_size != x_size) {
    x_size = *new_size;
    x_resumed = false;
    deal();
  }
  if (!x_resumed) x_position = 0;
  x_resumed = false;
}

DistributedSampler::Batch DistributedSampler::next(std::size_t batch_size) {
  if (x_position >= x_indices.size()) return {};
  const auto begin = x_indices.begin() + static_cast<std::ptrdiff_t>(x_position);
  const auto count = std::min(batch_size, x_indices.size() - x_position);
  x_position += count;
  return std::vector<std::size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void DistributedSampler::save(torch::serialize::OutputArchive& archive) const {
  const auto number = [](std::size_t value) {
    return at::scalar_tensor(static_cast<int64_t>(value), at::kLong);
  };
  archive.write("epoch", number(x_epoch), true);
  archive.write("position", number(x_position), true);
}

void DistributedSampler::load(torch::serialize::InputArchive& archive) {
  at::Tensor epoch, position;
  archive.read("epoch", epoch, true);
  archive.read("position", position, true);
  x_epoch = static_cast<std::size_t>(epoch.item<int64_t>());
  deal();
  x_position = std::min(static_cast<std::size_t>(position.item<int64_t>()), x_indices.size());
  x_resumed = true;
}

} // namespace hpcml::ddp
