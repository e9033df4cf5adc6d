// SPDX-License-Identifier: MIT
#include "ddp/reducer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "ddp/format_message.hpp"
#include "ddp/gradient_slot.hpp"

namespace hpcml::ddp {

namespace {

std::string kind_of(const at::Tensor& tensor) {
  return std::string(tensor.dtype().name()) + " " + tensor.device().str();
}

} // namespace

Reducer::Reducer(std::shared_ptr<ProcessGroup> group,
                 const std::vector<std::pair<std::string, at::Tensor>>& parameters, const Options& options)
    : x_group(std::move(group)), x_options(options) {
  for (const auto& [name, tensor] : parameters) {
    if (!tensor.requires_grad()) continue;
    Parameter parameter;
    parameter.name = name;
    parameter.tensor = tensor;
    x_parameters.push_back(std::move(parameter));
  }
  if (x_parameters.empty())
    x_group->fail("construction", "the module has no parameter that requires a gradient");
  lay_out(first_assignment());
  for (std::size_t i = 0; i < x_parameters.size(); ++i)
    x_hooks.emplace_back(x_parameters[i].tensor, [this, i] { on_gradient(i); });
}

std::vector<GradientBucketCriteria> Reducer::gradient_facts() const {
  std::vector<GradientBucketCriteria> gradients;
  for (const auto& parameter : x_parameters)
    gradients.push_back({kind_of(parameter.tensor), parameter.tensor.nbytes()});
  return gradients;
}

BucketAssignment Reducer::first_assignment() const {
  // As torch does: one bucket per kind until the order of the gradients is known, unless it will not be asked
  // for.
  const auto most = std::numeric_limits<std::size_t>::max();
  const bool finds_unused = x_options.find_unused_parameters && !x_options.static_graph;
  std::vector<std::size_t> order(x_parameters.size());
  std::iota(order.begin(), order.end(), 0);
  auto assignment = assign_buckets(
      gradient_facts(), order,
      finds_unused ? std::vector<std::size_t>{x_options.first_bucket_bytes, x_options.bucket_bytes}
                   : std::vector<std::size_t>{most});
  std::reverse(assignment.begin(), assignment.end());
  return assignment;
}

void Reducer::lay_out(const BucketAssignment& assignment) {
  const at::NoGradGuard no_gradients;
  x_buckets.clear();
  for (const auto& members : assignment) {
    Bucket bucket;
    bucket.members = members;
    int64_t count = 0;
    for (const auto index : members) count += x_parameters[index].tensor.numel();
    bucket.flat = at::zeros({count}, x_parameters[members.front()].tensor.options().requires_grad(false));
    int64_t offset = 0;
    for (const auto index : members) {
      auto& parameter = x_parameters[index];
      parameter.bucket = x_buckets.size();
      parameter.slot = slot_in(bucket.flat, offset, parameter.tensor);
      offset += parameter.tensor.numel();
    }
    x_buckets.push_back(std::move(bucket));
  }
}

void Reducer::take_order_of(int root) {
  // The order in which gradients come differs between ranks now and then; all must have the same buckets.
  for (std::size_t i = x_parameters.size(); i-- > 0;)
    if (std::find(x_order.begin(), x_order.end(), i) == x_order.end()) x_order.push_back(i);
  std::vector<int64_t> numbers(x_order.begin(), x_order.end());
  auto order =
      at::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, at::kLong).to(x_group->device());
  x_group->broadcast(order, root).wait();
  order = order.cpu();
  for (std::size_t i = 0; i < x_order.size(); ++i)
    x_order[i] = static_cast<std::size_t>(order.data_ptr<int64_t>()[i]);
  lay_out(assign_buckets(gradient_facts(), x_order, {x_options.first_bucket_bytes, x_options.bucket_bytes}));
  x_rebuilt = true;
}

void Reducer::start_step() {
  for (auto& bucket : x_buckets) bucket.missing = bucket.members.size();
  for (auto& parameter : x_parameters) {
    parameter.ready = false;
    parameter.calls = 0;
  }
  x_next_bucket = 0;
}

void Reducer::keep_hooks() {
  for (std::size_t i = 0; i < x_parameters.size(); ++i)
    if (!x_hooks[i].holds(x_parameters[i].tensor))
      x_hooks[i] = GradientHook(x_parameters[i].tensor, [this, i] { on_gradient(i); });
}

