// SPDX-License-Identifier: MIT
// Sums the ranks' gradients, bucket by bucket, while backward still runs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "ddp/bucket_assignment.hpp"
#include "ddp/torch_compat.hpp"
#include "hpcml/ddp/options.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

/// One per model and rank. A step is one forward and one backward pass: begin_step(), then the gradients as
/// they come, then the end of backward, at which every gradient is the mean over the ranks. Hooks may come
/// from several threads (one per GPU of a model that is split), all else from the program's.
class Reducer {
public:
  /// Those of `parameters` that require a gradient take part; the same, in the same order, on every rank.
  Reducer(std::shared_ptr<ProcessGroup> group,
          const std::vector<std::pair<std::string, at::Tensor>>& parameters, const Options& options);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Before a forward pass whose backward pass is to reduce (or only to accumulate). `root`: whose order of
  /// gradients all take.
  void begin_step(bool reduce, int root);
  /// From now on: this rank's gradients weigh `samples` of the sum over all ranks. Asks the others, without
  /// waiting.
  void weigh(double samples);
  /// A rank that has no batch left takes part in a step of the others.
  void shadow_step(int root, bool weighted);
  bool is_weighted() const { return x_weighing; }

  /// The 2-norm (p-norm) of all gradients, from the buckets where these hold them.
  double gradient_norm(double p) const;
  void scale_gradients(double factor);
  std::size_t bucket_count() const { return x_buckets.size(); }

private:
  struct Parameter {
    std::string name;
    at::Tensor tensor;
    std::size_t bucket = 0;
    at::Tensor slot;      ///< its place in the bucket, in the parameter's shape; no view in autograd's sense
    bool ready = false;   ///< in this step
    bool touched = false; ///< since the last reduction
    int calls = 0;        ///< of its hook in this step
    int expected = 1;     ///< calls in a static graph; 0: it takes no part
  };
  struct Bucket {
    std::vector<std::size_t> members;
    at::Tensor flat;       ///< all gradients of the members, concatenated
    at::Tensor compressed; ///< what is sent in its place; else undefined
    std::size_t missing = 0;
    std::optional<c10::Stream> stream; ///< of a GPU: what fills it
    Work work;
  };

  void lay_out(const BucketAssignment& assignment);
  std::vector<GradientBucketCriteria> gradient_facts() const;
  BucketAssignment first_assignment() const;
  void take_order_of(int root);
  void start_step();
  void keep_hooks();
  void on_gradient(std::size_t index);
  void mark_ready(std::size_t index);
  void fill_slot(Parameter& parameter);
  void begin_ready_buckets();
  void begin_bucket(Bucket& bucket);
  void on_end_of_backward();
  void mark_unused();
  void finish_step();
  void finish_buckets();
  void hand_out_gradients();
  void learn_static_graph();
  bool must_find_unused() const;
  void settle_weight();

  std::shared_ptr<ProcessGroup> x_group;
  Options x_options;
  std::vector<Parameter> x_parameters;
  std::vector<Bucket> x_buckets;
  std::vector<std::size_t> x_order; ///< in which gradients became ready in the first step
  std::mutex x_mutex;
  std::size_t x_next_bucket = 0; ///< to be begun: buckets begin in the same order on every rank
  bool x_reduces = false;        ///< this step
  bool x_running = false;        ///< its first gradient has come
  bool x_order_known = false, x_rebuilt = false, x_graph_known = false;
  bool x_weighing = false;
  double x_samples = 0, x_factor = 1;
  at::Tensor x_factor_number; ///< x_factor
  at::Tensor x_total;         ///< of the samples of all ranks
  Work x_total_work;
  at::Tensor x_use; ///< per parameter: how many ranks used it
  Work x_use_work;
  std::vector<GradientHook> x_hooks; ///< last: they go before what they use
};

} // namespace hpcml::ddp
