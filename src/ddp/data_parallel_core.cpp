// SPDX-License-Identifier: MIT
#include "hpcml/ddp/distributed_data_parallel.hpp"

#include <limits>
#include <sstream>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>
#include <torch/version.h>

#include "ddp/format_message.hpp"
#include "ddp/group_state.hpp"
#include "ddp/reducer.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

namespace {

constexpr int64_t k_broadcast_bytes = 64 * 1024 * 1024;

constexpr int64_t k_alignment = 16; ///< of each tensor in the bytes: the largest element is complex<double>

struct Packed {
  std::vector<at::Tensor> members;
  int64_t bytes = 0;
  at::Tensor flat;
  Work work;
};

int64_t room_for(const at::Tensor& tensor) {
  return (static_cast<int64_t>(tensor.nbytes()) + k_alignment - 1) / k_alignment * k_alignment;
}

/// Calls `copy` with each member and its part of the bytes, as a tensor of the same dtype and shape.
template <class Copy> void for_each_part(const Packed& packed, const Copy& copy) {
  int64_t offset = 0;
  for (const auto& member : packed.members) {
    const auto part = packed.flat.narrow(0, offset, static_cast<int64_t>(member.nbytes()));
    copy(member, part.view(member.scalar_type()).view(member.sizes()));
    offset += room_for(member);
  }
}

std::vector<Packed> pack_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<Packed> all;
  for (const auto& tensor : tensors) {
    if (tensor.nbytes() == 0) continue;
    if (all.empty() || all.back().bytes + room_for(tensor) > k_broadcast_bytes ||
        all.back().members.front().device() != tensor.device())
      all.emplace_back();
    all.back().members.push_back(tensor);
    all.back().bytes += room_for(tensor);
  }
  return all;
}

/// Each tensor becomes that of `root`, bit by bit; of any dtype, the same shapes on all ranks. Many small
/// ones travel together, at most `k_broadcast_bytes` at once.
void broadcast_tensors(ProcessGroup& group, const std::vector<at::Tensor>& tensors, int root) {
  if (group.size() == 1) return;
  const c10::NoGradGuard no_gradients;
  auto all = pack_tensors(tensors);
  for (auto& packed : all) {
    packed.flat = at::empty({packed.bytes},
                            at::TensorOptions().dtype(at::kByte).device(packed.members.front().device()));
    if (group.rank() == root)
      for_each_part(packed, [](const at::Tensor& member, at::Tensor part) { part.copy_(member); });
    packed.work = group.broadcast(packed.flat, root);
  }
  for (auto& packed : all) {
    packed.work.wait();
    if (group.rank() != root)
      for_each_part(packed, [](at::Tensor member, const at::Tensor& part) { member.copy_(part); });
  }
}

/// "NAME dtype [shape]" of one tensor per line.
std::string describe(const torch::nn::Module& module) {
  std::ostringstream text;
  for (const auto& item : module.named_parameters())
    text << item.key() << " " << item.value().dtype().name() << " " << item.value().sizes()
         << (item.value().requires_grad() ? "" : " without gradient") << "\n";
  for (const auto& item : module.named_buffers())
    text << "buffer " << item.key() << " " << item.value().dtype().name() << " " << item.value().sizes()
         << "\n";
  return text.str();
}

/// The first line in which two texts differ, of each.
std::string first_difference(const std::string& own, const std::string& received) {
  std::istringstream own_lines(own), other_lines(received);
  std::string left, two;
  for (bool more = true; more;) {
    const bool has_one = static_cast<bool>(std::getline(own_lines, left));
    const bool has_two = static_cast<bool>(std::getline(other_lines, two));
    more = has_one && has_two;
    if (more && left == two) continue;
    return format_message("this rank has {}, rank 0 has {}", has_one ? left : "nothing more",
                          has_two ? two : "nothing more");
  }
  return {};
}

/// Uneven structures would end in a broadcast that never ends, or in wrong weights.
void compare_with_rank_0(ProcessGroup& group, const torch::nn::Module& module) {
  if (group.size() == 1) return;
  const std::string own = describe(module);
  auto length = at::full({1}, static_cast<int64_t>(own.size()), at::kLong).to(group.device());
  group.broadcast(length).wait();
  auto text = at::zeros({length.item<int64_t>()}, at::kByte);
  if (group.rank() == 0) std::copy(own.begin(), own.end(), text.data_ptr<uint8_t>());
  text = text.to(group.device());
  group.broadcast(text).wait();
  text = text.cpu();
  const std::string theirs(text.data_ptr<uint8_t>(), text.data_ptr<uint8_t>() + text.numel());
  if (own != theirs)
    group.fail("construction",
               format_message("its module differs from that of rank 0: {}", first_difference(own, theirs)));
}

