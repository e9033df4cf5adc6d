// SPDX-License-Identifier: MIT
// Slurm's commands, whose answers a test writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/slurm/commands.hpp"

namespace hpcml::testing {

struct ScriptedAnswer {
  int code = 0;
  std::string out, err;
};

/// Answers a command by the first entry whose text its words start with, and keeps the words. A command
/// without an entry takes too long.
class ScriptedCommands : public slurm::Commands {
public:
  explicit ScriptedCommands(std::vector<std::pair<std::string, ScriptedAnswer>> answers)
      : x_answers(std::move(answers)) {}

  slurm::Answer ask(const std::vector<std::string>& words) const override {
    slurm::Answer answer{
        words, false, {}, words.front() + " exceeded its time limit of 10000 ms and was stopped"};
    x_words.push_back(answer.command());
    for (const auto& [command, result] : x_answers) {
      if (!answer.command().starts_with(command)) continue;
      answer.executed = true;
      answer.output = {result.code, result.out, result.err};
      answer.why_not = result.code == 0 ? "" : result.err;
      break;
    }
    return answer;
  }
  const std::vector<std::string>& commands() const { return x_words; }

private:
  std::vector<std::pair<std::string, ScriptedAnswer>> x_answers;
  mutable std::vector<std::string> x_words;
};

} // namespace hpcml::testing
