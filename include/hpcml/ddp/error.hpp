// SPDX-License-Identifier: MIT
// How operations of several ranks fail: which ranks caused it, and in which operation.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hpcml::ddp {

/// An operation of all ranks that failed, or a use of this library that would make the ranks wait for each
/// other. `what()` is a sentence with this rank, the ranks that caused it with their hosts, and the
/// operation.
class Error : public std::runtime_error {
public:
  Error(const std::string& what, int rank, std::string phase, std::vector<int> failed_ranks)
      : std::runtime_error(what), x_rank(rank), x_phase(std::move(phase)),
        x_failed_ranks(std::move(failed_ranks)) {}

  int rank() const noexcept { return x_rank; }                  ///< that throws
  const std::string& phase() const noexcept { return x_phase; } ///< "all_reduce", "rendezvous", …
  const std::vector<int>& failed_ranks() const noexcept {
    return x_failed_ranks;
  } ///< ascending; empty: not known

private:
  int x_rank;
  std::string x_phase;
  std::vector<int> x_failed_ranks;
};

} // namespace hpcml::ddp
