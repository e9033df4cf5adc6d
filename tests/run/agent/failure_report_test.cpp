// SPDX-License-Identifier: MIT
// The report of a failure says who, how, why and what next, once each, in a bounded number of lines.
#include "run/agent/stop_messages.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "core/failures/failure_report.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using test::holds;

namespace {

failures::RankFailure crashed() {
  failures::RankFailure note;
  note.rank = 9;
  note.local_rank = 1;
  note.host = "node002";
  note.gpu = "GPU 1";
  note.status = SIGSEGV;
  note.seconds = 12.34;
  return note;
}

RestartDecision stopped(unsigned world) { return {.world_size = world}; }

std::string text_of(const failures::RankFailure& note, const RestartDecision& decision = stopped(16)) {
  return util::join(render_failure_report(note, decision), "\n");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

} // namespace

TEST_CASE("the first line says which rank failed, where and how") {
  auto note = crashed();
  CHECK(failures::render_failed_rank(note, 16) ==
        "rank 9/16 (node002, local 1, GPU 1) was killed by SIGSEGV after 12.3 s");
  note.gpu.clear();
  note.status = 3 << 8;
  CHECK(failures::render_failed_rank(note, 16) ==
        "rank 9/16 (node002, local 1) exited with code 3 after 12.3 s");
  // hpcml why finds it in the log.
  CHECK(
      matches(failures::known_error("first-failure"), util::log_text(util::LogLevel::error, text_of(note))));
}

TEST_CASE("a whole report of a program without an error file") {
  auto note = crashed();
  note.status = SIGKILL;
  note.out_of_memory = true;
  note.memory = "out of memory: the kernel killed 1 process: the job's limit of 16 GiB was reached (/job_7)";
  note.last_lines = {"epoch 1", "", "", "loading\r 50 %\r100 %", "\x1b[31mred\x1b[0m \x1b[2Jcleared", ""};
  CHECK(render_failure_report(note, stopped(16)) ==
        std::vector<std::string>{
            "rank 9/16 (node002, local 1, GPU 1) was killed by SIGKILL after 12.3 s",
            "  out of memory: the kernel killed 1 process: the job's limit of 16 GiB was "
            "reached (/job_7)",
            "  last lines of its standard error:", "    epoch 1", "", "    100 %", "    red \\x1b[2Jcleared",
            "  hint: use more --mem, or less memory: data loader workers and caches of a rank are included",
            "  the other ranks were stopped because rank 9 failed"});
}

TEST_CASE("what the traceback says is not said again by the message or the last lines") {
  auto note = crashed();
  note.status = 1 << 8;
  note.message = "ValueError: bad";
  note.traceback =
      "Traceback (most recent call last):\n  File \"wrapper.py\", line 9, in wrapper\n    return f()\n"
      "  File \"a.py\", line 3, in main\n    work()\nValueError: bad";
  // Python prints a frame that @record does not have; the header is cut off.
  note.last_lines = {"    main()",      "  File \"wrapper.py\", line 9, in wrapper",
                     "    return f()",  "  File \"a.py\", line 3, in main",
                     "    work()",      "    ^^^^^^",
                     "ValueError: bad", "Exception ignored in: <f>"};
  CHECK(render_failure_report(note, stopped(1)) ==
        std::vector<std::string>{"rank 9/1 (node002, local 1, GPU 1) exited with code 1 after 12.3 s",
                                 "  error: ValueError: bad",
                                 "  traceback:", "    Traceback (most recent call last):",
                                 "      File \"wrapper.py\", line 9, in wrapper", "        return f()",
                                 "      File \"a.py\", line 3, in main", "        work()",
                                 "  last lines of its standard error:", "    Exception ignored in: <f>"});
  note.last_lines.insert(note.last_lines.begin(), {"epoch 7", "Traceback (most recent call last):"});
  for (auto& line : note.last_lines)
    if (line != "epoch 7" && !line.starts_with("Exc")) line = "[rank9]: " + line;
  const auto text = text_of(note);
  CHECK(count(text, "ValueError: bad") == 1);
  CHECK(count(text, "Traceback") == 1);
  CHECK(holds(text, "epoch 7\n    Exception ignored"));
}

TEST_CASE("another thread's stack above an empty line is not taken for the traceback's") {
  auto note = crashed();
  note.message = "Fatal Python error: Segmentation fault";
  note.traceback = "Current thread 0x2 (most recent call first):\n  File \"a.py\", line 4 in go";
  note.last_lines = {note.message,
                     "",
                     "Thread 0x1 (most recent call first):",
                     "  File \"b.py\", line 3 in <lambda>",
                     "",
                     "Current thread 0x2 (most recent call first):",
                     "  File \"a.py\", line 4 in go"};
  CHECK(holds(text_of(note),
              "standard error:\n    Thread 0x1 (most recent call first):\n      File \"b.py\", line 3 in "
              "<lambda>\n  the other"));
}

TEST_CASE("what happens next is said: a restart, or why there is none") {
  auto note = crashed();
  CHECK(holds(text_of(note, {.world_size = 16, .restart = 1, .max_restarts = 3}),
              "\n  all ranks are restarted (restart 1 of 3)"));
  CHECK(text_of(note).ends_with("\n  the other ranks were stopped because rank 9 failed"));
  CHECK(render_failure_report(note, stopped(1)).size() == 1);
  note.attempt = 3;
  CHECK(text_of(note, {.world_size = 16, .max_restarts = 3})
            .ends_with("\n  the other ranks were stopped because rank 9 failed; all 3 restarts were used"));
  note.attempt = 1;
  CHECK(text_of(note, {.world_size = 1, .max_restarts = 1}).ends_with("\n  the only restart was used"));
  CHECK_FALSE(holds(text_of(note, {.world_size = 1, .max_restarts = 2}), "restart"));
}

TEST_CASE("a report has at most 60 lines, none too long, the ends of what is long") {
  auto note = crashed();
  note.status = SIGBUS;
  note.out_of_memory = true;
  note.memory = std::string(5000, 'm');
  for (int i = 0; i < 500; ++i) {
    note.message += "message " + std::to_string(i) + "\n";
    note.traceback += "  frame " + std::to_string(i) + " " + std::string(2000, 'x') + "\n";
    note.last_lines.push_back("line " + std::to_string(i) + " " +
                              util::replace_all(std::string(900, 'x'), "x", "ü"));
  }
  const auto report = render_failure_report(note, {.world_size = 16, .max_restarts = 3});
  CHECK(report.size() <= 60);
  for (const auto& line : report) {
    CHECK(line.size() < 430);
    CHECK_FALSE(holds(line, "\\xc3"));
    CHECK(line.find('\n') == std::string::npos);
  }
  const auto text = util::join(report, "\n");
  CHECK(holds(text, "frame 499 "));
  CHECK(holds(text, "frame 471 "));
  CHECK_FALSE(holds(text, "frame 470 "));
  CHECK(holds(text, "line 499 "));
  CHECK(holds(text, "line 481 "));
  CHECK_FALSE(holds(text, "line 480 "));
  CHECK(holds(text, "message 0\n"));
  CHECK_FALSE(holds(text, "message 3\n"));
}

TEST_CASE("nothing in a report commands a terminal") {
  auto note = crashed();
  const std::string evil = "\x1b]0;title\x07 \xe2\x80\xae \x9b"
                           "31m \b\v";
  note.host = note.gpu = note.memory = note.message = evil;
  note.traceback = "Traceback\n  " + evil;
  note.last_lines = {evil + "1", "\x1b[31", "\x1b["};
  note.out_of_memory = true;
  const auto text = text_of(note);
  for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
  CHECK(text.find('\x7f') == std::string::npos);
}
