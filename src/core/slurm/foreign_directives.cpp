// SPDX-License-Identifier: MIT
#include "core/slurm/foreign_directives.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

struct Letter {
  char letter;
  string_view name;        ///< long form
  bool has_value = true;   ///< a value follows
  string_view option = {}; ///< sbatch's; empty: ignored, or translated by hand
};

constexpr Letter k_pbs[] = {{'a', "start_time", true, "begin"},
                            {'A', "account", true, "account"},
                            {'c', "checkpoint"},
                            {'C', "working_dir"},
                            {'e', "error", true, "error"},
                            {'h', "hold", false, "hold"},
                            {'I', "interactive", false},
                            {'j', "join"},
                            {'J', "job_array", true, "array"},
                            {'k', "keep"},
                            {'l', "resource_list"},
                            {'m', "mail_options"},
                            {'M', "mail_user_list", true, "mail-user"},
                            {'N', "job_name", true, "job-name"},
                            {'o', "out", true, "output"},
                            {'p', "priority", true, "nice"},
                            {'q', "destination", true, "partition"},
                            {'r', "rerunable"},
                            {'S', "script_path"},
                            {'t', "array", true, "array"},
                            {'u', "running_user"},
                            {'v', "variable_list", true, "export"},
                            {'V', "all_env", false},
                            {'W', "attributes"},
                            {'z', "no_std", false}};
/// From 23.02.
constexpr Letter k_pbs_later[] = {{'d', {}, true, "chdir"}, {'w', {}, true, "chdir"}};
constexpr Letter k_bsub[] = {{'c', "cwd", true, "chdir"},
                             {'e', "error_file", true, "error"},
                             {'J', "job_name", true, "job-name"},
                             {'m', "hostname"},
                             {'M', "memory_limit"},
                             {'n', {}},
                             {'o', "output_file", true, "output"},
                             {'q', "queue_name", true, "partition"},
                             {'W', "time", true, "time"},
                             {'x', "exclusive", false, "exclusive"}};

class Translator {
public:
  Translator(DirectivePrefix magic, const std::vector<HeaderWord>& words, ComparisonTrackingVersion version,
             LocatedFindings& findings)
      : x_magic(magic), x_words(words), x_version(version), x_findings(findings) {}

  /// getopt_long that ends at the first operand.
  std::vector<OptionSetting> read() {
    for (; x_at < x_words.size(); ++x_at) {
      const string_view word = x_words[x_at].text;
      x_place = x_words[x_at].place;
      if (word.size() < 2 || word.front() != '-')
        refuse(fmt::format("it: '{}' is not an option", word), "remove the word");
      const bool stops = word.size() < 2 || word.front() != '-' || word == "--";
      if (stops || !(word.starts_with("--") ? read_long(word.substr(2)) : read_letters(word.substr(1))))
        break;
    }
    return std::move(x_settings);
  }

private:
  /// `rejected` completes "rejects".
  void refuse(const std::string& rejected, const std::string& remedy) {
    x_findings.error(x_place, "slurm/value",
                     fmt::format("sbatch reads this {} line as options and rejects {}",
                                 x_magic == DirectivePrefix::pbs ? "#PBS" : "#BSUB", rejected),
                     fmt::format("{}, or use sbatch --ignore-pbs", remedy));
  }
  void refuse_unknown(const std::string& option) {
    refuse("the unknown option " + option, "remove the option");
  }
  void add(string_view option, std::optional<std::string> value) {
    x_settings.push_back({std::string(option), std::move(value), x_place, OptionSource::script});
  }

  template <typename Test> const Letter* find(Test is_it) const {
    const auto in = [&](const auto& letters) -> const Letter* {
      const auto found = std::find_if(std::begin(letters), std::end(letters), is_it);
      return found == std::end(letters) ? nullptr : &*found;
    };
    if (x_magic == DirectivePrefix::bsub) return in(k_bsub);
    const auto* letter = in(k_pbs);
    return letter == nullptr && x_version >= Version::v23_02 ? in(k_pbs_later) : letter;
  }

  bool read_long(string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto* letter = find([&](const Letter& l) { return !l.name.empty() && l.name.starts_with(name); });
    if (letter == nullptr) return refuse_unknown(fmt::format("--{}", name)), false;
    if (equals != string_view::npos) return take(*letter, std::string(text.substr(equals + 1)));
    return letter->has_value ? take_next(*letter) : take(*letter, std::nullopt);
  }

