// SPDX-License-Identifier: MIT
#include "core/config/job_key_kinds.hpp"

#include <fmt/format.h>

#include "core/diag/visible_text.hpp"
#include "core/model/rank_settings.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

using model::JobSpec;
using model::Known;
using model::Origin;
using model::Sourced;
using Fault = std::optional<util::Error>;
using WrittenValue = std::optional<std::string>;

constexpr unsigned k_most = 1000000;

/// What is wrong with a text that was typed: line breaks, characters that hide or turn the writing. Bytes
/// that are not UTF-8 may be a file's name.
Fault typed_fault(const std::string& text) {
  std::string readable;
  for (std::string_view rest = text; !rest.empty();) {
    const auto character = diag::first_visible(rest);
    const bool stray = character.length == 1 && static_cast<unsigned char>(rest.front()) >= 0x80U;
    if (!stray) readable += rest.substr(0, character.length);
    rest.remove_prefix(character.length);
  }
  const auto fault = text_fault(readable, TextRule::line);
  return fault.empty() ? std::nullopt
                       : Fault(util::Error{fmt::format("the value {}", fault), text_advice(TextRule::line)});
}

} // namespace

JobKey text_key(const std::string& name, KeyHelp help, Known<std::string> JobSpec::*member) {
  auto key = known_key(name, FlagForm::value, help, member);
  key.from_file = [name, member](JobSpec& job, ObjectReader& root) {
    job.*member = root.known(name, root.text(name));
  };
  key.from_text = [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    if (auto fault = typed_fault(text)) return fault;
    job.*member = Sourced<std::string>{text, origin};
    return std::nullopt;
  };
  key.to_json = [member](const JobSpec& job) {
    return job.*member ? WrittenValue(json_string((job.*member)->value)) : std::nullopt;
  };
  return key;
}

JobKey number_key(const std::string& name, KeyHelp help, Known<unsigned> JobSpec::*member, unsigned least) {
  auto key = known_key(name, FlagForm::value, help, member);
  key.from_file = [name, member, least](JobSpec& job, ObjectReader& root) {
    job.*member = root.known(name, root.number(name, least));
  };
  key.from_text = [member, least](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    const auto number = util::parse_unsigned(text);
    if (!number || *number < least || *number > k_most)
      return util::Error{
          fmt::format("the value \"{}\" is not a whole number from {} to {}", text, least, k_most),
          fmt::format("use a whole number, {} or more", least)};
    job.*member = Sourced<unsigned>{static_cast<unsigned>(*number), origin};
    return std::nullopt;
  };
  key.to_json = [member](const JobSpec& job) {
    return job.*member ? WrittenValue(std::to_string((job.*member)->value)) : std::nullopt;
  };
  return key;
}

JobKey bool_key(const std::string& name, KeyHelp help, Known<bool> JobSpec::*member) {
  auto key = known_key(name, FlagForm::yes_no, help, member);
  key.from_file = [name, member](JobSpec& job, ObjectReader& root) {
    job.*member = root.known(name, root.flag(name));
  };
  key.from_text = [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    TRY(const auto yes, model::rank_flags::Kind<bool>::parse(text));
    job.*member = Sourced<bool>{yes, origin};
    return std::nullopt;
  };
  key.to_json = [member](const JobSpec& job) {
    return job.*member ? WrittenValue((job.*member)->value ? "true" : "false") : std::nullopt;
  };
  return key;
}

JobKey switch_key(const std::string& name, KeyHelp help, bool JobSpec::*member) {
  JobKey key{name, FlagForm::on, help, {}, {}, {}, {}};
  key.from_file = [name, member](JobSpec& job, ObjectReader& root) {
    job.*member = root.flag(name).value_or(false);
  };
  key.from_text = [member](JobSpec& job, const std::string& text, const Origin& /*origin*/) -> Fault {
    TRY(const auto yes, model::rank_flags::Kind<bool>::parse(text));
    job.*member = yes;
    return std::nullopt;
  };
  key.merge = [member](JobSpec& job, const JobSpec& over) { job.*member = job.*member || over.*member; };
  key.to_json = [member](const JobSpec& job) { return job.*member ? WrittenValue("true") : std::nullopt; };
  return key;
}

