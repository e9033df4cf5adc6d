// SPDX-License-Identifier: MIT
// Random scripts run by bash with programs that only say how they were called: where the reader says that it
// knows a word, an order or an exported variable, bash must have seen the same.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "core/shell/random_script_helper.hpp"
#include "core/shell/script_commands.hpp"
#include "core/util/process.hpp"
#include "samples.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

using Words = std::vector<std::string>;

const unsigned k_scripts = test::sampled(2500);

class TestDirectory {
public:
  void write(const std::string& name, const std::string& text, bool program = false) const {
    std::ofstream(x_directory / name) << text;
    if (program) fs::permissions(x_directory / name, fs::perms::owner_all);
  }
  const fs::path& path() const { return x_directory.path(); }

private:
  test::TempDirectory x_directory;
};

/// What bash did with one script: `show` and `envshow` calls in their order, and whether anything complained.
struct Seen {
  std::vector<Words> calls;
  bool failed = false;
};

constexpr const char* k_show = "#!/bin/sh\nprintf '%s\\0' \"$#\" \"$@\" >&9\n";
constexpr const char* k_envshow = "#!/bin/sh\nprintf '%s\\0' 7 \"$1\" \"${A-unset}\" \"${B-unset}\" "
                                  "\"${C-unset}\" \"${D-unset}\" \"${ARGS-unset}\" \"${LIST-unset}\" >&9\n";
constexpr const char* k_runner = "#!/bin/sh\n[ \"$1\" = -x ] && shift 2\nexec \"$@\"\n";
constexpr const char* k_driver = R"(exec 9>&1 >/dev/null
show() { printf '%s\0' "$#" "$@" >&9; }
export -f show
for ((i = 0; i < $1; i++)); do
  printf '=%s\0' "$i" >&9
  bash $i.txt 2>errors
  [ -s errors ] && printf 'E\0' >&9
done
exit 0
)";

std::vector<Seen> run_all(const TestDirectory& directory, unsigned count) {
  directory.write("driver", k_driver);
  directory.write("show", k_show, true);
  directory.write("envshow", k_envshow, true);
  directory.write("runner", k_runner, true);
  util::EnvSnapshot env(
      {{"PATH", directory.path().string() + ":/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TIMEFORMAT", ""}});
  const auto output =
      util::run_process({"/bin/bash", "-c",
                         "cd " + directory.path().string() + " && exec bash driver " + std::to_string(count)},
                        env);
  REQUIRE(output.ok());
  REQUIRE(output->exit_code == 0);
  Words fields;
  for (std::size_t at = 0; at < output->out.size();) {
    const auto end = output->out.find('\0', at);
    REQUIRE(end != std::string::npos);
    fields.push_back(output->out.substr(at, end - at));
    at = end + 1;
  }
  std::vector<Seen> list;
  for (std::size_t i = 0; i < fields.size();) {
    if (fields[i][0] == '=') {
      list.emplace_back();
      ++i;
      continue;
    }
    if (fields[i] == "E") {
      list.back().failed = true;
      ++i;
      continue;
    }
    const auto size = std::stoul(fields[i]);
    list.back().calls.emplace_back(fields.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   fields.begin() + static_cast<std::ptrdiff_t>(i + 1 + size));
    i += 1 + size;
  }
  return list;
}

/// True if the word can be this text, as far as it is known.
bool matches(const std::vector<shell::ArgumentPiece>& pieces, std::size_t piece, const std::string& text,
             std::size_t at) {
  if (piece == pieces.size()) return at == text.size();
  if (pieces[piece].known) {
    const auto& part = pieces[piece].text;
    return text.compare(at, part.size(), part) == 0 && matches(pieces, piece + 1, text, at + part.size());
  }
  for (auto next = at; next <= text.size(); ++next)
    if (matches(pieces, piece + 1, text, next)) return true;
  return false;
}

bool matches(std::span<const shell::Argument> arguments, std::size_t argument, const Words& words,
             std::size_t at) {
  if (argument == arguments.size()) return at == words.size();
  const auto& argument_found = arguments[argument];
  if (!argument_found.many)
    return at < words.size() && matches(argument_found.pieces, 0, words[at], 0) &&
           matches(arguments, argument + 1, words, at + 1);
  for (auto next = at; next <= words.size(); ++next)
    if (matches(arguments, argument + 1, words, next)) return true;
  return false;
}

std::string text_of(const shell::Command& command) {
  std::string text = command.context.condition ? "may run:" : "runs:";
  for (const auto& word : command.words) {
    text += " <";
    for (const auto& piece : word.pieces) text += piece.known ? piece.text : "{?" + piece.text + "}";
    text += word.many ? ">*" : ">";
  }
  return text;
}

std::string text_of(const Words& words) {
  std::string text = "bash:";
  for (const auto& word : words) text += " <" + word + ">";
  return text;
}

bool is_sure(const shell::CommandContext& c) {
  return !c.condition && !c.guarded && !c.loop && !c.uncalled && !c.unreached && !c.trap && !c.inexact;
}

