// SPDX-License-Identifier: MIT
#include "plan/value_syntax.hpp"

#include <regex>
#include <vector>

#include "util/text.hpp"

namespace hpcml::plan {
namespace {

struct Grammar {
  const char* option;
  std::string form; ///< ECMAScript; compiled only for an option that is given, which takes longer than the
                    ///< rest of a plan
  bool any_case;
  const char* example;
};

const std::vector<Grammar>& grammars() {
  static const std::string k_range = "\\d+(-\\d+(:\\d+)?)?";
  static const std::string k_after =
      "(after|afterany|afterburstbuffer|aftercorr|afternotok|afterok|expand)(:\\d+(_(\\d+|\\*))?(\\+\\d+)?)+";
  static const std::vector<Grammar> k_grammars = {
      {"array", "\\[?" + k_range + "(," + k_range + ")*\\]?(%\\d*)?", false, "0-9%2, 1,3,5 or 0-30:10"},
      {"signal",
       "((R|B|RB|BR):)?(\\d{1,2}|(SIG)?(HUP|INT|QUIT|ABRT|KILL|ALRM|TERM|USR1|USR2|URG|CONT|STOP|"
       "TSTP|TTIN|TTOU|PIPE|XCPU|CHLD))(@\\d+)?",
       true, "B:USR1@60"},
      {"dependency", "(singleton|" + k_after + ")([,?](singleton|" + k_after + "))*", false,
       "afterok:123 or singleton"}};
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
  // std::regex recurses per character; nobody types lists this long.
  if (value.size() > 1000) return std::nullopt;
  for (const auto& grammar : grammars()) {
    if (option != grammar.option) continue;
    const std::regex form(grammar.form, grammar.any_case ? std::regex::ECMAScript | std::regex::icase
                                                         : std::regex::ECMAScript);
    if (std::regex_match(value, form) && !(option == "array" && runs_backwards(value))) return std::nullopt;
    return util::Error{"--" + option + "=" + value + " is nothing that Slurm reads",
                       std::string("write it as ") + grammar.example};
  }
  return std::nullopt;
}

} // namespace hpcml::plan
