// SPDX-License-Identifier: MIT
#include "run/agent/stack_tools.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <optional>

#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::agent {

namespace {

constexpr std::size_t k_most_frames = 128;
constexpr std::size_t k_most_of_frame = 300;

/// Returns the number after `before`, which ends at the first character that is not a digit.
std::optional<std::int64_t> number_behind(const std::string& line, std::string_view before) {
  const auto at = line.find(before);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + before.size();
  const auto number = util::parse_unsigned(
      std::string_view(line).substr(begin, line.find_first_not_of("0123456789", begin) - begin));
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

/// Returns the text between the first and the last quote.
std::string quoted_in(const std::string& line) {
  const auto open = line.find('"'), close = line.rfind('"');
  return open == std::string::npos || close == open ? std::string() : line.substr(open + 1, close - open - 1);
}

void add_frame(std::vector<ThreadFrames>& threads, std::string frame) {
  if (threads.empty() || frame.empty() || threads.back().frames.size() >= k_most_frames) return;
  if (frame.size() > k_most_of_frame) frame.resize(k_most_of_frame);
  threads.back().frames.push_back(std::move(frame));
}

/// Without the arguments at its end: "f(int) (x=1, y=g (2))" is "f(int)".
std::string without_arguments(const std::string& text) {
  if (!text.ends_with(')')) return text;
  int depth = 0;
  for (auto at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return std::string(util::trim(text.substr(0, at)));
  }
  return text;
}

/// "_ZN4gloo4waitEi" → "gloo::wait(int)"; other names are unchanged.
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

/// "#1  0x00007fe4 in poll (fds=0x1, n=2) at ../poll.c:29" as "poll (poll.c:29)".
std::string gdb_frame(const std::string& line) {
  auto text = std::string(util::trim(line.substr(line.find(' '))));
  if (text.starts_with("0x"))
    if (const auto in = text.find(" in "); in != std::string::npos) text = text.substr(in + 4);
  std::string place;
  for (const std::string_view word : {" at ", " from "}) {
    const auto at = text.rfind(word);
    if (at == std::string::npos || text.find(')', at) != std::string::npos) continue;
    place = util::base_name(std::string_view(text).substr(at + word.size()));
    text.resize(at);
    break;
  }
  text = demangled(without_arguments(text));
  return place.empty() ? text : text + " (" + place + ")";
}

std::string first_line(const std::string& text) {
  for (const auto& line : util::split(text, '\n'))
    if (!util::trim(line).empty()) return std::string(util::trim(line));
  return {};
}

/// Returns the line of gdb's output that contains the reason of the failure.
std::string why_of(const util::ProcessOutput& output) {
  for (const auto& line : util::split(output.err, '\n'))
    if (line.find("ptrace") != std::string::npos || line.find("ermission") != std::string::npos ||
        line.find("not permitted") != std::string::npos)
      return std::string(util::trim(line));
  const auto line = first_line(output.err);
  return line.empty() ? "exit code " + std::to_string(output.exit_code) : line;
}

std::vector<std::string> command_of(StackTool tool, std::int64_t pid) {
  const auto number = std::to_string(pid);
  if (tool == StackTool::py_spy) return {"py-spy", "dump", "--pid", number};
  // No files of the user's or of the program's own, nothing asked for over the network.
  return {"gdb",
          "-nx",
          "-batch",
          "-iex",
          "set auto-load no",
          "-iex",
          "set pagination off",
          "-iex",
          "set demangle-style none", // of all names of LibTorch, which takes longer than all else
          "-p",
          number,
          "-ex",
          "thread apply all backtrace " + std::to_string(k_most_frames)};
}

} // namespace

std::vector<ThreadFrames> parse_py_spy(std::string_view text) {
  std::vector<ThreadFrames> threads;
  for (const auto& line : util::split(text, '\n')) {
    // 'Thread 6475 (idle): "MainThread"'; "Thread 0x7F…" where the kernel's number is not known.
    if (line.starts_with("Thread ")) {
      ThreadFrames thread;
      thread.tid = line.starts_with("Thread 0x") ? 0 : number_behind(line, "Thread ").value_or(0);
      thread.name = quoted_in(line);
      threads.push_back(std::move(thread));
    } else if (line.starts_with("    ") && line.size() > 4 && line[4] != ' ') {
      add_frame(threads, line.substr(4));
    }
  }
  return threads;
}

std::vector<ThreadFrames> parse_gdb(std::string_view text) {
  std::vector<ThreadFrames> threads;
  for (const auto& line : util::split(text, '\n')) {
    // 'Thread 2 (Thread 0x7f… (LWP 6524) "python3"):', "Thread 1 (process 6475):"
    if (line.starts_with("Thread ")) {
      ThreadFrames thread;
      thread.tid = number_behind(line, "LWP ").value_or(number_behind(line, "process ").value_or(0));
      thread.name = quoted_in(line);
      threads.push_back(std::move(thread));
    } else if (line.starts_with("#") && line.find(' ') != std::string::npos) {
      add_frame(threads, gdb_frame(line));
    }
  }
  return threads;
}

std::string name_of(StackTool tool) { return tool == StackTool::py_spy ? "py-spy" : "gdb"; }

bool has_tool(StackTool tool, const util::EnvSnapshot& env) {
  return util::find_program(name_of(tool), env).has_value();
}

util::Result<std::vector<ThreadFrames>>
read_frames(StackTool tool, std::int64_t pid, const util::EnvSnapshot& env, std::chrono::milliseconds limit) {
  auto variables = env;
  variables.set("DEBUGINFOD_URLS", "");
  TRY(const auto output, util::run_process(command_of(tool, pid), variables, limit));
  auto threads = tool == StackTool::py_spy ? parse_py_spy(output.out) : parse_gdb(output.out);
  std::erase_if(threads, [](const ThreadFrames& thread) { return thread.frames.empty(); });
  if (threads.empty()) return util::Error{name_of(tool) + ": " + why_of(output)};
  return threads;
}

} // namespace hpcml::agent
