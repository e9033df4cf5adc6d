// SPDX-License-Identifier: MIT
// Forward passes of every kind, one after the other, as tests/ddp/forward_kinds.py lists them: what each
// leaves behind is printed, to be compared with torch's own.
#include <cstdio>
#include <fstream>
#include <sstream>

#include <torch/optim.h>

#include "hpcml/crc32.hpp"
#include "hpcml/ddp/distributed_data_parallel.hpp"
#include "rank_modes.hpp"

using namespace hpcml;

namespace ddp_test {

namespace {

/// A line of the list: five digits.
struct ForwardKind {
  bool root_trains = true, child_trains = true, records_gradients = true, syncs = true;
  int backward = 1; ///< 0: none; 1: of this pass; 2: of this pass and of those before that had none
};

std::vector<ForwardKind> read_kinds(const std::string& path) {
  std::ifstream file(path);
  std::vector<ForwardKind> kinds;
  for (std::string digits; file >> digits;)
    kinds.push_back({digits.at(0) == '1', digits.at(1) == '1', digits.at(2) == '1', digits.at(3) == '1',
                     digits.at(4) - '0'});
  return kinds;
}

std::string checksum_of(const std::vector<torch::Tensor>& tensors) {
  std::string bytes;
  for (const auto& tensor : tensors) {
    bytes += tensor.defined() ? '1' : '0';
    if (!tensor.defined()) continue;
    const auto values = tensor.detach().cpu().contiguous();
    bytes.append(static_cast<const char*>(values.data_ptr()), values.nbytes());
  }
  Crc32 crc;
  crc.add(bytes);
  std::ostringstream text;
  text << std::hex << crc.value();
  return text.str();
}

std::vector<torch::Tensor> gradients_of(const torch::nn::Module& module) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : module.parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

ddp::Options options_of(const RankOptions& rank_options) {
  ddp::Options options;
  options.bucket_bytes = options.first_bucket_bytes =
      static_cast<std::size_t>(rank_options.number("--bucket-bytes", 25 << 20));
  options.gradients_in_buckets = !rank_options.has("--copies");
  options.broadcast_buffers = !rank_options.has("--own-buffers");
  options.find_unused_parameters = rank_options.has("--find-unused");
  return options;
}

} // namespace

int run_forwards(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  auto module = std::make_shared<Model>("batchnorm", 5);
  module->place(group->device());
  const auto frozen = rank_options.get("--frozen", "");
  for (auto& item : module->named_parameters())
    if (!frozen.empty() && item.key().rfind(frozen + ".", 0) == 0) item.value().requires_grad_(false);
  ddp::DistributedDataParallel<Model> model(module, group, options_of(rank_options));
  torch::optim::SGD optimizer(module->parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
  auto kinds = read_kinds(rank_options.get("--kinds", ""));
  // With --join each rank ends five passes before the one before it.
  if (rank_options.has("--join")) kinds.resize(kinds.size() - 5 * static_cast<std::size_t>(group->rank()));
  std::ofstream out(rank_options.get("--write", "") + "." + std::to_string(group->rank()));
  std::vector<torch::Tensor> kept; // losses that wait for their backward pass
  const auto pass = [&](std::size_t step) {
    const auto& kind = kinds[step];
    module->train(kind.root_trains);
    module->norm->train(kind.child_trains);
    const auto [inputs, wanted] =
        batch_of(static_cast<int64_t>(step) * 50 + group->rank() * 4, 4, torch::kFloat, group->device());
    torch::AutoGradMode mode(kind.records_gradients);
    const auto run = [&] {
      auto loss = loss_of(model.forward(inputs), wanted);
      out << step << " output " << checksum_of({loss});
      if (kind.records_gradients && kind.backward == 0) kept.push_back(loss);
      if (kind.backward == 2)
        for (const auto& earlier : kept) loss = loss + earlier;
      if (kind.backward > 0) {
        kept.clear();
        loss.backward();
      }
    };
    if (kind.syncs) {
      run();
    } else {
      const auto local = model.no_sync();
      run();
    }
    out << " gradients " << checksum_of(gradients_of(*module)) << " buffers "
        << checksum_of(module->buffers());
    if (kind.backward > 0 && kind.syncs) {
      optimizer.step();
      clear_gradients(*module, false);
      kept.clear();
    }
    out << " parameters " << checksum_of(module->parameters()) << "\n";
  };
  const auto loop = [&] {
    for (std::size_t step = 0; step < kinds.size(); ++step) pass(step);
  };
  if (rank_options.has("--join"))
    model.join(loop);
  else
    loop();
  out << "end parameters " << checksum_of(module->parameters()) << " buffers "
      << checksum_of(module->buffers()) << "\n";
  return out.flush() ? 0 : 1;
}

} // namespace ddp_test
