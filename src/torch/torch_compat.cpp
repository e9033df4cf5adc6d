// SPDX-License-Identifier: MIT
#include "torch/torch_compat.hpp"

#include <cstdlib>
#include <stdexcept>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/cuda.h>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include "torch/network.hpp"

namespace hpcml::helper {

namespace {

// In 1.x ProcessGroupGloo *is* a process group; since 2.0 it is a backend that a process group holds. Both
// have the same operations, so we hold the thing that has them.
#if TORCH_VERSION_MAJOR >= 2
using Communicator = c10d::Backend;
#else
using Communicator = c10d::ProcessGroup;
#endif

/// c10d's messages carry a C++ back trace from the second line on; people need the first.
std::string first_line(const char* text) {
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

/// Runs an operation of LibTorch; its exceptions become ours, with the circumstance in front.
template <class Action> auto translate(const std::string& circumstance, Action action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw std::runtime_error(circumstance + ": " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw std::runtime_error(circumstance + ": " + first_line(error.what()));
  }
}

/// "TORCH_VERSION=2.13.0" in the library's own description of its build.
std::string version_of_loaded_library() {
  const std::string text = at::show_config();
  const std::string key = "TORCH_VERSION=";
  const auto start = text.find(key);
  if (start == std::string::npos) return {};
  const auto begin = start + key.size();
  return text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

c10::intrusive_ptr<Communicator> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const RankEnv& env,
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

#ifdef USE_C10D_NCCL
c10::intrusive_ptr<Communicator> make_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                           const GroupOptions& options, const Subgroup& members) {
  // Without blocking wait a missing peer aborts the whole process from a watchdog thread, and nobody is
  // named. The variable was renamed in 2.2.
  ::setenv("NCCL_BLOCKING_WAIT", "1", 0);
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 0);
  auto settings = c10d::ProcessGroupNCCL::Options::create();
  settings->timeout = options.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, members.rank, members.size, settings);
}
#endif

} // namespace

TorchFacts torch_facts() {
  TorchFacts facts;
  facts.header_version = TORCH_VERSION;
  facts.library_version = version_of_loaded_library();
#ifdef USE_C10D_GLOO
  facts.gloo = true;
#endif
#ifdef USE_C10D_NCCL
  facts.nccl = true;
  facts.nccl_version = c10d::getNcclVersion();
#endif
  facts.gpu_count = static_cast<int>(torch::cuda::device_count());
  return facts;
}

std::string resolve_backend(const std::string& wanted) {
  if (wanted == "gloo") return wanted;
#ifdef USE_C10D_NCCL
  const bool built = true;
#else
  const bool built = false;
#endif
  const bool gpus = torch::cuda::device_count() > 0;
  if (wanted == "auto" || wanted.empty()) return built && gpus ? "nccl" : "gloo";
  if (wanted != "nccl")
    throw std::runtime_error("unknown backend '" + wanted + "': there are auto, nccl and gloo");
  if (!built)
    throw std::runtime_error("this program was built against a LibTorch without NCCL; build it against a "
                             "CUDA or ROCm torch, or take --backend gloo");
  if (!gpus)
    throw std::runtime_error(
        "NCCL needs GPUs and LibTorch sees none on " + host_name() +
        "; see --gpus-per-node and the visible-devices variables, or take --backend gloo");
  return wanted;
}

