// SPDX-License-Identifier: MIT
// The ranks of a job as one group, from the variables that `hpcml launch` and torchrun set.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "hpcml/ddp/error.hpp"
#include "hpcml/ddp/group_options.hpp"
#include "hpcml/rank_env.hpp"

namespace hpcml::ddp {

class ProcessGroup;

struct Operation;

/// An operation that all ranks have begun, or an exchange between two. Its tensors may be used once wait()
/// has returned.
class Work {
public:
  Work() = default; ///< nothing has begun: done
  bool is_done() const;
  /// Returns when it is done; on a GPU, when what the current stream does next sees its results.
  /// Throws Error with the rank that caused it if a rank is lost or the group's timeout is exceeded.
  void wait();

private:
  friend class ProcessGroup;
  struct State;
  explicit Work(std::shared_ptr<State> state) : x_state(std::move(state)) {}
  std::shared_ptr<State> x_state;
};

/// All ranks of the job. Every rank begins the same operations, in the same order, with tensors of the same
/// shape and dtype, except for exchanges between two ranks; one thread at a time uses a group. Tensors are
/// contiguous and on device(). If that is a GPU, they may also be on another of this rank's GPUs, or on the
/// CPU, from where Gloo transfers them; in the same way on all ranks.
class ProcessGroup {
public:
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const noexcept;
  int size() const noexcept;
  const RankEnv& environment() const noexcept;
  const std::string& backend() const noexcept;        ///< "nccl" or "gloo"
  const std::string& interface_name() const noexcept; ///< Gloo's; empty with NCCL
  at::Device device() const noexcept;                 ///< this rank's GPU, or the CPU

  /// The tensor becomes the sum (product, …) over all ranks, the same bits on each.
  Work all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::sum);
  /// The tensor becomes that of `root` (0 … size-1).
  Work broadcast(const at::Tensor& tensor, int root = 0);
  /// `outputs` becomes one tensor per rank, in the order of ranks, each of the shape of `input`.
  Work all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& input);
  /// Done when every rank has begun it.
  Work barrier();

  /// The tensor goes to `to_rank` alone, which calls recv() for this rank with the same tag (0 or more),
  /// shape and dtype; among those of one tag the first recv() gets the first tensor. NCCL knows no tags. Done
  /// when the tensor may be changed, which can be as late as its recv(): where two ranks send to each other,
  /// both begin before they wait, and with NCCL one of the two begins with its send, the other with its
  /// recv: a GPU does what two ranks have between them one after the other.
  Work send(const at::Tensor& tensor, int to_rank, int tag = 0);
  /// Receives what `from_rank` sends to this rank with the same tag into the tensor. Its size is not checked,
  /// because no backend reports it before. With Gloo a smaller tensor silently fills the first bytes of this
  /// one, and a larger one aborts this process ("op.preamble.length <= op.nbytes. SENT vs ROOM", in bytes),
  /// which the others report as lost; with NCCL both are undefined.
  Work recv(const at::Tensor& tensor, int from_rank, int tag = 0);

  /// Ends the program's part on all ranks: throws Error here, and soon on all others that wait for this one.
  [[noreturn]] void fail(const std::string& phase, const std::string& why);

  struct State; ///< of this library alone
  explicit ProcessGroup(std::unique_ptr<State> state);

private:
  friend class Work;
  /// Begins an operation unless a rank is in trouble; throws Error.
  template <class Begin> Work begin(const Operation& operation, const at::Tensor* tensor, const Begin& start);
  /// Throws Error on what can be no exchange.
  void check_exchange(const Operation& exchange, const at::Tensor& tensor);
  std::shared_ptr<State> x_state;
};

/// Connects all ranks of the job, as a client of the store that `hpcml launch` or torchrun serves, else of
/// rank 0's. Throws Error with the ranks that did not connect in time, and std::runtime_error if the
/// environment or the options are wrong. All ranks must call it the same number of times.
std::shared_ptr<ProcessGroup> init_process_group(const GroupOptions& options = {});

} // namespace hpcml::ddp
