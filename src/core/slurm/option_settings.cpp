// SPDX-License-Identifier: MIT
#include "core/slurm/option_settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "core/slurm/foreign_directives.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

std::string versions_text(string_view range) {
  const auto parts = util::split(std::string(range), ',');
  const auto& part = parts.front();
  if (parts.size() == 1 && part.back() == '-')
    return fmt::format("exists from Slurm {}", part.substr(0, part.size() - 1));
  if (part.front() == '-' && parts.size() == 1)
    return fmt::format("was removed after Slurm {}", part.substr(1));
  return fmt::format("exists only in Slurm {}", range);
}

/// getopt_long over a list of words, where options and operands may be mixed.
class SettingReader {
public:
  SettingReader(const std::vector<HeaderWord>& words, OptionSource source, ComparisonTrackingVersion version,
                LocatedFindings& findings)
      : x_words(words), x_source(source), x_version(version), x_findings(findings) {}

  std::vector<OptionSetting> read() {
    bool only_operands = false;
    for (; x_at < x_words.size(); ++x_at) {
      const string_view word = x_words[x_at].text;
      if (only_operands || word.size() < 2 || word.front() != '-')
        report_operand(x_words[x_at]);
      else if (word == "--")
        only_operands = true;
      else if (word.starts_with("--"))
        read_long(word.substr(2));
      else
        read_short(word.substr(1));
    }
    return std::move(x_settings);
  }

private:
  TextRange current_place() const { return x_words[x_at].place; }

  void report_operand(const HeaderWord& word) {
    if (x_source == OptionSource::script)
      x_findings.error(word.place, "slurm/unexpected-argument",
                       fmt::format("'{}' is not an option: sbatch rejects the script", word.text),
                       "add quotes around a value with spaces, or '#' before a comment; nothing is expanded "
                       "in a directive");
    else
      x_findings.error({}, "slurm/unexpected-argument",
                       fmt::format("the script '{}' does not exist", word.text));
  }

  void add(const std::string& option, std::optional<std::string> value, TextRange place) {
    x_settings.push_back({option, std::move(value), place, x_source});
  }

  /// The next word as the value; no matter what it looks like, as getopt takes it.
  void add_with_next(const Option& option, const std::string& shown) {
    const TextRange place = current_place();
    if (x_at + 1 >= x_words.size()) {
      x_findings.error(place, "slurm/value-missing", fmt::format("{} needs a value", shown),
                       fmt::format("use {} VALUE", shown));
      return;
    }
    ++x_at;
    const TextRange value = current_place();
    add(option.name, x_words[x_at].text,
        place.length == 0 ? value : TextRange{place.offset, value.offset + value.length - place.offset});
  }

  void read_long(string_view text) {
    const auto equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const auto match = find_option(Program::sbatch, name, x_version);
    if (!match.option) return report_unknown(name, match.candidates);
    const bool has_value = equals != string_view::npos;
    const auto& option = *match.option;
    if (has_value && option.argument == TakesValue::none)
      x_findings.error(current_place(), "slurm/value-unwanted",
                       fmt::format("--{} accepts no value", option.name), "use --" + option.name);
    else if (has_value)
      add(option.name, std::string(text.substr(equals + 1)), current_place());
    else if (option.argument == TakesValue::required)
      add_with_next(option, "--" + option.name);
    else
      add(option.name, std::nullopt, current_place());
  }

  void read_short(string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::string shown = std::string("-") + letters[i];
      const auto option = find_option(Program::sbatch, letters[i], x_version);
      if (!option) {
        const auto option_of_srun = find_option(Program::srun, letters[i], x_version.get());
        x_findings.error(
            current_place(), "slurm/option-unknown", fmt::format("sbatch has no option {}", shown),
            option_of_srun ? fmt::format("use --{1} of srun in place of {0}", shown, option_of_srun->name)
                           : "use the full name of the option");
        continue;
      }
      const auto rest = letters.substr(i + 1);
      if (option->argument == TakesValue::none) {
        add(option->name, std::nullopt, current_place());
        continue;
      }
      if (!rest.empty())
        add(option->name, std::string(rest), current_place());
      else if (option->argument == TakesValue::required)
        add_with_next(*option, shown);
      else
        add(option->name, std::nullopt, current_place());
      return;
    }
  }

  void report_unknown(const std::string& name, const std::vector<std::string>& candidates) {
    if (candidates.size() > 1) {
      x_findings.error(
          current_place(), "slurm/option-ambiguous",
          fmt::format("--{} is ambiguous: it abbreviates --{}", name, util::join(candidates, ", --")),
          "use the full name");
      return;
    }
    std::string hint;
    if (is_option(Program::sbatch, name))
      hint = "--" + name + " " + versions_text(versions_of(Program::sbatch, name));
    else if (find_option(Program::srun, name).option)
      hint = fmt::format("use --{} for srun: sbatch does not have it", name);
    else if (const auto near = util::nearest(name, option_names(Program::sbatch, x_version.get())))
      hint = fmt::format("use --{} if that is meant", *near);
    else
      hint = "check that a plugin of the site adds it: sbatch itself does not have it";
    x_findings.error(current_place(), "slurm/option-unknown",
                     fmt::format("sbatch {} has no option --{}", name_of(x_version.get()), name), hint);
  }

  const std::vector<HeaderWord>& x_words;
  OptionSource x_source;
  ComparisonTrackingVersion x_version;
  LocatedFindings& x_findings;
  std::size_t x_at = 0;
  std::vector<OptionSetting> x_settings;
};

