// SPDX-License-Identifier: MIT
// Values that speak of other jobs, of features and of points in time.
#include <algorithm>
#include <regex>

#include "slurm/values.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

constexpr string_view k_after[] = {"after", "afterok", "afterany", "afternotok", "aftercorr", "afterburstbuffer"};

bool add_dependencies(std::vector<Dependency>& list, const std::string& item) {
  const auto parts = util::split(item, ':');
  const std::string type = util::to_lower(parts.front());
  if (type == "singleton") {
    list.push_back({type, {}, {}});
    return parts.size() == 1;
  }
  // A bare number is the oldest form.
  if (parts.size() == 1 && !type.empty() && type.find_first_not_of("0123456789") == std::string::npos) {
    list.push_back({"afterany", type, {}});
    return true;
  }
  if (parts.size() < 2 || std::find(std::begin(k_after), std::end(k_after), type) == std::end(k_after)) return false;
  static const std::regex form(R"((-?[0-9]+(_(\*|[0-9]+))?)(\+([0-9]+))?)");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(parts[i], match, form)) return false;
    const auto same = [&](const Dependency& d) { return d.type == type && d.job == match[1]; };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back({type, match[1], match[5]});
  }
  return true;
}

} // namespace

std::optional<Dependencies> parse_dependencies(string_view text, Version version) {
  Dependencies dependencies;
  if (text.empty()) return dependencies;
  dependencies.any = text.find('?') != string_view::npos;
  if (dependencies.any && text.find(',') != string_view::npos && version >= Version::v25_11) return std::nullopt;
  const std::string all = util::replace_all(std::string(text), "?", ",");
  for (const auto& item : util::split(all, ','))
    if (!add_dependencies(dependencies.list, item)) return std::nullopt;
  return dependencies;
}

std::optional<std::vector<std::string>> parse_features(string_view text) {
  std::vector<std::string> names;
  std::string name;
  int round = 0;
  int square = 0;
  const bool counts_in_choice = text.find('*') != string_view::npos && text.find('|') != string_view::npos && text.find('[') != string_view::npos;
  if (counts_in_choice) return std::nullopt;
  bool well_formed = true;
  bool operand = false; // something stands before the next operator
  const auto take = [&] {
    if (const auto star = name.find('*'); star != std::string::npos) {
      const auto count = name.substr(star + 1);
      well_formed = well_formed && !count.empty() && count.find_first_not_of("0123456789") == std::string::npos;
      name.resize(star);
    }
    if (!name.empty()) names.push_back(name);
    name.clear();
  };
  for (const char c : text) {
    const bool joins = c == '&' || c == '|' || c == ',';
    if (joins) {
      if (!operand) return std::nullopt;
      take();
    } else if (c == '(' || c == '[') {
      if (++(c == '(' ? round : square) > 1) return std::nullopt; // no nesting
    } else if (c == ')' || c == ']') {
      take();
      if (--(c == ')' ? round : square) < 0) return std::nullopt;
    } else if (c == ' ' || c == '!' || c == '\t') {
      return std::nullopt;
    } else {
      name += c;
    }
    operand = !joins && c != '(' && c != '[';
  }
  take();
  if (!well_formed || round != 0 || square != 0) return std::nullopt;
  return names;
}

bool is_point_in_time(string_view text) {
  static const std::string clock = R"(([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?([ap]m)?)";
  static const std::string word = "today|tomorrow|midnight|noon|fika|elevenses|teatime";
  static const std::string date = R"((\d{4}-)(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])|(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(/\d{2}(\d{2})?)?|(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{2})";
  static const std::string unit = "seconds?|minutes?|hours?|days?|weeks?";
  static const std::regex form("now([+-]\\d+(" + unit + ")?)?|" + clock + "|(" + word + ")|(" + date + ")([T-]" + clock + ")?", std::regex::icase);
  return std::regex_match(text.begin(), text.end(), form);
}

} // namespace hpcml::slurm
