// SPDX-License-Identifier: MIT
#include "core/slurm/commands.hpp"

#include <fmt/format.h>

#include "core/slurm/variables.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

/// The first line that says something, without the "command: error: " that only repeats who spoke.
std::string first_sentence(const std::string& text) {
  for (const auto& line : util::split(text, '\n')) {
    auto sentence = std::string(util::trim(line));
    if (sentence.empty()) continue;
    for (const char* mark : {": error: ", ": fatal: "})
      if (const auto at = sentence.find(mark); at != std::string::npos) sentence = sentence.substr(at + 9);
    return sentence;
  }
  return {};
}

} // namespace

std::string Answer::command() const { return util::join(words, " "); }

LiveCommands::LiveCommands(const util::EnvSnapshot& env, std::chrono::milliseconds limit)
    : x_env(make_plain(env)), x_limit(limit) {
  for (const auto& [name, value] : env.variables())
    if (classify_variable(name) == SlurmVariableKind::command) x_env.unset(name);
}

Answer LiveCommands::ask(const std::vector<std::string>& words) const {
  return run_command(words, x_env, x_limit);
}

util::EnvSnapshot make_plain(util::EnvSnapshot env) {
  env.set("SLURM_TIME_FORMAT", "standard");
  env.set("LC_ALL", "C");
  return env;
}

Answer run_command(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                   std::chrono::milliseconds limit, const std::string& input) {
  Answer answer{words, false, {}, {}};
  if (words.empty() || !util::find_program(words.front(), env)) {
    answer.why_not =
        fmt::format("{} is not in PATH", words.empty() ? std::string("the command") : words.front());
    return answer;
  }
  auto output = util::run_process(words, env, limit, input);
  if (!output) {
    answer.why_not = output.error().what;
    return answer;
  }
  answer.executed = true;
  answer.output = std::move(*output);
  if (answer.output.exit_code == 0) return answer;
  answer.why_not = first_sentence(answer.output.err.empty() ? answer.output.out : answer.output.err);
  if (answer.why_not.empty()) answer.why_not = fmt::format("exit code {}", answer.output.exit_code);
  return answer;
}

Answer RecordedCommands::ask(const std::vector<std::string>& words) const {
  Answer answer{words, false, {}, {}};
  constexpr std::size_t k_limit = std::size_t{64} << 20U;
  const auto text = util::read_input(x_directory / record_name(words), {k_limit});
  if (!text) {
    answer.why_not = text.error().what;
    return answer;
  }
  answer.executed = true;
  answer.output.out = *text;
  return answer;
}

std::string record_name(const std::vector<std::string>& words) {
  std::string name;
  for (const auto& word : words) {
    // Formats and selections are long and do not distinguish commands.
    if (word.find('=') != std::string::npos || word.find('%') != std::string::npos) continue;
    std::string plain;
    for (const char c : word.substr(word.find_last_of('/') + 1))
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) plain += c;
    if (!plain.empty()) name += (name.empty() ? "" : "-") + plain;
  }
  return name + ".txt";
}

util::Status save_answer(const Answer& answer, const std::filesystem::path& directory) {
  if (!answer.ok()) return util::Success{};
  return util::write_file(directory / record_name(answer.words), answer.output.out);
}

} // namespace hpcml::slurm
