// SPDX-License-Identifier: MIT
// Reading one raw option.
#include "plan/option_word.hpp"

#include <algorithm>
#include <map>

#include "util/text.hpp"

namespace hpcml::plan {
namespace {

/// Short options of sbatch, from its manual page; the same letters in all versions since 20.11.
const std::map<char, std::string> k_long_names = {
    {'A', "--account"},       {'B', "--extra-node-info"},
    {'C', "--constraint"},    {'D', "--chdir"},
    {'G', "--gpus"},          {'H', "--hold"},
    {'J', "--job-name"},      {'L', "--licenses"},
    {'M', "--clusters"},      {'N', "--nodes"},
    {'O', "--overcommit"},    {'S', "--core-spec"},
    {'a', "--array"},         {'b', "--begin"},
    {'c', "--cpus-per-task"}, {'d', "--dependency"},
    {'e', "--error"},         {'i', "--input"},
    {'k', "--no-kill"},       {'m', "--distribution"},
    {'n', "--ntasks"},        {'o', "--output"},
    {'p', "--partition"},     {'q', "--qos"},
    {'s', "--oversubscribe"}, {'t', "--time"},
    {'w', "--nodelist"},      {'x', "--exclude"},
};

} // namespace

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_option_word(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word[1] != '=' && word[1] != ' ' && word != "--" &&
         is_one_line(word);
}

OptionWord split_option(std::string_view word) {
  OptionWord option;
  std::string_view rest;
  if (util::starts_with(word, "--")) {
    const std::size_t end = word.find_first_of("= ");
    option.name = std::string(word.substr(0, end));
    if (end == std::string_view::npos) return option;
    rest = word[end] == '=' ? word.substr(end + 1) : util::trim(word.substr(end + 1));
  } else {
    const auto found = k_long_names.find(word[1]);
    option.name = found == k_long_names.end() ? std::string(word.substr(0, 2)) : found->second;
    if (word.size() == 2) return option;
    rest = util::trim(word.substr(2));
  }
  option.value = std::string(rest);
  if (option.name == "--tasks-per-node") option.name = "--ntasks-per-node"; // Slurm takes both
  return option;
}

} // namespace hpcml::plan