/// All words of a component are one list: an option's value may be on the next directive.
std::vector<OptionSetting> read_component(const ScriptHeader& header, unsigned component, bool foreign,
                                          ComparisonTrackingVersion version, LocatedFindings& findings) {
  std::vector<HeaderWord> words;
  for (const auto& directive : header.directives)
    if (directive.component == component && directive.magic == DirectivePrefix::sbatch)
      words.insert(words.end(), directive.words.begin(), directive.words.end());
  auto settings = SettingReader(words, OptionSource::script, version, findings).read();
  // The other systems' lines win, wherever they are.
  if (foreign)
    for (auto& setting : translate_foreign(header, version, findings)) settings.push_back(std::move(setting));
  return settings;
}

bool ignores_foreign(const ScriptHeader& header, const SbatchInvocation& invocation) {
  const auto ignores_pbs = [](const std::string& word) { return word == "--ignore-pbs"; };
  return invocation.environment.count("SBATCH_IGNORE_PBS") > 0 ||
         std::any_of(invocation.arguments.begin(), invocation.arguments.end(), ignores_pbs) ||
         std::any_of(header.directives.begin(), header.directives.end(), [&](const HeaderLine& d) {
           return std::any_of(d.words.begin(), d.words.end(),
                              [&](const HeaderWord& w) { return ignores_pbs(w.text); });
         });
}

/// An option without a value is on by an empty variable, "yes" or any number but 0.
bool is_on(const std::string& value) {
  char* end = nullptr;
  return value.empty() || util::to_lower(value) == "yes" ||
         (std::strtol(value.c_str(), &end, 10) != 0 && *end == '\0');
}

std::vector<OptionSetting> read_environment(const SbatchInvocation& invocation,
                                            ComparisonTrackingVersion version, LocatedFindings& findings) {
  std::vector<OptionSetting> settings;
  if (invocation.environment.empty())
    return settings; // as check reads: hundreds of names need not be looked up for each version
  for (const auto& [variable, option] : option_variables(version)) {
    const auto found = invocation.environment.find(std::string(variable));
    if (found == invocation.environment.end()) continue;
    const auto match = find_option(Program::sbatch, option, version);
    if (!match.option) {
      findings.error({}, "slurm/option-unknown",
                     fmt::format("the variable {} sets --{}, which sbatch {} does not have", variable, option,
                                 name_of(version.get())),
                     fmt::format("run unset {} before sbatch", variable));
      continue;
    }
    OptionSetting setting{std::string(option), std::nullopt, {}, OptionSource::environment};
    if (match.option->argument != TakesValue::none)
      setting.value = found->second;
    else if (option != "verbose")
      setting.off = !is_on(found->second);
    settings.push_back(std::move(setting));
  }
  return settings;
}

/// The command line's words per component.
std::vector<std::vector<HeaderWord>> split_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::vector<HeaderWord>> components(1);
  for (const auto& argument : arguments) {
    if (argument == ":")
      components.emplace_back();
    else
      components.back().push_back({argument, {}});
  }
  return components;
}

} // namespace

namespace {

/// What the next component starts with. A hint that had its effect is handed on as SLURM_HINT.
void hand_on(const OptionSetting& setting, const std::vector<OptionSetting>& settings,
             std::vector<OptionSetting>& inherited) {
  const auto replaces_hint = [](const OptionSetting& later) {
    return later.option == "ntasks-per-core" || later.option == "threads-per-core" ||
           later.option == "extra-node-info";
  };
  if (setting.option == "hint" && std::any_of(settings.begin(), settings.end(), replaces_hint)) return;
  inherited.push_back(setting);
  if (setting.option == "hint") inherited.back().source = OptionSource::environment;
}

} // namespace

Components read_settings(const ScriptHeader& header, const SbatchInvocation& invocation,
                         ComparisonTrackingVersion version, LocatedFindings& findings) {
  const auto arguments = split_arguments(invocation.arguments);
  const bool foreign = !ignores_foreign(header, invocation);
  const auto environment = read_environment(invocation, version, findings);
  const std::size_t count = std::max<std::size_t>(header.components, arguments.size());
  Components components(count);
  std::vector<OptionSetting> inherited;
  for (unsigned c = 0; c < count; ++c) {
    auto& settings = components[c];
    settings = inherited;
    const auto append = [&](std::vector<OptionSetting> more) {
      settings.insert(settings.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    };
    append(read_component(header, c, foreign, version, findings));
    append(environment);
    if (c < arguments.size())
      append(SettingReader(arguments[c], OptionSource::command_line, version, findings).read());
    for (const auto& setting : settings)
      if (setting.option == "wrap" && setting.source == OptionSource::command_line)
        findings.error({}, "slurm/exclusive-options", "sbatch rejects --wrap together with a job script",
                       "remove --wrap, or the script");
    inherited.clear();
    for (const auto& setting : settings)
      if (!is_per_component(setting.option) && setting.source != OptionSource::environment)
        hand_on(setting, settings, inherited);
  }
  return components;
}

} // namespace hpcml::slurm
