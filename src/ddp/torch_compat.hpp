// SPDX-License-Identifier: MIT
// The one place that knows LibTorch's releases (1.13 … 2.x): store, process group, autograd hooks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "hpcml/ddp/group_options.hpp"
#include "hpcml/rank_env.hpp"

namespace at {
class Tensor; // files that compute include <ATen/ATen.h>, which costs many seconds per file
}

namespace hpcml::ddp {

/// What this program was compiled with and what it runs with.
struct TorchFacts {
  std::string header_version;  ///< "2.13.0"
  std::string library_version; ///< as the loaded library says; empty if it does not
  bool gloo = false;           ///< compiled in
  bool nccl = false;           ///< compiled in (on AMD: RCCL)
  std::string nccl_version;    ///< empty without NCCL
  int gpu_count = 0;           ///< GPUs that LibTorch sees here
};
/// What this LibTorch says of itself.
TorchFacts torch_facts();

/// The process that serves the rendezvous store.
enum class StoreServerOwner {
  rank_0,   ///< rank 0's own process
  launcher, ///< what started the ranks; each of them is a client
};

/// The rendezvous store of the ranks. Every call returns or throws within its time limit.
class Store {
public:
  /// The server listens on MASTER_PORT, the others connect to it. Throws std::runtime_error with host, port
  /// and reason.
  Store(const RankEnv& env, std::chrono::milliseconds timeout,
        StoreServerOwner owner = StoreServerOwner::rank_0);
  ~Store();
  Store(Store&&) noexcept;
  void set(const std::string& key, const std::string& value);
  bool has(const std::string& key);
  /// Adds to a number, which begins at 0; returns what it is then.
  long long add(const std::string& key, long long amount);
  /// Waits for the key; throws when it does not come in time.
  std::string get(const std::string& key, std::chrono::milliseconds timeout);

private:
  friend class Communicator;
  struct State;
  std::unique_ptr<State> x_state;
};

/// What a wait for an operation of NCCL holds until the GPU has done it.
enum class NcclWaitMode {
  process, ///< the process: a wait has a time limit
  stream,  ///< the current stream alone
};

/// A separate group of some of the ranks.
struct Subgroup {
  std::string name; ///< of the group: no two may have the same in one store
  int rank = 0;     ///< this process's place in it
  int size = 0;
};

/// An operation of all ranks that has begun. A copy is the same operation.
class PendingOperation {
public:
  struct State;
  PendingOperation() = default; ///< nothing has begun
  explicit PendingOperation(std::shared_ptr<State> state) : x_state(std::move(state)) {}
  explicit operator bool() const { return x_state != nullptr; }
  /// Throws std::runtime_error if an operation on a GPU failed.
  bool is_done() const;
  /// Returns the same operation without its tensors, only to query whether it has ended.
  PendingOperation without_tensors() const;
  /// Waits at most `limit`, and returns whether it has ended. Throws std::runtime_error if it failed. On a
  /// GPU the results are available to later work of the current stream.
  bool wait_for(std::chrono::milliseconds limit) const;

private:
  std::shared_ptr<State> x_state;
};

/// A connected set of ranks. All ranks call the same operations in the same order. The first kind begins an
/// operation, and the tensors must live until it is done; the second waits for its end (on a GPU until its
/// stream has done it) and throws std::runtime_error after the timeout.
class Communicator {
public:
  Communicator(Store& store, const RankEnv& env, const GroupOptions& options);
  /// Only the members: `env` says where this rank runs.
  Communicator(Store& store, const RankEnv& env, const GroupOptions& options, const Subgroup& members,
               NcclWaitMode wait_mode = NcclWaitMode::process);
  ~Communicator();
  Communicator(Communicator&&) noexcept;

  int rank() const;
  int size() const;
  const std::string& backend() const;        ///< "nccl" or "gloo"
  const std::string& interface_name() const; ///< Gloo's; empty with NCCL, which chooses by itself
  at::Device device() const;                 ///< where tensors must be: this rank's GPU, or the CPU
  /// A rank is in trouble: the destructor does not wait for it.
  void give_up();
  /// What GPUs wait for ends, with any result. From any thread; only the destructor may be called then.
  void abort();

  PendingOperation begin_all_reduce(const at::Tensor& tensor, ReduceOp op);
  PendingOperation begin_broadcast(const at::Tensor& tensor, int root);
  /// `outputs`: one tensor per rank, in the order of ranks, all of the shape of `tensor`.
  PendingOperation begin_all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor);
  PendingOperation begin_barrier();
  PendingOperation begin_send(const at::Tensor& tensor, int to, int tag);
  PendingOperation begin_receive(const at::Tensor& tensor, int from, int tag);

  void all_reduce_sum(at::Tensor& tensor);
  void broadcast(at::Tensor& tensor, int root);
  /// One tensor per rank, in the order of ranks, all of the shape of `tensor`.
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor);
  void send(at::Tensor& tensor, int to);
  void receive(at::Tensor& tensor, int from);

private:
  struct State;
  std::unique_ptr<State> x_state;
};

/// "nccl" or "gloo" for what the user asked; throws when NCCL is asked for and can't be had, and says why.
std::string resolve_backend(const std::string& wanted);

/// Calls `then` each time after a gradient of the leaf was accumulated, in the thread that did so, until it
/// is destroyed. The leaf's graph must not be entered while this is made or destroyed.
class GradientHook {
public:
  GradientHook(const at::Tensor& leaf, std::function<void()> then);
  ~GradientHook();
  GradientHook(GradientHook&&) noexcept;
  GradientHook& operator=(GradientHook&&) noexcept;
  /// Whether the leaf's gradients still come by here: set_(), as loading a module does, gives it another
  /// accumulator.
  bool holds(const at::Tensor& leaf) const;

private:
  struct State;
  std::unique_ptr<State> x_state;
};

/// Calls `then` when the backward pass that runs now has ended; only within one. What it throws, backward()
/// throws.
void at_end_of_backward(std::function<void()> then);

} // namespace hpcml::ddp
