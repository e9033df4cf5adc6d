// SPDX-License-Identifier: MIT
// #SBATCH values: an independent reader that follows Slurm's rules, and the controller of the installed Slurm
// itself.
#include <catch2/catch.hpp>
#include <csignal>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "free_port.hpp"
#include "generate/render/directive.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "skip.hpp"

using namespace hpcml;

namespace {

/// Words of a directive line by the rules that were measured on Slurm 20.11 to 26.05: a backslash takes the
/// next character as it is, everywhere; quotes join; an unquoted '#' ends the line; blanks part words.
/// Nothing if a quote stays open.
std::optional<std::vector<std::string>> slurm_words(const std::string& line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && i + 1 < line.size()) {
      word = word.value_or("") + line[++i];
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word = word.value_or("") + c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      word = word.value_or("");
    } else if (c == '#') {
      break;
    } else if (c == ' ' || c == '\t') {
      if (word) words.push_back(*word);
      word.reset();
    } else {
      word = word.value_or("") + c;
    }
  }
  if (quote != 0) return std::nullopt;
  if (word) words.push_back(*word);
  return words;
}

bool can_be_written(const std::string& text) {
  for (const unsigned char c : text)
    if (c < 0x20 || c == 0x7f) return false;
  return true;
}

} // namespace

TEST_CASE("Slurm's reader gets back every value that can be written, and all others are refused") {
  for (const auto& text : test::hostile_texts()) {
    CAPTURE(text);
    const auto escaped = render::escape_directive_value(text);
    REQUIRE(escaped.ok() == can_be_written(text));
    if (!escaped) continue;
    const auto words = slurm_words("--job-name=" + *escaped);
    REQUIRE(words);
    CHECK(*words == std::vector<std::string>{"--job-name=" + text});
  }
}

TEST_CASE("the reader that judges the escaper can tell wrong from right") {
  CHECK(slurm_words("--job-name=a#b") == std::vector<std::string>{"--job-name=a"});
  CHECK(slurm_words("--job-name='a\\b'") == std::vector<std::string>{"--job-name=ab"});
  CHECK(slurm_words("--job-name=a b") == std::vector<std::string>{"--job-name=a", "b"});
  CHECK_FALSE(slurm_words("--job-name='a"));
}

TEST_CASE("what a person may write plainly stays plain") {
  for (const char* text : {"train_ddp", "%x-%j.out", "gpu:a100:4", "afterok:12?afterok:13", "0-9%2",
                           "n[01-04]", "B:USR1@60", "/scratch/a.out"})
    CHECK(*render::escape_directive_value(text) == text);
  CHECK(*render::escape_directive_value("") == "\"\"");
}

TEST_CASE("values longer than Slurm's buffer are refused") {
  CHECK(render::escape_directive_value(std::string(7000, 'a')));
  CHECK_FALSE(render::escape_directive_value(std::string(9000, 'a')));
}

TEST_CASE("only options can be directives") {
  for (const char* name : {"--nodes", "-N", "--gpus-per-node", "--mem_bind"})
    CHECK(render::check_directive_name(name));
  for (const char* name :
       {"", "-", "--", "nodes", "-nodes", "--no des", "--nodes\n#SBATCH", "--a=b", "--$(x)", "-#"})
    CHECK_FALSE(render::check_directive_name(name));
}

namespace {

/// A private slurmctld: no nodes are up, but it takes held jobs and shows them.
class Controller {
public:
  Controller() {
    x_env = util::EnvSnapshot::of_process();
    x_env.set("SLURM_CONF", (x_directory / "slurm.conf").string());
    const auto port = std::to_string(test::free_port());
    const std::string state = x_directory.path().string();
    REQUIRE(util::write_file(
        x_directory / "slurm.conf",
        "ClusterName=directives\nSlurmctldHost=localhost\nSlurmctldPort=" + port +
            "\nAuthType=auth/none\nCredType=cred/none\n" + "SlurmUser=root\nStateSaveLocation=" + state +
            "\nSlurmctldPidFile=" + state + "/pid\nSlurmctldLogFile=" + state +
            "/log\nProctrackType=proctrack/linuxproc\nMpiDefault=none\nSwitchType=switch/none\n" +
            "NodeName=n1 NodeAddr=127.0.0.1 CPUs=2\nPartitionName=all Nodes=n1 Default=YES\n"));
    auto words = std::vector<std::string>{"slurmctld", "-D", "-c"};
    x_pid = ::fork();
    if (x_pid == 0) {
      ::setenv("SLURM_CONF", (x_directory / "slurm.conf").c_str(), 1);
      ::execlp("slurmctld", "slurmctld", "-D", "-c", nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 1000 && run({"scontrol", "ping"}).out.find(" UP") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ~Controller() {
    ::kill(x_pid, SIGTERM);
    ::waitpid(x_pid, nullptr, 0);
  }
  util::ProcessOutput run(const std::vector<std::string>& argv, const std::string& input = {}) {
    const auto result = util::run_process(argv, x_env, std::chrono::seconds(300), input);
    return result ? *result : util::ProcessOutput{1, "", result.error().what};
  }

private:
  test::TempDirectory x_directory;
  util::EnvSnapshot x_env;
  pid_t x_pid = -1;
};

} // namespace

TEST_CASE("the installed Slurm reads job names exactly as they were given", "[slurm]") {
  if (!util::find_program("slurmctld", util::EnvSnapshot::of_process()))
    return test::skip_missing("slurmctld");
  if (::geteuid() != 0) return test::skip("only root can run slurmctld as this test does");
  Controller controller;
  auto plan = test::make_whole_node_plan();
  for (const auto& text : test::hostile_texts()) {
    if (text.empty() || !can_be_written(text)) continue;
    CAPTURE(text);
    plan.directives = {{"--job-name", text, {}}, {"--comment", "behind the name", {}}};
    const auto sent = controller.run({"sbatch", "--hold", "--parsable"}, render::render_script(plan));
    INFO(sent.err);
    REQUIRE(sent.exit_code == 0);
    const auto number = std::string(util::trim(sent.out));
    CHECK(controller.run({"squeue", "--noheader", "--jobs=" + number, "--format=%j|%k"}).out ==
          text + "|behind the name\n");
  }
}
