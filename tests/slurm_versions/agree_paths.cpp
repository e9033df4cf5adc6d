// SPDX-License-Identifier: MIT
#include "agree_paths.hpp"

#include "util/text.hpp"

namespace hpcml::agree {
namespace {

using slurm::Version;

constexpr const char* k_work = "WORK";
constexpr const char* k_array_task = "4294967294";

/// What a letter after '%' stands for in this version; nullptr where it stays.
const char* pattern_text(char letter, Version version, const std::string& name) {
  const bool complete = version >= Version::v25_11;
  switch (letter) {
  case 'j':
  case 'A': return "JOBID";
  case 'a': return k_array_task;
  case 'x': return name.c_str();
  case 'u': return "root";
  case 'b': return version >= Version::v24_11 ? "4" : nullptr;
  case 't':
  case 'n': return complete ? "0" : nullptr;
  case 's': return complete ? "batch" : nullptr;
  case 'J': return complete ? "JOBID.batch" : nullptr;
  case 'N': return complete ? "(null)" : nullptr;
  default: return nullptr;
  }
}

std::string expand(const std::string& text, Version version, const std::string& name) {
  const bool widths = version >= Version::v23_02;
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
    // Digits are a width, at first without leading zeros.
    if (widths && at < text.size() && text[at] == '0' && version < Version::v25_11) out += '%';
    while (widths && at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    const char* value = at < text.size() ? pattern_text(text[at], version, name) : nullptr;
    if (value) {
      out += value;
      i = at;
    } else if (at < text.size() || version < Version::v25_11) {
      out += '%';
    }
  }
  return out;
}

} // namespace

void print_paths(const slurm::Request& r, Version version, unsigned component, Fields& fields) {
  std::string work = k_work;
  if (r.has("chdir")) {
    const std::string text = r.text("chdir");
    work = !text.empty() && text[0] == '/' ? text : std::string(k_work) + "/" + text;
    fields["WorkDir"] = work;
  }
  const std::string name = r.has("job-name") ? r.text("job-name") : "case.sh";
  const auto path = [&](const std::string& text) {
    if (util::to_lower(text) == "none") return std::string("/dev/null");
    if (!text.empty() && text[0] == '/') return expand(text, version, name);
    const bool slash = !r.text("chdir").empty() && work.back() == '/' && version >= Version::v25_11;
    return work + (slash ? "" : "/") + expand(text, version, name);
  };
  const bool array = r.has("array") && (r.text("array").find_first_not_of(',') != std::string::npos ||
                                        version >= Version::v25_11);
  const std::string standard = array ? "slurm-%A_%a.out" : "slurm-%j.out";
  const std::string out = r.has("output") || version < Version::v25_11 || !r.text("chdir").empty()
                              ? path(r.has("output") ? r.text("output") : standard)
                              : std::string(k_work) + "/" + expand(standard, version, name);
  if (out != std::string(k_work) + "/slurm-JOBID.out" || component > 0) fields["StdOut"] = out;
  if (r.has("error")) fields["StdErr"] = path(r.text("error"));
  if (r.has("input") && path(r.text("input")) != "/dev/null") fields["StdIn"] = path(r.text("input"));
}

} // namespace hpcml::agree
