// SPDX-License-Identifier: MIT
// Expressions of the old script that compute with numbers of nodes, tasks and GPUs: batch sizes, steps of
// gradient accumulation. With the same ranks on other nodes they would have other results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// An expression whose result would change, and its text with the old job's numbers.
struct LayoutExpressionReplacement {
  ByteRange range;
  std::string text;
  std::vector<std::string>
      names; ///< of the variables that it replaces, each with its value: "SLURM_NNODES (2)"
};

/// Returns the products and quotients of `text` that have another value in the new job.
std::vector<LayoutExpressionReplacement>
find_layout_expressions(std::string_view text, const SizeEvaluator& before, const SizeEvaluator& after);

/// True if the place is in arithmetic, which reads variables without a dollar: "$((64 / N))", "let A=B*2".
bool is_in_arithmetic(std::string_view text, std::size_t at);

/// True if a command's output is the number of GPUs of its node: `nvidia-smi -L | wc -l`,
/// `jq -n "[$CUDA_VISIBLE_DEVICES] | length"`.
bool counts_gpus(std::string_view command);

/// True if that command works with the GPUs of the vendor, in a job whose Slurm lists them if `listed`.
bool can_count_gpus(std::string_view command, model::GpuVendor vendor, bool listed);

} // namespace hpcml::import_script