JobKey list_key(const std::string& name, KeyHelp help, std::vector<Sourced<std::string>> JobSpec::*member) {
  JobKey key{name, FlagForm::list, help, {}, {}, {}, {}};
  key.from_file = [name, member](JobSpec& job, ObjectReader& root) {
    for (auto& text : root.texts(name)) (job.*member).push_back({std::move(text), root.origin(name)});
  };
  key.from_text = [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    if (auto fault = typed_fault(text)) return fault;
    (job.*member).push_back({text, origin});
    return std::nullopt;
  };
  key.merge = [member](JobSpec& job, const JobSpec& over) {
    (job.*member).insert((job.*member).end(), (over.*member).begin(), (over.*member).end());
  };
  key.to_json = [member](const JobSpec& job) -> WrittenValue {
    std::vector<std::string> texts;
    for (const auto& text : job.*member) texts.push_back(json_string(text.value));
    return texts.empty() ? std::nullopt : WrittenValue("[" + util::join(texts, ", ") + "]");
  };
  return key;
}

JobKey env_key(const std::string& name, KeyHelp help) {
  JobKey key{name, FlagForm::list, help, {}, {}, {}, {}};
  key.from_file = [name](JobSpec& job, ObjectReader& root) {
    for (auto& [variable, value] : root.text_map(name, TextRule::variable, TextRule::line))
      job.env.push_back({variable, {value, root.origin(name)}});
  };
  key.from_text = [](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return util::Error{fmt::format("the variable '{}' must have the form NAME=VALUE", text),
                         "use for example --env OMP_PLACES=cores"};
    const auto variable = text.substr(0, equals);
    if (const auto fault = text_fault(variable, TextRule::variable); !fault.empty()) // as in a job file
      return util::Error{fmt::format("the name '{}' {}", variable, fault), text_advice(TextRule::variable)};
    job.env.emplace_back(variable, Sourced<std::string>{text.substr(equals + 1), origin});
    return std::nullopt;
  };
  key.merge = [](JobSpec& job, const JobSpec& over) {
    job.env.insert(job.env.end(), over.env.begin(), over.env.end());
  };
  key.to_json = [](const JobSpec& job) -> WrittenValue {
    std::vector<std::string> members;
    for (auto at = job.env.begin(); at != job.env.end();
         ++at) { // of a name that comes twice the last one holds
      const auto is_same = [&](const auto& entry) { return entry.first == at->first; };
      if (std::none_of(std::next(at), job.env.end(), is_same))
        members.push_back(json_string(at->first) + ": " + json_string(at->second.value));
    }
    return members.empty() ? std::nullopt : WrittenValue("{" + util::join(members, ", ") + "}");
  };
  return key;
}

JobKey rank_key(const model::RankSettingFlag& flag) {
  const std::string name(flag.name);
  JobKey key{name,
             flag.is_switch() ? FlagForm::on : FlagForm::value,
             {flag.group, flag.type, flag.help, flag.fallback},
             {},
             {},
             {},
             {}};
  key.words = flag.words;
  key.from_text = [&flag](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
    if (auto fault = typed_fault(text)) return fault;
    return flag.read(job, text, origin);
  };
  key.from_file = [&flag, name](JobSpec& job, ObjectReader& root) {
    const auto take = [&](const std::string& text) {
      const auto fault = flag.read(job, text, root.origin(name));
      if (fault) root.report_value(name, name + " " + fault->what, fault->hint);
    };
    if (flag.is_switch()) {
      if (const auto on = root.flag(name)) take(*on ? "true" : "false");
    } else if (flag.is_number) {
      if (const auto number = root.number(name, 0)) take(std::to_string(*number));
    } else if (const auto words = flag.words(); !words.empty()) {
      if (const auto word = root.choice(name, words)) take(*word);
    } else if (const auto text = root.text(name)) {
      take(*text);
    }
  };
  key.merge = [&flag](JobSpec& job, const JobSpec& over) {
    if (!flag.is_switch() || flag.write(over) || !flag.write(job)) flag.merge(job, over);
  };
  key.to_json = [&flag](const JobSpec& job) -> WrittenValue {
    const auto value = flag.write(job);
    if (!value) return std::nullopt;
    return flag.is_switch() || flag.is_number ? *value : json_string(*value);
  };
  return key;
}

} // namespace hpcml::config
