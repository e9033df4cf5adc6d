// SPDX-License-Identifier: MIT
// The kinds of keys that a job has: rows of job_keys.cpp are made by these.
#pragma once

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "core/config/job_keys.hpp"
#include "hpcml/json_string.hpp"

namespace hpcml::config {

/// A key with one value: a later job's wins.
template <class T>
JobKey known_key(std::string name, FlagForm form, KeyHelp help, model::Known<T> model::JobSpec::*member) {
  JobKey key{std::move(name), form, help, {}, {}, {}, {}};
  key.merge = [member](model::JobSpec& job, const model::JobSpec& over) {
    if (over.*member) job.*member = over.*member;
  };
  return key;
}

/// One line of text.
JobKey text_key(const std::string& name, KeyHelp help, model::Known<std::string> model::JobSpec::*member);
/// A whole number from `least` to a million.
JobKey number_key(const std::string& name, KeyHelp help, model::Known<unsigned> model::JobSpec::*member,
                  unsigned least);
/// Yes or no, where a site's or a file's choice can be taken back.
JobKey bool_key(const std::string& name, KeyHelp help, model::Known<bool> model::JobSpec::*member);
/// On in either job means on.
JobKey switch_key(const std::string& name, KeyHelp help, bool model::JobSpec::*member);
/// Texts that add up.
JobKey list_key(const std::string& name, KeyHelp help,
                std::vector<model::Sourced<std::string>> model::JobSpec::*member);
/// Variables that add up: "NAME=VALUE".
JobKey env_key(const std::string& name, KeyHelp help);

/// What reaches the ranks as it was asked for; a switch that is on in either job is on.
JobKey rank_key(const model::RankSettingFlag& flag);

/// A word of a closed set.
template <class E>
JobKey choice_key(std::string name, KeyHelp help, model::Known<E> model::JobSpec::*member) {
  auto key = known_key(name, FlagForm::value, help, member);
  key.words = model::words_of<E>;
  key.from_file = [name, member](model::JobSpec& job, ObjectReader& root) {
    job.*member = root.known(name, root.template choice<E>(name));
  };
  key.from_text = [member](model::JobSpec& job, const std::string& text,
                           const model::Origin& origin) -> std::optional<util::Error> {
    TRY(const auto value, model::parse_word<E>(text));
    job.*member = model::Sourced<E>{value, origin};
    return std::nullopt;
  };
  key.to_json = [member](const model::JobSpec& job) -> std::optional<std::string> {
    if (!(job.*member)) return std::nullopt;
    return json_string(model::word_of((job.*member)->value));
  };
  return key;
}

/// A value with its own type, which `text_of` writes; a bare number in the file is read as its text ("time":
/// 10 is ten minutes).
template <class T>
JobKey parsed_key(std::string name, KeyHelp help, model::Known<T> model::JobSpec::*member,
                  std::string (*text_of)(const T&)) {
  auto key = known_key(name, FlagForm::value, help, member);
  key.from_file = [name, member](model::JobSpec& job, ObjectReader& root) {
    const auto* node = root.raw(name);
    if (!node) return;
    if (!node->is(JsonKind::integer)) {
      job.*member = root.known(name, root.template parsed<T>(name));
      return;
    }
    auto value = T::parse(std::to_string(node->integer));
    if (value)
      job.*member = model::Sourced<T>{*value, root.origin(name)};
    else
      root.report_value(name, value.error().what, value.error().hint);
  };
  key.from_text = [member](model::JobSpec& job, const std::string& text,
                           const model::Origin& origin) -> std::optional<util::Error> {
    auto value = T::parse(text);
    if (!value) return value.error();
    job.*member = model::Sourced<T>{*value, origin};
    return std::nullopt;
  };
  key.to_json = [member, text_of](const model::JobSpec& job) -> std::optional<std::string> {
    if (!(job.*member)) return std::nullopt;
    return json_string(text_of((job.*member)->value));
  };
  return key;
}

} // namespace hpcml::config
