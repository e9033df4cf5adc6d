// SPDX-License-Identifier: MIT
// Ranks that resume while the newest checkpoint is damaged in one place after the other.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include <torch/optim.h>

#include "hpcml/ddp/checkpoint.hpp"
#include "hpcml/json_line.hpp"
#include "rank_modes.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace ddp_test {

namespace {

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The file with one byte changed, at its begin, in its middle and at its end, and cut to many lengths.
std::vector<std::string> damaged_forms(const std::string& intact) {
  constexpr std::size_t k_ends = 200, k_between = 50;
  std::vector<std::string> forms;
  for (std::size_t at = 0; at < intact.size(); ++at) {
    const bool is_end = at < k_ends || at + k_ends >= intact.size();
    if (!is_end && at % (intact.size() / k_between + 1) != 0) continue;
    forms.push_back(intact);
    forms.back()[at] = static_cast<char>(forms.back()[at] ^ (at % 2 == 0 ? 0x01 : 0xFF));
  }
  for (std::size_t length = 0; length < intact.size(); length += intact.size() / k_between + 1)
    forms.push_back(intact.substr(0, length));
  return forms;
}

} // namespace

int run_fallback(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  const fs::path directory = rank_options.get("--folder", "");
  auto module = std::make_shared<Model>("batchnorm", 5);
  torch::optim::SGD optimizer(module->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  ddp::TrainingState state{*module, optimizer, nullptr, {{"saved", torch::zeros({1}, torch::kLong)}}};
  for (const int step : {1, 2}) {
    state.values.at("saved").fill_(step);
    ddp::save_checkpoint(*group, directory, step, state);
  }
  const auto damage = [&](const fs::path& path, const std::string& bytes) {
    group->barrier().wait();
    if (group->rank() == 0) write_bytes(path, bytes);
    group->barrier().wait();
  };
  long long loads = 0, wrong = 0;
  for (const std::string name : {"complete", "state.pt"}) {
    const auto path = directory / "step-2" / name;
    const auto intact = read_bytes(path);
    for (const auto& form : damaged_forms(intact)) {
      damage(path, form);
      state.values.at("saved").fill_(-1);
      const auto resumed = ddp::load_checkpoint(*group, directory, state);
      const bool right = resumed.step == 1 && state.values.at("saved").item<int64_t>() == 1 &&
                         resumed.skipped.size() == 1 &&
                         resumed.skipped.front().rfind((directory / "step-2").string() + "/", 0) == 0;
      ++loads;
      wrong += right ? 0 : 1;
    }
    damage(path, intact);
    if (ddp::load_checkpoint(*group, directory, state).step != 2) ++wrong;
  }
  for (const int step : {1, 2}) damage(directory / ("step-" + std::to_string(step)) / "complete", "");
  std::string refusal;
  try {
    ddp::load_checkpoint(*group, directory, state);
  } catch (const std::runtime_error& error) {
    refusal = error.what();
  }
  std::printf("%s\n", JsonLine()
                          .add("rank", group->rank())
                          .add("loads", loads)
                          .add("wrong", wrong)
                          .add("refusal", refusal)
                          .text()
                          .c_str());
  return 0;
}

} // namespace ddp_test
