// SPDX-License-Identifier: MIT
// Variables for one directory that get a list.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_home_list {

RuleMatches find(const LintContext& subject) {
  static constexpr std::array<std::string_view, 8> k_names = {
      "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDNN_HOME", "JAVA_HOME", "MPI_HOME", "NCCL_HOME", "ROCM_PATH"};
  RuleMatches hits;
  for (const auto& setting : subject.listing.settings) {
    const auto& [name, value] = std::tie(setting->name, setting->value);
    if (!util::contains(k_names, std::string_view(name)) || value.words.size() != 1) continue;
    const auto& pieces = value.words[0].pieces;
    if (std::any_of(pieces.begin(), pieces.end(), [](const auto& piece) {
          return piece.known && piece.text.find(':') != std::string::npos;
        }))
      hits.add({setting->set_at, fmt::format("{} names one directory, but this is a list with ':'", name),
                fmt::format("set {} to one directory", name)});
  }
  return hits;
}

} // namespace safety_home_list

Rule rule_safety_home_list() {
  using namespace safety_home_list;
  return {
      .id = "safety/home-list",
      .severity = diag::Severity::warning,
      .title = "List where one directory is expected",
      .why = "CUDA_HOME, JAVA_HOME and the like name one directory. With a list, as of PATH, builds look for "
             "a compiler in a directory whose name has a colon, and find none.",
      .link = "https://docs.pytorch.org/docs/stable/cpp_extension.html",
      .bad = {R"(#!/bin/bash
export CUDA_HOME=/usr/local/cuda:$CUDA_HOME
python setup.py install
)"},
      .good = {R"(#!/bin/bash
export CUDA_HOME=/usr/local/cuda
python setup.py install
)"},
      .find = find,
  };
}

} // namespace hpcml::check
