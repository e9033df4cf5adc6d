// SPDX-License-Identifier: MIT
#include "run/agent/error_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/text.hpp"

namespace hpcml::agent {

namespace {

constexpr std::size_t k_most_of_file = 4U << 20U;
constexpr std::size_t k_most_of_message = 4096;
constexpr std::size_t k_most_of_traceback = 32768;
constexpr std::string_view k_traceback = "Traceback (most recent call last):";
constexpr std::string_view k_group = "+ Exception Group ";

bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

/// The beginning of the text, without half a character at its end.
std::string head_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && inside_character(text[most])) --most;
  return std::string(text.substr(0, most));
}

/// The end of the text, from the beginning of a line.
std::string tail_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  text.remove_prefix(text.size() - most);
  const auto line = text.find('\n');
  return std::string(line == std::string_view::npos ? std::string_view() : text.substr(line + 1));
}

ReportedError bounded(std::string_view message, std::string_view traceback) {
  const auto end = traceback.find_last_not_of(" \n\r\t");
  traceback = traceback.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return {head_of(util::trim(message), k_most_of_message), tail_of(traceback, k_most_of_traceback), 0};
}

std::string text_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Torch writes the number as a text.
std::int64_t time_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return 0;
  const auto& value = object.at(key);
  const auto seconds_since_epoch = value.is_string() ? util::parse_unsigned(value.get<std::string>())
                                   : value.is_number_unsigned()
                                       ? std::optional(value.get<unsigned long long>())
                                       : std::nullopt;
  return seconds_since_epoch && *seconds_since_epoch < 1ULL << 40
             ? static_cast<std::int64_t>(*seconds_since_epoch)
             : 0;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Returns the prefix of each line of the traceback that begins here, or nothing if none does.
std::optional<std::string> prefix_of_traceback(const std::string& line) {
  const auto at = line.find(k_traceback);
  if (at == std::string::npos) return std::nullopt;
  const auto prefix = line.substr(0, at);
  // The lines of a group of exceptions begin with "  | " below its "  + Exception Group Traceback".
  const auto group = prefix.rfind(k_group);
  if (group != std::string::npos && group + k_group.size() == prefix.size())
    return prefix.substr(0, group) + "| ";
  return prefix;
}

/// Reads a traceback from its first line: frames are indented, and the first other line is its message. With
/// a prefix, further lines of the message are recognised as well.
ReportedError traceback_from(const std::vector<std::string>& lines, std::size_t at, std::string prefix) {
  std::vector<std::string> block = {std::string(k_traceback)};
  std::string message;
  // A logger's "2026-… ERROR: Traceback" has its words on the first line only.
  if (at + 1 < lines.size() && !lines[at + 1].starts_with(prefix)) prefix.clear();
  const bool has_prefix = prefix.find_first_not_of(" \t|") != std::string::npos;
  for (auto i = at + 1; i < lines.size(); ++i) {
    if (!lines[i].starts_with(prefix)) break;
    auto line = lines[i].substr(prefix.size());
    if (!message.empty() && (!has_prefix || line.empty())) break;
    const bool frame = line.empty() || is_blank(line[0]);
    if (message.empty() && !frame)
      message = line;
    else if (!message.empty())
      message += "\n" + line;
    block.push_back(std::move(line));
  }
  return bounded(message, util::join(block, "\n"));
}

/// Of the stacks that Python's faulthandler writes, that of the thread which failed.
ReportedError fatal_error_from(const std::vector<std::string>& lines, std::size_t at) {
  auto line = lines.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  line = std::find_if(line, lines.end(), [](const auto& text) { return text.starts_with("Current thread"); });
  const auto end = std::find_if(line, lines.end(), [](const auto& text) { return util::trim(text).empty(); });
  return bounded(lines[at], util::join({line, end}, "\n"));
}

/// "terminate called after throwing an instance of 'std::runtime_error'" and "  what():  …" below it.
std::string uncaught_of_cpp(const std::vector<std::string>& lines, std::size_t at) {
  const auto& line = lines[at];
  const auto open = line.find('\''), close = line.rfind('\'');
  if (open == std::string::npos || close <= open) return {};
  auto message = line.substr(open + 1, close - open - 1);
  constexpr std::string_view k_what = "what():";
  if (at + 1 < lines.size())
    if (const auto what = lines[at + 1].find(k_what); what != std::string::npos)
      message += ": " + std::string(util::trim(lines[at + 1].substr(what + k_what.size())));
  return message;
}

} // namespace

std::optional<ReportedError> parse_error_file(std::string_view text) {
  if (text.size() > k_most_of_file) return std::nullopt;
  const auto root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object()) return std::nullopt;
  const auto found = root.find("message");
  if (found == root.end()) return std::nullopt;
  ReportedError result;
  if (found->is_string()) {
    result = bounded(found->get<std::string>(), "");
  } else if (found->is_object()) {
    const auto info = found->find("extraInfo");
    result = bounded(text_at(*found, "message"),
                     info == found->end() ? std::string() : text_at(*info, "py_callstack"));
    if (info != found->end()) result.at = time_at(*info, "timestamp");
    if (result.message.empty())
      result.message = find_reported_failure(util::split(result.traceback, '\n')).message;
  }
  if (result.message.empty() && result.traceback.empty()) return std::nullopt;
  return result;
}

std::optional<ReportedError> read_error_file(const std::string& path) {
  // A pipe in the file's place would wait for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat found {};
  std::string text;
  if (::fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0 &&
      found.st_size <= static_cast<off_t>(k_most_of_file)) {
    text.resize(static_cast<std::size_t>(found.st_size));
    std::size_t have = 0;
    while (have < text.size()) {
      const auto count = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
      if (count <= 0) break;
      have += static_cast<std::size_t>(count);
    }
    text.resize(have);
  }
  ::close(fd);
  return parse_error_file(text);
}

ReportedError find_reported_failure(const std::vector<std::string>& lines) {
  for (auto at = lines.size(); at-- > 0;) {
    if (const auto prefix = prefix_of_traceback(lines[at])) return traceback_from(lines, at, *prefix);
    if (lines[at].starts_with("Fatal Python error: ")) return fatal_error_from(lines, at);
    if (lines[at].starts_with("terminate called after throwing an instance of "))
      return bounded(uncaught_of_cpp(lines, at), "");
  }
  return {};
}

} // namespace hpcml::agent
