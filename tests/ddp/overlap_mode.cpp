// SPDX-License-Identifier: MIT
// When gradients are computed and when they are summed, as LibTorch itself reports both: its own record of
// functions has Gloo's operations from their beginning to their end, and tensor hooks the gradients.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/record_function.h>
#include <torch/nn.h>
#include <torch/optim.h>

#include "hpcml/ddp/distributed_data_parallel.hpp"
#include "hpcml/json_line.hpp"
#include "rank_modes.hpp"

using namespace hpcml;

namespace ddp_test {

namespace {

/// Microseconds on the clock that all processes of a machine share.
double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Span {
  std::string name;
  double start = 0, end = 0;
  bool network = false;
};

/// What happened, in the order in which it ended; Gloo's threads write it, too.
class Record {
public:
  void add(Span span) {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_spans.push_back(std::move(span));
    x_added.notify_all();
  }
  /// Waits until `wanted` finds something in what happened after `since`.
  template <class Wanted> bool wait_for(double since, const Wanted& wanted) {
    std::unique_lock<std::mutex> lock(x_mutex);
    return x_added.wait_for(lock, std::chrono::seconds(60), [&] {
      for (const auto& span : x_spans)
        if (span.start >= since && wanted(span)) return true;
      return false;
    });
  }
  std::vector<Span> all() {
    const std::lock_guard<std::mutex> lock(x_mutex);
    return x_spans;
  }

private:
  std::mutex x_mutex;
  std::condition_variable x_added;
  std::vector<Span> x_spans;
};

Record& record() {
  static Record recorded;
  return recorded;
}

struct Begun : at::ObserverContext {
  double start = now();
};

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction&) { return std::make_unique<Begun>(); }

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  const std::string name = function.name();
  if (name == "gloo:all_reduce") record().add({name, static_cast<Begun*>(context)->start, now(), true});
}

constexpr int k_layers = 6;

/// Layers of equal size, without anything between them that hides which is which.
struct Tower : torch::nn::Module {
  explicit Tower(int64_t width) {
    for (int i = 0; i < k_layers; ++i)
      layers.push_back(
          register_module("layer" + std::to_string(i + 1),
                          torch::nn::Linear(torch::nn::LinearOptions(width, width).bias(false))));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::tanh(layers[0](x));
    // The last thing that backward comes by before the first layer.
    if (x.requires_grad() && before_first_layer)
      x.register_hook([this](const torch::Tensor&) { before_first_layer(); });
    for (int i = 1; i < k_layers; ++i) x = torch::tanh(layers[static_cast<std::size_t>(i)](x));
    return x;
  }
  std::vector<torch::nn::Linear> layers;
  std::function<void()> before_first_layer;
};

/// As chrome://tracing and Perfetto read it: computing is thread 0 of the rank's process, the network
/// thread 1.
void write_trace(const std::string& path, int rank) {
  std::ofstream file(path + "." + std::to_string(rank));
  file << "[\n";
  for (const auto& span : record().all())
    file << JsonLine()
                .add("name", span.name)
                .add("cat", span.network ? "network" : "compute")
                .add("ph", "X")
                .add_json("ts", std::to_string(span.start))
                .add_json("dur", std::to_string(span.end - span.start))
                .add("pid", rank)
                .add("tid", span.network ? 1 : 0)
                .text()
         << ",\n";
  file << JsonLine()
              .add("name", "process_name")
              .add("ph", "M")
              .add("pid", rank)
              .add_json("args", JsonLine().add("name", "rank " + std::to_string(rank)).text())
              .text()
       << "\n]\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

} // namespace

int run_overlap(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  const int64_t width = rank_options.number("--width", 64);
  auto tower = std::make_shared<Tower>(width);
  ddp::Options options;
  options.bucket_bytes = options.first_bucket_bytes = static_cast<std::size_t>(width * width) * 4;
  ddp::DistributedDataParallel<Tower> model(tower, group, options);
  torch::optim::SGD optimizer(tower->parameters(), torch::optim::SGDOptions(0.01));
  at::addGlobalCallback(at::RecordFunctionCallback(on_begin, on_end).scopes({at::RecordScope::USER_SCOPE}));
  double backward = 0, last = 0, first_hook = 0;
  for (int i = 0; i < k_layers; ++i)
    tower->layers[static_cast<std::size_t>(i)]->weight.register_hook([&, i](const torch::Tensor&) {
      const double end = now();
      record().add({"layer " + std::to_string(i + 1), last, end, false});
      last = end;
      if (i == 0) first_hook = end;
    });
  bool waited_in_vain = false;
  int64_t step = 0;
  // Buckets follow the order of gradients from the second step on; the first one has a single bucket.
  if (rank_options.has("--wait"))
    tower->before_first_layer = [&] {
      if (step > 0 && !record().wait_for(backward, [](const Span& span) { return span.network; }))
        waited_in_vain = true;
    };
  const auto batch = torch::randn({rank_options.number("--batch", 8), width});
  int overlapped = 0;
  const int64_t steps = rank_options.number("--steps", 4);
  for (; step < steps && !waited_in_vain; ++step) {
    optimizer.zero_grad();
    const double forward = now();
    const auto loss = model.forward(batch).square().mean();
    backward = last = now();
    record().add({"forward", forward, backward, false});
    loss.backward();
    record().add({"backward", backward, now(), false});
    optimizer.step();
    bool ended_before = false;
    for (const auto& span : record().all())
      ended_before = ended_before || (span.network && span.start >= backward && span.end < first_hook);
    if (step > 0 && ended_before) ++overlapped;
  }
  if (rank_options.has("--trace")) write_trace(rank_options.get("--trace", ""), group->rank());
  std::printf("%s\n", JsonLine()
                          .add("rank", group->rank())
                          .add("buckets", static_cast<long long>(model.bucket_count()))
                          .add("overlapped", overlapped)
                          .text()
                          .c_str());
  return 0;
}

} // namespace ddp_test
