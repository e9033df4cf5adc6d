// SPDX-License-Identifier: MIT
// The one place that knows LibTorch's releases (1.13 … 2.x): store and process group behind one interface.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "hpcml/rank_env.hpp"

namespace at {
class Tensor; // whoever computes includes <ATen/ATen.h>; that costs many seconds per file
}

namespace hpcml::helper {

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

/// The key-value store that the ranks meet at; rank 0 serves it. Every call returns or throws within its time
/// limit.
class Store {
public:
  /// Rank 0: listens on MASTER_PORT. The others: connect to it. Throws std::runtime_error with host, port and
  /// reason.
  Store(const RankEnv& env, std::chrono::milliseconds timeout);
  ~Store();
  Store(Store&&) noexcept;
  void set(const std::string& key, const std::string& value);
  bool has(const std::string& key);
  /// Waits for the key; throws when it does not come in time.
  std::string get(const std::string& key, std::chrono::milliseconds timeout);

private:
  friend class ProcessGroup;
  struct State;
  std::unique_ptr<State> x_state;
};

/// How a process group is made.
struct GroupOptions {
  std::string backend = "auto";             ///< "nccl", "gloo" or "auto": NCCL if there are GPUs, else Gloo
  std::string interface_name;               ///< for Gloo, exact; empty: see choose_interface
  std::chrono::milliseconds timeout{30000}; ///< of the connection and of each operation
};

/// A part of the ranks as a group of its own.
struct Subgroup {
  std::string name; ///< of the group: no two may have the same in one store
  int rank = 0;     ///< this process's place in it
  int size = 0;
};

/// A connected set of ranks. All ranks call the same operations in the same order; each waits for its end
/// and throws std::runtime_error after the timeout.
class ProcessGroup {
public:
  ProcessGroup(Store& store, const RankEnv& env, const GroupOptions& options);
  /// Only the members: `env` says where this rank runs.
  ProcessGroup(Store& store, const RankEnv& env, const GroupOptions& options, const Subgroup& members);
  ~ProcessGroup();
  ProcessGroup(ProcessGroup&&) noexcept;

  int rank() const;
  int size() const;
  const std::string& backend() const;        ///< "nccl" or "gloo"
  const std::string& interface_name() const; ///< Gloo's; empty with NCCL, which chooses by itself
  at::Device device() const;                 ///< where tensors must be: this rank's GPU, or the CPU

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

} // namespace hpcml::helper