struct Store::State {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

Store::Store(const RankEnv& env, std::chrono::milliseconds timeout) : x_state(std::make_unique<State>()) {
  const std::string place = env.master_addr + ":" + std::to_string(env.master_port);
  const bool server = env.rank == 0;
  if (!server) {
    const std::string reason =
        wait_until_reachable(env.master_addr, env.master_port, std::chrono::steady_clock::now() + timeout);
    if (!reason.empty())
      throw std::runtime_error("rank " + std::to_string(env.rank) + " on " + host_name() +
                               " could not reach rank 0 at " + place + ": " + reason);
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(env.master_port);
  options.isServer = server;
  // Who is missing is for us to find out, with a deadline and by name; c10d's own wait says neither.
  options.waitWorkers = false;
  options.timeout = timeout;
  x_state->store = translate(
      server ? "rank 0 on " + host_name() + " could not serve the rendezvous at " + place
             : "rank " + std::to_string(env.rank) + " on " + host_name() + " lost rank 0 at " + place,
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

std::string Store::get(const std::string& key, std::chrono::milliseconds timeout) {
  return translate("waiting for rank 0's store", [&] {
    x_state->store->wait({key}, timeout);
    const auto bytes = x_state->store->get(key);
    return std::string(bytes.begin(), bytes.end());
  });
}

struct ProcessGroup::State {
  c10::intrusive_ptr<Communicator> communicator;
  std::string backend;
  std::string interface_name;
  at::Device device = at::kCPU;

  /// Waits for the operation; on a GPU also until its stream has done it, so that callers can measure time.
  template <class Start> void run(const std::string& what, Start start) {
    translate(what, [&] {
      start()->wait();
      if (device.is_cuda()) torch::cuda::synchronize(device.index());
    });
  }
};

ProcessGroup::ProcessGroup(Store& store, const RankEnv& env, const GroupOptions& options)
    : ProcessGroup(store, env, options, {"", env.rank, env.world_size}) {}

ProcessGroup::ProcessGroup(Store& store, const RankEnv& env, const GroupOptions& options,
                           const Subgroup& members)
    : x_state(std::make_unique<State>()) {
  x_state->backend = resolve_backend(options.backend);
  c10::intrusive_ptr<c10d::Store> base = store.x_state->store;
  if (!members.name.empty()) base = c10::make_intrusive<c10d::PrefixStore>(members.name, base);
  base->setTimeout(options.timeout);
#ifdef USE_C10D_NCCL
  if (x_state->backend == "nccl") {
    const auto count = static_cast<int>(torch::cuda::device_count());
    x_state->device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(env.local_rank % count));
    x_state->communicator =
        translate("making the NCCL group", [&] { return make_nccl(base, options, members); });
    return;
  }
#endif
  x_state->communicator = translate("connecting the ranks with Gloo", [&] {
    return make_gloo(base, env, options, members, x_state->interface_name);
  });
}

ProcessGroup::~ProcessGroup() = default;
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;

int ProcessGroup::rank() const { return x_state->communicator->getRank(); }
int ProcessGroup::size() const { return x_state->communicator->getSize(); }
const std::string& ProcessGroup::backend() const { return x_state->backend; }
const std::string& ProcessGroup::interface_name() const { return x_state->interface_name; }
at::Device ProcessGroup::device() const { return x_state->device; }

void ProcessGroup::all_reduce_sum(at::Tensor& tensor) {
  std::vector<at::Tensor> list{tensor};
  x_state->run("all_reduce", [&] { return x_state->communicator->allreduce(list); });
}

void ProcessGroup::broadcast(at::Tensor& tensor, int root) {
  std::vector<at::Tensor> list{tensor};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  x_state->run("broadcast", [&] { return x_state->communicator->broadcast(list, options); });
}

std::vector<at::Tensor> ProcessGroup::all_gather(const at::Tensor& tensor) {
  std::vector<at::Tensor> inputs{tensor};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < size(); ++i) outputs[0].push_back(at::empty_like(tensor));
  x_state->run("all_gather", [&] { return x_state->communicator->allgather(outputs, inputs); });
  return outputs[0];
}

void ProcessGroup::send(at::Tensor& tensor, int to) {
  std::vector<at::Tensor> list{tensor};
  x_state->run("send to rank " + std::to_string(to),
               [&] { return x_state->communicator->send(list, to, 0); });
}

void ProcessGroup::receive(at::Tensor& tensor, int from) {
  std::vector<at::Tensor> list{tensor};
  x_state->run("receive from rank " + std::to_string(from),
               [&] { return x_state->communicator->recv(list, from, 0); });
}

} // namespace hpcml::helper
