// SPDX-License-Identifier: MIT
#include "core/model/program_syntax.hpp"

namespace hpcml::model {

std::vector<std::string> ProgramSyntax::start() const {
  std::vector<std::string> words{std::string(name)};
  if (!subcommands.empty()) words.emplace_back(subcommands.substr(1, subcommands.find(' ', 1) - 1));
  return words;
}

} // namespace hpcml::model
