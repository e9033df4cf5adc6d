// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_page.hpp"

#include "core/util/text.hpp"
#include "run/torchrun/torchrun_rows.hpp"

namespace hpcml::torchrun {

namespace {

std::string written_flag(const TorchrunFlag& flag) {
  std::string text = flag.letter != 0 ? std::string("-") + flag.letter + ", " : "";
  text += dashed_name(flag);
  return flag.is_switch() ? text : text + " " + std::string(flag.value);
}

const char* word_of_treatment(FlagSupport treatment) {
  if (treatment == FlagSupport::refused) return "refused";
  return treatment == FlagSupport::same ? "same" : "better";
}

std::string table_row(const TorchrunFlag& flag) {
  const std::string variable = flag.has_variable ? "`" + variable_of_flag(flag) + "`" : "";
  return "| `" + util::replace_all(written_flag(flag), "|", "\\|") + "` | " + variable + " | " +
         std::string(flag.help) + " | " + word_of_treatment(flag.treatment) + " | " +
         std::string(flag.remark) + " |\n";
}

} // namespace

std::string render_torchrun_table() {
  std::string text = "| option | variable | meaning | support | remarks |\n|---|---|---|---|---|\n";
  for (const auto& flag : torchrun_flags()) text += table_row(flag);
  for (const auto& flag : flags_of_old_launch()) text += table_row(flag);
  return text;
}

} // namespace hpcml::torchrun
