// SPDX-License-Identifier: MIT
// Which samples this rank takes in an epoch: the same as torch's DistributedSampler in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <torch/data/samplers/base.h>

namespace hpcml::ddp {

/// Distributes the indices 0 … size-1 to the ranks in turn, the same number to each, for torch::data's
/// loaders. With `shuffle` the order is that of torch.randperm with the seed `seed` + epoch: the same on all
/// ranks, different in each epoch. If the samples do not divide evenly, the first ones are used twice, or,
/// with `drop_last`, the last ones are not used. LibTorch's own DistributedRandomSampler shuffles in another
/// way, and restarts the epoch when it is loaded.
class DistributedSampler : public torch::data::samplers::Sampler<> {
  template <class Argument> static Argument argument_of(void (torch::data::samplers::Sampler<>::*)(Argument));
  // std::optional since LibTorch 2, its own before.
  using Size = decltype(argument_of(&torch::data::samplers::Sampler<>::reset));
  using Batch = decltype(std::declval<torch::data::samplers::Sampler<>&>().next(1));

public:
  /// 0 ≤ rank < world_size, else std::invalid_argument.
  DistributedSampler(std::size_t size, int world_size, int rank, bool shuffle = true, std::uint64_t seed = 0,
                     bool drop_last = false);

  /// The next epoch to begin; at each, with the same number on all ranks, before the loader is asked.
  void set_epoch(std::size_t epoch);
  std::size_t epoch() const { return x_epoch; }
  /// Samples of this rank in an epoch, the same on all ranks.
  std::size_t samples() const { return x_samples; }
  /// How many of them were handed out.
  std::size_t position() const { return x_position; }

  /// Begins the epoch at its first sample. The first reset after load() keeps the loaded position, because
  /// loaders reset their sampler before they use it; another size than before begins a new set of samples.
  void reset(Size new_size) override;
  /// At most `batch_size` indices; nothing once all were handed out.
  Batch next(std::size_t batch_size) override;
  /// Saves epoch and position: a resumed training continues with the sample that would have been next.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

private:
  void deal();

  std::size_t x_size = 0, x_world_size, x_rank;
  bool x_shuffle, x_drop_last;
  std::uint64_t x_seed;
  std::size_t x_epoch = 0, x_position = 0, x_samples = 0;
  bool x_resumed = false;
  std::vector<std::size_t> x_indices; ///< of this rank
};

} // namespace hpcml::ddp
