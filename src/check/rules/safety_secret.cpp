// SPDX-License-Identifier: MIT
// Tokens, keys and passwords in the script.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/char_set.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_secret {

using shell::is_digit;

constexpr util::CharSet k_token_chars("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-");
bool is_token_char(char c) { return k_token_chars.has(c); }

/// How a service's tokens begin, and the fewest characters after that.
struct Kind {
  std::string_view head;
  std::size_t length;
  std::string_view service;
};
constexpr std::array<Kind, 12> k_kinds = {{{"hf_", 30, "Hugging Face"},
                                           {"sk-", 32, "an AI service"},
                                           {"AKIA", 16, "Amazon"},
                                           {"ASIA", 16, "Amazon"},
                                           {"ghp_", 36, "GitHub"},
                                           {"gho_", 36, "GitHub"},
                                           {"ghs_", 36, "GitHub"},
                                           {"github_pat_", 40, "GitHub"},
                                           {"glpat-", 20, "GitLab"},
                                           {"nvapi-", 40, "NVIDIA"},
                                           {"xoxb-", 30, "Slack"},
                                           {"AIza", 35, "Google"}}};
constexpr std::array<std::string_view, 5> k_names = {"WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY",
                                                     "COMET_API_KEY", "NEPTUNE_API_TOKEN", "login"};

/// Not "hf_xxxxxxxxxx" or "hf_your_token": letters and digits mixed, as chance has it, or letters of both
/// cases, many of them capitals.
bool looks_random(std::string_view token) {
  std::array<bool, 256> seen{};
  std::size_t distinct = 0;
  std::size_t capitals = 0; // few in "MyTokenGoesHere"
  bool digit = false;
  for (const char c : token) {
    if (!seen[static_cast<unsigned char>(c)]) ++distinct;
    seen[static_cast<unsigned char>(c)] = true;
    digit = digit || is_digit(c);
    if (c >= 'A' && c <= 'Z') ++capitals;
  }
  const bool mixed = capitals * 3 >= token.size() && (token.size() - capitals) * 3 >= token.size();
  return (digit && distinct >= 10) || (distinct >= 16 && mixed);
}

RuleMatch make_hit(diag::TextRange place, const std::string& what) {
  return {place, fmt::format("the script contains {}", what),
          "revoke it, and use a file that only you can read, or log in once on the login node"};
}

void look_at_token(std::string_view text, diag::TextRange place, std::string_view before, RuleMatches& hits) {
  const auto token = text.substr(place.offset, place.length);
  for (const auto& kind : k_kinds)
    if (token.starts_with(kind.head) && token.size() >= kind.head.size() + kind.length &&
        looks_random(token.substr(kind.head.size())))
      return hits.push_back(make_hit(place, fmt::format("a token of {} ({}…)", kind.service, kind.head)));
  const bool is_hex = token.size() == 40 &&
                      token.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                      looks_random(token);
  for (const auto name : k_names)
    if (before == name && (is_hex || (name != "login" && token.size() >= 20 && looks_random(token))))
      return hits.push_back(make_hit(place, "a key (" + std::string(token.substr(0, 3)) + "…)"));
}

/// "https://user:password@host".
void look_at_address(std::string_view text, std::size_t scheme, RuleMatches& hits) {
  const auto begin = scheme + 3;
  const auto end = std::min(text.find_first_of(" \t\r\n\"'/", begin), text.size());
  const auto host = text.substr(begin, end - begin);
  const auto at = host.rfind('@');
  const auto colon = host.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return;
  const auto password = host.substr(colon + 1, at - colon - 1);
  if (password.size() < 4 || password.find_first_of("$<{*") != std::string_view::npos ||
      util::to_lower(password) == "password")
    return;
  hits.push_back(make_hit({begin, end - begin}, "a password in an address"));
}

constexpr std::array<std::string_view, 5> k_fake = {"not a real", "fake", "dummy", "example", "placeholder"};

/// An address that is a secret as a whole, by what comes before the secret in it.
struct Hook {
  std::string_view head;
  std::string_view service;
};
constexpr std::array<Hook, 5> k_hooks = {{{"hooks.slack.com/services/", "Slack"},
                                          {"discord.com/api/webhooks/", "Discord"},
                                          {"discordapp.com/api/webhooks/", "Discord"},
                                          {"webhook.office.com/webhookb2/", "Teams"},
                                          {"api.telegram.org/bot", "Telegram"}}};
