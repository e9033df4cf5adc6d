// SPDX-License-Identifier: MIT
// Where the output of started ranks goes: files, our own output, both; with disks that are full and readers
// that go away.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/rank_output_helper.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// Of this process's memory, in KiB: "VmRSS" now, "VmHWM" at most.
long memory(const std::string& name) {
  const auto text = util::read_file("/proc/self/status").value_or("");
  const auto at = text.find(name + ":");
  return at == std::string::npos ? 0 : std::stol(text.substr(at + name.size() + 1));
}

launch::OutputOptions into(const std::filesystem::path& directory) {
  launch::OutputOptions output_options;
  output_options.directory = directory.string();
  return output_options;
}

/// The file's bytes; "none" where there is no such file.
std::string bytes_of(const std::filesystem::path& path) { return util::read_file(path).value_or("none"); }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

} // namespace

TEST_CASE("binary output without a last newline is in the files byte by byte") {
  test::TempDirectory directory;
  auto output_options = into(directory / "logs");
  output_options.redirects.named[0] = {true, true};
  output_options.tee.others = {true, true};
  const auto raw = (directory / "raw").string();
  const auto output = run_ranks({output_options, 3,
                                 in_shell("head -c 2000000 /dev/urandom > " + raw + "$RANK; printf end >> " +
                                          raw + "$RANK; cat " + raw + "$RANK; cat " + raw + "$RANK >&2")});
  CHECK(output.exit_code == 0);
  for (const std::string rank : {"0", "1", "2"}) {
    const auto expected = bytes_of(raw + rank);
    CHECK(expected.size() == 2000003);
    CHECK((bytes_of(directory / "logs" / rank / "stdout.log") == expected));
    // Launch itself may warn in the rank's place before.
    CHECK((bytes_of(directory / "logs" / rank / "stderr.log").ends_with(expected)));
  }
}

TEST_CASE("many lines of eight ranks are whole and in order, shown and in files") {
  test::TempDirectory directory;
  std::string lines; // 30,000 of them, 240,000 of all ranks
  for (int i = 10000; i < 40000; ++i) lines += "line " + std::to_string(i) + " of a rank\n";
  REQUIRE(util::write_file(directory / "lines", lines));
  const auto output = run_ranks({into(directory / "logs"), 8, {"cat", (directory / "lines").string()}});
  CHECK(output.exit_code == 0);
  CHECK_THAT(output.err, !Contains("lost") && !Contains("cannot be written"));
  std::vector<std::string> shown(8);
  std::size_t torn = 0;
  for (const auto& line : util::split(output.out, '\n')) {
    if (line.empty()) continue;
    const auto rank = line.size() > 4 && line[0] == '[' ? static_cast<std::size_t>(line[1] - '0') : 8;
    if (rank > 7)
      ++torn;
    else
      shown[rank] += line.substr(4) + "\n";
  }
  CHECK(torn == 0);
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK((shown[rank] == lines));
    CHECK((bytes_of(directory / "logs" / std::to_string(rank) / "stdout.log") == lines));
  }
}

TEST_CASE("a log file that cannot be written is said once with its error, ranks go on and are shown") {
  if (::geteuid() != 0) return test::skip("only root can mount a device in the file's place");
  test::TempDirectory directory;
  for (const auto* rank : {"0", "1"}) std::filesystem::create_directories(directory / rank);
  REQUIRE(util::write_file(directory / "1/stdout.log", ""));
  RanksToStart ranks{into(directory.path()), 2, in_shell("for i in $(seq 1000); do echo $i; done")};
  ranks.before = [&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("/dev/full", (directory / "1/stdout.log").c_str(), nullptr, MS_BIND, nullptr) != 0)
      ::_exit(77);
  };
  const auto output = run_ranks(ranks);
  if (output.exit_code == 77) return test::skip("this machine allows no mounts");
  CHECK(output.exit_code == 0);
  CHECK(count_of(output.out, "\n") == 2000);
  const auto path = (directory / "1/stdout.log").string();
  CHECK(count_of(output.err, "cannot write the log file " + path + ": disk full: No space left on device") ==
        1);
  CHECK(count_of(output.err, "the log file " + path + " lacks 3893 bytes of output: disk full") == 1);
  CHECK(count_of(bytes_of(directory / "0/stdout.log"), "\n") == 1000);
}

