// SPDX-License-Identifier: MIT
#include "check/value_fix.hpp"

#include <algorithm>

#include "core/slurm/option_values.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

using slurm::Program;

/// An option as written in the text: its name and its value, both without what is between.
struct Written {
  std::string option; ///< full name
  bool is_long = false;
  std::size_t name_end = 0;
  std::size_t value = 0;
  std::size_t end = 0;
};

std::optional<Written> read_written(const LintContext& subject, diag::TextRange place) {
  const auto text = subject.text.substr(place.offset, place.length);
  if (text.size() < 2 || text[0] != '-' || text.find('\n') != std::string_view::npos) return std::nullopt;
  Written written;
  written.is_long = text[1] == '-';
  written.end = place.offset + place.length;
  std::optional<slurm::Option> option;
  std::size_t at = 2;
  if (written.is_long) {
    at = std::min(text.find_first_of("= \t"), text.size());
    option = slurm::find_option(Program::sbatch, text.substr(2, at - 2), subject.version).option;
  } else
    option = slurm::find_option(Program::sbatch, text[1], subject.version);
  if (!option) return std::nullopt;
  written.option = option->name;
  written.name_end = place.offset + at;
  if (written.is_long && at < text.size() && text[at] == '=')
    ++at;
  else
    at = std::min(text.find_first_not_of(" \t", at), text.size());
  written.value = place.offset + at;
  return written;
}

bool is_taken(const LintContext& subject, const std::string& option, std::string value) {
  slurm::JobOptions request;
  return !slurm::read_value({option, std::move(value)}, subject.version, request).has_value();
}

/// The rest of the line from `at` on: where its first word begins and ends; nothing where none follows.
std::optional<diag::TextRange> next_word(std::string_view text, std::size_t at) {
  const auto begin = text.find_first_not_of(" \t", at);
  if (begin == std::string_view::npos || text[begin] == '\n' || text[begin] == '\r' || text[begin] == '#' ||
      text[begin] == '-')
    return std::nullopt;
  return diag::TextRange{begin, std::min(text.find_first_of(" \t\r\n#", begin), text.size()) - begin};
}

/// "-nodes=2" is -n with the value "odes=2".
std::vector<Edit> add_dash(const LintContext& subject, diag::TextRange place) {
  const auto text = subject.text.substr(place.offset, place.length);
  const auto name = text.substr(1, text.find('=') - 1);
  if (text.find('=') == std::string_view::npos || name.size() < 3 || !slurm::is_option(Program::sbatch, name))
    return {};
  if (!is_taken(subject, std::string(name), std::string(text.substr(name.size() + 2)))) return {};
  return {{place.offset, 0, "-"}};
}

} // namespace

std::vector<Edit> fix_value(const LintContext& subject, diag::TextRange place, Respell respell) {
  const auto written = read_written(subject, place);
  if (!written) return {};
  if (!written->is_long)
    if (auto fix = add_dash(subject, place); !fix.empty()) return fix;
  auto value = std::string(subject.text.substr(written->value, written->end - written->value));
  auto end = written->end;
  if (value.empty() || value == "=") { // "--time= 10", "--time = 10"
    const auto word = next_word(subject.text, end);
    if (!word) return {};
    value = std::string(subject.text.substr(word->offset, word->length));
    end = word->offset + word->length;
  } else if (value[0] == '=')
    value.erase(0, 1);
  while (!value.empty() && (value.back() == ';' || value.back() == ',')) value.pop_back();
  if (value.empty()) return {};
  if (!is_taken(subject, written->option, value)) {
    const auto respelled = respell ? respell(value) : std::nullopt;
    if (!respelled || !is_taken(subject, written->option, *respelled)) return {};
    value = *respelled;
  }
  const auto begin = written->is_long ? written->name_end : written->value;
  const auto text = (written->is_long ? "=" : "") + value;
  if (subject.text.substr(begin, end - begin) == text) return {}; // refused by other versions only
  return {{begin, end - begin, text}};
}

std::vector<slurm::HeaderWord> words_up_to(const LintContext& subject, std::size_t offset) {
  for (const auto& directive : subject.header.directives)
    for (std::size_t i = 0; i < directive.words.size(); ++i)
      if (directive.words[i].place.offset == offset)
        return {directive.words.begin(), directive.words.begin() + static_cast<std::ptrdiff_t>(i) + 1};
  return {};
}

} // namespace hpcml::check
