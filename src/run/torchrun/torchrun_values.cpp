// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_values.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::torchrun {

using launch::OutputStreams;

namespace {

constexpr unsigned k_most_nodes = 1000000;
constexpr unsigned k_most_ranks_of_node = 4096;

bool is_port_number(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_host_text(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return util::is_name_char(c) || c == '.' || c == ':' || c == '-';
  });
}

std::optional<OutputStreams> parse_stream_number(const std::string& text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return std::nullopt;
  const int number = text[0] - '0';
  return OutputStreams{(number & 1) != 0, (number & 2) != 0};
}

} // namespace

std::optional<long long> parse_whole_number(const std::string& text) {
  auto digits = util::trim(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const auto number = util::parse_unsigned(digits);
  if (!number || *number > 1000000000000ULL) return std::nullopt;
  const auto value = static_cast<long long>(*number);
  return negative ? -value : value;
}

std::optional<std::pair<unsigned, unsigned>> parse_node_range(const std::string& text) {
  const auto parts = util::split(text, ':');
  if (parts.size() > 2) return std::nullopt;
  const auto least = parse_whole_number(parts.front()), most = parse_whole_number(parts.back());
  if (!least || !most || *least < 1 || *most < *least || *most > k_most_nodes) return std::nullopt;
  return std::pair(static_cast<unsigned>(*least), static_cast<unsigned>(*most));
}

std::optional<RanksPerNode> parse_ranks_of_node(const std::string& text) {
  using Of = RanksPerNode::Of;
  static constexpr std::pair<const char*, Of> c_words[] = {
      {"auto", Of::gpus_or_cpus}, {"cpu", Of::cpus}, {"gpu", Of::gpus}, {"xpu", Of::xpus}};
  for (const auto& [word, of] : c_words)
    if (text == word) return RanksPerNode{of, 0};
  const auto number = parse_whole_number(text);
  if (!number || *number < 1 || *number > k_most_ranks_of_node) return std::nullopt;
  return RanksPerNode{Of::number, static_cast<unsigned>(*number)};
}

std::optional<launch::StreamsOfRanks> parse_streams(const std::string& text) {
  if (const auto all = parse_stream_number(text)) return launch::StreamsOfRanks{*all, {}};
  launch::StreamsOfRanks streams;
  for (const auto& part : util::split(text, ',')) {
    const auto colon = part.find(':');
    const auto rank = util::parse_unsigned(part.substr(0, colon));
    const auto stream = colon == part.npos ? std::nullopt : parse_stream_number(part.substr(colon + 1));
    if (!rank || *rank >= k_most_ranks_of_node || !stream) return std::nullopt;
    streams.named[static_cast<unsigned>(*rank)] = *stream;
  }
  return streams;
}

std::optional<std::set<unsigned>> parse_rank_list(const std::string& text) {
  std::set<unsigned> ranks;
  if (text.empty()) return ranks;
  for (const auto& part : util::split(text, ',')) {
    const auto rank = parse_whole_number(part);
    if (!rank || *rank < 0 || *rank >= k_most_ranks_of_node) return std::nullopt;
    ranks.insert(static_cast<unsigned>(*rank));
  }
  return ranks;
}

std::vector<std::string> parse_filters(const std::string& text) {
  std::vector<std::string> filters(1);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != ',') {
      filters.back() += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      filters.back() += ',';
      ++i;
    } else {
      filters.emplace_back();
    }
  return filters;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_conf(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> conf;
  if (util::trim(text).empty()) return conf;
  for (const auto& part : util::split(util::trim(text), ',')) {
    const auto equals = part.find('=');
    if (equals == part.npos) return std::nullopt;
    const std::string key(util::trim(part.substr(0, equals))), value(util::trim(part.substr(equals + 1)));
    if (key.empty() || value.empty()) return std::nullopt;
    conf.emplace_back(key, value);
  }
  return conf;
}

std::optional<Endpoint> parse_endpoint(const std::string& text) {
  Endpoint endpoint;
  endpoint.host = util::trim(text);
  const bool address_only = endpoint.host.starts_with('[') && endpoint.host.ends_with(']');
  if (const auto colon = endpoint.host.rfind(':'); !address_only && colon != std::string::npos) {
    const auto port = endpoint.host.substr(colon + 1);
    if (!is_port_number(port) || std::stoul(port) > 65535) return std::nullopt;
    endpoint.port = static_cast<std::uint16_t>(std::stoul(port));
    endpoint.host.resize(colon);
  }
  if (endpoint.host.size() > 1 && endpoint.host.starts_with('[') && endpoint.host.ends_with(']'))
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  if (!is_host_text(endpoint.host)) return std::nullopt;
  return endpoint;
}

std::optional<std::vector<std::string>> find_unhandled_signals(const std::string& text) {
  static constexpr std::array c_handled = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                                           SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP};
  std::vector<std::string> unhandled;
  for (const auto& part : util::split(text, ',')) {
    const std::string name(util::trim(part));
    int number = 0;
    for (int signal = 1; signal < NSIG; ++signal) {
      const char* known = util::find_signal_name(signal);
      if (known != nullptr && name == known) number = signal;
    }
    if (number == 0) return std::nullopt;
    if (!util::contains(c_handled, number)) unhandled.push_back(name);
  }
  return unhandled;
}

} // namespace hpcml::torchrun
