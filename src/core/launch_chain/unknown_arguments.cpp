// SPDX-License-Identifier: MIT
#include "core/launch_chain/unknown_arguments.hpp"

#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {

using shell::Argument;

namespace {

/// True if a variable without a known value has the name of a program, and not of options.
bool is_called_program(const std::string& text) {
  const auto name = util::to_lower(text);
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (holds(".py")) return true; // ${SCRIPT:-train.py}
  for (const auto* options : {"arg", "opt", "flag", "param", "conf", "[@]", "[*]"})
    if (holds(options)) return false;
  for (const auto* program : {"script", "prog", "cmd", "command", "main", "entry", "file", "train"})
    if (holds(program)) return true;
  return false;
}

} // namespace

bool has_word(std::string_view list, const std::string& word) {
  return list.find(" " + word + " ") != std::string_view::npos;
}

bool is_image_name(std::string_view text) {
  return model::has_image_ending(text) || text.find("://") != std::string_view::npos;
}

bool is_python(std::string_view program) {
  const auto name = program.substr(program.rfind('/') + 1); // npos + 1 is 0
  return name.starts_with("python") && name.find_first_not_of("0123456789.t", 6) == std::string::npos;
}

bool is_run_by_python(std::string_view program) { return is_python(program) || program.ends_with(".py"); }

std::string program_name(const Argument& word) {
  const auto name = util::base_name(word.program().value_or(word.text()));
  if (is_python(name)) return "python";
  const auto known = usual_name(name);
  return known.empty() ? name : std::string(known);
}

std::size_t find_unknown_program(const Arguments& words, std::size_t at,
                                 const model::ProgramSyntax& wrapper) {
  constexpr auto k_none = std::string::npos;
  if (wrapper.flags.empty()) return k_none;
  std::size_t last = k_none, called = k_none;
  for (; at < words.size(); ++at) {
    const auto head = words[at].prefix();
    const auto name = full_option(wrapper, head.substr(0, head.find('=')));
    if (name == "--") return called;
    if (name.size() > 1 && name[0] == '-') {
      const bool takes_next =
          head.find('=') == std::string::npos && words[at].known() && has_word(wrapper.values, name);
      const bool own = takes_next || has_word(wrapper.values, name) || has_word(wrapper.flags, name);
      if (!own) return called != k_none ? called : last;
      if (takes_next) ++at;
    } else if (!words[at].many) {
      // The program is written in the script, or is an argument of one with such a name.
      return words[at].text().ends_with(".py") ? k_none : called;
    } else {
      last = at;
      if (called == k_none && is_called_program(words[at].text())) called = at;
    }
  }
  return called;
}

std::size_t find_unknown_image(const Arguments& words, std::size_t at, const model::ProgramSyntax& wrapper) {
  std::size_t last = std::string::npos;
  for (; at < words.size(); ++at) {
    const auto text = words[at].text();
    if (text.size() > 1 && text[0] == '-') {
      if (words[at].known() && has_word(wrapper.values, text)) ++at;
    } else if (words[at].many) {
      last = at;
    } else {
      const auto name = program_name(words[at]);
      const bool program = words[at].known() && (find_wrapper(name) || name == "bash" || name == "sh" ||
                                                 text.starts_with("./") || text.ends_with(".sh"));
      return program ? last : std::string::npos;
    }
  }
  return std::string::npos;
}

} // namespace hpcml::launch_chain
