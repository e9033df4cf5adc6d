// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/choice_hint.hpp"
#include "core/util/dollar_template.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/scratch_path.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::util;

TEST_CASE("a real bash reads back every quoted word") {
  const auto env = EnvSnapshot::of_process();
  std::mt19937 random(11);
  const std::string hostile = "ab'\"\\$`(){}[]<>|&;#!*?~ \t\n=%,.-/\x01\xc3\xa9";
  std::string script = "printf '%s\\0'";
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (unsigned n = random() % 12; n > 0; --n) word += hostile[random() % hostile.size()];
    script += " " + shell_quote(word);
    expected += word + '\0';
  }
  const auto result = run_process({"bash", "-c", script}, env);
  REQUIRE(result);
  CHECK(result->out == expected);
}

TEST_CASE("what a wrapper has started ends with it when its time is over") {
  const test::TempDirectory directory;
  const auto file = (directory / "pid").string();
  const auto run = run_process({"bash", "-c", "sleep 300 & echo $! > " + file + "; wait"},
                               EnvSnapshot::of_process(), std::chrono::seconds(3));
  CHECK_FALSE(run.ok());
  const auto pid = std::string(trim(read_file(file).value_or("")));
  REQUIRE_FALSE(pid.empty());
  const auto gone = [&] { // a zombie until its new parent looks
    const auto stat = read_file("/proc/" + pid + "/stat");
    return !stat || stat->find(") Z ") != std::string::npos;
  };
  for (int i = 0; i < 6000 && !gone(); ++i) ::usleep(10000);
  CHECK(gone());
}

TEST_CASE("a program hears the signals that its caller has blocked for itself") {
  sigset_t children, before;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, &before);
  const auto output = run_process({"grep", "SigBlk", "/proc/self/status"}, EnvSnapshot::of_process());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(output);
  CHECK(output->out == "SigBlk:\t0000000000000000\n");
}

TEST_CASE("run_process returns output, exit code and signals without a shell") {
  const auto env = EnvSnapshot::of_process();
  const auto echoed = run_process({"printf", "%s", "$(id) a"}, env);
  REQUIRE(echoed);
  CHECK(echoed->out == "$(id) a");
  CHECK(run_process({"bash", "-c", "echo no >&2; exit 7"}, env)->exit_code == 7);
  CHECK(run_process({"bash", "-c", "kill -9 $$"}, env)->exit_code == 137);
  CHECK(run_process({"cat"}, env, std::nullopt, std::string(300000, 'x'))->out.size() == 300000);
  CHECK(run_process({"true"}, env, std::nullopt, std::string(300000, 'x'))->exit_code == 0);
  CHECK_FALSE(run_process({"no-such-program-anywhere"}, env).ok());
  CHECK_FALSE(run_process({"sleep", "20"}, env, std::chrono::milliseconds(50)).ok());
  // One that says no more goes on, too.
  CHECK_FALSE(run_process({"bash", "-c", "exec sleep 20 >&- 2>&-"}, env, std::chrono::milliseconds(50)).ok());
  CHECK(run_process({"bash", "-c", "exec >&- 2>&-; sleep 0.1; exit 3"}, env, std::chrono::seconds(300))
            ->exit_code == 3);
}

TEST_CASE("write_file replaces a file in one step and leaves nothing on failure") {
  const test::TempDirectory directory;
  REQUIRE(write_file(directory / "a", "one"));
  REQUIRE(write_file(directory / "a", "two"));
  CHECK(read_file(directory / "a").value() == "two");
  CHECK_FALSE(write_file(directory / "none" / "a", "x").ok());
  CHECK_FALSE(read_file(directory / "b").ok());
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE(
    "write_output follows links, keeps modes, and writes into pipes and devices instead of replacing them") {
  const test::TempDirectory directory;
  const auto target = directory / "target", link = directory / "link", pipe = directory / "pipe";
  REQUIRE(write_output(target, "one", 0700));
  CHECK((std::filesystem::status(target).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(target, link);
  REQUIRE(write_output(link, "two", 0644));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(target).value() == "two");
  CHECK((std::filesystem::status(target).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms::owner_all);

  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDWR);
  REQUIRE(reader >= 0);
  CHECK(write_output(pipe, "three"));
  CHECK(std::filesystem::is_fifo(pipe));
  char got[8] = {};
  if (std::filesystem::is_fifo(pipe)) CHECK(::read(reader, got, sizeof got) == 5);
  CHECK(std::string(got) == "three");
  ::close(reader);

  const auto written = write_output(directory.path(), "x");
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().what.find("Is a directory") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 3);
}

TEST_CASE("a link to a file that is not there yet leads to it afterwards") {
  const test::TempDirectory directory;
  std::filesystem::create_directory(directory / "far");
  std::filesystem::create_symlink("far/target", directory / "link");
  REQUIRE(write_output(directory / "link", "one"));
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(read_file(directory / "far" / "target").value_or("") == "one");
}

TEST_CASE("rewrite_file takes no pipe's and no device's place") {
  const test::TempDirectory directory;
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  const auto status = rewrite_file(directory / "pipe", "x");
  CHECK(std::filesystem::is_fifo(directory / "pipe"));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().what.find("it is not a regular file") != std::string::npos);
}

