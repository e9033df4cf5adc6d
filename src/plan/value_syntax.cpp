// SPDX-License-Identifier: MIT
#include "plan/value_syntax.hpp"

#include <map>
#include <regex>

#include "util/text.hpp"

namespace hpcml::plan {
namespace {

struct Grammar {
  std::regex form;
  std::string example;
};

const std::map<std::string, Grammar>& grammars() {
  static const std::string k_range = "\\d+(-\\d+(:\\d+)?)?";
  static const std::string k_after =
      "(after|afterany|afterburstbuffer|aftercorr|afternotok|afterok|expand)(:\\d+(_(\\d+|\\*))?(\\+\\d+)?)+";
  static const std::map<std::string, Grammar> k_grammars = {
      {"array",
       {std::regex("\\[?" + k_range + "(," + k_range + ")*\\]?(%\\d*)?"), "0-9%2, 1,3,5 or 0-30:10"}},
      {"signal",
       {std::regex("((R|B|RB|BR):)?(\\d{1,2}|(SIG)?(HUP|INT|QUIT|ABRT|KILL|ALRM|TERM|USR1|USR2|URG|CONT|STOP|"
                   "TSTP|TTIN|TTOU|PIPE|XCPU|CHLD))(@\\d+)?",
                   std::regex::icase),
        "B:USR1@60"}},
      {"dependency",
       {std::regex("(singleton|" + k_after + ")([,?](singleton|" + k_after + "))*"),
        "afterok:123 or singleton"}}};
  return k_grammars;
}

/// "5-1" names no task.
bool runs_backwards(const std::string& array) {
  static const std::regex k_range("(\\d+)-(\\d+)");
  for (std::sregex_iterator range(array.begin(), array.end(), k_range), end; range != end; ++range) {
    const auto first = util::parse_unsigned((*range)[1].str());
    const auto last = util::parse_unsigned((*range)[2].str());
    if (first && last && *first > *last) return true;
  }
  return false;
}

} // namespace

std::optional<util::Error> find_value_fault(const std::string& option, const std::string& value) {
  const auto grammar = grammars().find(option);
  // std::regex recurses per character; nobody types lists this long.
  if (grammar == grammars().end() || value.size() > 1000) return std::nullopt;
  if (std::regex_match(value, grammar->second.form) && !(option == "array" && runs_backwards(value)))
    return std::nullopt;
  return util::Error{"--" + option + "=" + value + " is nothing that Slurm reads",
                     "write it as " + grammar->second.example};
}

} // namespace hpcml::plan
