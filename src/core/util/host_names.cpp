// SPDX-License-Identifier: MIT
#include "core/util/host_names.hpp"

#include <algorithm>
#include <sstream>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::util {

namespace {

/// Words of each line, comments omitted.
std::vector<std::vector<std::string>> word_lines(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (const auto& line : split(text, '\n')) {
    std::istringstream stream(line.substr(0, line.find_first_of("#;")));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (!words.empty()) lines.push_back(std::move(words));
  }
  return lines;
}

} // namespace

bool is_loopback_address(std::string_view address) {
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  return address == "localhost" || address.starts_with("localhost.") || address == "::1" ||
         (address.starts_with("127.") && address.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::vector<std::string> make_host_names(const std::string& host, std::string_view etc_hosts,
                                         std::string_view resolv_conf) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty()) add_once(names, name);
  };
  add(host);
  if (host.empty() || host.find('.') != std::string::npos) return names;
  for (const auto& words : word_lines(etc_hosts)) {
    if (std::find(words.begin() + 1, words.end(), host) == words.end()) continue;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].starts_with(host + ".")) add(words[i]);
  }
  for (const auto& words : word_lines(resolv_conf)) {
    if (words.front() != "search" && words.front() != "domain") continue;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i] != ".") add(host + "." + words[i]);
  }
  return names;
}

std::string read_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string short_host_name(const std::string& host) { return host.substr(0, host.find('.')); }

std::vector<std::string> read_host_names() {
  const auto name = read_host_name();
  if (name.empty()) return {};
  return make_host_names(name, read_file("/etc/hosts").value_or(""),
                         read_file("/etc/resolv.conf").value_or(""));
}

} // namespace hpcml::util
