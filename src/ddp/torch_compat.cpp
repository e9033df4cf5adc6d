// SPDX-License-Identifier: MIT
#include "ddp/torch_compat.hpp"

#include <atomic>
#include <stdexcept>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/cuda.h>

#include "ddp/format_message.hpp"
#include "ddp/nccl_group.hpp"
#include "ddp/network.hpp"
#include "ddp/run_within.hpp"
#include "ddp/timed_wait.hpp"
#include "ddp/waiter_threads.hpp"

namespace hpcml::ddp {

namespace {

/// For the end of a group with a rank in trouble.
[[maybe_unused]] constexpr std::chrono::milliseconds k_end{5000};

/// c10d's messages contain a C++ backtrace after the first line, which is the useful one.
std::string first_line(const char* text) {
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

/// Runs an operation of LibTorch; its exceptions become ours, with the circumstance in front.
template <class Action> auto translate(const std::string& circumstance, Action action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw std::runtime_error(
        format_message("{}: {}", circumstance, first_line(error.what_without_backtrace())));
  } catch (const std::exception& error) {
    throw std::runtime_error(format_message("{}: {}", circumstance, first_line(error.what())));
  }
}

c10::intrusive_ptr<Group> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const RankEnv& env,
                                    const GroupOptions& options, const Subgroup& members,
                                    std::string& interface_name) {
  const auto place = choose_interface(env, options.interface_name);
  interface_name = place.interface;
  auto settings = c10d::ProcessGroupGloo::Options::create(options.timeout);
  // By address and not by name: an interface may have several addresses, and this one was chosen.
  settings->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(place.address));
  settings->threads = 2;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, members.rank, members.size, settings);
}

} // namespace

