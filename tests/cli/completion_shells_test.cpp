// SPDX-License-Identifier: MIT
// Completion in bash, zsh and fish themselves. Of zsh and fish only where they are installed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

using Words = std::vector<std::string>;

const std::string k_hostile = "$(touch hit)", k_blank = "a site", k_quote = "it's `touch hit`;touch hit";

/// A desk with hpcml in the PATH, the scripts of the shells, and sites with names that want to be run.
class ShellDesk : public Workspace {
public:
  ShellDesk() {
    // The shells where they are installed.
    set("PATH", std::string(HPCML_BINARY_DIR) +
                    "/bin:" + util::EnvSnapshot::of_process().get_or("PATH", "/usr/bin:/bin"));
    for (const auto* shell : {"bash", "zsh", "fish"}) put("hpcml." + std::string(shell), script(shell));
    std::filesystem::create_directory(*this / "sites");
    for (const auto& name : {k_hostile, k_blank, k_quote})
      put("sites/" + name + ".json", R"({"id": "x", "extends": ["generic"]})");
    put("some file.sh", "");
  }

  std::string script(const std::string& shell) const { return hpcml({"completion", shell}).out; }

  /// What bash would offer for the line, cursor at its end; each as bash would put it.
  Words in_bash(const std::string& line) const {
    const auto result = program({"bash", "--norc", "-c", R"sh(
      . ./hpcml.bash
      compopt() { case $* in "+o default") echo words;; esac; } # there is no completion going on that it could change
      COMP_LINE=$1 COMP_POINT=${#1}
      # Bash's own way to words: at blanks, each of = and : alone, quotes and backslashes as they are.
      read -r -a COMP_WORDS <<<"$(sed -E 's/([=:]+)/ \1 /g' <<<"$1")"
      case $1 in *[[:space:]]|*=|*:) COMP_WORDS+=("");; esac
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _hpcml hpcml "${COMP_WORDS[COMP_CWORD]}" ""
      [ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}")sh",
                                 "bash", line});
    CAPTURE(line, result.err);
    CHECK(result.err.empty());
    auto lines = util::split(result.out, '\n');
    lines.pop_back();
    return lines;
  }

  /// The same in fish, which tells it itself; names as they are.
  Words in_fish(const std::string& line) const {
    const auto result =
        program({"fish", "--no-config", "-c", "source hpcml.fish; complete -C " + util::shell_quote(line)});
    CAPTURE(line, result.err);
    CHECK(result.err.empty());
    Words words;
    for (const auto& entry : util::split(result.out, '\n'))
      if (!entry.empty()) words.push_back(entry.substr(0, entry.find('\t')));
    return words;
  }

  /// The line that zsh has made of it at a terminal when Tab was pressed.
  std::string in_zsh(const std::string& line) const {
    put("drive.zsh", R"sh(
zmodload zsh/zpty
zpty z zsh -f -i
send() { zpty -w -n z "$1"; }
send $'autoload -U compinit; compinit -u -D; source ./hpcml.zsh; setopt no_beep\n'
send $'tell() { print -r -- "$BUFFER" > made; print -n > done; exit }; zle -N tell; bindkey "^X" tell\n'
send "$1"$'\t\x18'
for ((i = 0; i < 600; i++)); do
  [[ -e done ]] && break
  zpty -r -t z ignored || sleep 0.1
done
cat made
)sh");
    std::filesystem::remove(*this / "done");
    const auto result = program({"zsh", "-f", "drive.zsh", line});
    CAPTURE(line, result.out, result.err);
    return std::string(util::trim(result.out));
  }

  /// What zsh is told to offer.
  Words offered_by_zsh(const Words& words) const {
    const auto quoted = util::shell_line(words);
    const auto result =
        program({"zsh", "-f", "-c",
                 "compdef() { : }; source ./hpcml.zsh; _describe() { print -rl -- ${(P)@[-1]} }; words=(" +
                     quoted + "); CURRENT=$#words; PREFIX=$words[-1]; _hpcml"});
    CAPTURE(quoted, result.err);
    CHECK(result.err.empty());
    Words texts;
    for (const auto& entry : util::split(result.out, '\n'))
      if (!entry.empty()) texts.push_back(entry.substr(0, entry.find(':')));
    return texts;
  }
  bool is_hit() const { return std::filesystem::exists(*this / "hit"); }
};

bool has(const Words& words, const std::string& word) { return util::contains(words, word); }

bool is_installed(const std::string& shell) {
  if (util::find_program(shell, util::EnvSnapshot::of_process())) return true;
  test::skip_missing(shell);
  return false;
}

/// What `hpcml __complete` offers.
Words offered(const Workspace& workspace, Words words) {
  words.insert(words.begin(), {"__complete", "--"});
  auto lines = util::split(workspace.hpcml(words).out, '\n');
  lines.erase(lines.begin());
  lines.pop_back();
  for (auto& line : lines) line = line.substr(0, line.find('\t'));
  return lines;
}

} // namespace

