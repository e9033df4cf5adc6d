// SPDX-License-Identifier: MIT
// A library to preload: what rank ALTER_RANK brings to the operations of Gloo is not what its program gave.
// ALTER_WHAT: "sum" or "message".
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace {

bool is_altered(const char* what) {
  const char *own = std::getenv("RANK"), *rank = std::getenv("ALTER_RANK"),
             *option = std::getenv("ALTER_WHAT");
  return own && rank && option && std::strcmp(own, rank) == 0 && std::strcmp(option, what) == 0;
}

void* next(const char* name) { return ::dlsym(RTLD_NEXT, name); }

} // namespace

namespace c10d {

using Started = c10::intrusive_ptr<Work>;

Started ProcessGroupGloo::allreduce(std::vector<at::Tensor>& tensors, const AllreduceOptions& options) {
  using Real = Started (*)(ProcessGroupGloo*, std::vector<at::Tensor>&, const AllreduceOptions&);
  static const auto real = reinterpret_cast<Real>(
      next("_ZN4c10d16ProcessGroupGloo9allreduceERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE"));
  if (is_altered("sum")) tensors[0][5] += 1;
  return real(this, tensors, options);
}

Started ProcessGroupGloo::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  using Real = Started (*)(ProcessGroupGloo*, std::vector<at::Tensor>&, int, int);
  static const auto real =
      reinterpret_cast<Real>(next("_ZN4c10d16ProcessGroupGloo4sendERSt6vectorIN2at6TensorESaIS3_EEii"));
  if (is_altered("message")) tensors[0] = tensors[0] + 1;
  return real(this, tensors, to, tag);
}

} // namespace c10d
