// SPDX-License-Identifier: MIT
#include "hpcml/ddp/process_group.hpp"

#include <atomic>
#include <stdexcept>

#include <ATen/ATen.h>

#include "ddp/format_message.hpp"
#include "ddp/group_state.hpp"

namespace hpcml::ddp {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How long an operation may take before it is looked whether another rank is in trouble.
constexpr milliseconds k_slice{250};

/// The shortest time of a group: what is asked every k_slice has to come around.
constexpr milliseconds k_least_timeout{1000};

Error rendezvous_error(const RankEnv& env, const std::string& what) {
  return Error(what, env.rank, k_rendezvous, env.rank == 0 ? std::vector<int>{} : std::vector<int>{0});
}

/// The same on every rank: groups are made by all, in the same order. A launcher's restart has a fresh store.
std::string next_prefix() {
  static std::atomic<int> made{0};
  return "hpcml/ddp/" + std::to_string(made++) + "/";
}

} // namespace

struct Work::State {
  PendingOperation transfer;
  std::shared_ptr<ProcessGroup::State> group;
  Operation operation;
};

bool Work::is_done() const {
  try {
    return x_state == nullptr || x_state->transfer.is_done();
  } catch (const std::exception&) {
    return true; // it failed, which wait() reports
  }
}

void Work::wait() {
  if (x_state == nullptr) return;
  const auto state = std::move(x_state);
  auto& group = *state->group;
  const auto& operation = state->operation;
  const auto start = steady_clock::now();
  group.watch.wait_for(operation);
  try {
    while (!state->transfer.wait_for(k_slice)) {
      if (group.watch.is_called()) group.watch.fail(operation, "", false);
      if (steady_clock::now() - start > group.options.timeout)
        group.watch.fail(operation,
                         format_message("not done within {} s", group.options.timeout.count() / 1000), false);
    }
    // NCCL's wait is over when the streams are in order, or the group was ended.
    if (group.nccl_watchdog && group.watch.is_called()) group.watch.fail(operation, "", false);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    group.watch.fail(operation, error.what(), false);
  }
  group.watch.end_wait();
}

ProcessGroup::ProcessGroup(std::unique_ptr<State> state) : x_state(std::move(state)) {}
ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::rank() const noexcept { return x_state->env.rank; }
int ProcessGroup::size() const noexcept { return x_state->env.world_size; }
const RankEnv& ProcessGroup::environment() const noexcept { return x_state->env; }
const std::string& ProcessGroup::backend() const noexcept { return x_state->communicator->backend(); }
const std::string& ProcessGroup::interface_name() const noexcept {
  return x_state->communicator->interface_name();
}
at::Device ProcessGroup::device() const noexcept { return x_state->device; }

void ProcessGroup::fail(const std::string& phase, const std::string& why) {
  x_state->watch.fail({phase}, why, true);
}

template <class Begin>
Work ProcessGroup::begin(const Operation& operation, const at::Tensor* tensor, const Begin& start) {
  auto& watch = x_state->watch;
  if (watch.is_called()) watch.fail(operation, "", false);
  watch.begin(operation);
  PendingOperation transfer;
  try {
    auto& ranks = tensor == nullptr ? *x_state->communicator : x_state->communicator_for(*tensor);
    transfer = start(ranks);
    if (x_state->nccl_watchdog && ranks.device().is_cuda())
      x_state->nccl_watchdog->add(operation, [left = transfer.without_tensors()] { return left.is_done(); });
  } catch (const std::exception& error) {
    watch.fail(operation, error.what(), false);
  }
  return Work(std::make_shared<Work::State>(Work::State{std::move(transfer), x_state, operation}));
}

Work ProcessGroup::all_reduce(const at::Tensor& tensor, ReduceOp op) {
  return begin({"all_reduce"}, &tensor, [&](auto& ranks) { return ranks.begin_all_reduce(tensor, op); });
}

