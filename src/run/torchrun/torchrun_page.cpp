// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_page.hpp"

#include "core/util/text.hpp"
#include "run/torchrun/torchrun_rows.hpp"

namespace hpcml::torchrun {

namespace {

const char* const k_help_head =
    R"(Starts the ranks of this node, and joins the other nodes of the run, as torchrun does: the options, variables and logs
of torch 2.13's torchrun, without Python and torch in the launcher.

Usage: hpcml torchrun [OPTIONS] SCRIPT [ARGS...]
       torchrun [OPTIONS] SCRIPT [ARGS...]      (a link of that name to hpcml)

Options accept underscores for dashes, and unique abbreviations. PET_NAME in the environment sets an option that the
command line does not set (PET_NNODES=2). PYTHON_EXEC is the Python of the script; ${local_rank} in its arguments becomes
the local rank; TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE is the prefix of lines of --tee.

)";

const char* const k_help_foot =
    R"(Examples:
  hpcml torchrun --nproc-per-node 4 train.py --epochs 3
  hpcml torchrun --nnodes 2 --nproc-per-node gpu --rdzv-backend c10d --rdzv-endpoint node1:29400 train.py
  srun --ntasks-per-node=1 hpcml torchrun --nnodes 2 --nproc-per-node gpu train.py

docs/guides/use-as-torchrun.md compares all options with torchrun's. Exit codes: that of the rank that failed first
(128+signal if it was killed), 2 usage, 125 the ranks could not be started, 126 the program cannot be executed, 127 it
was not found.
)";

std::string written_flag(const TorchrunFlag& flag) {
  std::string text = flag.letter != 0 ? std::string("-") + flag.letter + ", " : "";
  text += dashed_name(flag);
  return flag.is_switch() ? text : text + " " + std::string(flag.value);
}

std::string help_lines(const TorchrunFlag& flag) {
  constexpr std::size_t k_column = 46;
  std::string text = "  " + written_flag(flag);
  text += text.size() + 2 > k_column ? "\n" + std::string(k_column, ' ')
                                     : std::string(k_column - text.size(), ' ');
  text += flag.help;
  if (flag.treatment == Treatment::refused) text += " (not supported)";
  return text + "\n";
}

const char* word_of_treatment(Treatment treatment) {
  if (treatment == Treatment::refused) return "refused";
  return treatment == Treatment::same ? "same" : "better";
}

std::string table_row(const TorchrunFlag& flag) {
  const std::string variable = flag.has_variable ? "`" + variable_of_flag(flag) + "`" : "";
  return "| `" + util::replace_all(written_flag(flag), "|", "\\|") + "` | " + variable + " | " +
         std::string(flag.help) + " | " + word_of_treatment(flag.treatment) + " | " +
         std::string(flag.remark) + " |\n";
}

} // namespace

std::string render_torchrun_help() {
  std::string text = k_help_head;
  for (const auto& flag : torchrun_flags()) text += help_lines(flag);
  text += "  -h, --help\n\nOf torch.distributed.launch:\n";
  for (const auto& flag : flags_of_old_launch()) text += help_lines(flag);
  return text + "\n" + k_help_foot;
}

std::string render_torchrun_table() {
  std::string text = "| option | variable | meaning | support | remarks |\n|---|---|---|---|---|\n";
  for (const auto& flag : torchrun_flags()) text += table_row(flag);
  for (const auto& flag : flags_of_old_launch()) text += table_row(flag);
  return text;
}

} // namespace hpcml::torchrun
