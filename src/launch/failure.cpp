// SPDX-License-Identifier: MIT
#include "launch/failure.hpp"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "util/file.hpp"

namespace hpcml::launch {

namespace {

/// Length of the UTF-8 sequence that starts at `at`, 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5               ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
  return length;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0) {
      out += "\\ufffd";
      ++at;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
      out += code;
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  return out + "\"";
}

std::string record_name(const Failure& failure, const util::EnvSnapshot& env) {
  std::string name = "hpcml-launch";
  for (const auto* variable : {"SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const auto id = env.get_or(variable, "");
    if (!id.empty() && id.find('/') == std::string::npos) name += "-" + id;
  }
  const bool in_job = !env.get_or("SLURM_JOB_ID", "").empty();
  if (failure.rank) name += "-rank" + std::to_string(*failure.rank);
  if (!in_job || !failure.rank) name += "-pid" + std::to_string(::getpid());
  return name + "-" + failure.phase + ".json";
}

} // namespace

std::string render_record(const Failure& failure) {
  std::string text = "{\"program\":\"hpcml launch\",\"exit_code\":" + std::to_string(failure.exit_code) +
                     ",\"phase\":" + quoted(failure.phase) + ",\"rank\":" +
                     (failure.rank ? std::to_string(*failure.rank) : "null") + ",\"host\":" + quoted(failure.host) +
                     ",\"what\":" + quoted(failure.error.what) + ",\"hint\":" + quoted(failure.error.hint) + "}";
  return text;
}

void narrate(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

int report_failure(const Failure& failure, const util::EnvSnapshot& env) {
  std::string line = "hpcml launch: ";
  if (failure.rank) line += "rank " + std::to_string(*failure.rank) + " on ";
  if (!failure.host.empty()) line += failure.host + ": ";
  line += failure.error.what;
  if (!failure.error.hint.empty()) line += "\n  hint: " + failure.error.hint;
  narrate(line);
  const auto folder = env.get_or("HPCML_ERROR_DIR", "");
  if (folder.empty()) {
    if (::isatty(STDERR_FILENO) == 0) narrate(render_record(failure));
    return failure.exit_code;
  }
  const auto written = util::write_file(folder + "/" + record_name(failure, env), render_record(failure) + "\n");
  if (!written) narrate("hpcml launch: " + written.error().what);
  return failure.exit_code;
}

} // namespace hpcml::launch