void Reducer::begin_step(bool reduce, int root) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  if (x_running) x_group->fail("backward", "the backward pass before this forward pass was not finished");
  keep_hooks();
  if (!reduce) return; // as in torch, a reduction that was prepared before is still due
  x_reduces = true;
  const bool fixed = !x_options.find_unused_parameters || x_options.static_graph;
  if (x_order_known && !x_rebuilt && fixed) take_order_of(root);
  start_step();
}

void Reducer::weigh(double samples) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  if (!(samples >= 0)) x_group->fail("weigh", "the number of samples must not be negative");
  x_weighing = true;
  x_samples = samples;
  x_total = at::full({1}, samples, at::TensorOptions().dtype(at::kDouble)).to(x_group->device());
  x_total_work = x_group->all_reduce(x_total);
}

void Reducer::settle_weight() {
  x_factor = 1.0 / x_group->size();
  if (x_weighing) {
    x_total_work.wait();
    const double total = x_total.item<double>();
    x_factor = total > 0 ? x_samples / total : 0;
  }
  // A number, not a tensor, in the rules of types: half precision multiplies by it in single.
  x_factor_number = at::scalar_tensor(x_factor, at::kDouble);
  x_factor_number.unsafeGetTensorImpl()->set_wrapped_number(true);
}

void Reducer::on_gradient(std::size_t index) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  auto& parameter = x_parameters[index];
  parameter.touched = true;
  if (!x_reduces) return;
  if (!x_running) {
    x_running = true;
    at_end_of_backward([this] { on_end_of_backward(); });
    settle_weight();
  }
  if (++parameter.calls == 1 && !x_order_known) x_order.push_back(index);
  if (x_options.static_graph) {
    // Until the graph is known, all wait for the end of backward.
    if (!x_graph_known || parameter.calls < parameter.expected) return;
  }
  if (parameter.ready)
    x_group->fail(
        "backward",
        format_message("parameter {} received two gradients in one step; use static_graph if parts of "
                       "the module run twice, or no_sync() to accumulate gradients",
                       parameter.name));
  mark_ready(index);
  begin_ready_buckets();
}

