// SPDX-License-Identifier: MIT
// What a rank's program said of its failure is found where torch and Python leave it, whatever else is there.
#include "run/agent/error_file.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "hpcml/json_line.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::agent;

namespace {

const std::string k_recorded =
    R"({"message": {"message": "ValueError: no \u00fcbung", "extraInfo": {)"
    R"("py_callstack": "Traceback (most recent call last):\n  File \"a.py\", line 3, )"
    R"(in main\n    work()\nValueError: no \u00fcbung\n", "timestamp": "1764100000"}}})";

std::vector<std::string> lines(const std::string& text) { return util::split(text, '\n'); }

} // namespace

TEST_CASE("torch's error file gives the message and the traceback") {
  const auto error = parse_error_file(k_recorded);
  REQUIRE(error);
  CHECK(error->message == "ValueError: no übung");
  CHECK(error->at == 1764100000);
  CHECK(error->traceback ==
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in main\n    work()\n"
        "ValueError: no übung");
  // As torchrun passes it on to its own parent, and as handlers of one's own write it.
  CHECK(parse_error_file(R"({"message": {"message": "x", "errorCode": 3}})")->message == "x");
  CHECK(parse_error_file(R"({"message": "died early", "timestamp": 3})")->message == "died early");
  const auto bare = parse_error_file(
      R"({"message": {"extraInfo": {"py_callstack": "Traceback (most recent call last):\n  a\nKeyError: 1\n"}}})");
  REQUIRE(bare);
  CHECK(bare->message == "KeyError: 1");
}

TEST_CASE("a file that is half, hostile or something else tells nothing and harms nobody") {
  for (std::size_t length = 0; length < k_recorded.size(); ++length)
    CHECK_FALSE(parse_error_file(k_recorded.substr(0, length)));
  for (const auto* text : {"[]", "3", "null", "\"x\"", "{}", R"({"message": 3})", R"({"message": {}})",
                           R"({"message": ""})", R"({"message": {"message": 3, "extraInfo": 4}})",
                           R"({"message": {"extraInfo": {"py_callstack": []}}})", "{\"message\": \"\xff\"}",
                           R"({"message": null})"})
    CHECK_FALSE(parse_error_file(text));
  CHECK_FALSE(parse_error_file(std::string(1'000'000, '[')));
  CHECK_FALSE(parse_error_file("{\"message\":" + std::string(1'000'000, '[')));
}

TEST_CASE("what is told is bounded, the message from its beginning, the traceback to its end") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "ü" + std::to_string(i) + "\n";
  JsonLine inner, middle, outer;
  inner.add("py_callstack", text + "last");
  middle.add("message", "ü" + text).add("extraInfo", inner);
  outer.add("message", middle);
  const auto error = parse_error_file(outer.text());
  REQUIRE(error);
  CHECK(error->message.size() <= 4096);
  CHECK(error->message.starts_with("üü0\n"));
  CHECK(json_string(error->message).find("fffd") == std::string::npos);
  CHECK(error->traceback.size() <= 32768);
  CHECK(error->traceback.ends_with("\nlast"));
}

TEST_CASE("an error file is read where it is a file, and never waited for") {
  const test::TempDirectory directory;
  REQUIRE(util::write_file(directory / "error.json", k_recorded));
  CHECK(read_error_file((directory / "error.json").string())->message == "ValueError: no übung");
  CHECK_FALSE(read_error_file((directory / "missing").string()));
  CHECK_FALSE(read_error_file(directory.path().string()));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(read_error_file((directory / "pipe").string()));
  CHECK_FALSE(read_error_file("/dev/zero"));
  REQUIRE(util::write_file(directory / "large", R"({"message": ")" + std::string(5U << 20U, 'x') + "\"}"));
  CHECK_FALSE(read_error_file((directory / "large").string()));
}

TEST_CASE("the last traceback of standard error is found with its message") {
  const auto error =
      find_reported_failure(lines("epoch 1\nTraceback (most recent call last):\n  File \"a\", line 1\n"
                                  "KeyError: 1\n\nDuring handling of the above exception, another:\n\n"
                                  "Traceback (most recent call last):\n  File \"b\", line 2, in f\n"
                                  "    g(\n    ^^\nRuntimeError: second\nbye"));
  CHECK(error.message == "RuntimeError: second");
  CHECK(
      error.traceback ==
      "Traceback (most recent call last):\n  File \"b\", line 2, in f\n    g(\n    ^^\nRuntimeError: second");
  CHECK(find_reported_failure(lines("epoch 1\nTraceback: no\nbye")).message.empty());
  CHECK(find_reported_failure({}).traceback.empty());
  // The last lines may end in the midst of it.
  const auto half = find_reported_failure(lines("Traceback (most recent call last):\n  File \"a\""));
  CHECK(half.message.empty());
  CHECK(half.traceback == "Traceback (most recent call last):\n  File \"a\"");
}

TEST_CASE("tracebacks are found behind torch's rank, a logger's words and in groups of exceptions") {
  const auto error =
      find_reported_failure(lines("[rank3]: Traceback (most recent call last):\n[rank3]:   File \"a\"\n"
                                  "[rank3]:     f()\n[rank3]: RuntimeError: CUDA error: x\n"
                                  "[rank3]: For debugging consider\nother"));
  CHECK(error.message == "RuntimeError: CUDA error: x\nFor debugging consider");
  CHECK(error.traceback.starts_with("Traceback (most recent call last):\n  File \"a\"\n"));
  CHECK(find_reported_failure(
            lines("12:00 ERROR Traceback (most recent call last):\n  File \"a\"\nKeyError: 2"))
            .message == "KeyError: 2");
  CHECK(find_reported_failure(
            lines("  + Exception Group Traceback (most recent call last):\n  |   File \"a\"\n"
                  "  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---- 1 ----\n    | ValueError: 1"))
            .message == "ExceptionGroup: two (2 sub-exceptions)");
}

TEST_CASE("a crash of Python and an exception of C++ are told, too") {
  const auto crash = find_reported_failure(
      lines("Fatal Python error: Segmentation fault\n\nThread 0x1 (most recent call first):\n"
            "  File \"w.py\"\n\nCurrent thread 0x2 (most recent call first):\n  File \"a.py\"\n\n"
            "Extension modules: numpy, torch (total: 2)"));
  CHECK(crash.message == "Fatal Python error: Segmentation fault");
  CHECK(crash.traceback == "Current thread 0x2 (most recent call first):\n  File \"a.py\"");
  CHECK(find_reported_failure(lines("terminate called after throwing an instance of 'std::runtime_error'\n"
                                    "  what():  no weights"))
            .message == "std::runtime_error: no weights");
}
