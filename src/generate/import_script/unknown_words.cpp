// SPDX-License-Identifier: MIT
#include "generate/import_script/unknown_words.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

/// What the script assigns to a variable.
enum class AssignedWords { none, options, programs };

/// The first character of a value that is not of its quotes or the variable's earlier value.
char first_character(std::string_view value, std::string_view name) {
  constexpr std::string_view k_before = "\"'( \t\\\n";
  auto at = value.find_first_not_of(k_before);
  for (const auto* start : {"$", "${"})
    if (at != std::string_view::npos && value.substr(at).starts_with(start + std::string(name)) &&
        shell::find_name(value, name, at) < at + 3)
      at = value.find_first_of(" \"'\n)", at);
  at = value.find_first_not_of(k_before, at);
  return at == std::string_view::npos ? '\0' : value[at];
}

AssignedWords assigned_words(std::string_view script, std::string_view name) {
  auto words = AssignedWords::none;
  for (auto at = shell::find_name(script, name); at != std::string_view::npos;
       at = shell::find_name(script, name, at + 1)) {
    auto rest = script.substr(at + name.size());
    if (rest.starts_with('+')) rest.remove_prefix(1);
    if (!rest.starts_with('=') || rest.size() < 2) continue;
    rest.remove_prefix(1);
    if (rest.front() == '\n' || rest.starts_with("\"\"") || rest.starts_with("()")) continue; // no words
    if (first_character(rest, name) == '-') return AssignedWords::options;
    words = AssignedWords::programs;
  }
  return words;
}

/// The command in whose words the link is; null if no launch has it.
const shell::Command* command_of(const std::vector<check::Launch>& launches, const check::Link& link) {
  const auto found = std::find_if(launches.begin(), launches.end(), [&](const check::Launch& launch) {
    const auto& words = launch.command->words;
    return std::any_of(words.begin(), words.end(),
                       [&](const auto& word) { return word.place.offset == link.place.offset; });
  });
  return found == launches.end() ? nullptr : found->command;
}

/// The words of unknown number before the image, as the script has them; empty if one cannot be separated
/// from known words.
std::vector<std::string> words_before_image(std::string_view script, const shell::Command& command,
                                            const check::Link& container) {
  std::vector<std::string> texts;
  const auto begin = container.place.offset;
  const auto end = container.operands.empty() ? begin : container.operands.front().place.offset;
  for (const auto& word : command.words) {
    if (!word.many || word.place.offset <= begin || word.place.offset > end) continue;
    const auto same_place = std::count_if(command.words.begin(), command.words.end(), [&](const auto& near) {
      return near.place.offset == word.place.offset;
    });
    if (same_place > 1 || command.parent) return {};
    if (word.place.offset < end) texts.emplace_back(script.substr(word.place.offset, word.place.length));
  }
  return texts;
}

} // namespace

bool is_unknown_option(std::string_view script, const check::Link& starter, const shell::Argument& word) {
  if (starter.complete || !word.many) return false;
  const auto text = word.unknown();
  const auto begin = std::min(text.find_first_not_of("${"), text.size());
  const auto name = text.substr(begin, text.find_first_of("}[:", begin) - begin);
  const auto assigned = shell::is_name(name) ? assigned_words(script, name) : AssignedWords::none;
  if (assigned != AssignedWords::none) return assigned == AssignedWords::options;
  static constexpr std::array<std::string_view, 6> k_names = {"arg", "flag", "opt", "param", "slurm", "srun"};
  const auto lower = util::to_lower(name);
  return std::any_of(k_names.begin(), k_names.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

void port_unknown_options(ImportState& porting, const std::vector<check::Launch>& launches,
                          FoundLaunch& found, const model::EngineRow* engine) {
  const auto* container = found.launch->container();
  if (!container || container->complete) return;
  const auto what = fmt::format("{} options that are known only when the script runs", container->program);
  const std::string hint = "use the options themselves in this line of the script";
  if (!engine)
    return porting.warn(
        container->place, "port/container",
        fmt::format("{} are removed: the program runs outside of a container on {}", what, porting.to.id),
        hint);
  const auto* old = model::find_engine_program(container->program);
  const bool same_family = old && !old->family.empty() && old->family == engine->family;
  const auto* command = same_family ? command_of(launches, *container) : nullptr;
  const auto words =
      command ? words_before_image(porting.text, *command, *container) : std::vector<std::string>();
  if (words.empty())
    return porting.error(container->place, "port/container",
                         fmt::format("{} cannot be kept for {} on {}", what, engine->name, porting.to.id),
                         hint);
  for (const auto& word : words) found.program.image_options.push_back(word);
  porting.note(container->place, "port/container",
               fmt::format("{} stay as in the script: {}", what, util::join(words, " ")),
               fmt::format("check that {} on {} accepts them", engine->name, porting.to.id));
}

} // namespace hpcml::import_script
