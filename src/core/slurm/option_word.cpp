// SPDX-License-Identifier: MIT
// Reading one raw option.
#include "core/slurm/option_word.hpp"

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::slurm {
namespace {

std::string program_name(Program program) { return program == Program::sbatch ? "sbatch" : "srun"; }

bool is_option_word(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word[1] != '=' && word[1] != ' ' && word != "--" &&
         util::is_one_line(word);
}

util::Result<CanonicalOption> check_value(CanonicalOption option, TakesValue argument) {
  if (argument == TakesValue::none && option.value)
    return util::Error{fmt::format("{} accepts no value", option.name),
                       fmt::format("use {} without a value, and set other options separately", option.name)};
  if (argument == TakesValue::required && (!option.value || option.value->empty()))
    return util::Error{fmt::format("{} needs a value", option.name),
                       fmt::format("use {}=VALUE", option.name)};
  return option;
}

util::Result<CanonicalOption> read_long(Program program, std::string_view word) {
  CanonicalOption option = split_option(word);
  const auto match = find_option(program, std::string_view(option.name).substr(2));
  if (match.candidates.size() > 1)
    return util::Error{fmt::format("'{}' is ambiguous: it abbreviates --{}", option.name,
                                   util::join(match.candidates, ", --")),
                       "use the full name of the option"};
  if (match.option) {
    option.name = "--" + match.option->name;
    return check_value(std::move(option), match.option->argument);
  }
  option.known = false;
  return option;
}

util::Result<CanonicalOption> read_short(Program program, std::string_view word) {
  const auto found = find_option(program, word[1]);
  if (!found)
    return util::Error{fmt::format("{} has no option '{}'", program_name(program), word.substr(0, 2)),
                       "use the long form of the option (--NAME), or remove it"};
  CanonicalOption option{"--" + found->name, {}};
  if (word.size() > 2) option.value = std::string(util::trim(word.substr(2)));
  return check_value(std::move(option), found->argument);
}

} // namespace

CanonicalOption split_option(std::string_view word) {
  const std::size_t end = word.find_first_of("= ");
  CanonicalOption option{std::string(word.substr(0, end)), {}};
  if (end != std::string_view::npos)
    option.value = std::string(word[end] == '=' ? word.substr(end + 1) : util::trim(word.substr(end + 1)));
  return option;
}

util::Result<CanonicalOption> read_option(Program program, std::string_view word) {
  if (!is_option_word(word))
    return util::Error{fmt::format("'{}' is not a single option of {}", word, program_name(program)),
                       fmt::format("use --{0} once for each option: --{0}{1}", program_name(program),
                                   program == Program::sbatch ? "=--reservation=NAME" : "=--label")};
  return word.starts_with("--") ? read_long(program, word) : read_short(program, word);
}

} // namespace hpcml::slurm
