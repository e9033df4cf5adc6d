// SPDX-License-Identifier: MIT
// Ranks that send to single others: around a ring, as the two stages of a pipeline, and with ranks that fail.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

#include <torch/nn.h>

#include "ddp/failure_detector.hpp"
#include "hpcml/ddp/process_group.hpp"
#include "hpcml/json_line.hpp"
#include "rank_modes.hpp"

using namespace hpcml;

namespace ddp_test {

namespace {

constexpr int k_forward = 1, k_backward = 2; // tags

torch::Tensor mark_of(int rank, torch::Dtype dtype, int64_t count, torch::Device device = torch::kCPU) {
  return (torch::arange(count, torch::kDouble) + 1000 * rank).to(device, dtype);
}

/// Each rank hands on what it got from the one before it; after `size` rounds its own has come back.
bool passes_ring(ddp::ProcessGroup& group, torch::Dtype dtype, int64_t count) {
  const int size = group.size(), before = (group.rank() + size - 1) % size, after = (group.rank() + 1) % size;
  auto own = mark_of(group.rank(), dtype, count, group.device());
  bool right = true;
  for (int round = 1; round <= size; ++round) {
    auto got = torch::zeros_like(own);
    ddp::Work arrival, departure;
    // On a GPU two ranks that send to each other have to begin with different things.
    const bool sends_first = group.device().is_cuda() && group.rank() % 2 == 0;
    if (sends_first) departure = group.send(own, after);
    arrival = group.recv(got, before);
    if (!sends_first) departure = group.send(own, after);
    arrival.wait();
    departure.wait();
    right = right &&
            torch::equal(got, mark_of((group.rank() + size - round) % size, dtype, count, group.device()));
    own = got;
  }
  return right;
}

/// Two tensors whose receiver waits for the later tag first, and asks whether they are there.
bool comes_by_tag(ddp::ProcessGroup& group) {
  const auto first = mark_of(7, torch::kFloat, 5, group.device()),
             second = mark_of(8, torch::kFloat, 3, group.device());
  if (group.rank() == 0) {
    auto first_send = group.send(first, 1, 5), second_send = group.send(second, 1, 6);
    first_send.wait();
    second_send.wait();
  }
  if (group.rank() != 1) return true;
  auto got_first = torch::zeros_like(first), got_second = torch::zeros_like(second);
  auto second_send = group.recv(got_second, 0, 6), first_send = group.recv(got_first, 0, 5);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!second_send.is_done() || !first_send.is_done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  second_send.wait();
  first_send.wait();
  return torch::equal(got_first, first) && torch::equal(got_second, second);
}

/// A tensor that comes after several of the library's looks at the others.
bool comes_late(ddp::ProcessGroup& group) {
  auto tensor = torch::full({3}, group.rank(), torch::device(group.device()));
  if (group.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(700));
  if (group.rank() < 2) (group.rank() == 0 ? group.send(tensor, 1) : group.recv(tensor, 0)).wait();
  return group.rank() != 1 || torch::equal(tensor, torch::zeros_like(tensor));
}

int run_ring(ddp::ProcessGroup& group) {
  bool right = group.device().is_cuda() || comes_by_tag(group); // NCCL knows no tags
  right = comes_late(group) && right;
  for (const auto dtype : {torch::kFloat, torch::kLong, torch::kHalf})
    for (const int64_t count : {1, 1000}) right = passes_ring(group, dtype, count) && right;
  right = passes_ring(group, torch::kDouble, 1 << 20) && right; // more than a socket holds
  group.barrier().wait();
  std::printf("%s\n", JsonLine().add("rank", group.rank()).add("right", right).text().c_str());
  return 0;
}

/// The front half on rank 0, the back half on rank 1; batches come in parts, of which one is computed while
/// the next is on its way. Compared with both halves in one process.
int run_pipeline(ddp::ProcessGroup& group) {
  constexpr int64_t parts = 4, samples = 3, width = 11;
  Model all("mlp", width), alone("mlp", width);
  all.to(torch::kDouble);
  alone.to(torch::kDouble);
  const auto front = [](Model& model, const torch::Tensor& x) { return torch::tanh(model.first(x)); };
  const auto back = [](Model& model, const torch::Tensor& x) {
    return model.last(torch::tanh(model.second(x)));
  };
  std::vector<torch::Tensor> between(parts), gradients(parts);
  std::vector<ddp::Work> sent, received;
  const bool is_front = group.rank() == 0;
  for (int64_t part = 0; part < parts; ++part) {
    auto& incoming = is_front ? gradients[part] : between[part];
    incoming = torch::zeros({samples, width}, torch::kDouble);
    received.push_back(group.recv(incoming, 1 - group.rank(), is_front ? k_backward : k_forward));
  }
  for (int64_t part = 0; part < parts && is_front; ++part) {
    between[part] = front(all, batch_of(part * samples, samples, torch::kDouble).first);
    sent.push_back(group.send(between[part].detach().contiguous(), 1, k_forward));
  }
  for (int64_t part = 0; part < parts; ++part) {
    received[static_cast<std::size_t>(part)].wait();
    if (is_front) {
      between[part].backward(gradients[part]);
      continue;
    }
    between[part].requires_grad_();
    loss_of(back(all, between[part]), batch_of(part * samples, samples, torch::kDouble).second).backward();
    sent.push_back(group.send(between[part].grad().contiguous(), 0, k_backward));
  }
  for (auto& work : sent) work.wait();
  for (int64_t part = 0; part < parts; ++part) {
    const auto [inputs, wanted] = batch_of(part * samples, samples, torch::kDouble);
    loss_of(back(alone, front(alone, inputs)), wanted).backward();
  }
  bool right = true;
  int compared = 0;
  const auto own = all.parameters(), theirs = alone.parameters();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].grad().defined()) {
      right = right && torch::equal(own[i].grad(), theirs[i].grad());
      ++compared;
    }
  std::printf(
      "%s\n",
      JsonLine().add("rank", group.rank()).add("right", right).add("compared", compared).text().c_str());
  return 0;
}

