// SPDX-License-Identifier: MIT
// Data-parallel training in C++ with LibTorch and hpcml::ddp: a small network learns handwritten digits, each
// rank sees only some of them.
//
//   hpcml launch --nproc-per-node 4 -- train_ddp          (on one machine; under Slurm: srun hpcml launch --
//   train_ddp)
//
// Each rank holds the training images of some digits only, so a network that is trained alone never learns
// the others: only if the gradients are really averaged over the ranks does the held-out accuracy get high.
// At the end the weights are compared byte by byte. Exit code 0 means: accuracy reached and all ranks hold
// the same weights.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <unistd.h>

#include <torch/torch.h>

#include <hpcml/ddp/distributed_data_parallel.hpp>
#include <hpcml/ddp/own_connections.hpp>
#include <hpcml/json_line.hpp>

#include "digits.hpp"

namespace ddp = hpcml::ddp;
using hpcml::JsonLine;

struct Options {
  std::string data;
  std::string report_dir;
  int epochs = 80;
  double learning_rate = 0.01;
  double threshold = 0.93;
  bool communicate = true;
  ddp::GroupOptions group;
  // Ranks of one job may start a while apart on busy nodes.
  Options() { group.timeout = std::chrono::seconds(120); }
};

struct Network : torch::nn::Module {
  Network() {
    hidden = register_module("hidden", torch::nn::Linear(examples::k_pixels, 64));
    output = register_module("output", torch::nn::Linear(64, examples::k_classes));
  }
  torch::Tensor forward(torch::Tensor images) { return output(torch::relu(hidden(images))); }
  torch::nn::Linear hidden{nullptr}, output{nullptr};
};

/// Which training images this rank holds: those of some classes; with more ranks than classes, ranks share a
/// class.
torch::Tensor rows_of_rank(const torch::Tensor& labels, int rank, int world_size) {
  const int teams = std::min<int>(world_size, examples::k_classes);
  const int team = rank % teams;
  const int members = (world_size - team + teams - 1) / teams;
  const auto rows = labels.remainder(teams).eq(team).nonzero().flatten();
  return rows.index({torch::indexing::Slice(rank / teams, torch::indexing::None, members)});
}

/// The loss of this rank's images, a mean over them; returns the last one.
double train(const std::shared_ptr<Network>& network, const examples::Digits& digits, const Options& options,
             const std::shared_ptr<ddp::ProcessGroup>& group) {
  const auto rows = rows_of_rank(digits.train_labels, group->rank(), group->size());
  const auto images = digits.train_images.index_select(0, rows).to(group->device());
  const auto labels = digits.train_labels.index_select(0, rows).to(group->device());
  ddp::DistributedDataParallel<Network> model(network, group);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(options.learning_rate));
  std::optional<ddp::NoSync> alone;
  if (!options.communicate) alone.emplace(model.no_sync());
  double loss_value = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    optimizer.zero_grad();
    // Ranks hold different numbers of images: the gradient is to be the one of the whole data set.
    model.set_batch_samples(static_cast<double>(images.size(0)));
    const auto loss = torch::nn::functional::cross_entropy(model.forward(images), labels);
    loss.backward();
    optimizer.step();
    loss_value = loss.item<double>();
  }
  return loss_value;
}

double accuracy(Network& network, const examples::Digits& digits, torch::Device device) {
  const torch::NoGradGuard no_gradients;
  const auto guess = network.forward(digits.test_images.to(device)).argmax(1).cpu();
  return guess.eq(digits.test_labels).to(torch::kDouble).mean().item<double>();
}

/// All weights as bytes, in the order of the parameters.
torch::Tensor weight_bytes(Network& network) {
  std::vector<torch::Tensor> parts;
  for (const auto& weight : network.parameters())
    parts.push_back(weight.detach().cpu().contiguous().flatten());
  const auto flat = torch::cat(parts).contiguous();
  auto bytes = torch::empty({flat.numel() * 4}, torch::kByte);
  std::memcpy(bytes.data_ptr(), flat.data_ptr(), static_cast<std::size_t>(bytes.numel()));
  return bytes;
}

/// How many bytes of any rank's weights differ from those of rank 0.
int64_t differing_bytes(const torch::Tensor& own, ddp::ProcessGroup& group) {
  std::vector<torch::Tensor> all;
  group.all_gather(all, own.to(group.device())).wait();
  int64_t differing = 0;
  for (const auto& row : all) differing += row.ne(all.front()).sum().item<int64_t>();
  return differing;
}

/// The value behind "NAME:" in /proc/self/status, for example the CPUs that this process may use.
std::string own_status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, name.size() + 1, name + ":") == 0)
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  return {};
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

