// SPDX-License-Identifier: MIT
// What can stand at the end of a line: of the same commands, flags and words as the parser's.
#include <catch2/catch.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <set>

#include "check/check_script.hpp"
#include "cli/app_tree.hpp"
#include "cli/other/completion.hpp"
#include "cli/workspace_helper.hpp"
#include "core/config/job_keys.hpp"
#include "core/config/site_store.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::Workspace;

namespace {

using Words = std::vector<std::string>;

cli::Context bare_context() {
  cli::Context context;
  context.env.set("PATH", "/usr/bin:/bin");
  context.env.set("HOME", "/nonexistent");
  return context;
}

cli::Completion completed(const Words& words, const cli::Context& context = bare_context()) {
  return cli::complete_words(words, context);
}

std::set<std::string> texts(const Words& words, const cli::Context& context = bare_context()) {
  std::set<std::string> found;
  for (const auto& candidate : completed(words, context).list) found.insert(candidate.text);
  return found;
}

/// Shows `see` each command with the words that name it, those below others, too.
template <class See> void visit_commands(const CLI::App& app, const Words& words, const See& see) {
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    auto path = words;
    path.push_back(command->get_name());
    see(*command, path);
    visit_commands(*command, path, see);
  }
}

Words with(Words words, const std::string& last) {
  words.push_back(last);
  return words;
}

} // namespace

TEST_CASE("every flag of every command is completed, and says what its help says") {
  unsigned commands = 0, flags = 0;
  cli::with_app_tree(bare_context(), {}, [&](const CLI::App& app, const cli::Context&) {
    visit_commands(app, {}, [&](const CLI::App& command, const Words& path) {
      ++commands;
      std::map<std::string, std::string> found;
      for (const auto& candidate : completed(with(path, "-")).list) found[candidate.text] = candidate.about;
      for (const auto* option : command.get_options()) {
        if (option->get_positional() || option->get_group().empty()) continue;
        Words names;
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
        for (const auto& name : names) {
          CAPTURE(path, name);
          CHECK(found.count(name) == 1);
          CHECK(found[name] == option->get_description());
          ++flags;
        }
      }
    });
  });
  CHECK(commands >= 25);
  CHECK(flags >= 250);
}

TEST_CASE("commands are completed, and those below others") {
  const auto all = texts({""});
  for (const auto* name : {"gen", "check", "emulate", "sites", "torchrun", "completion", "man"})
    CHECK(all.count(name) == 1);
  CHECK(all.count("__complete") == 0);
  CHECK(texts({"sites", ""}) ==
        std::set<std::string>{"list", "show", "validate", "discover", "diff", "schema"});
  CHECK(texts({"-v", "config", "s"}).count("set") == 1);
  CHECK(texts({"man", ""}).count("emulate") == 1);
}

TEST_CASE("a flag with a closed set of words is completed by these and no others") {
  unsigned sets = 0;
  cli::with_app_tree(bare_context(), {}, [&](const CLI::App& app, const cli::Context&) {
    visit_commands(app, {}, [&](const CLI::App& command, const Words& path) {
      for (const auto* option : command.get_options()) {
        const auto type = option->get_type_name();
        const auto begin = type.find('{');
        if (begin == std::string::npos || option->get_lnames().empty()) continue;
        auto words = util::split(type.substr(begin + 1, type.find('}') - begin - 1), ',');
        std::erase(words, "");
        CAPTURE(path, option->get_name());
        const auto flag = "--" + option->get_lnames().front();
        CHECK(texts(with(with(path, flag), "")) == std::set<std::string>(words.begin(), words.end()));
        ++sets;
      }
    });
  });
  CHECK(sets >= 15);
}

TEST_CASE("a key of requests with a closed set is completed as a flag, behind = and for config") {
  unsigned keys = 0;
  for (const auto& key : config::job_keys()) {
    if (key.words == nullptr || key.words().empty()) continue;
    const auto words = key.words();
    CAPTURE(key.name);
    CHECK(texts({"gen", key.flag(), ""}) == std::set<std::string>(words.begin(), words.end()));
    CHECK(texts({"gen", key.flag() + "="}).count(key.flag() + "=" + words.front()) == 1);
    CHECK(texts({"config", "set", key.name, ""}) == std::set<std::string>(words.begin(), words.end()));
    ++keys;
  }
  CHECK(keys >= 6);
}

