// SPDX-License-Identifier: MIT
#include "check/remote_shell.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

/// "ssh -N -f -R …": a tunnel to a login node, which runs nothing.
bool is_tunnel(const shell::Argument& word) {
  const auto text = word.text();
  return text.size() > 1 && text[0] == '-' && text[1] != '-' && text.find('N') != std::string::npos &&
         text.find_first_not_of("NfnTqvCgx", 1) == std::string::npos;
}

/// Whether it only asks the node for its name or address, and the script takes the answer.
bool prints_host_name(const shell::Command& command) {
  if (!command.context.substitution) return false;
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    const auto text = word.text();
    return text.starts_with("hostname") || text.starts_with("ip ") || text == "ip";
  });
}

/// Whether the name of the variable, or the function, that gives the host says that it is none of the job's
/// nodes: "$SLURM_SUBMIT_HOST", "$LOGIN_NODE".
bool names_other_host(const shell::Argument& host) {
  static constexpr std::array<std::string_view, 6> k_signs = {"submit",   "login",     "gateway",
                                                              "frontend", "head_host", "proxy"};
  const auto text = util::to_lower(host.unknown());
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string::npos; });
}

/// Whether what it starts is a command of Slurm's, for which scripts go to a login node.
bool calls_slurm(std::span<const shell::Argument> command) {
  if (command.empty()) return false;
  const auto text = command[0].text();
  const auto begin = text.find_first_not_of(" \"'");
  if (begin == std::string::npos) return false;
  const auto program = text.substr(begin, text.find_first_of(" ;", begin) - begin);
  return program == "sbatch" || program == "scancel" || program == "squeue" || program == "scontrol";
}

/// Whether the host is written out or another one, so that it is none of the nodes that this job happens to
/// get.
bool is_elsewhere(std::string_view program, std::span<const shell::Argument> words) {
  constexpr std::string_view c_with_value = "bceilopEFIJLmORSWw"; // ssh's options that have their own word
  const bool ssh = program == "ssh";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto text = words[i].text();
    if (ssh && (text.empty() || text[0] != '-'))
      return words[i].known() || names_other_host(words[i]) || calls_slurm(words.subspan(i + 1));
    if (ssh && text.size() == 2 && c_with_value.find(text[1]) != std::string_view::npos) ++i;
    if (!ssh && text == "-w") return i + 1 < words.size() && words[i + 1].known();
  }
  return false;
}

} // namespace

bool is_remote_shell(const shell::Command& command) {
  const auto name = command.name();
  return name == "ssh" || name == "pdsh" || name == "clush";
}

bool starts_on_nodes(const shell::Command& command) {
  const auto words = command.arguments();
  if (!is_remote_shell(command) || words.size() < 2 || words[0].text().find('@') != std::string::npos)
    return false;
  const auto name = *command.name();
  if (name == "ssh" && std::any_of(words.begin(), words.end(), is_tunnel)) return false;
  return !prints_host_name(command) && !is_elsewhere(name, words);
}

} // namespace hpcml::check
