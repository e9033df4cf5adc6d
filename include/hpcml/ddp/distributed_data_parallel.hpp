// SPDX-License-Identifier: MIT
// Trains one model on many ranks: each computes on its own batch, and every gradient becomes the mean over
// all ranks. The way of Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training",
// VLDB 2020.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "hpcml/ddp/options.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

class Reducer;

/// What does not depend on the module's type; see DistributedDataParallel.
class DataParallelCore {
public:
  DataParallelCore(std::shared_ptr<torch::nn::Module> module, std::shared_ptr<ProcessGroup> group,
                   const Options& options);
  ~DataParallelCore();
  DataParallelCore(const DataParallelCore&) = delete;
  DataParallelCore& operator=(const DataParallelCore&) = delete;

  void before_forward();
  void begin_accumulating() { ++x_accumulating; }
  void end_accumulating() { --x_accumulating; }
  void weigh(double samples);
  void begin_join();
  void end_join();
  double clip_grad_norm(double max_norm, double p);
  std::size_t bucket_count() const;
  ProcessGroup& group() const { return *x_group; }

private:
  /// A forward pass for which ranks communicate, inside join().
  struct Pass {
    int root;      ///< rank whose buffers and order of gradients the others take
    bool reduces;  ///< its backward pass sums gradients
    bool weighted; ///< by samples
  };
  std::optional<Pass> agree_on_pass(const std::optional<Pass>& own);
  bool syncs_buffers() const;
  void send_buffers(int root);

  std::shared_ptr<torch::nn::Module> x_module;
  std::shared_ptr<ProcessGroup> x_group;
  Options x_options;
  std::vector<at::Tensor> x_buffers;
  std::unique_ptr<Reducer> x_reducer;
  int x_accumulating = 0;
  bool x_joining = false;
  bool x_sync_buffers = true; ///< before the next forward pass: the one before it was to reduce gradients
  double x_samples = -1;      ///< of the next step; negative: all ranks weigh the same
};

/// While it lives, backward passes add to the rank's own gradients and nothing is sent.
class NoSync {
public:
  explicit NoSync(DataParallelCore& core) : x_core(&core) { core.begin_accumulating(); }
  ~NoSync() {
    if (x_core != nullptr) x_core->end_accumulating();
  }
  NoSync(NoSync&& other) noexcept : x_core(std::exchange(other.x_core, nullptr)) {}
  NoSync& operator=(NoSync&&) = delete;

private:
  DataParallelCore* x_core;
};

/// `Module`: a class derived from torch::nn::Module that has forward(). All ranks construct it with modules
/// of the same structure; parameters and buffers of rank 0 become those of all. Then, on every rank:
///
///     optimizer.zero_grad();
///     loss_of(model.forward(batch)).backward();  // gradients are means over the ranks when it returns
///     optimizer.step();
///
/// The model's parameters may be on several devices. Throws Error if the ranks' modules differ, a rank is
/// lost, or a parameter gets no gradient (unless the options allow this).
template <class Module> class DistributedDataParallel {
public:
  DistributedDataParallel(std::shared_ptr<Module> module, std::shared_ptr<ProcessGroup> group,
                          const Options& options = {})
      : x_module(std::move(module)), x_core(x_module, std::move(group), options) {}
  /// The same for a TORCH_MODULE.
  DistributedDataParallel(const torch::nn::ModuleHolder<Module>& module, std::shared_ptr<ProcessGroup> group,
                          const Options& options = {})
      : DistributedDataParallel(module.ptr(), std::move(group), options) {}

  /// Calls the module's forward(). All ranks call it equally often, in the same order, with gradients enabled
  /// on all or on none: as in torch, train() and eval() change neither which gradients are reduced nor which
  /// buffers are sent. To evaluate on one rank, call module().forward().
  template <class... Arguments> auto forward(Arguments&&... arguments) {
    x_core.before_forward();
    return x_module->forward(std::forward<Arguments>(arguments)...);
  }

  Module& module() const { return *x_module; }
  Module* operator->() const { return x_module.get(); }

  /// For gradient accumulation: backward passes of forward passes while the result lives send nothing. As in
  /// torch, a forward pass outside whose backward pass did not run makes the next backward pass reduce.
  [[nodiscard]] NoSync no_sync() { return NoSync(x_core); }

  /// Sets the number of samples of the next step: this rank's loss is a mean over them, and the gradient
  /// becomes the mean over all ranks' samples instead of over ranks. Before forward(), on all ranks or none.
  void set_batch_samples(double samples) { x_core.weigh(samples); }

  /// Calls `loop`, in which ranks may have different numbers of batches: a rank that is done takes part in
  /// the others' steps without samples (or with gradients of 0) until all are done. Then all have the
  /// parameters and buffers of the last one. Must be called on all ranks.
  template <class Loop> void join(Loop&& loop) {
    x_core.begin_join();
    std::forward<Loop>(loop)();
    x_core.end_join();
  }

  /// Scales all gradients down so that their norm (of order `p`) is at most `max_norm`; returns what it was.
  /// The same on every rank, without communication: the gradients are.
  double clip_grad_norm(double max_norm, double p = 2) { return x_core.clip_grad_norm(max_norm, p); }

  std::size_t bucket_count() const { return x_core.bucket_count(); }

private:
  std::shared_ptr<Module> x_module;
  DataParallelCore x_core;
};

template <class Module>
DistributedDataParallel(const torch::nn::ModuleHolder<Module>&, std::shared_ptr<ProcessGroup>)
    -> DistributedDataParallel<Module>;
template <class Module>
DistributedDataParallel(const torch::nn::ModuleHolder<Module>&, std::shared_ptr<ProcessGroup>, const Options&)
    -> DistributedDataParallel<Module>;

} // namespace hpcml::ddp
