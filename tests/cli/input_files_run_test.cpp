// SPDX-License-Identifier: MIT
// The commands that read a file which a user names, each with files that are not what they expect. The table
// is in docs/development/input-files.md.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include "cli/workspace_helper.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "samples.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

using Words = std::vector<std::string>;

/// A command that reads a file; "FILE" in its words is the file.
struct Reader {
  std::string name;
  Words words;
  std::string variable = {}; ///< of its environment, NAME=VALUE
};

const std::string k_recorded = std::string(HPCML_SOURCE_DIR) + "/tests/generate/discover/recorded/plain";

const std::vector<Reader> k_readers = {
    {"check", {"check", "FILE"}},
    {"gen --from", {"gen", "--site", "lumi", "--account", "project_1", "--from", "FILE"}},
    {"gen --job", {"gen", "--site", "lumi", "--job", "FILE"}},
    {"sites validate", {"sites", "validate", "FILE"}},
    {"affinity --topology", {"affinity", "--ranks", "2", "--topology", "FILE"}},
    {"bad-nodes", {"internal", "bad-nodes", "--job", "1", "FILE"}},
    {"why", {"why", "FILE"}},
    {"gen PROGRAM",
     {"gen", "--site", "lumi", "--account", "project_1", "--time", "10", "--", "python", "FILE.py"}},
    {"gen SHELL", {"gen", "--site", "lumi", "--account", "project_1", "--time", "10", "--", "bash", "FILE"}},
    {"config", {"config", "show"}},
    {"sites discover --topology",
     {"sites", "discover", "--id", "cluster1", "--from", k_recorded, "--topology", "FILE"}},
    {"sites discover --from", {"sites", "discover", "--id", "cluster1", "--from", "FILE"}},
    {"torchrun", {"torchrun", "FILE"}, "PYTHON_EXEC=/bin/true"},
};

/// Commands whose file is the program of a job or a rank: they read it for hints only.
bool reads_for_hints(const Reader& reader) {
  return reader.name == "gen PROGRAM" || reader.name == "gen SHELL" || reader.name == "torchrun";
}

constexpr std::size_t k_mebibyte = std::size_t{1} << 20U;
const std::string k_head = "#!/bin/bash\n#SBATCH --nodes=2 --time=10\n";

/// Runs the reader with at most 60 s of CPU time and 1 GiB of memory: linear time needs less than a tenth of
/// them.
util::ProcessOutput run(const Workspace& workspace, const Reader& reader, const std::string& file) {
  std::string script = test::k_sanitized ? "ulimit -t 600; " : "ulimit -t 60 -v 1048576; ";
  if (!reader.variable.empty()) script += "export " + util::replace_all(reader.variable, "FILE", file) + "; ";
  script += "exec \"$H\" \"$@\" < /dev/null";
  Words words = {"bash", "-c", script, "reader"};
  for (const auto& word : reader.words) words.push_back(util::replace_all(word, "FILE", file));
  return workspace.program(words);
}

/// Puts a link to a file where the reader finds it; returns what "FILE" is in the reader's words.
std::string put_for(const Workspace& workspace, const Reader& reader, const std::string& target) {
  const auto place = [&](const std::string& name) { return (workspace / name).string(); };
  if (reader.name == "config") {
    std::filesystem::create_directories(workspace / ".config/hpcml");
    std::filesystem::create_symlink(target, workspace / ".config/hpcml/config.json");
    return place(".config/hpcml/config.json");
  }
  if (reader.name == "sites discover --from") {
    std::filesystem::create_directory(workspace / "recorded");
    for (const auto& entry : std::filesystem::directory_iterator(k_recorded))
      std::filesystem::create_symlink(entry.path(),
                                      workspace / ("recorded/" + entry.path().filename().string()));
    const std::string name = "recorded/scontrol-show-config.txt";
    std::filesystem::remove(workspace / name);
    std::filesystem::create_symlink(target, workspace / name);
    return place("recorded");
  }
  std::filesystem::create_symlink(target, workspace / "input");
  std::filesystem::create_symlink(target, workspace / "input.py");
  return place("input");
}

/// What every run must satisfy: an exit code of hpcml's own, no internal error, nothing that a terminal
/// obeys.
void check_output(const util::ProcessOutput& output) {
  CHECK(output.exit_code >= 0);
  CHECK(output.exit_code < 70);
  CHECK_FALSE(holds(output.err, "internal error"));
  CHECK(util::visible(output.err) == output.err);
  CHECK(util::visible(output.out) == output.out);
}

} // namespace

TEST_CASE("readers reject files without an end or a text") {
  for (const auto& reader : k_readers)
    for (const std::string kind : {"/dev/zero", "pipe", "loop", "large", "directory"}) {
      CAPTURE(reader.name, kind);
      const Workspace workspace;
      REQUIRE(::mkfifo((workspace / "pipe").c_str(), 0600) == 0);
      std::filesystem::create_symlink("loop", workspace / "loop");
      std::filesystem::create_directory(workspace / "directory");
      workspace.put("large", "");
      std::filesystem::resize_file(workspace / "large", 100 * k_mebibyte);
      const auto target = kind.starts_with("/") ? kind : (workspace / kind).string();
      const auto file = put_for(workspace, reader, target);
      const auto output = run(workspace, reader, file);
      INFO(output.err);
      check_output(output);
      if (reads_for_hints(reader)) continue;
      // An empty directory has no scripts in it, and a log may have any size.
      if (kind == "directory" && reader.words[0] == "check") continue;
      if (kind == "large" && reader.name == "why") continue;
      CHECK(output.exit_code != 0);
      CHECK(holds(output.err + output.out, "error"));
    }
}

TEST_CASE("readers survive texts that are not what they expect") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"a line of 1 MB", k_head + "srun " + std::string(k_mebibyte, 'a') + "\n"},
      {"half a million words",
       k_head + "srun python " + util::replace_all(std::string(k_mebibyte / 2, 'a'), "a", "a ") + "\n"},
      {"slashes", k_head + "srun python x.py " +
                      util::replace_all(std::string(k_mebibyte / 4, 'a'), "a", "=/ab/") + "\n"},
      {"variables", k_head + "srun python x.py " +
                        util::replace_all(std::string(k_mebibyte / 4, 'a'), "a", "$AB ") + "\n"},
      {"a text in JSON of 1 MB", "{\"command\": [\"" + std::string(k_mebibyte - 100, 'a') + "\"]}"},
      {"deep JSON", std::string(k_mebibyte / 2, '[')},
      {"NUL", k_head + std::string("srun a\0b\n", 9)},
      {"UTF-16",
       [] {
         std::string text = "\xff\xfe";
         for (const char c : k_head + "srun python x.py\n") (text += c) += '\0';
         return text;
       }()},
      {"control characters", k_head + "srun python x\033[31m\x9b\007.py\n#SBATCH --nodes=\033[2J\n"},
      {"nothing", ""},
  };
  for (const auto& [name, text] : texts)
    for (const auto& reader : k_readers) {
      CAPTURE(reader.name, name);
      const Workspace workspace;
      workspace.put("text", text);
      const auto output = run(workspace, reader, put_for(workspace, reader, (workspace / "text").string()));
      INFO(output.err.substr(0, 2000));
      if (reader.words[0] != "gen" || output.exit_code != 0) check_output(output);
      CHECK(output.exit_code < 70);
    }
}