TEST_CASE("on a disk that fills up the files keep what there was room for, and the rest is counted") {
  if (::geteuid() != 0) return test::skip("only root can mount a small disk");
  test::TempDirectory directory;
  const auto disk = (directory / "disk").string(), kept = (directory / "kept").string();
  std::filesystem::create_directories(disk);
  RanksToStart ranks{into(disk), 1, {"seq", "100000", "199999"}};
  // A mount of this process alone: it is gone with it.
  ranks.before = [&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
      ::_exit(77);
  };
  ranks.after = [&] { std::filesystem::copy_file(disk + "/0/stdout.log", kept); };
  const auto output = run_ranks(ranks);
  if (output.exit_code == 77) return test::skip("this machine allows no mounts");
  CHECK(output.exit_code == 0);
  CHECK(count_of(output.out, "\n") == 100000);
  std::string all;
  for (int i = 100000; i < 200000; ++i) all += std::to_string(i) + "\n";
  const auto text = bytes_of(kept);
  CHECK(text.size() > 100000);
  CHECK(text.size() < 300000);
  CHECK((all.substr(0, text.size()) == text));
  CHECK(count_of(output.err, "disk/0/stdout.log: disk full") == 1);
  CHECK(count_of(output.err, " lacks " + std::to_string(all.size() - text.size()) + " bytes of ") == 1);
}

TEST_CASE("a limit of file sizes ends neither launch nor a rank that keeps to it") {
  test::TempDirectory directory;
  RanksToStart ranks{into(directory.path()), 1, in_shell("seq 100000 199999; echo end")};
  ranks.before = [] {
    rlimit small{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &small);
  };
  const auto output = run_ranks(ranks);
  CHECK(output.exit_code == 0);
  CHECK(output.out.ends_with("[0] end\n"));
  CHECK(count_of(output.err, "stdout.log: File too large") == 1);
  CHECK(bytes_of(directory / "0/stdout.log").size() == 100000);
}

TEST_CASE("files are whole where our standard output is closed, full, or its reader goes away") {
  test::TempDirectory directory;
  RanksToStart closed{into(directory / "closed"), 2, in_shell("seq 1 20000")};
  closed.before = [] { ::close(STDOUT_FILENO); };
  CHECK(run_ranks(closed).exit_code == 0);
  RanksToStart full{into(directory / "full"), 2, in_shell("seq 1 20000")};
  full.before = [] { ::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO); };
  const auto kept = run_ranks(full);
  CHECK(kept.exit_code == 0);
  CHECK(count_of(kept.err, "cannot write to standard output any more (No space left on device)") == 1);
  auto away = start_ranks({into(directory / "away"), 2, in_shell("seq 1 20000; echo end")});
  char byte = 0;
  CHECK(::read(away.out, &byte, 1) == 1);
  ::close(away.out);
  away.out = -1;
  const auto output = finish_ranks(away);
  CHECK(output.exit_code == 0);
  CHECK(count_of(output.err, "cannot write to standard output any more") == 1);
  for (const std::string rank : {"0", "1"}) {
    CHECK(count_of(bytes_of(directory / "full" / rank / "stdout.log"), "\n") == 20000);
    CHECK(count_of(bytes_of(directory / "closed" / rank / "stdout.log"), "\n") == 20000);
    CHECK(count_of(bytes_of(directory / "away" / rank / "stdout.log"), "\n") == 20001);
  }
}

TEST_CASE("however much eight ranks write, launch keeps little of it", "[time]") {
  test::TempDirectory directory;
  RanksToStart ranks{into(directory.path()), 8, in_shell("seq 1 400000; seq 1 400000 >&2")};
  long before = 0;
  ranks.before = [&] { before = memory("VmRSS"); };
  ranks.after = [&] {
    if (memory("VmHWM") - before > 8192) ::_exit(98);
  };
  const auto output = run_ranks(ranks);
  CHECK(output.exit_code == 0);
  CHECK(count_of(output.out, "\n") == 8 * 400000);
}