constexpr util::CharSet k_hook_chars("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-:/@");

/// True if the line says that what is in it is none: "not a real webhook".
bool is_declared_fake(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto words = util::to_lower(text.substr(line.offset, line.length));
  return std::any_of(k_fake.begin(), k_fake.end(),
                     [&](auto sign) { return words.find(sign) != std::string::npos; });
}

/// Reports the address of a webhook, with which any reader can post messages.
void look_at_hook(std::string_view text, std::size_t scheme, RuleMatches& hits) {
  constexpr std::size_t k_shortest = 30;
  const auto begin = scheme + 3;
  auto end = begin;
  while (end < text.size() && (k_hook_chars.has(text[end]) || text[end] == '.')) ++end;
  const auto address = text.substr(begin, end - begin);
  for (const auto& hook : k_hooks) {
    const auto head = address.find(hook.head);
    const auto secret =
        address.substr(head == std::string_view::npos ? address.size() : head + hook.head.size());
    if (secret.size() >= k_shortest && looks_random(secret) && !is_declared_fake(text, begin))
      hits.push_back(make_hit({begin, end - begin}, fmt::format("a webhook of {}", hook.service)));
  }
}

/// Headers of requests that hold a secret.
constexpr std::array<std::string_view, 5> k_headers = {
    "Authorization:", "PRIVATE-TOKEN:", "X-API-Key:", "X-Auth-Token:", "api-key:"};

bool is_header_char(char c) {
  return is_token_char(c) || std::string_view("./+=:").find(c) != std::string_view::npos;
}

/// Reports the token in `curl -H "Authorization: Bearer TOKEN"`.
void look_at_headers(const LintContext& subject, RuleMatches& hits) {
  constexpr std::size_t k_shortest = 16;
  const auto text = subject.text;
  for (const auto header : k_headers)
    for (auto at = text.find(header); at != std::string_view::npos; at = text.find(header, at + 1)) {
      auto begin = text.find_first_not_of(' ', at + header.size());
      for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "Token ", "token "})
        if (begin != std::string_view::npos && text.substr(begin).starts_with(scheme)) begin += scheme.size();
      auto end = std::min(begin, text.size());
      while (end < text.size() && is_header_char(text[end])) ++end;
      const auto token = text.substr(std::min(begin, text.size()), end - std::min(begin, text.size()));
      const bool is_reported = std::any_of(hits.begin(), hits.end(), [&](const RuleMatch& hit) {
        return hit.place.offset < end && begin < hit.place.offset + hit.place.length;
      });
      if (token.size() >= k_shortest && looks_random(token) && !is_reported)
        hits.push_back(make_hit({begin, end - begin}, "a token in a header"));
    }
}

/// Not "<password>", "changeme" or a value that the script gets from elsewhere.
bool is_password(const shell::Argument& word, std::string_view password) {
  constexpr std::size_t k_shortest = 5;
  const auto small = util::to_lower(password);
  static constexpr std::array<std::string_view, 9> k_placeholders = {
      "password", "passwd", "your", "xxx", "change", "secret", "***", "...", "example"};
  return word.known() && password.size() >= k_shortest &&
         password.find_first_of("$<>{}/ ") == std::string_view::npos &&
         std::none_of(k_placeholders.begin(), k_placeholders.end(),
                      [&](auto sign) { return small.find(sign) != std::string::npos; });
}

/// The password in the words of `curl -u USER:PASSWORD` and `sshpass -p PASSWORD`; nothing in other commands.
const shell::Argument* password_of(const shell::Command& command) {
  const auto name = program_name(command);
  const bool curl = name == "curl", pass = name == "sshpass";
  if (!curl && !pass) return nullptr;
  const auto words = command.arguments();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto option = words[i].text();
    const auto value = words[i + 1].text();
    if (curl && (option == "-u" || option == "--user") && value.find(':') != std::string::npos &&
        is_password(words[i + 1], std::string_view(value).substr(value.find(':') + 1)))
      return &words[i + 1];
    if (pass && option == "-p" && is_password(words[i + 1], value)) return &words[i + 1];
  }
  return nullptr;
}

