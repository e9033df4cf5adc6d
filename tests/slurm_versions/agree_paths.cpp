// SPDX-License-Identifier: MIT
#include "agree_paths.hpp"

#include <cstdlib>
#include <optional>

#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

using slurm::Version;

constexpr const char* k_work = "WORK";
constexpr const char* k_array_task = "4294967294";

/// What a letter after '%' stands for in this version, padded where it is a number; nothing where it stays.
std::optional<std::string> pattern_text(char letter, Version version, const std::string& name,
                                        std::size_t width) {
  const auto number = [&](std::string digits) {
    return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
  };
  const bool complete = version >= Version::v25_11;
  switch (letter) {
  case 'j':
  case 'A': return "JOBID";
  case 'a': return k_array_task;
  case 'x': return name;
  case 'u': return "root";
  case 'b': return version >= Version::v24_11 ? std::optional(number("4")) : std::nullopt;
  case 'r':
  case 't':
  case 'n': return complete ? std::optional(number("0")) : std::nullopt;
  case 's': return complete ? std::optional<std::string>("batch") : std::nullopt;
  case 'J': return complete ? std::optional<std::string>("JOBID") : std::nullopt;
  case 'N': return complete ? std::optional<std::string>("(null)") : std::nullopt;
  default: return std::nullopt;
  }
}

/// Zeros before the job's number were taken for padding when the cases were written down.
std::string without_padding(std::string text, Version version) {
  const std::string job = "JOBID";
  for (auto at = text.find(job); at != std::string::npos && version >= Version::v23_02;) {
    auto first = at;
    while (first > 0 && text[first - 1] == '0') --first;
    const bool alone = first == 0 || text[first - 1] < '0' || text[first - 1] > '9';
    if (alone) text.erase(first, at - first), at = first;
    at = text.find(job, at + job.size());
  }
  return text;
}

std::string expand(const std::string& text, Version version, const std::string& name) {
  const bool widths = version >= Version::v23_02, complete = version >= Version::v25_11;
  if (complete && text.find('\\') != std::string::npos) return util::replace_all(text, "\\", "");
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (widths && i + 1 < text.size() && text[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    std::size_t at = i + 1;
    while (widths && at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    const auto written = at - i - 1;
    const auto width =
        std::min<unsigned long>(10, written > 0 ? std::strtoul(text.c_str() + i + 1, nullptr, 10) : 0);
    const auto value = at < text.size() ? pattern_text(text[at], version, name, width) : std::nullopt;
    if (!value && complete && written > 0 && at < text.size()) {
      out += text.substr(i, at + 1 - i);
      i = at;
      continue;
    }
    if (!value) {
      out += '%';
      if (complete && at == i + 1 && at == text.size()) out.pop_back();
      continue;
    }
    // Up to 25.05 as many figures are taken away as the width should have, not as it has.
    const std::size_t taken = written == 0 ? 1 : width > 9 ? 3 : 2;
    if (!complete && written + 1 > taken) out += text.substr(i, written + 1 - taken);
    out += *value;
    i = at;
  }
  return without_padding(out, version);
}

} // namespace

void print_paths(const slurm::JobOptions& r, Version version, unsigned component, Fields& fields) {
  std::string work = k_work;
  if (r.has("chdir")) {
    const std::string text = r.text("chdir");
    work = !text.empty() && text[0] == '/' ? text : std::string(k_work) + "/" + text;
    fields["WorkDir"] = work;
  }
  const std::string name = r.has("job-name") ? r.text("job-name") : "case.sh";
  const auto path = [&](const std::string& text, bool joins_slash = false) {
    if (util::to_lower(text) == "none") return std::string("/dev/null");
    if (!text.empty() && text[0] == '/') return expand(text, version, name);
    const bool slash =
        !r.text("chdir").empty() && work.back() == '/' && version >= Version::v25_11 && !joins_slash;
    return expand(work + (slash ? "" : "/") + text, version, name);
  };
  const bool array = r.has("array") && (r.text("array").find_first_not_of(',') != std::string::npos ||
                                        version >= Version::v25_11);
  const std::string standard = array ? "slurm-%A_%a.out" : "slurm-%j.out";
  // Of the standard name the folder is taken as it is.
  const bool late = version >= Version::v25_11;
  const std::string directory = late && r.text("chdir").empty() ? k_work : work;
  const std::string out = r.has("output") ? path(r.text("output"))
                                          : directory + (late && directory.back() == '/' ? "" : "/") +
                                                expand(standard, version, name);
  if (out != std::string(k_work) + "/slurm-JOBID.out" || component > 0) fields["StdOut"] = out;
  if (r.has("error") && path(r.text("error"), true) != out) fields["StdErr"] = path(r.text("error"), true);
  if (r.has("input") && path(r.text("input")) != "/dev/null") fields["StdIn"] = path(r.text("input"));
}

} // namespace hpcml::agree