std::vector<std::pair<std::string, at::Tensor>> parameters_of(const torch::nn::Module& module) {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& item : module.named_parameters()) {
    // A parameter that two parts of the module share comes once.
    bool known = false;
    for (const auto& entry : all) known = known || entry.second.is_same(item.value());
    if (!known) all.emplace_back(item.key(), item.value());
  }
  return all;
}

} // namespace

DataParallelCore::DataParallelCore(std::shared_ptr<torch::nn::Module> module,
                                   std::shared_ptr<ProcessGroup> group, const Options& options)
    : x_module(std::move(module)), x_group(std::move(group)), x_options(options) {
#if TORCH_VERSION_MAJOR < 2
  if (x_group->backend() == "gloo" && options.compression == Compression::bf16)
    x_group->fail("construction", "Gloo in this LibTorch cannot sum bf16; use fp16, or LibTorch 2");
#endif
  compare_with_rank_0(*x_group, *x_module);
  x_buffers = x_module->buffers();
  const auto parameters = parameters_of(*x_module);
  std::vector<at::Tensor> state = x_buffers;
  for (const auto& parameter : parameters) state.push_back(parameter.second);
  broadcast_tensors(*x_group, state, 0);
  x_reducer = std::make_unique<Reducer>(x_group, parameters, options);
}

DataParallelCore::~DataParallelCore() = default;

std::size_t DataParallelCore::bucket_count() const { return x_reducer->bucket_count(); }

void DataParallelCore::weigh(double samples) { x_samples = samples; }

bool DataParallelCore::syncs_buffers() const {
  return x_sync_buffers && x_options.broadcast_buffers && !x_buffers.empty();
}

void DataParallelCore::send_buffers(int root) {
  // Another forward pass may have saved them for its backward pass: as in torch, that remains possible.
  const at::AutoDispatchBelowADInplaceOrView keep_versions;
  broadcast_tensors(*x_group, x_buffers, root);
}

void DataParallelCore::before_forward() {
  const bool records = at::GradMode::is_enabled(), reduces = records && x_accumulating == 0;
  const bool weighted = reduces && x_samples >= 0;
  int root = 0;
  // Ranks that wait in end_join() take part in whatever is sent.
  if (x_joining && (reduces || syncs_buffers()))
    root = agree_on_pass(Pass{x_group->rank(), reduces, weighted})->root;
  if (syncs_buffers()) send_buffers(root);
  x_sync_buffers = reduces;
  if (!records) return;
  x_reducer->begin_step(reduces, root);
  if (!weighted) return;
  x_reducer->weigh(x_samples);
  x_samples = -1;
}

/// What the rank of the highest number announces; nothing if no rank announces a pass.
std::optional<DataParallelCore::Pass> DataParallelCore::agree_on_pass(const std::optional<Pass>& own) {
  const int code = own ? own->root * 4 + (own->reduces ? 2 : 0) + (own->weighted ? 1 : 0) : -1;
  auto highest = at::full({1}, code, at::kLong).to(x_group->device());
  x_group->all_reduce(highest, ReduceOp::max).wait();
  const auto agreed = static_cast<int>(highest.item<int64_t>());
  if (agreed < 0) return std::nullopt;
  return Pass{agreed / 4, (agreed & 2) != 0, (agreed & 1) != 0};
}

void DataParallelCore::begin_join() { x_joining = true; }

void DataParallelCore::end_join() {
  x_joining = false;
  int last = -1;
  while (const auto pass = agree_on_pass(std::nullopt)) {
    last = pass->root;
    if (syncs_buffers()) send_buffers(last);
    x_sync_buffers = pass->reduces;
    if (pass->reduces) x_reducer->shadow_step(last, pass->weighted);
  }
  // The last rank to end has only real steps; those that ended with it have the same state.
  auto root = at::full({1}, last < 0 ? x_group->rank() : -1, at::kLong).to(x_group->device());
  x_group->all_reduce(root, ReduceOp::max).wait();
  auto state = x_buffers;
  for (const auto& parameter : parameters_of(*x_module)) state.push_back(parameter.second);
  broadcast_tensors(*x_group, state, static_cast<int>(root.item<int64_t>()));
}

double DataParallelCore::clip_grad_norm(double max_norm, double p) {
  const double norm = x_reducer->gradient_norm(p);
  // 1e-6 as torch's own, so that the results are the same.
  const double factor = max_norm / (norm + 1e-6);
  if (factor < 1) x_reducer->scale_gradients(factor);
  return norm;
}

} // namespace hpcml::ddp
