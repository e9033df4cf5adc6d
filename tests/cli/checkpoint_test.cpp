// SPDX-License-Identifier: MIT
// hpcml checkpoint latest.
#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

util::ProcessOutput latest(const Workspace& workspace, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"checkpoint", "latest", "c"};
  words.insert(words.end(), options.begin(), options.end());
  return workspace.hpcml(words);
}

/// Writes c/NAME/complete with these lines, and a file `a` of two bytes, "xx".
void put_checkpoint(const Workspace& workspace, const std::string& name, const std::string& lines) {
  std::filesystem::create_directories(workspace / "c" / name);
  workspace.put("c/" + name + "/complete", "hpcml-checkpoint 1\n" + lines);
  workspace.put("c/" + name + "/a", "xx");
}

const std::string k_intact = "2 f8e1180f a\n"; // zlib.crc32(b"xx") of Python

/// Writes an archive like those of torch.save, by Python's own zipfile.
void put_archive(const Workspace& workspace, const std::string& name,
                 const std::string& entry = "x/data.pkl") {
  const auto done =
      util::run_process({"/usr/bin/python3", "-c",
                         "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as file:\n"
                         "  file.writestr(sys.argv[2], b'values' * 100)\n  file.writestr('x/version', '3')",
                         (workspace / "c" / name).string(), entry},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(60));
  REQUIRE(done);
  REQUIRE(done->exit_code == 0);
}

} // namespace

TEST_CASE("checkpoint latest prints the newest complete directory") {
  const Workspace workspace;
  CHECK(latest(workspace).exit_code == 5);
  put_checkpoint(workspace, "step-9", k_intact);
  put_checkpoint(workspace, "step-10", k_intact);
  put_checkpoint(workspace, ".step-11.part", k_intact);
  CHECK(latest(workspace).out == "c/step-10\n");
  CHECK(latest(workspace).err.empty());
  workspace.put("c/step-10/a", "x");
  CHECK(latest(workspace).out == "c/step-9\n");
  CHECK(latest(workspace).err ==
        "hpcml: warning: cannot use checkpoint c/step-10/a: the checkpoint file has 1 bytes, "
        "expected 2 (incomplete: restore it, or "
        "use an older checkpoint)\n");
  workspace.put("c/step-9/a", "");
  CHECK(latest(workspace).exit_code == 1);
  CHECK(holds(latest(workspace).err, "hpcml: no complete checkpoint in c\n"));
}

TEST_CASE("checkpoint latest --verify compares checksums") {
  const Workspace workspace;
  put_checkpoint(workspace, "step-9", k_intact);
  put_checkpoint(workspace, "step-10", k_intact);
  CHECK(latest(workspace, {"--verify"}).out == "c/step-10\n");
  workspace.put("c/step-10/a", "xX");
  CHECK(latest(workspace).out == "c/step-10\n");
  const auto verified = latest(workspace, {"--verify"});
  CHECK(verified.out == "c/step-9\n");
  CHECK(holds(verified.err, "c/step-10/a: the file's CRC-32 is "));
  CHECK(holds(verified.err, ", expected f8e1180f (damaged: "));
}

TEST_CASE("checkpoint latest rejects lists that lead nowhere or outside") {
  const Workspace workspace;
  put_checkpoint(workspace, "step-1", k_intact);
  workspace.put("c/secret", "xx");
  for (const auto& [lines, reason] :
       {std::pair<std::string, std::string>{"-1 0 gone\n", "expected 'SIZE CRC32 NAME'"},
        {"2 f8e1180f ../secret\n", "a listed name is outside the checkpoint"},
        {"2 f8e1180f gone\n", "gone: No such file or directory"}}) {
    put_checkpoint(workspace, "step-2", lines);
    const auto found = latest(workspace);
    CHECK(found.out == "c/step-1\n");
    CHECK(holds(found.err, reason));
  }
}