Work ProcessGroup::broadcast(const at::Tensor& tensor, int root) {
  return begin({"broadcast"}, &tensor, [&](auto& ranks) { return ranks.begin_broadcast(tensor, root); });
}

Work ProcessGroup::all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& input) {
  outputs.clear();
  for (int rank = 0; rank < size(); ++rank) outputs.push_back(at::empty_like(input));
  return begin({"all_gather"}, &input, [&](auto& ranks) { return ranks.begin_all_gather(outputs, input); });
}

Work ProcessGroup::barrier() {
  return begin({"barrier"}, nullptr, [&](auto& ranks) { return ranks.begin_barrier(); });
}

void ProcessGroup::check_exchange(const Operation& exchange, const at::Tensor& tensor) {
  const auto refuse = [&](const std::string& why) { x_state->watch.fail(exchange, why, true); };
  if (exchange.peer < 0 || exchange.peer >= size())
    refuse(format_message("a send or receive names rank {}, but the ranks are 0 to {}", exchange.peer,
                          size() - 1));
  if (exchange.peer == rank())
    refuse(format_message("rank {} is this rank itself; use another rank to send to or receive from",
                          exchange.peer));
  if (exchange.tag < 0)
    refuse(format_message("the tag of a send or receive must be at least 0, not {}", exchange.tag));
  if (!tensor.is_contiguous())
    refuse("the tensor of a send or receive must be contiguous; use a tensor that contiguous() returns");
  if (tensor.device() != device() && !tensor.is_cpu())
    refuse(format_message("the tensor is on {}, but the process group is on {}; use a tensor on that device",
                          tensor.device().str(), device().str()));
}

Work ProcessGroup::send(const at::Tensor& tensor, int to_rank, int tag) {
  const Operation exchange{k_send, to_rank, tag};
  check_exchange(exchange, tensor);
  return begin(exchange, &tensor, [&](auto& ranks) { return ranks.begin_send(tensor, to_rank, tag); });
}

Work ProcessGroup::recv(const at::Tensor& tensor, int from_rank, int tag) {
  const Operation exchange{k_recv, from_rank, tag};
  check_exchange(exchange, tensor);
  return begin(exchange, &tensor, [&](auto& ranks) { return ranks.begin_receive(tensor, from_rank, tag); });
}

std::shared_ptr<ProcessGroup> init_process_group(const GroupOptions& options) {
  const RankEnv env = RankEnv::from_environment();
  if (options.timeout < k_least_timeout)
    throw std::invalid_argument(format_message(
        "the timeout of a process group must be at least 1 s (GroupOptions::timeout), not {} ms",
        options.timeout.count()));
  GroupOptions wanted = options;
  // A backend that is not available is reported before the others wait for this rank.
  wanted.backend = resolve_backend(options.backend == "auto" ? env.backend : options.backend);
  const auto owner = env.launcher_serves_store ? StoreServerOwner::launcher : StoreServerOwner::rank_0;
  std::shared_ptr<Store> store, second;
  try {
    store = std::make_shared<Store>(env, options.timeout, owner);
    // The server's own connection is local; the thread of every rank is a client like the others.
    second = std::make_shared<Store>(env, options.timeout, StoreServerOwner::launcher);
  } catch (const std::exception& error) {
    throw rendezvous_error(env, error.what());
  }
  auto state = std::make_unique<ProcessGroup::State>(env, options, store, second, next_prefix(),
                                                     owner == StoreServerOwner::rank_0 && env.rank == 0);
  const Operation rendezvous{k_rendezvous};
  state->watch.begin(rendezvous);
  state->watch.wait_for(rendezvous);
  try {
    state->connect(wanted);
  } catch (const std::exception& error) {
    state->watch.fail(rendezvous, error.what(), false);
  }
  state->watch.end_wait();
  return std::make_shared<ProcessGroup>(std::move(state));
}

} // namespace hpcml::ddp