/// Reports passwords that the script gives to a program or assigns.
void look_at_passwords(const LintContext& subject, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands)
    if (const auto* word = password_of(command))
      hits.push_back(make_hit(word->place, fmt::format("a password for {}", command.name().value_or(""))));
  for (const auto& setting : subject.listing.settings) {
    const auto& name = setting->name;
    const bool is_named = name.ends_with("PASSWORD") || name.ends_with("PASSWD");
    if (!is_named || setting->value.words.size() != 1) continue;
    const auto& word = setting->value.words[0];
    if (is_password(word, word.text())) hits.push_back(make_hit(word.place, "a password (" + name + ")"));
  }
}

/// The word in front, after spaces, '=' and quotes of the same line.
std::string_view word_before(std::string_view text, std::size_t at) {
  auto end = at;
  while (end > 0 && !is_token_char(text[end - 1])) {
    --end;
    if (text[end] == '\n' || text[end] == '$') return {};
  }
  auto begin = end;
  while (begin > 0 && is_token_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// True if bash prints each command before that place: after `set -x`.
bool is_traced(std::string_view text, std::size_t offset) {
  bool traced = shebang_line(text).ends_with(" -x");
  const auto before = text.substr(0, offset);
  for (auto at = before.find("\nset "); at != std::string_view::npos; at = before.find("\nset ", at + 1)) {
    const auto line = before.substr(at + 5, before.find('\n', at + 1) - at - 5);
    for (const auto& word : util::split(std::string(line.substr(0, line.find('#'))), ' ')) {
      if (word.starts_with("-") && word.find('x') != std::string::npos) traced = true;
      if (word.starts_with("+") && word.find('x') != std::string::npos) traced = false;
    }
  }
  return traced;
}

/// `export $(grep … .env | xargs)` with tracing on: bash prints every key of the file into the log.
void look_at_traced_exports(const LintContext& subject, RuleMatches& hits) {
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    if (launch.last().program != "export" || command.parent) continue;
    const auto words = command.arguments();
    const auto is_file = [](const shell::Argument& word) {
      const auto text = word.unknown();
      return text.starts_with("$(") && text.find(".env") != std::string::npos;
    };
    if (std::any_of(words.begin(), words.end(), is_file) && is_traced(subject.text, command.place.offset))
      hits.push_back({command.place, "set -x prints the values of this file into the job's log",
                      "use set +x before it and set -x after it"});
  }
}

RuleMatches find(const LintContext& subject) {
  constexpr std::size_t k_shortest = 20;
  RuleMatches hits;
  const auto text = subject.text;
  for (std::size_t i = 0; i + k_shortest <= text.size();) {
    // From the end of the shortest token back: most of the text is never looked at.
    auto end = i + k_shortest;
    while (end > i && is_token_char(text[end - 1])) --end;
    if (end > i) {
      i = end;
      continue;
    }
    end = i + k_shortest;
    while (end < text.size() && is_token_char(text[end])) ++end;
    look_at_token(text, {i, end - i}, word_before(text, i), hits);
    i = end;
  }
  const auto first = text.find("://");
  for (auto at = first; at != std::string_view::npos; at = text.find("://", at + 1)) {
    look_at_address(text, at, hits);
    look_at_hook(text, at, hits);
  }
  if (const auto key = text.find("PRIVATE KEY-----");
      key != std::string_view::npos && text.find("-----BEGIN ") < key)
    hits.push_back(make_hit(line_at(text, key), "a private key"));
  if (first != std::string_view::npos) look_at_headers(subject, hits);
  look_at_passwords(subject, hits);
  look_at_traced_exports(subject, hits);
  return hits;
}

} // namespace safety_secret

Rule rule_safety_secret() {
  using namespace safety_secret;
  return {
      .id = "safety/secret",
      .severity = diag::Severity::warning,
      .title = "Secret in the script",
      .why =
          "Slurm keeps every script in its spool and its accounting, scontrol write batch_script shows it, "
          "and job scripts end up in repositories. Any reader can act as you.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_job_script",
      .bad = {R"(#!/bin/bash
export HF_TOKEN=hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567
)"},
      .good = {R"(#!/bin/bash
export HF_TOKEN=$(cat ~/.hf_token)
)"},
      .find = find,
  };
}

} // namespace hpcml::check