TEST_CASE("check_output tells beforehand what write_output cannot write, and leaves nothing") {
  const test::TempDirectory directory;
  REQUIRE(write_file(directory / "there", "kept"));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("none/target", directory / "lost");
  for (const auto* good : {"there", "new", "pipe"}) CHECK(check_output(directory / good).ok());
  CHECK(check_output("/dev/null").ok());
  for (const auto& bad :
       {directory / "none" / "file", directory.path(), directory / "there" / "file", directory / "lost"}) {
    CAPTURE(bad.string());
    const auto checked = check_output(bad);
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().what.starts_with("cannot write " + bad.string()));
  }
  CHECK(read_file(directory / "there").value() == "kept");
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 3);
}

TEST_CASE("nearest finds slips and nothing else") {
  CHECK(nearest("lumii", {"lumi", "narval"}) == std::optional<std::string>("lumi"));
  CHECK(nearest("standard-G", {"standard-g", "small-g"}) == std::optional<std::string>("standard-g"));
  CHECK(nearest("tiem", {"mem", "time"}) == std::optional<std::string>("time"));
  CHECK_FALSE(nearest("xyz", {"lumi", "narval"}));
}

TEST_CASE("choice_hint lists few names, and of many the near ones") {
  const std::vector<std::string> few = {"lumi", "narval"};
  const std::vector<std::string> many = {"gpu1", "gpu2", "gpu3", "gpu4", "cpu", "long", "short"};
  CHECK(choice_hint("lumii", few, "list") == "use 'lumi' or another of lumi, narval");
  CHECK(choice_hint("xyz", few, "list") == "use one of lumi, narval");
  CHECK(choice_hint("xyz", {"lumi"}, "list") == "use lumi");
  CHECK(choice_hint("xyz", {}, "list").empty());
  CHECK(choice_hint("shrot", many, "list") == "use 'short', or run list");
  CHECK(choice_hint("gpu", many, "list") == "use 'gpu1' or 'gpu2' or 'gpu3', or run list");
  CHECK(choice_hint("xyz", many, "list") == "run list to list the names");
  CHECK(choice_hint("shrot", many).find("gpu4") != std::string::npos); // without a command
}

TEST_CASE("columns are aligned by characters, numbers to the right, and no line ends in blanks") {
  CHECK(render_columns({{"SITE", "GPUS", "NOTE"}, {"zürich", "12", ""}, {"a", "128", "x"}}, {1}) ==
        "SITE    GPUS  NOTE\n"
        "zürich    12\n"
        "a        128  x\n");
  CHECK(render_columns({{"a", "b"}, {}, {"c"}}) == "a  b\n\nc\n");
  CHECK(render_columns({}) == "");
}

TEST_CASE("a shell's variables have letters, digits and _ in their names, and no digit first") {
  for (const std::string name : {"A", "_", "PATH", "a1_B", "A=1", "1A", "A-B", "A B", "", "Ä", "A\n"}) {
    INFO(name);
    // bash itself is the judge
    const auto evaluated = util::run_process({"bash", "-c", R"(printf -v "$1" x)", "bash", name},
                                             util::EnvSnapshot::of_process());
    REQUIRE(evaluated);
    CHECK(util::is_variable_name(name) == (evaluated->exit_code == 0));
  }
}

TEST_CASE("the last slash of a path parts its folder from its name") {
  CHECK(base_name("/usr/bin/python3") == "python3");
  CHECK(base_name("python3") == "python3");
  CHECK(base_name("bin/").empty());
  CHECK(directory_name("/usr/bin/python3") == "/usr/bin");
  CHECK(directory_name("bin/python3") == "bin");
  CHECK(directory_name("/python3") == "/");
  CHECK(directory_name("/") == "/");
  CHECK(directory_name("python3") == ".");
  CHECK(directory_name("") == ".");
}

TEST_CASE("a count has its noun in the right number, and a list each text once") {
  CHECK(counted(0, "node") == "0 nodes");
  CHECK(counted(1, "node") == "1 node");
  std::vector<std::string> list{"a"};
  add_once(list, "b");
  add_once(list, "a");
  CHECK(list == std::vector<std::string>{"a", "b"});
  CHECK(contains(list, "b"));
  CHECK_FALSE(contains(list, "c"));
}

TEST_CASE("words with a dollar are filled in as Python's templates are") {
  const auto fill = [](const char* text) { return util::fill_dollar_template(text, {{"rank", "3"}}); };
  CHECK(fill("a$rank-${rank}") == "a3-3");
  CHECK(fill("$rank_0 $ranks ${rank} $") == "$rank_0 $ranks 3 $");
  CHECK(fill("$$rank $$$rank ${rank") == "$rank $3 ${rank");
  CHECK(fill("${other} ${} $1 x") == "${other} ${} $1 x");
}

TEST_CASE("a scratch path goes with all in it, and a file as a folder does") {
  const hpcml::test::TempDirectory directory;
  for (const std::string name : {"tree", "file"}) {
    const auto path = (directory / name).string();
    {
      const hpcml::util::ScratchPath scratch(path);
      if (name == "tree") std::filesystem::create_directories(path + "/a/b");
      std::ofstream(name == "tree" ? path + "/a/b/c" : path) << "x";
      scratch.clear();
      CHECK_FALSE(std::filesystem::exists(path));
      std::filesystem::create_directory(path);
    }
    CHECK_FALSE(std::filesystem::exists(path));
  }
}
