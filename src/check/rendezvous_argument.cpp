// SPDX-License-Identifier: MIT
#include "check/rendezvous_argument.hpp"

#include <array>

#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

constexpr std::array<std::string_view, 7> k_urls = {
    "dist_init", "dist_init_method", "dist_init_url", "dist_url", "init_method", "init_url", "tcp_url"};
constexpr std::array<std::string_view, 3> k_hosts = {"master_addr", "master_address", "master_ip"};
constexpr std::array<std::string_view, 1> k_ports = {"master_port"};

/// "dist_url" of "--dist-url=tcp://…" and of "trainer.dist_url=tcp://…"; empty for a word that names no
/// argument.
std::string argument_name(std::string_view word) {
  const auto equals = word.find('=');
  const auto begin = word.find_first_not_of('-');
  if (begin == std::string_view::npos || (begin == 0 && equals == std::string_view::npos)) return {};
  auto name = util::replace_all(util::to_lower(word.substr(begin, equals - begin)), "-", "_");
  return name.substr(name.find_last_of(".+") + 1); // "trainer.init_method"; npos + 1 is 0
}

/// False for most words, without a copy of them.
bool may_place_rendezvous(std::string_view word) {
  const auto first = word.find_first_not_of('-');
  if (first == std::string_view::npos || (first == 0 && word.find('=') == std::string_view::npos))
    return false;
  if (std::string_view("dimt").find(word[first]) == std::string_view::npos &&
      word.find('.') == std::string_view::npos)
    return false;
  for (const std::string_view part : {"init", "dist", "master", "tcp"})
    if (word.find(part) != std::string_view::npos) return true;
  return false;
}

/// Host and port of "tcp://host:23456"; nothing of "env://" and of files.
void read_url(std::string_view url, RendezvousArgument& argument) {
  constexpr std::string_view k_scheme = "tcp://";
  if (!url.starts_with(k_scheme)) return;
  url.remove_prefix(k_scheme.size());
  url = url.substr(0, url.find('/'));
  const auto colon = url.rfind(':');
  argument.host = url.substr(0, colon);
  if (colon != std::string_view::npos) argument.port = url.substr(colon + 1);
}

} // namespace

std::vector<RendezvousArgument> rendezvous_arguments(const Link& program) {
  std::vector<RendezvousArgument> found;
  const auto& words = program.operands;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].pieces.empty() || !may_place_rendezvous(words[i].pieces[0].text)) continue;
    const auto text = words[i].text();
    const auto name = argument_name(text);
    const bool url = util::contains(k_urls, std::string_view(name));
    const bool host = util::contains(k_hosts, std::string_view(name));
    if (!url && !host && !util::contains(k_ports, std::string_view(name))) continue;
    const auto equals = text.find('=');
    if (equals == std::string::npos && i + 1 >= words.size()) continue;
    const auto& word = equals == std::string::npos ? words[i + 1] : words[i];
    const auto value = equals == std::string::npos ? word.text() : text.substr(equals + 1);
    RendezvousArgument argument{{}, {}, word.place};
    if (url)
      read_url(value, argument);
    else
      (host ? argument.host : argument.port) = value;
    found.push_back(std::move(argument));
  }
  return found;
}

} // namespace hpcml::check