void Reducer::mark_ready(std::size_t index) {
  auto& parameter = x_parameters[index];
  fill_slot(parameter);
  parameter.ready = true;
  auto& bucket = x_buckets[parameter.bucket];
  --bucket.missing;
  const auto device = bucket.flat.device();
  if (device.is_cuda()) bucket.stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

void Reducer::fill_slot(Parameter& parameter) {
  const at::NoGradGuard no_gradients;
  auto& gradient = parameter.tensor.mutable_grad();
  // What is compressed is divided afterwards, as torch's hooks do.
  const bool scales = x_options.compression == Compression::none && x_factor != 1;
  if (!gradient.defined()) {
    parameter.slot.zero_();
  } else if (is_within(gradient, parameter.slot)) {
    if (scales && x_weighing) gradient.mul_(x_factor);
    if (scales && !x_weighing) gradient.div_(x_group->size());
  } else {
    if (scales)
      at::mul_out(parameter.slot, gradient, x_factor_number);
    else
      parameter.slot.copy_(gradient);
    if (x_options.gradients_in_buckets) gradient = parameter.slot;
  }
}

void Reducer::begin_ready_buckets() {
  while (x_next_bucket < x_buckets.size() && x_buckets[x_next_bucket].missing == 0)
    begin_bucket(x_buckets[x_next_bucket++]);
}

void Reducer::begin_bucket(Bucket& bucket) {
  const at::NoGradGuard no_gradients;
  // A model on several devices has a thread for each, and any of them may begin a bucket.
  c10::OptionalStreamGuard guard;
  if (bucket.stream) guard.reset_stream(*bucket.stream);
  if (x_options.compression != Compression::none) {
    bucket.compressed =
        bucket.flat.to(x_options.compression == Compression::fp16 ? at::kHalf : at::kBFloat16);
    if (x_weighing)
      bucket.compressed.mul_(x_factor);
    else
      bucket.compressed.div_(x_group->size());
  }
  bucket.work = x_group->all_reduce(bucket.compressed.defined() ? bucket.compressed : bucket.flat);
}

bool Reducer::must_find_unused() const {
  return x_options.static_graph ? !x_graph_known : x_options.find_unused_parameters;
}

void Reducer::on_end_of_backward() {
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_running = false;
  learn_static_graph();
  mark_unused();
  finish_step();
}

/// Every gradient has its share in its bucket.
void Reducer::finish_step() {
  begin_ready_buckets();
  finish_buckets();
  hand_out_gradients();
  x_order_known = true;
  x_reduces = false;
  x_weighing = false;
}

void Reducer::learn_static_graph() {
  if (!x_options.static_graph || x_graph_known) return;
  for (std::size_t i = 0; i < x_parameters.size(); ++i) {
    x_parameters[i].expected = x_parameters[i].calls;
    if (x_parameters[i].calls > 0) mark_ready(i);
  }
}

void Reducer::mark_unused() {
  std::string names;
  int count = 0;
  for (std::size_t i = 0; i < x_parameters.size(); ++i) {
    auto& parameter = x_parameters[i];
    if (parameter.ready) continue;
    if (!x_options.find_unused_parameters && !x_options.static_graph && !parameter.touched && ++count <= 4)
      names += (names.empty() ? "" : ", ") + parameter.name;
    // Touched since the last reduction, in a step that only accumulated: its gradient counts.
    auto& gradient = parameter.tensor.mutable_grad();
    if (!parameter.touched) {
      if (gradient.defined() && is_within(gradient, parameter.slot)) gradient = gradient.clone();
      const at::NoGradGuard no_gradients;
      parameter.slot.zero_();
      parameter.ready = true;
      --x_buckets[parameter.bucket].missing;
    } else {
      mark_ready(i);
    }
  }
  if (count == 0) return;
  x_group->fail(
      "backward",
      format_message("{} got no gradient in this step ({}{}), so the other ranks would wait for them; "
                     "set find_unused_parameters, or remove them from the module",
                     count == 1 ? "1 parameter" : format_message("{} parameters", count), names,
                     count > 4 ? ", …" : ""));
}

void Reducer::finish_buckets() {
  if (must_find_unused()) {
    std::vector<int32_t> used;
    for (const auto& parameter : x_parameters) used.push_back(parameter.touched ? 1 : 0);
    x_use = at::tensor(used, at::kInt).to(x_group->device());
    x_use_work = x_group->all_reduce(x_use);
  }
  const at::NoGradGuard no_gradients;
  for (auto& bucket : x_buckets) {
    bucket.work.wait();
    if (!bucket.compressed.defined()) continue;
    bucket.flat.copy_(bucket.compressed);
    bucket.compressed.reset();
  }
}

void Reducer::hand_out_gradients() {
  const at::NoGradGuard no_gradients;
  if (must_find_unused()) {
    x_use_work.wait();
    x_use = x_use.cpu();
  }
  const int32_t* used = x_use.defined() ? x_use.data_ptr<int32_t>() : nullptr;
  if (x_options.static_graph) x_graph_known = true;
  for (std::size_t i = 0; i < x_parameters.size(); ++i) {
    auto& parameter = x_parameters[i];
    const bool anybody = used != nullptr ? used[i] > 0 : parameter.touched;
    parameter.touched = false;
    // What no rank used keeps the gradient that it has, or none.
    if (!anybody) continue;
    auto& gradient = parameter.tensor.mutable_grad();
    if (x_options.gradients_in_buckets)
      gradient = parameter.slot;
    else if (gradient.defined())
      gradient.copy_(parameter.slot);
    else
      gradient = parameter.slot.clone();
  }
}

void Reducer::shadow_step(int root, bool weighted) {
  begin_step(true, root);
  if (weighted) weigh(0);
  const std::lock_guard<std::mutex> lock(x_mutex);
  settle_weight();
  const at::NoGradGuard no_gradients;
  for (auto& parameter : x_parameters) {
    // What it has accumulated by itself is not of this step.
    parameter.touched = false;
    parameter.ready = true;
  }
  for (auto& bucket : x_buckets) {
    bucket.flat.zero_();
    bucket.missing = 0;
  }
  finish_step();
}

} // namespace hpcml::ddp
