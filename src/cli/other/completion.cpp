// SPDX-License-Identifier: MIT
// hpcml completion: what a shell reads to complete lines, and what it asks for each of them.
#include "cli/other/completion.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "core/util/embedded.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

constexpr CommandHelp k_completion_help = {
    .summary = "Generate shell completions",
    .examples = R"(# In ~/.bashrc
source <(hpcml completion bash)
# In a directory of $fpath, before compinit
hpcml completion zsh > _hpcml
# In ~/.config/fish/completions
hpcml completion fish > hpcml.fish)",
    .notes =
        "Completes commands, options and values: sites, a site's partitions, rules, job numbers and files.",
};

/// False for a name with a control character, which a line of text cannot carry.
bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Returns a word as bash reads it, without quotes and backslashes; nothing is expanded.
std::string unquoted(const std::string& word) {
  std::string text;
  char quote = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    const bool escapes =
        c == '\\' && quote != '\'' && i + 1 < word.size() &&
        (quote == 0 || std::string_view("$`\"\\").find(word[i + 1]) != std::string_view::npos);
    if (escapes)
      text += word[++i];
    else if (quote == 0 ? c == '"' || c == '\'' : c == quote)
      quote = quote == 0 ? c : '\0';
    else
      text += c;
  }
  return text;
}

} // namespace

int run_complete(const Context& context) {
  auto words = context.program;
  if (context.env.get_or("HPCML_COMPLETE_SHELL", "") == "bash")
    for (auto& word : words) word = unquoted(word);
  const auto found = complete_words(words, context);
  switch (found.kind) {
  case Completion::Kind::words: std::puts("words"); break;
  case Completion::Kind::files: std::puts("files"); break;
  case Completion::Kind::program: std::printf("program %zu\n", found.program_at); break;
  }
  const auto begun = words.empty() ? std::string() : words.back();
  for (const auto& candidate : found.list)
    if (candidate.text.starts_with(begun) && is_printable(candidate.text))
      std::printf("%s\t%s\n", candidate.text.c_str(),
                  is_printable(candidate.about) ? candidate.about.c_str() : "");
  return k_ok;
}

void add_completion(CLI::App& app, Context& context, int& exit_code) {
  (void)context;
  auto* command = add_command(app, "completion", k_completion_help);
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Shell to complete commands in")
      ->required()
      ->type_name("")
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([shell, &exit_code] {
    for (const auto& file : embedded::completion_files())
      if (file.name == "hpcml." + *shell) std::fwrite(file.text.data(), 1, file.text.size(), stdout);
    exit_code = k_ok;
  });
}

} // namespace hpcml::cli
