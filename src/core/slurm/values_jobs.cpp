// SPDX-License-Identifier: MIT
// Values that speak of other jobs and of features.
#include <cstdint>
#include <cstdlib>
#include <set>

#include "core/slurm/values.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

constexpr string_view k_after[] = {"after",      "afterok",   "afterany",
                                   "afternotok", "aftercorr", "afterburstbuffer"};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// "1,3-5" of "7_[1,3-5]".
bool is_index_list(const std::string& text) {
  for (const auto& part : util::split(text, ',')) {
    const auto dash = part.find('-');
    if (!is_number(part.substr(0, dash)) || (dash != std::string::npos && !is_number(part.substr(dash + 1))))
      return false;
  }
  return true;
}

/// The text of --dependency, read as the controller does: numbers are strtol's, with spaces and a sign first.
class DependencyReader {
public:
  DependencyReader(string_view text, ComparisonTrackingVersion version)
      : x_text(text), x_lower(util::to_lower(x_text)), x_strict(version >= Version::v25_11) {}

  std::optional<Dependencies> run() {
    if (x_text.empty() || x_text == "0") return Dependencies{};
    while (read_condition())
      if (!next()) {
        if ((x_strict || x_form != Form::named) && x_at < x_text.size()) return std::nullopt;
        return std::move(x_all);
      }
    return std::nullopt;
  }

private:
  char current() const { return x_at < x_text.size() ? x_text[x_at] : '\0'; }

  long read_number() {
    char* end = nullptr;
    const long number = std::strtol(x_text.c_str() + x_at, &end, 10);
    x_at = static_cast<std::size_t>(end - x_text.c_str());
    return number;
  }

  void add(const std::string& type, const std::string& job, const std::string& delay) {
    if (x_seen.emplace(type, job).second) x_all.list.push_back({type, job, delay});
  }

  /// "1", "1_3", "1_*" or "1_[1,3-5]"; empty for none.
  std::string read_job() {
    const auto number = static_cast<std::uint32_t>(read_number());
    if (number == 0) return {};
    std::string job = std::to_string(number);
    if (current() != '_') return job;
    ++x_at;
    if (current() == '*') return ++x_at, job + "_*";
    if (current() == '[') {
      const auto end = x_text.find(']', x_at);
      const auto list = end == std::string::npos ? "" : x_text.substr(x_at + 1, end - x_at - 1);
      if (!is_index_list(list)) return {};
      x_at = end + 1;
      return job + "_[" + list + "]";
    }
    const auto before = x_at;
    const auto task = static_cast<std::uint32_t>(read_number());
    if (x_strict && x_at == before) return {};
    return job + (task == 0xffffffffU ? "_*" : "_" + std::to_string(task));
  }

  /// "(unfulfilled)" of another job's record; it is looked for in all that is left.
  bool skip_state() {
    if (x_text.find('(', x_at) == std::string::npos) return true;
    const auto close = x_text.find(')', x_at);
    x_at = close == std::string::npos ? x_at : close + 1;
    return close != std::string::npos;
  }

  /// One job after another, ":" between them; a delay holds for those after it as well.
  bool read_jobs(const std::string& type) {
    for (std::string delay;; ++x_at) {
      const auto job = read_job();
      if (job.empty() ||
          (!x_strict && current() != '\0' && string_view(",?:+(").find(current()) == string_view::npos))
        return false;
      if (current() == '+') {
        ++x_at;
        const auto minutes = static_cast<std::int32_t>(read_number());
        if (minutes <= 0) return false;
        delay = std::to_string(static_cast<std::uint32_t>(minutes) * 60U / 60U); // seconds in 32 bits
      }
      if (!skip_state()) return false;
      add(type, job, delay);
      if (current() != ':') return true;
    }
  }

  bool read_condition() {
    static constexpr string_view singleton = "singleton";
    x_form = Form::named;
    if (x_lower.compare(x_at, singleton.size(), singleton) == 0) {
      x_form = Form::singleton;
      x_at += singleton.size();
      add(std::string(singleton), {}, {});
      return skip_state();
    }
    const auto colon = x_text.find(':', x_at);
    if (colon == std::string::npos) { // a bare number is the oldest form
      x_form = Form::number;
      if (current() < '0' || current() > '9') return false;
      const auto job = read_job();
      if (!job.empty()) add("afterany", job, {});
      return !job.empty();
    }
    for (const auto type : k_after) {
      const bool long_name = type == "afterburstbuffer"; // of which eleven letters are compared
      if (x_lower.compare(x_at, long_name ? 11 : type.size() + 1,
                          long_name ? std::string(type.substr(0, 11)) : std::string(type) + ":") != 0)
        continue;
      x_at = colon + 1;
      return read_jobs(std::string(type));
    }
    return false;
  }

  /// Whether another condition follows; a wrong separator is left as the rest.
  bool next() {
    const char c = current();
    const bool joins = c == ',' || (c == '?' && x_form != Form::number);
    if (!joins || (x_strict && x_joint != '\0' && c != x_joint)) return false;
    x_joint = c;
    x_all.any = x_all.any || c == '?';
    ++x_at;
    return true;
  }

  enum class Form { singleton, number, named };
  std::string x_text;
  std::string x_lower;
  bool x_strict; ///< earlier versions pass over what follows a delay
  std::size_t x_at = 0;
  Form x_form = Form::named;
  char x_joint = '\0';
  Dependencies x_all;
  std::set<std::pair<std::string, std::string>> x_seen;
};

} // namespace

std::optional<Dependencies> parse_dependencies(string_view text, ComparisonTrackingVersion version) {
  return DependencyReader(text, version).run();
}

std::optional<std::vector<std::string>> parse_features(string_view text, ComparisonTrackingVersion version) {
  std::vector<std::string> names;
  std::string name;
  int round = 0;
  int square = 0;
  const auto has = [&](string_view part) { return text.find(part) != string_view::npos; };
  if (has("*") && has("|") && has("[") && version >= Version::v21_08) return std::nullopt;
  if (has("()") || has("[]")) return std::nullopt;
  // Brackets hold a choice; counts join by them only.
  if (text.starts_with("[") && !has("|") && !has("*") && !has(",") && has("&") && version >= Version::v21_08)
    return std::nullopt;
  if (!has("[") && has("*") && has("&") && version >= Version::v23_02) return std::nullopt;
  bool well_formed = true;
  bool operand = false; // something is before the next operator
  const auto take = [&] {
    if (const auto star = name.find('*'); star != std::string::npos) {
      const auto count = name.substr(star + 1);
      well_formed = well_formed && !count.empty() &&
                    count.find_first_not_of("0123456789") == std::string::npos &&
                    count.find_first_not_of('0') != std::string::npos;
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

} // namespace hpcml::slurm
