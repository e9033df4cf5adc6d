// SPDX-License-Identifier: MIT
// Values that somebody was to fill in.
#include <algorithm>
#include <array>

#include "check/rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace safety_placeholder {

constexpr std::array<std::string_view, 16> k_words = {
    "your_",    "your-",     "yourname",  "youraccount", "yourproject", "your.", "fill_me", "fillme",
    "changeme", "change_me", "change-me", "placeholder", "todo",        "fixme", "xxxx",    "replace_me"};
constexpr std::array<std::string_view, 9> k_whole = {
    "xxx",       "account_name", "project_name", "partition_name", "my_account",
    "myaccount", "account",      "your",         "user@domain.com"};
/// Where the site decides whether a value exists.
constexpr std::array<std::string_view, 9> k_named = {
    "account", "partition", "qos", "reservation", "constraint", "mail-user", "nodelist", "chdir", "clusters"};

bool has_brackets(const std::string& text) {
  const auto open = text.find('<');
  if (open != std::string::npos && text.find('>', open) != std::string::npos) return true;
  const auto brace = text.find('{');
  return brace != std::string::npos && text.find('}', brace) != std::string::npos &&
         (brace == 0 || text[brace - 1] != '$');
}

bool is_placeholder(const std::string& option, const std::string& text) {
  if (has_brackets(text)) return true;
  if (std::find(k_named.begin(), k_named.end(), option) == k_named.end()) return false;
  const auto lower = util::to_lower(text);
  if (option != "partition" && std::find(k_whole.begin(), k_whole.end(), lower) != k_whole.end()) return true;
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& request : subject.requests)
    for (const auto& [option, setting] : request.given)
      if (setting.value && setting.place.length > 0 && option != "comment" && option != "wrap" &&
          is_placeholder(option, *setting.value))
        hits.push_back({setting.place, "'" + *setting.value + "' looks as if it was to be filled in",
                        "write your own value, or remove the option and give it on the command line"});
  return hits;
}

} // namespace safety_placeholder

Rule rule_safety_placeholder() {
  using namespace safety_placeholder;
  return {"safety/placeholder",
          diag::Severity::warning,
          "A value that was to be filled in",
          "Templates name their gaps <account> or YOUR_PROJECT. sbatch takes such names as they stand, and "
          "the controller refuses "
          "the job; in a mail address or a path nobody notices at all.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {"#!/bin/bash\n#SBATCH --account=<account>\n", "#!/bin/bash\n#SBATCH --account=YOUR_PROJECT\n",
           "#!/bin/bash\n#SBATCH --job-name={name}\n",
           "#!/bin/bash\n#SBATCH --mail-user=your.name@uni.org --mail-type=END\n"},
          {"#!/bin/bash\n#SBATCH --account=project_462000123\n",
           "#!/bin/bash\n#SBATCH --job-name=todo_list\n", "#!/bin/bash\n#SBATCH --nodelist=n[1-4]\n",
           "#!/bin/bash\n#SBATCH --constraint=\"[rack1|rack2]\"\n"},
          find};
}

} // namespace hpcml::check
