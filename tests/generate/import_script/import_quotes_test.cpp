// SPDX-License-Identifier: MIT
// Texts of `bash -c` whose quotes are closed and opened again: bash gives the program the same words as
// before.
#include <filesystem>
#include <fstream>

#include "core/shell/script.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_two = "-N 2 --ntasks-per-node=1 --gres=gpu:4";
const std::string k_variables = "A='x y' B=b\nexport A B=b C='p q'\n";

/// The ways to write one or two arguments in a text within the quote.
std::vector<std::string> forms(char quote) {
  if (quote == '\'')
    return {"plain", "'\"$A\"'", "'$B'", "pre'\"$B\"'post", "\"$C\"", "'\"it\"'", "$'l\\ni'", "'\\''in'\\''"};
  return {"plain", "$A", "\"'$C'\"", "\"$B\"", "\\$C", "\\\"\\$C\\\"", "pre\"'in'\"post"};
}

/// Texts with two forms before and after each other, as an agent's arguments.
std::vector<std::string> texts(char quote) {
  std::vector<std::string> result;
  const auto list = forms(quote);
  const std::string agent = "torchrun --nnodes=2 --nproc_per_node=4 ";
  const std::vector<std::string> ends = {"", " \\\n      ", "\n"};
  for (const auto& first : list)
    for (const auto& second : list)
      for (const std::string& before : std::vector<std::string>{"", "cd .\n  "}) {
        const auto end = ends[result.size() / 3 % ends.size()] + quote;
        result.push_back(quote + before + agent + "x.py --a " + first + " \\\n " + second + end);
        result.push_back(quote + before + "exec " + agent + "\\\n " + first + " " + second + end);
        result.push_back(quote + before + "cd " + first + "; " + agent + "x.py " + second + end);
      }
  return result;
}

void write_program(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/bash\n" << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// What the imported launch's words are, as bash text; empty if the script is refused.
std::string imported(const std::string& line) {
  const auto result = ported(job(k_two, k_variables + line));
  if (!result.job.body || diag::has_errors(result.findings)) return {};
  std::string text;
  for (const auto& piece : result.job.body->pieces)
    text += piece.launch.command.empty() ? "" : util::join(piece.launch.source, " ");
  return text;
}
} // namespace

TEST_CASE("Quotes closed and opened again give programs the same words") {
  const TempDirectory directory;
  write_program(directory / "torchrun", "shift 2\nprintf '[%s]' \"$@\"");
  write_program(directory / "python", "printf '[%s]' \"$@\"");
  std::string script =
      "PATH=" + directory.path().string() + ":$PATH\ncd() { :; }\nexport -f cd\n" + k_variables;
  std::vector<std::string> lines;
  for (const char quote : {'\'', '"'})
    for (const auto& text : texts(quote)) {
      const auto now = imported("srun bash -c " + text);
      if (now.empty()) continue;
      lines.push_back(text);
      INFO(text << "\n" << now);
      REQUIRE(shell::unread_parts(shell::read_script(now).program).empty());
      script += "before=$(bash -c " + text + " 2>&1)\nafter=$(" + now + " 2>&1)\n";
      script += "[[ $before == \"$after\" ]] || echo \"" + std::to_string(lines.size() - 1) +
                ": $before is now $after\"\n";
    }
  CHECK(lines.size() > 300);
  write_program(directory / "all.sh", script);
  const auto output =
      util::run_process({"bash", (directory / "all.sh").string()}, util::EnvSnapshot::of_process());
  REQUIRE(output);
  INFO(output->err);
  for (const auto& difference : util::split(output->out, '\n'))
    if (!difference.empty() && difference.find(": ") != std::string::npos)
      UNSCOPED_INFO(difference << "\n"
                               << lines.at(std::stoul(difference)) << "\n"
                               << imported("srun bash -c " + lines.at(std::stoul(difference))));
  CHECK(output->out.empty());
}

TEST_CASE("A word with very many dollar quotes is rejected") {
  const auto import_of = [](std::size_t count) {
    std::string text = "'torchrun --nnodes=2 --nproc_per_node=4 x.py";
    for (std::size_t i = 0; i < count; ++i) text += " a$'\"$A\"'";
    return imported("srun bash -c " + text + "'");
  };
  CHECK_FALSE(import_of(60).empty());
  CHECK(import_of(100).empty());
}