struct Store::State {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

Store::Store(const RankEnv& env, std::chrono::milliseconds timeout, StoreServerOwner owner)
    : x_state(std::make_unique<State>()) {
  const std::string place = format_message("{}:{}", env.master_addr, env.master_port);
  const bool serves = owner == StoreServerOwner::rank_0 && env.rank == 0;
  const std::string whose = owner == StoreServerOwner::rank_0 ? "rank 0" : "the launcher's store";
  if (!serves) {
    const std::string reason =
        wait_until_reachable(env.master_addr, env.master_port, std::chrono::steady_clock::now() + timeout);
    if (!reason.empty())
      throw std::runtime_error(format_message(
          "rank {} ({}) could not reach {} at {}: {}; check that rank 0 runs, and MASTER_ADDR and "
          "MASTER_PORT of this rank",
          env.rank, host_name(), whose, place, reason));
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(env.master_port);
  options.isServer = serves;
  // Who is missing is for us to find out, with a deadline and by name; c10d's own wait says neither.
  options.waitWorkers = false;
  options.timeout = timeout;
  x_state->store = translate(
      serves ? format_message("rank 0 ({}) could not serve the rendezvous at {}", host_name(), place)
             : format_message("rank {} ({}) lost {} at {}", env.rank, host_name(), whose, place),
      [&] { return c10::make_intrusive<c10d::TCPStore>(env.master_addr, options); });
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

void Store::set(const std::string& key, const std::string& value) {
  translate("writing to the rendezvous store",
            [&] { x_state->store->set(key, std::vector<uint8_t>(value.begin(), value.end())); });
}

bool Store::has(const std::string& key) {
  return translate("reading the rendezvous store", [&] { return x_state->store->check({key}); });
}

long long Store::add(const std::string& key, long long amount) {
  return translate("writing to the rendezvous store", [&] { return x_state->store->add(key, amount); });
}

std::string Store::get(const std::string& key, std::chrono::milliseconds timeout) {
  return translate("waiting for the rendezvous store", [&] {
    x_state->store->wait({key}, timeout);
    const auto bytes = x_state->store->get(key);
    return std::string(bytes.begin(), bytes.end());
  });
}

struct PendingOperation::State {
  c10::intrusive_ptr<c10d::Work> work;
  std::vector<at::Tensor> tensors; // c10d keeps no hold of some of them
  std::string what;
  bool blocks = true;                        // wait() may be given a time
  std::shared_ptr<WaiterThreads::Wait> wait; // by a thread, where Gloo cannot be asked
};

bool PendingOperation::is_done() const {
  if (x_state->wait) return x_state->wait->is_over();
  if (!x_state->work->isCompleted()) return false;
  // No wait for an operation of NCCL throws this.
  if (!x_state->blocks && x_state->work->exception())
    translate(x_state->what, [&] { std::rethrow_exception(x_state->work->exception()); });
  return true;
}

PendingOperation PendingOperation::without_tensors() const {
  auto state = std::make_shared<State>(*x_state);
  state->tensors.clear();
  return PendingOperation(std::move(state));
}

bool PendingOperation::wait_for(std::chrono::milliseconds limit) const {
  return translate(x_state->what, [&] {
    if (x_state->wait) return x_state->wait->is_over_within(limit);
    // NCCL's wait() orders the streams and returns; given a time, it aborts the group when that is over.
    if (!x_state->blocks) return x_state->work->wait();
    return wait_at_most(*x_state->work, limit);
  });
}

struct Communicator::State {
  c10::intrusive_ptr<Group> group;
  std::string backend;
  std::string interface_name;
  at::Device device = at::kCPU;
  std::atomic<bool> given_up{false}, aborted{false};
  WaiterThreads waiters; // end before the group

  template <class Start>
  std::shared_ptr<PendingOperation::State> start(const std::string& what, std::vector<at::Tensor> tensors,
                                                 const Start& start) {
    auto state = std::make_shared<PendingOperation::State>();
    state->what = what;
    state->blocks = backend != "nccl";
    state->tensors = std::move(tensors);
    state->work = translate(what, [&] { return start(state->tensors); });
    return state;
  }

  template <class Start>
  PendingOperation begin(const std::string& what, std::vector<at::Tensor> tensors, const Start& begin) {
    return PendingOperation(start(what, std::move(tensors), begin));
  }

  /// With one other rank. Gloo's operation never says that it has ended, and a wait for it whose time is over
  /// cuts all connections of the group: a thread waits without one.
  template <class Start>
  PendingOperation begin_exchange(const std::string& what, const at::Tensor& tensor, const Start& begin) {
    auto state = start(what, {tensor}, begin);
    if (backend == "gloo")
      state->wait = waiters.begin(
          [work = state->work] {
            if (!work->wait())
              throw std::runtime_error(
                  "the process group ended during a send or receive; check the logs of the other ranks");
          },
          [work = state->work] { work->abort(); });
    return PendingOperation(std::move(state));
  }

  /// Waits for the operation; on a GPU also until its stream has done it, so that callers can measure time.
  template <class Start> void run(const std::string& what, std::vector<at::Tensor> tensors, Start start) {
    const auto state = this->start(what, std::move(tensors), start);
    translate(what, [&] {
      state->work->wait();
      if (device.is_cuda()) torch::cuda::synchronize(device.index());
    });
  }
};

Communicator::Communicator(Store& store, const RankEnv& env, const GroupOptions& options)
    : Communicator(store, env, options, {"", env.rank, env.world_size}) {}

Communicator::Communicator(Store& store, const RankEnv& env, const GroupOptions& options,
                           const Subgroup& members, [[maybe_unused]] NcclWaitMode wait_mode)
    : x_state(std::make_unique<State>()) {
  x_state->backend = resolve_backend(options.backend);
  c10::intrusive_ptr<c10d::Store> base = store.x_state->store;
  if (!members.name.empty()) base = c10::make_intrusive<c10d::PrefixStore>(members.name, base);
  base->setTimeout(options.timeout);
#ifdef USE_C10D_NCCL
  if (x_state->backend == "nccl") {
    const auto count = static_cast<int>(torch::cuda::device_count());
    x_state->device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(env.local_rank % count));
    x_state->group =
        translate("making the NCCL group", [&] { return make_nccl(base, options, members, wait_mode); });
    return;
  }
#endif
  x_state->group = translate("connecting the ranks with Gloo",
                             [&] { return make_gloo(base, env, options, members, x_state->interface_name); });
}

Communicator::~Communicator() {
#ifdef USE_C10D_NCCL
  if (!x_state || !x_state->group || x_state->backend != "nccl") return;
  if (!x_state->given_up) {
    end_nccl(*x_state->group);
    return;
  }
  if (!x_state->aborted) abort();
  // c10d joins its own threads, which may wait for others as well; the process ends soon.
  run_within(k_end, [group = std::move(x_state->group)]() mutable { group.reset(); });
#endif
}

Communicator::Communicator(Communicator&&) noexcept = default;

int Communicator::rank() const { return x_state->group->getRank(); }
int Communicator::size() const { return x_state->group->getSize(); }
const std::string& Communicator::backend() const { return x_state->backend; }
const std::string& Communicator::interface_name() const { return x_state->interface_name; }
at::Device Communicator::device() const { return x_state->device; }

void Communicator::give_up() { x_state->given_up = true; }

void Communicator::abort() {
  x_state->given_up = x_state->aborted = true;
#ifdef USE_C10D_NCCL
  if (x_state->backend == "nccl") run_within(k_end, [group = x_state->group] { abort_nccl(*group); });
#endif
}

PendingOperation Communicator::begin_all_reduce(const at::Tensor& tensor, ReduceOp op) {
  c10d::AllreduceOptions options;
  switch (op) {
  case ReduceOp::sum: options.reduceOp = c10d::ReduceOp::SUM; break;
  case ReduceOp::product: options.reduceOp = c10d::ReduceOp::PRODUCT; break;
  case ReduceOp::min: options.reduceOp = c10d::ReduceOp::MIN; break;
  case ReduceOp::max: options.reduceOp = c10d::ReduceOp::MAX; break;
  }
  return x_state->begin("all_reduce", {tensor},
                        [&](auto& list) { return x_state->group->allreduce(list, options); });
}

PendingOperation Communicator::begin_broadcast(const at::Tensor& tensor, int root) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return x_state->begin("broadcast", {tensor},
                        [&](auto& list) { return x_state->group->broadcast(list, options); });
}

PendingOperation Communicator::begin_all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor) {
  std::vector<std::vector<at::Tensor>> lists{outputs};
  return x_state->begin("all_gather", {tensor},
                        [&](auto& list) { return x_state->group->allgather(lists, list); });
}

