// SPDX-License-Identifier: MIT
// Training in bfloat16 on GPUs that cannot compute in it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_bf16_missing {

/// True if the word names an NVIDIA GPU before Ampere: "v100", "V100-SXM2-32GB", "tesla_p100".
bool is_older_gpu(const std::string& word) {
  static constexpr std::array<std::string_view, 8> k_older = {"v100", "v100s", "p100",   "t4",
                                                              "k80",  "m40",   "2080ti", "rtx2080ti"};
  auto lower = util::to_lower(word);
  std::replace_if(
      lower.begin(), lower.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
  const auto parts = util::split(lower, ' ');
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) {
    return std::find(k_older.begin(), k_older.end(), part) != k_older.end();
  });
}

/// The older GPU that the job asks for, by its type or as its only feature; empty where it asks for none.
std::string older_gpu(const slurm::JobOptions& request) {
  for (const auto& [option, items] : request.gres)
    for (const auto& item : items)
      if (item.name == "gpu" && is_older_gpu(item.type)) return item.type;
  return request.features.size() == 1 && is_older_gpu(request.features[0]) ? request.features[0] : "";
}

bool is_bf16(const std::string& value) {
  return value == "bf16" || value == "bf16-mixed" || value == "bf16-true" || value == "bfloat16";
}

/// True if the words set this type of number: "--bf16", "--mixed_precision=bf16", "--dtype bfloat16".
bool sets_bf16(const std::vector<shell::Argument>& words, std::size_t at) {
  const auto text = words[at].text();
  const auto equals = text.find('=');
  const auto option = text.substr(0, equals);
  if (option == "--bf16") {
    const auto value = equals != std::string::npos ? util::to_lower(text.substr(equals + 1))
                       : at + 1 < words.size()     ? util::to_lower(words[at + 1].text())
                                                   : "";
    return value != "false" && value != "0" && value != "no" && value != "$bf16";
  }
  if (option != "--mixed_precision" && option != "--mixed-precision" && option != "--precision" &&
      option != "--dtype")
    return false;
  if (equals != std::string::npos) return is_bf16(text.substr(equals + 1));
  return at + 1 < words.size() && is_bf16(words[at + 1].text());
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const auto gpu = older_gpu(subject.requests[0]);
  if (gpu.empty() || (subject.text.find("bf16") == std::string_view::npos &&
                      subject.text.find("bfloat16") == std::string_view::npos))
    return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    if (!launch.python() && !launch.agent()) continue;
    const auto& words = launch.command->words;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (sets_bf16(words, i))
        add_match(hits, {words[i].place,
                         fmt::format("a GPU of type {} has no bfloat16: programs reject it, or emulate it "
                                     "slowly",
                                     gpu),
                         "use fp16, or request GPUs from the A100 on"});
  }
  return hits;
}

} // namespace launch_bf16_missing

Rule rule_launch_bf16_missing() {
  using namespace launch_bf16_missing;
  return {
      .id = "launch/bf16-missing",
      .severity = diag::Severity::warning,
      .title = "bfloat16 on GPUs without it",
      .why = "NVIDIA GPUs compute in bfloat16 from the A100 (compute capability 8.0) on. On a V100, P100 or "
             "T4 a program stops, or PyTorch emulates it: slower than fp16, and without its tensor cores.",
      .link = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capabilities",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu:v100:4
srun accelerate launch --num_processes=4 --mixed_precision=bf16 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:v100:4
srun accelerate launch --num_processes=4 --mixed_precision=fp16 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