TEST_CASE("checkpoint latest never waits for a FIFO") {
  const Workspace workspace;
  put_checkpoint(workspace, "step-1", k_intact);
  std::filesystem::create_directories(workspace / "c/step-2");
  REQUIRE(::mkfifo((workspace / "c/step-2/complete").c_str(), 0600) == 0);
  put_checkpoint(workspace, "step-3", "0 0 pipe\n");
  REQUIRE(::mkfifo((workspace / "c/step-3/pipe").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((workspace / "c/step-4.pt").c_str(), 0600) == 0);
  for (const auto& options : {std::vector<std::string>{}, {"--verify"}}) {
    const auto found = latest(workspace, options);
    CHECK(found.out == "c/step-1\n");
    CHECK(holds(found.err, "c/step-2/complete: not a regular file"));
    CHECK(holds(found.err, "c/step-3/pipe: not a regular file"));
    CHECK(holds(found.err, "c/step-4.pt: the checkpoint is not a regular file"));
  }
}

TEST_CASE("checkpoint latest ignores leading zeros and follows links") {
  const Workspace workspace;
  put_checkpoint(workspace, "step-020", k_intact);
  CHECK(latest(workspace).exit_code == 1);
  CHECK(holds(
      latest(workspace).err,
      "c/step-020 is ignored: the number after step- must have at most 18 digits and no leading zeros"));
  std::filesystem::create_directory_symlink("step-020", workspace / "c/step-20");
  std::filesystem::create_symlink("nowhere", workspace / "c/step-21");
  const auto found = latest(workspace);
  CHECK(found.out == "c/step-20\n");
  CHECK(holds(found.err, "c/step-21/complete: No such file or directory"));
}

TEST_CASE("checkpoint latest recognises files of torch.save by their zip directory") {
  const Workspace workspace;
  put_checkpoint(workspace, "step-5", k_intact);
  put_archive(workspace, "step_10.pt");
  CHECK(latest(workspace).out == "c/step_10.pt\n");
  CHECK(latest(workspace, {"--verify"}).out == "c/step_10.pt\n");
  const auto intact = *util::read_file(workspace / "c/step_10.pt");
  for (std::size_t length = 0; length < intact.size(); length += 29) {
    workspace.put("c/step_10.pt", intact.substr(0, length));
    CAPTURE(length);
    CHECK(latest(workspace).out == "c/step-5\n");
    CHECK(holds(latest(workspace).err,
                "hpcml: warning: cannot use checkpoint c/step_10.pt: the checkpoint is truncated: "));
  }
  auto flipped = intact;
  flipped[100] = static_cast<char>(flipped[100] ^ 1);
  workspace.put("c/step_10.pt", flipped);
  CHECK(latest(workspace).out == "c/step_10.pt\n");
  CHECK(latest(workspace, {"--verify"}).out == "c/step-5\n");
  CHECK(holds(latest(workspace, {"--verify"}).err, "entry 'x/data.pkl' does not match its CRC-32"));
  put_archive(workspace, "step_10.pt", "x/other");
  CHECK(holds(latest(workspace).err, "not an archive of torch.save"));
  workspace.put("c/step_10.pt", "\x80\x02pickle");
  CHECK(holds(latest(workspace).err, "in the format of torch 1.5 and earlier"));
}

TEST_CASE("checkpoint latest orders files by step, then by time") {
  const Workspace workspace;
  std::filesystem::create_directories(workspace / "c");
  const auto is_newest = [&](const std::string& name) {
    put_archive(workspace, name);
    return latest(workspace).out == "c/" + name + "\n";
  };
  CHECK(is_newest("last.ckpt"));
  CHECK(is_newest("model-3.pth"));
  CHECK(is_newest("rank0-step20.pt"));
  CHECK_FALSE(is_newest("step_9.pt"));
  CHECK_FALSE(is_newest(".step_99.pt"));
  CHECK_FALSE(is_newest("step_99.pt.part"));
  CHECK(is_newest("epoch=1-step=30.ckpt"));
  put_archive(workspace, "step_30_rank1.pt");
  const auto hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(workspace / "c/epoch=1-step=30.ckpt", hour_ago);
  CHECK(latest(workspace).out == "c/step_30_rank1.pt\n");
}