/// Round after round around the ring, until rank `bad` does something else in the third.
int run_failing(ddp::ProcessGroup& group, const RankOptions& rank_options) {
  const auto how = rank_options.get("--how", "die");
  const bool bad = group.rank() == rank_options.number("--bad", 2);
  const int size = group.size(), before = (group.rank() + size - 1) % size, after = (group.rank() + 1) % size;
  for (int round = 1; round <= 6; ++round) {
    if (bad && round == 3) {
      if (how == "die") ::kill(::getpid(), SIGKILL);
      if (how == "hang") std::this_thread::sleep_for(std::chrono::seconds(15));
      if (how == "leave") { // with something in flight that nobody answers
        auto got = torch::zeros({4}, torch::device(group.device()));
        const auto never = group.recv(got, before, 77);
        return 0;
      }
      if (how == "itself") group.send(torch::ones({4}, torch::device(group.device())), group.rank());
      if (how == "short")
        group.recv(torch::ones({4, 4}, torch::device(group.device())).t().slice(0, 0, 2), before);
    }
    // All wait for the one before, who sends with another tag than the one that is waited for.
    const int tag = how == "tags" && round == 3 ? group.rank() : 0;
    const auto place = torch::device(group.device());
    auto got = torch::zeros({1000}, place), own = torch::ones({1000}, place);
    auto arrival = group.recv(got, before, tag);
    auto departure = group.send(own, after, tag);
    arrival.wait();
    departure.wait();
  }
  std::printf("%s\n", JsonLine().add("rank", group.rank()).add("end", "well").text().c_str());
  return 0;
}

/// Rank 0 has waited in an exchange, goes on, and comes to a barrier that it does not begin any more, as
/// where another rank has called all to account. Rank 1 waits in that barrier.
int run_after_exchange() {
  const auto env = RankEnv::from_environment();
  const auto connect = [&](ddp::StoreServerOwner owner) {
    return std::make_shared<ddp::Store>(env, std::chrono::minutes(1), owner);
  };
  const auto store = connect(ddp::StoreServerOwner::rank_0);
  if (env.rank == 1) {
    store->set("group/report/1", ddp::pack({ddp::RankReport::State::waiting, 2, 1, "barrier", "", {}}));
    store->get("over", std::chrono::minutes(1));
    return 0;
  }
  store->get("group/report/1", std::chrono::minutes(1));
  ddp::FailureDetector watch(store, connect(ddp::StoreServerOwner::launcher), "group/", env, false);
  const ddp::Operation reduction{"all_reduce"}, exchange{ddp::k_recv, 1, 0};
  watch.begin(reduction);
  watch.begin(exchange);
  watch.wait_for(exchange);
  watch.end_wait();
  try {
    watch.fail({"barrier"}, "", false);
  } catch (const ddp::Error&) {
    store->set("over", "yes");
    throw;
  }
}

/// Rank 0 sends `--sent` numbers, and rank 1 has room for 4.
int run_sizes(ddp::ProcessGroup& group, const RankOptions& rank_options) {
  auto tensor = group.rank() == 0 ? torch::ones({rank_options.number("--sent", 4)}) : torch::zeros({4});
  (group.rank() == 0 ? group.send(tensor, 1) : group.recv(tensor, 0)).wait();
  group.barrier().wait();
  std::printf("%s\n",
              JsonLine().add("rank", group.rank()).add("sum", tensor.sum().item<float>()).text().c_str());
  return 0;
}

} // namespace

int run_exchange(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  if (rank_options.has("--after")) return run_after_exchange();
  ddp::GroupOptions options;
  options.timeout = std::chrono::seconds(rank_options.number("--timeout", 60));
  const auto group = ddp::init_process_group(options);
  if (rank_options.has("--ring")) return run_ring(*group);
  if (rank_options.has("--sent")) return run_sizes(*group, rank_options);
  if (rank_options.has("--pipeline")) return run_pipeline(*group);
  return run_failing(*group, rank_options);
}

} // namespace ddp_test
