// SPDX-License-Identifier: MIT
// Settings of programs that no program gets, as they are not exported.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_torn_export {

/// True if programs read the variable from their environment, and no login environment usually has it.
bool is_setting(std::string_view name) {
  static constexpr std::array<std::string_view, 6> k_beginnings = {"GLOO_", "MIOPEN_",     "NCCL_",
                                                                   "RCCL_", "TORCH_NCCL_", "UCX_"};
  static constexpr std::array<std::string_view, 36> k_names = {
      "CUBLAS_WORKSPACE_CONFIG",
      "CUDA_DEVICE_MAX_CONNECTIONS",
      "CUDA_DEVICE_ORDER",
      "CUDA_LAUNCH_BLOCKING",
      "HF_DATASETS_OFFLINE",
      "HF_HUB_OFFLINE",
      "HYDRA_FULL_ERROR",
      "JAX_PLATFORMS",
      "JAX_PLATFORM_NAME",
      "KERAS_BACKEND",
      "MASTER_ADDR",
      "MASTER_PORT",
      "MKL_NUM_THREADS",
      "NUMEXPR_NUM_THREADS",
      "OMP_NUM_THREADS",
      "OPENBLAS_NUM_THREADS",
      "PYTHONHASHSEED",
      "PYTHONNOUSERSITE",
      "PYTHONUNBUFFERED",
      "PYTORCH_CUDA_ALLOC_CONF",
      "TF_CPP_MIN_LOG_LEVEL",
      "TF_ENABLE_ONEDNN_OPTS",
      "TF_FORCE_GPU_ALLOW_GROWTH",
      "TOKENIZERS_PARALLELISM",
      "TORCHINDUCTOR_CACHE_DIR",
      "TORCH_CUDA_ARCH_LIST",
      "TORCH_DISTRIBUTED_DEBUG",
      "TRANSFORMERS_OFFLINE",
      "TRITON_CACHE_DIR",
      "WANDB_DISABLED",
      "WANDB_MODE",
      "WANDB_PROJECT",
      "WANDB_SILENT",
      "XLA_FLAGS",
      "XLA_PYTHON_CLIENT_MEM_FRACTION",
      "XLA_PYTHON_CLIENT_PREALLOCATE",
  };
  return std::binary_search(k_names.begin(), k_names.end(), name) ||
         std::any_of(k_beginnings.begin(), k_beginnings.end(),
                     [&](auto beginning) { return name.starts_with(beginning); });
}

/// Reports settings of programs that the script assigns and neither exports nor reads.
void find_unexported(const LintContext& subject, RuleMatches& hits) {
  const auto text = subject.text;
  for (const auto& setting : subject.listing.settings) {
    if (setting->name[0] < 'A' || setting->name[0] > 'Z') continue; // most
    const auto at = setting->set_at.offset;
    if (setting->exported || !is_setting(setting->name) || !is_only_mention(text, setting->name, at))
      continue;
    const auto before = text.substr(0, at);
    if (util::trim(before).ends_with("export")) continue; // reported with that
    const bool begins_line = util::trim(before.substr(before.rfind('\n') + 1)).empty();
    hits.add({{at, setting->name.size()},
              fmt::format("{} is not exported, so no program gets it", setting->name),
              fmt::format("use export {}=…", setting->name),
              begins_line ? std::vector<Edit>{{at, 0, "export "}} : std::vector<Edit>(),
              diag::Severity::note});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_unexported(subject, hits);
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (command.words.size() != 1 || command.name() != "export" || !command.redirects.empty() ||
        command.parent || context.pipeline || context.substitution)
      continue;
    const auto line = line_at(subject.text, command.place.offset);
    const auto end = line.offset + line.length;
    if (util::trim(subject.text.substr(line.offset, line.length)) != "export" ||
        end + 1 >= subject.text.size())
      continue;
    const auto next = line_at(subject.text, subject.text.find('\n', end) + 1);
    const auto text = util::trim(subject.text.substr(next.offset, next.length));
    const auto name = text.substr(0, text.find('='));
    if (name.size() == text.size() || !util::is_variable_name(name)) continue;
    hits.add({command.place,
              fmt::format("export without a name only prints variables: {} on the next line is not exported",
                          name),
              fmt::format("use export {} on one line", text)});
  }
  return hits;
}

} // namespace safety_torn_export

Rule rule_safety_torn_export() {
  using namespace safety_torn_export;
  return {
      .id = "safety/torn-export",
      .severity = diag::Severity::warning,
      .title = "Setting that is not exported",
      .why = "Programs get exported variables only: WANDB_MODE=offline or OMP_NUM_THREADS=8 on a separate "
             "line has no effect without export. A line break after export, as editors and web pages add it, "
             "makes two commands: the first prints all variables, the second sets one that no program gets.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Bourne-Shell-Builtins.html",
      .bad = {R"(#!/bin/bash
export
NCCL_DEBUG=INFO
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export NCCL_DEBUG=INFO
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