PendingOperation Communicator::begin_barrier() {
  c10d::BarrierOptions options;
  // Else NCCL guesses the GPU, by the rank's number.
  if (device().is_cuda()) options.device_ids = {device().index()};
  return x_state->begin("barrier", {}, [&](auto&) { return x_state->group->barrier(options); });
}

PendingOperation Communicator::begin_send(const at::Tensor& tensor, int to, int tag) {
  return x_state->begin_exchange("send", tensor,
                                 [&](auto& list) { return x_state->group->send(list, to, tag); });
}

PendingOperation Communicator::begin_receive(const at::Tensor& tensor, int from, int tag) {
  return x_state->begin_exchange("recv", tensor,
                                 [&](auto& list) { return x_state->group->recv(list, from, tag); });
}

void Communicator::all_reduce_sum(at::Tensor& tensor) {
  x_state->run("all_reduce", {tensor}, [&](auto& list) { return x_state->group->allreduce(list); });
}

void Communicator::broadcast(at::Tensor& tensor, int root) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  x_state->run("broadcast", {tensor}, [&](auto& list) { return x_state->group->broadcast(list, options); });
}

std::vector<at::Tensor> Communicator::all_gather(const at::Tensor& tensor) {
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < size(); ++i) outputs[0].push_back(at::empty_like(tensor));
  x_state->run("all_gather", {tensor}, [&](auto& list) { return x_state->group->allgather(outputs, list); });
  return outputs[0];
}

void Communicator::send(at::Tensor& tensor, int to) {
  x_state->run(format_message("send to rank {}", to), {tensor},
               [&](auto& list) { return x_state->group->send(list, to, 0); });
}

void Communicator::receive(at::Tensor& tensor, int from) {
  x_state->run(format_message("receive from rank {}", from), {tensor},
               [&](auto& list) { return x_state->group->recv(list, from, 0); });
}

} // namespace hpcml::ddp