TEST_CASE("bash completes commands, flags, sites, partitions and words behind =") {
  const ShellDesk workspace;
  auto flags = offered(workspace, {"gen", "-"});
  REQUIRE(flags.size() > 50);
  flags.insert(flags.begin(), "words");
  CHECK(workspace.in_bash("hpcml gen -") == flags);
  CHECK(has(workspace.in_bash("hpcml sit"), "sites"));
  CHECK(workspace.in_bash("hpcml gen --site lum") == Words{"words", "lumi"});
  CHECK(workspace.in_bash("hpcml gen --site=lum") == Words{"words", "lumi"});
  CHECK(has(workspace.in_bash("hpcml gen --site lumi --partition "), "small-g"));
  CHECK(has(workspace.in_bash("hpcml gen --site=lumi --partition=sm"), "small-g"));
  CHECK(has(workspace.in_bash("hpcml check job.sh --site 'lumi' --format "), "sarif"));
  CHECK(workspace.in_bash("hpcml check ").empty()); // files: readline's own
  CHECK(has(workspace.in_bash("hpcml launch -- bas"), "bash"));
}

TEST_CASE("bash runs nothing of names and lines, and offers them quoted") {
  const ShellDesk workspace;
  const auto sites = workspace.in_bash("hpcml --sites-dir sites gen --site ");
  CHECK(has(sites, R"(\$\(touch\ hit\))"));
  CHECK(has(sites, R"(a\ site)"));
  for (const auto& line :
       {"hpcml --sites-dir sites gen --site \"", "hpcml --sites-dir sites gen --site \"$(touch hit",
        "hpcml gen --site $(touch hit) --partition ", "hpcml gen --site `touch hit` --",
        "hpcml --sites-dir $(touch hit) gen --site "})
    for (const auto& offer : workspace.in_bash(line)) CHECK_FALSE(holds(offer, "touch"));
  for (const auto& site : sites) // as it would be typed then: a single word
    CHECK(workspace.program({"bash", "--norc", "-c", "set -- " + site + "; [ $# -eq 1 ]"}).exit_code == 0);
  CHECK_FALSE(workspace.is_hit());
}

TEST_CASE("fish completes the same, runs nothing, and knows what stands behind --") {
  if (!is_installed("fish")) return;
  const ShellDesk workspace;
  auto flags = offered(workspace, {"gen", "--"});
  auto shown = workspace.in_fish("hpcml gen --");
  std::sort(flags.begin(), flags.end());
  std::sort(shown.begin(), shown.end());
  CHECK(shown == flags);
  CHECK(workspace.in_fish("hpcml gen --site lum") == Words{"lumi"});
  CHECK(workspace.in_fish("hpcml gen --site=lum") == Words{"--site=lumi"});
  CHECK(has(workspace.in_fish("hpcml gen --site lumi --partition "), "small-g"));
  CHECK(has(workspace.in_fish("hpcml check so"), "some file.sh"));
  CHECK(has(workspace.in_fish("hpcml gen -- hpcml sit"), "sites"));
  CHECK(has(workspace.in_fish("hpcml launch -- bas"), "bash"));
  const auto sites = workspace.in_fish("hpcml --sites-dir sites gen --site ");
  for (const auto& name : {k_hostile, k_blank, k_quote}) CHECK(has(sites, name));
  CHECK_FALSE(workspace.is_hit());
}

TEST_CASE("zsh completes the same, runs nothing, and puts names in quoted") {
  if (!is_installed("zsh")) return;
  const ShellDesk workspace;
  CHECK(workspace.offered_by_zsh({"hpcml", "gen", "-"}) == offered(workspace, {"gen", "-"}));
  CHECK(workspace.in_zsh("hpcml gen --site lum") == "hpcml gen --site lumi");
  CHECK(workspace.in_zsh("hpcml gen --site=lum") == "hpcml gen --site=lumi");
  CHECK(workspace.in_zsh("hpcml gen --site lumi --partition small-") ==
        "hpcml gen --site lumi --partition small-g");
  CHECK(workspace.in_zsh("hpcml check som") == R"(hpcml check some\ file.sh)");
  CHECK(workspace.in_zsh("hpcml check --job-scripts-only -- hpcml gen --sit") ==
        "hpcml check --job-scripts-only -- hpcml gen --site");
  CHECK(workspace.in_zsh("hpcml --sites-dir sites gen --site a\\ s") ==
        R"(hpcml --sites-dir sites gen --site a\ site)");
  CHECK(workspace.in_zsh(R"(hpcml --sites-dir sites gen --site \$)") ==
        R"(hpcml --sites-dir sites gen --site \$\(touch\ hit\))");
  CHECK_FALSE(workspace.is_hit());
}
