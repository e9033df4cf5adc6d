// SPDX-License-Identifier: MIT
// Job scripts per second of processor time, read and followed: ninja shell_bench && bin/shell_bench FILE…
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "core/shell/script_commands.hpp"
#include "core/util/file.hpp"

using namespace hpcml;

int main(int argc, char** argv) {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  for (int i = 1; i < argc; ++i)
    if (auto text = util::read_file(argv[i])) {
      bytes += text->size();
      texts.push_back(std::move(*text));
    }
  if (texts.empty()) return std::puts("usage: shell_bench FILE…"), 2;
  const auto start = std::clock();
  std::size_t scripts = 0, commands = 0;
  double seconds = 0;
  while (seconds < 2) {
    for (const auto& text : texts) {
      const auto script = shell::read_script(text);
      commands += shell::list_commands(script).commands.size();
      ++scripts;
    }
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  std::printf("%.0f scripts per second (%zu files of %zu bytes on average, %.1f commands each)\n",
              static_cast<double>(scripts) / seconds, texts.size(), bytes / texts.size(),
              static_cast<double>(commands) / static_cast<double>(scripts));
}
