// SPDX-License-Identifier: MIT
#include "cli/create/write_script.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "core/model/script_provenance.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::cli {

namespace {

/// Whether the file's text would be lost: it is not empty, not the new one, and not an unchanged script of
/// hpcml.
bool has_edits(const std::string& file, const std::string& script) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || std::filesystem::file_size(file, error) == 0)
    return false;
  constexpr std::size_t k_largest = std::size_t{4} << 20U;
  const auto old = util::read_input(file, {k_largest});
  return !old || (*old != script && !model::has_valid_checksum(*old));
}

/// The first free name: FILE.old, FILE.old2.
std::string free_name(const std::string& file) {
  std::error_code error;
  auto name = file + ".old";
  for (unsigned i = 2; std::filesystem::exists(std::filesystem::symlink_status(name, error)); ++i)
    name = fmt::format("{}.old{}", file, i);
  return name;
}

} // namespace

util::Status write_script_file(const std::string& script, const std::string& file) {
  const auto text = model::add_checksum(script);
  if (!has_edits(file, text)) return util::write_output(file, text, 0755);
  const auto kept = free_name(file);
  std::error_code error;
  std::filesystem::copy_file(file, kept, error);
  if (error)
    return util::Error{fmt::format("cannot keep {} as {}: {}", file, kept, error.message()),
                       "use another -o FILE, or remove the old file"};
  auto status = util::write_output(file, text, 0755);
  if (status)
    print_note(fmt::format("{} is replaced: it was edited, or hpcml did not write it, and is kept as {}",
                           file, kept));
  return status;
}

int write_script(const std::string& text, const std::string& file, bool colour, bool is_script) {
  if (file.empty() || file == "-") {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
      print_error("cannot write to the standard output, so the script is incomplete",
                  "check whether the disk or your quota is full, or use -o FILE", colour);
    return written ? k_ok : k_world_failed;
  }
  const auto status = is_script ? write_script_file(text, file) : util::write_output(file, text, 0755);
  if (status) return k_ok;
  print_error(status.error(), colour);
  return k_world_failed;
}

} // namespace hpcml::cli