struct Totals {
  std::size_t words = 0, known = 0, calls = 0, sure = 0, exports = 0, compared = 0;
};

/// What is wrong with the reader's view of an `envshow`; empty if nothing.
std::string compare_exports(const shell::Command& command, const Words& seen, Totals& totals) {
  const Words names = {"A", "B", "C", "D", "ARGS", "LIST"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const shell::Variable* found = nullptr;
    for (const auto& variable : *command.exports)
      if (variable->name == names[i]) found = variable.get();
    if (!found && seen[i + 1] != "unset" && is_sure(command.context)) return names[i] + " is exported";
    if (!found || !found->on_all_paths || found->value.kind != shell::Value::Kind::scalar) continue;
    if (!matches(found->value.words[0].pieces, 0, seen[i + 1], 0))
      return names[i] + " is " + seen[i + 1] + ", not " + found->value.words[0].text();
    ++totals.exports;
  }
  return "";
}

/// True if the call may come from a command of which the reader says that it does not know the program.
bool is_unknown_program(const shell::ScriptCommands& listing, const Words& call) {
  Words words = {"show"};
  words.insert(words.end(), call.begin(), call.end());
  return std::any_of(listing.commands.begin(), listing.commands.end(), [&](const shell::Command& command) {
    return !command.program && matches(command.words, 0, words, 0);
  });
}

/// What the reader got wrong about one script; empty if nothing.
std::string compare(const shell::ScriptCommands& listing, const Seen& seen, Totals& totals) {
  std::map<std::string, std::vector<const shell::Command*>> by_number;
  std::vector<const shell::Command*> sure;
  for (const auto& command : listing.commands) {
    const auto name = command.name().value_or("");
    if ((name != "show" && name != "envshow") || command.arguments().empty()) continue;
    by_number[command.arguments()[0].text()].push_back(&command);
    if (is_sure(command.context)) sure.push_back(&command);
  }
  std::map<std::string, bool> expected;
  for (const auto* command : sure) expected[command->arguments()[0].text()] = true;
  std::size_t next = 0;
  for (const auto& call : seen.calls) {
    ++totals.calls;
    const auto& candidates = by_number[call.at(0)];
    if (candidates.empty() && is_unknown_program(listing, call)) continue;
    if (candidates.empty()) return "not seen at all: " + text_of(call);
    bool fits = false;
    const shell::Command* bash_command = nullptr;
    for (const auto* command : candidates) {
      const bool is_env = command->name() == "envshow";
      if (command->context.unreached || (!is_env && !matches(command->arguments(), 0, call, 0))) continue;
      if (is_env && !compare_exports(*command, call, totals).empty())
        return compare_exports(*command, call, totals);
      fits = true;
      bash_command = command;
    }
    if (!fits) return text_of(*candidates.front()) + " | " + text_of(call);
    for (const auto& word : bash_command->arguments()) {
      ++totals.words;
      totals.known += word.known() ? 1 : 0;
    }
    // What surely runs must have run in this order.
    if (candidates.size() == 1 && is_sure(candidates[0]->context)) {
      while (next < sure.size() && by_number[sure[next]->arguments()[0].text()].size() > 1) ++next;
      if (next >= sure.size()) return "runs more often than thought: " + text_of(call);
      if (sure[next] != candidates[0])
        return "in another order: " + text_of(*sure[next]) + " | " + text_of(call);
      ++next;
      ++totals.sure;
    }
  }
  while (next < sure.size() && by_number[sure[next]->arguments()[0].text()].size() > 1) ++next;
  if (next < sure.size()) return "did not run: " + text_of(*sure[next]);
  ++totals.compared;
  return "";
}

} // namespace

TEST_CASE("what the reader says it knows is what bash does") {
  const TestDirectory directory;
  std::vector<std::string> scripts;
  for (unsigned seed = 0; seed < k_scripts; ++seed) {
    scripts.push_back(test::RandomScript(seed).make());
    directory.write(std::to_string(seed) + ".txt", scripts.back());
  }
  const auto seen = run_all(directory, k_scripts);
  REQUIRE(seen.size() == k_scripts);
  Totals totals;
  std::size_t failed = 0;
  for (unsigned seed = 0; seed < k_scripts; ++seed) {
    const auto script = shell::read_script(scripts[seed]);
    const auto listing = shell::list_commands(script);
    INFO("seed " << seed << "\n" << scripts[seed]);
    if (seen[seed].failed) {
      ++failed;
      continue;
    }
    CHECK(listing.complete);
    CHECK(listing.unread.empty());
    CHECK(compare(listing, seen[seed], totals) == "");
  }
  std::cout << "reader and bash: " << totals.compared << " scripts compared, " << failed
            << " left out because bash complained; " << totals.calls << " calls, " << totals.sure
            << " surely in this order; " << totals.known << " of " << totals.words << " words known; "
            << totals.exports << " exported values\n";
  CHECK(totals.compared >= test::sampled(2000));
  CHECK(totals.known * 2 > totals.words);
  CHECK(totals.exports > (test::tests_all_samples() ? 50U : 4U)); // rare, and not in each fifth alike
}