void report(const Options& options, const ddp::ProcessGroup& group,
            const std::vector<ddp::OwnTcpConnection>& connections, JsonLine line) {
  const auto& env = group.environment();
  std::vector<JsonLine> sockets;
  std::string interfaces;
  for (const auto& connection : connections) {
    sockets.push_back(JsonLine()
                          .add("local", connection.local)
                          .add("remote", connection.remote)
                          .add("interface", connection.interface));
    if (interfaces.find(connection.interface) == std::string::npos)
      interfaces += (interfaces.empty() ? "" : ",") + connection.interface;
  }
  std::ostringstream text;
  text << "rank " << env.rank << " of " << env.world_size << " on " << host_name() << ": CPUs "
       << own_status("Cpus_allowed_list") << ", " << group.backend() << " over "
       << (interfaces.empty() ? "no connection" : interfaces)
       << (connections.empty() ? "" : " from " + connections.front().local) << ", device "
       << group.device().str() << "\n";
  std::cout << text.str() << std::flush;
  if (options.report_dir.empty()) return;
  std::error_code ignored; // several ranks make the folder at once; the file's own error is the one to show
  std::filesystem::create_directories(options.report_dir, ignored);
  const std::string path = options.report_dir + "/rank-" + std::to_string(env.rank) + ".json";
  std::ofstream file(path);
  file << line.add("cpus_allowed_list", own_status("Cpus_allowed_list"))
              .add("cpus_allowed_mask", own_status("Cpus_allowed"))
              .add("mems_allowed_list", own_status("Mems_allowed_list"))
              .add("connections", sockets)
              .text()
       << "\n";
  if (!file) throw std::runtime_error("cannot write " + path + "; correct --report-dir");
}

int run(const Options& options) {
  // This network is too small to gain from more threads; on a shared machine they would only get in each
  // other's way.
  torch::set_num_threads(1);
  torch::manual_seed(1);
  const auto digits = examples::load_digits(options.data);
  const auto group = ddp::init_process_group(options.group);
  const auto& env = group->environment();

  const auto network = std::make_shared<Network>();
  network->to(group->device());
  const double loss = train(network, digits, options, group);
  const double correct = accuracy(*network, digits, group->device());
  const auto bytes = weight_bytes(*network);
  // Read here, before the last exchange in which all ranks need each other: later a rank that is done may
  // have hung up.
  const auto connections = ddp::own_connections(env.master_port);
  const int64_t differing = differing_bytes(bytes, *group);
  // Rank 0's accuracy decides for all, so that all end with the same exit code.
  auto decisive = torch::full({1}, correct, torch::kDouble).to(group->device());
  group->broadcast(decisive).wait();
  const bool learned = decisive.item<double>() >= options.threshold;

  report(
      options, *group, connections,
      JsonLine()
          .add("rank", env.rank)
          .add("local_rank", env.local_rank)
          .add("world_size", env.world_size)
          .add("host", host_name())
          .add("backend", group->backend())
          .add("interface", group->interface_name())
          .add("torch", TORCH_VERSION)
          .add("loss", loss)
          .add("accuracy", correct)
          .add("weights_hash", examples::fnv1a_hex(bytes.data_ptr(), static_cast<std::size_t>(bytes.numel())))
          .add("differing_bytes", static_cast<long long>(differing)));
  if (env.rank == 0) {
    std::printf("held-out accuracy %.4f on %lld images (wanted: %.2f)\n", correct,
                static_cast<long long>(digits.test_labels.size(0)), options.threshold);
    std::printf("weights of %d ranks: %s (%lld bytes each, %lld differ)\n", env.world_size,
                differing == 0 ? "equal byte by byte" : "DIFFERENT", static_cast<long long>(bytes.numel()),
                static_cast<long long>(differing));
    std::fflush(stdout);
    if (!learned)
      std::fprintf(stderr, "train_ddp: rank 0's network did not learn the digits that other ranks hold%s\n",
                   options.communicate ? "" : " (as expected with --no-communication)");
  }
  return learned && differing == 0 ? 0 : 1;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--no-communication") {
      options.communicate = false;
      continue;
    }
    if (flag == "--help" || i + 1 == argc)
      throw std::invalid_argument("usage: train_ddp [--data digits.csv.gz] [--epochs N] [--learning-rate X] "
                                  "[--threshold 0…1] [--no-communication]\n"
                                  "                 [--backend auto|nccl|gloo] [--interface NAME] [--timeout "
                                  "SECONDS] [--report-dir DIR]");
    const std::string value = argv[++i];
    if (flag == "--data")
      options.data = value;
    else if (flag == "--report-dir")
      options.report_dir = value;
    else if (flag == "--epochs")
      options.epochs = std::stoi(value);
    else if (flag == "--learning-rate")
      options.learning_rate = std::stod(value);
    else if (flag == "--threshold")
      options.threshold = std::stod(value);
    else if (flag == "--backend")
      options.group.backend = value;
    else if (flag == "--interface")
      options.group.interface_name = value;
    else if (flag == "--timeout")
      options.group.timeout = std::chrono::milliseconds(static_cast<long long>(1000 * std::stod(value)));
    else
      throw std::invalid_argument("unknown flag '" + flag + "'; see --help");
  }
  return options;
}

int main(int argc, char** argv) {
  try {
    return run(parse_options(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "train_ddp: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_ddp: error: %s\n", error.what());
    return 1;
  }
}
