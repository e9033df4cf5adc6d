// SPDX-License-Identifier: MIT
// Variables for one directory that get a list.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_home_list {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  for (const std::string_view name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDNN_HOME", "NCCL_HOME",
                                      "JAVA_HOME", "ROCM_PATH", "MPI_HOME"}) {
    if (!std::binary_search(subject.names.begin(), subject.names.end(), name)) continue;
    const auto sign = std::string(name) + "=";
    for (auto at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + 1)) {
      const auto end = std::min(text.find_first_of(" \t\n;#", at), text.size());
      const auto value = text.substr(at + sign.size(), end - at - sign.size());
      const bool own = value.find(":$" + std::string(name)) != std::string_view::npos ||
                       value.find(":${" + std::string(name)) != std::string_view::npos ||
                       value.find("$" + std::string(name) + ":") != std::string_view::npos ||
                       value.find("${" + std::string(name) + "}:") != std::string_view::npos;
      if (own && (at == 0 || !util::is_name_char(text[at - 1])) && !is_in_comment(text, at))
        hits.add({{at, end - at},
                  fmt::format("{} names one directory, but this is a list with ':'", name),
                  fmt::format("set {} to one directory", name)});
    }
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