TEST_CASE("sites, and what the site of the line has, are completed") {
  const auto ids = config::list_sites({});
  const std::set<std::string> sites(ids.begin(), ids.end());
  for (const auto& words : std::vector<Words>{{"gen", "--site", ""},
                                              {"check", "job.sh", "--site", ""},
                                              {"emulate", "--site", ""},
                                              {"sites", "show", ""},
                                              {"affinity", "--site", ""},
                                              {"launch", "--site", ""}})
    CHECK(texts(words) == sites);
  const auto site = config::load_site("lumi", {}).site.value();
  std::set<std::string> names;
  for (const auto& partition : site.partitions) names.insert(partition.name);
  CHECK(names.size() >= 4);
  CHECK(texts({"gen", "--site", "lumi", "--nodes", "2", "--partition", ""}) == names);
  CHECK(texts({"emulate", "--site=lumi", "--partition", ""}) == names);
  CHECK(texts({"--sites-dir", ".", "submit", "--site", "lumi", "--partition", ""}) == names);
  CHECK(texts({"config", "set", "--site", "lumi", "partition", ""}) == names);
  auto context = bare_context();
  context.env.set("HPCML_SITE", "lumi");
  CHECK(texts({"gen", "--partition", ""}, context) == names);
  CHECK_FALSE(texts({"gen", "--site", "narval", "--gpu-type", ""}).empty());
  CHECK(texts({"gen", "--site", "no-such-site", "--partition", ""}).empty());
}

TEST_CASE("files are completed as the script of emulate") {
  CHECK(completed({"emulate", "--site", "lumi", ""}).kind == cli::Completion::Kind::files);
}

TEST_CASE("rules and keys of the configuration are completed") {
  std::set<std::string> ids;
  for (const auto& rule : check::all_rules()) ids.insert(std::string(rule.id));
  CHECK(texts({"rules", ""}) == ids);
  CHECK(texts({"config", "unset", ""}).count("account") == 1);
}

TEST_CASE("where a file or a program stands, that is said") {
  using Kind = cli::Completion::Kind;
  for (const auto& words : std::vector<Words>{{"gen", "-o", ""},
                                              {"gen", "--job", ""},
                                              {"check", ""},
                                              {"check", "a.sh", ""},
                                              {"gen", "--from", ""},
                                              {"--sites-dir", ""},
                                              {"sites", "validate", ""},
                                              {"affinity", "--topology", ""},
                                              {"gen", "--venv", ""},
                                              {"torchrun", "--log-dir", ""}})
    CHECK(completed(words).kind == Kind::files);
  for (const auto& [words, at] :
       std::vector<std::pair<Words, std::size_t>>{{{"gen", "--site", "lumi", "--", ""}, 4},
                                                  {{"launch", "--", "python", "tr"}, 2},
                                                  {{"launch", "--report", "train.py", "--si"}, 2},
                                                  {{"torchrun", "--nnodes", "2", "t.py", "-"}, 3},
                                                  {{"launch", ""}, 1}}) {
    const auto found = completed(words);
    CAPTURE(words);
    CHECK(found.kind == Kind::program);
    CHECK(found.program_at == at);
  }
  CHECK(texts({"gen", ""}).count("--") == 1);
  CHECK(completed({"gen", "--nodes", ""}).list.empty());
  CHECK(completed({"no-such-command", "--site", ""}).kind == Kind::words);
}

TEST_CASE("job numbers are those that squeue tells, and none where it does not") {
  const test::TempDirectory directory;
  auto context = bare_context();
  context.env.set("PATH", directory.path().string() + ":/usr/bin:/bin");
  const auto put_squeue = [&](const std::string& body) {
    const auto path = directory.path() / "squeue";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  put_squeue("echo '123\ttrain, RUNNING'; echo '77_4\tsweep, PENDING'\n");
  CHECK(texts({"watch", ""}, context) == std::set<std::string>{"123", "77_4"});
  put_squeue("exec sleep 1000\n");
  CHECK(texts({"watch", "1"}, context).count("123") == 0);
  put_squeue("exit 1\n");
  CHECK(texts({"watch", "1"}, context).count("123") == 0);
}

TEST_CASE("all flags of torchrun are completed") {
  const auto flags = texts({"torchrun", "-"});
  for (const auto* flag : {"--nproc-per-node", "--nnodes", "--rdzv-endpoint", "-m", "-t", "--help"})
    CHECK(flags.count(flag) == 1);
  CHECK(flags.size() >= 30);
}