  bool read_letters(string_view letters) {
    // bsub's long names with one dash are known as far as this one.
    if (x_magic == DirectivePrefix::bsub && letters == "cwd") letters = "c";
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto* letter = find([&](const Letter& l) { return l.letter == letters[i]; });
      if (letter == nullptr) return refuse_unknown(fmt::format("-{}", std::string(1, letters[i]))), false;
      if (!letter->has_value) {
        if (!take(*letter, std::nullopt)) return false;
        continue;
      }
      const auto rest = letters.substr(i + 1);
      return rest.empty() ? take_next(*letter) : take(*letter, std::string(rest));
    }
    return true;
  }

  bool take_next(const Letter& letter) {
    if (x_at + 1 >= x_words.size())
      return refuse(fmt::format("it: -{} needs a value", std::string(1, letter.letter)), "add the value"),
             false;
    ++x_at;
    return take(letter, x_words[x_at].text);
  }

  bool take(const Letter& letter, std::optional<std::string> value) {
    const std::string text = value.value_or("");
    if (!letter.option.empty())
      add(letter.option, std::move(value));
    else if (x_magic == DirectivePrefix::bsub)
      return take_bsub(letter.letter, text);
    else if (letter.letter == 'l')
      take_resources(text);
    else if (letter.letter == 'm')
      take_mail(text);
    else if (letter.letter == 'W' && util::to_lower(text).starts_with("depend="))
      add("dependency", text.substr(7));
    return true;
  }

  bool take_bsub(char letter, const std::string& text) {
    if (letter == 'm') add("nodelist", util::replace_all(text, " ", ","));
    if (letter == 'M')
      add("mem-per-cpu", !text.empty() && text.back() >= '0' && text.back() <= '9' ? text + "K" : text);
    if (letter == 'n') { // MIN,MAX
      const auto comma = text.find(',');
      if (comma + 1 == text.size())
        return refuse(fmt::format("-n '{}': it needs a number of tasks", text),
                      "use -n MIN,MAX or -n NUMBER"),
               false;
      add("ntasks", comma == std::string::npos ? text : text.substr(comma + 1));
    }
    return true;
  }

  void take_mail(const std::string& letters) {
    std::vector<std::string> types;
    const std::string lower = util::to_lower(letters);
    for (const auto& [letter, type] :
         {std::pair{'b', "BEGIN"}, std::pair{'e', "END"}, std::pair{'a', "FAIL"}})
      if (lower.find(letter) != std::string::npos) types.emplace_back(type);
    if (lower.find('n') != std::string::npos) types = {"NONE"};
    add("mail-type", util::join(types, ","));
  }

  static std::string without_byte_unit(std::string size) {
    if (!size.empty() && (size.back() == 'b' || size.back() == 'B')) size.pop_back();
    return size;
  }

  /// "nodes=2:ppn=8,walltime=1:00:00" or "select=2:ncpus=8:mpiprocs=4" after -l.
  void take_resources(const std::string& list) {
    struct Resource {
      string_view name;
      string_view option;
      char end = ',';
    };
    static constexpr Resource resources[] = {{"walltime=", "time"},
                                             {"cput=", "time"},
                                             {"pcput=", "time"},
                                             {"mem=", "mem"},
                                             {"file=", "tmp"},
                                             {"nice=", "nice"},
                                             {"nodes=", {}},
                                             {"select=", "nodes", ':'},
                                             {"ncpus=", "mincpus", ':'},
                                             {"mpiprocs=", "ntasks-per-node", ':'},
                                             {"proc=", "constraint"},
                                             {"naccelerators=", "gres"},
                                             {"vmem=", {}},
                                             {"pmem=", {}},
                                             {"pvmem=", {}},
                                             {"arch=", {}},
                                             {"host=", {}},
                                             {"other=", {}},
                                             {"opsys=", {}},
                                             {"software=", {}}};
    std::map<string_view, long> sizes;
    for (std::size_t at = 0; at < list.size();) {
      const auto* found = std::find_if(std::begin(resources), std::end(resources), [&](const Resource& r) {
        return list.compare(at, r.name.size(), r.name) == 0;
      });
      if (found == std::end(resources)) {
        ++at;
        continue;
      }
      const std::size_t from = at + found->name.size();
      const std::size_t to = std::min(list.find(found->end, from), list.size());
      std::string value = list.substr(from, to - from);
      at = to + 1;
      if (found->name == "nodes=") take_nodes(value);
      if (found->option.empty()) continue;
      if (found->option == "mem" || found->option == "tmp") value = without_byte_unit(value);
      if (found->option == "gres") value = "gpu:" + value;
      if (found->end == ':') sizes[found->name] = std::strtol(value.c_str(), nullptr, 10);
      add(found->option, value);
    }
    const long cpus = sizes["ncpus="];
    const long tasks = sizes["mpiprocs="];
    if (sizes.count("select=") > 0 && tasks > 0 && cpus > tasks)
      add("cpus-per-task", std::to_string(cpus / tasks));
  }

  /// "2:ppn=8", "n1:ppn=4+n2:ppn=4".
  void take_nodes(const std::string& text) {
    long per_node = 0;
    long nodes = 0;
    std::vector<std::string> names;
    for (const auto& part : util::split(util::replace_all(text, "+", ":"), ':')) {
      if (part.empty()) continue;
      if (part.starts_with("gpus="))
        add("gpus-per-node", part.substr(5));
      else if (part.starts_with("ppn="))
        per_node += std::strtol(part.c_str() + 4, nullptr, 10);
      else if (part[0] >= '0' && part[0] <= '9')
        nodes += std::strtol(part.c_str(), nullptr, 10);
      else
        names.push_back(part);
    }
    if (nodes > 0) add("nodes", std::to_string(nodes));
    if (per_node > 0) add("ntasks", std::to_string(per_node * std::max(1L, nodes)));
    if (!names.empty()) add("nodelist", util::join(names, ","));
  }

  DirectivePrefix x_magic;
  const std::vector<HeaderWord>& x_words;
  ComparisonTrackingVersion x_version;
  LocatedFindings& x_findings;
  TextRange x_place;
  std::size_t x_at = 0;
  std::vector<OptionSetting> x_settings;
};

} // namespace

std::vector<OptionSetting> translate_foreign(const ScriptHeader& header, ComparisonTrackingVersion version,
                                             LocatedFindings& findings) {
  for (const auto magic : {DirectivePrefix::bsub, DirectivePrefix::pbs}) {
    std::vector<HeaderWord> words;
    bool present = false;
    for (const auto& directive : header.directives) {
      if (directive.magic != magic) continue;
      present = true;
      words.insert(words.end(), directive.words.begin(), directive.words.end());
    }
    if (present) return Translator(magic, words, version, findings).read();
  }
  return {};
}

} // namespace hpcml::slurm
