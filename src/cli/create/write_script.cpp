// SPDX-License-Identifier: MIT
#include "cli/create/write_script.hpp"

#include <cstdio>

#include "cli/command.hpp"
#include "core/util/file.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::cli {

int write_script(const std::string& text, const std::string& file, bool colour) {
  if (file.empty() || file == "-") {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
      print_error("cannot write to the standard output, so the script is incomplete",
                  "check whether the disk or your quota is full, or use -o FILE", colour);
    return written ? k_ok : k_world_failed;
  }
  const auto status = util::write_output(file, text, 0755);
  if (status) return k_ok;
  print_error(status.error(), colour);
  return k_world_failed;
}

} // namespace hpcml::cli
