// SPDX-License-Identifier: MIT
#include "core/launch_chain/launches.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/slurm/options.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {
namespace {

using shell::Argument;

/// True for `"$HPCML" launch`, as scripts of hpcml write it: which build it is shows on the node.
bool is_own_program(const Arguments& words, std::size_t at) {
  if (words[at].known()) return false;
  const auto text = words[at].text();
  return (text == "$HPCML" || text == "${HPCML}") && at + 1 < words.size() &&
         words[at + 1].text() == "launch";
}

/// From the first byte of `a` to the last of `b`, if they are so.
diag::TextRange span(diag::TextRange a, diag::TextRange b) {
  return b.offset >= a.offset ? diag::TextRange{a.offset, b.offset + b.length - a.offset} : a;
}

/// The part of a word after its first `count` bytes.
Argument cut(Argument word, std::size_t count) {
  for (auto& piece : word.pieces) {
    const auto n = piece.known ? std::min(count, piece.text.size()) : 0;
    piece.text.erase(0, n);
    count -= n;
    if (count == 0) break;
  }
  return word;
}

/// Reads the options of one program out of its words.
class OptionReader {
public:
  OptionReader(const Arguments& words, std::size_t at, Link& link) : x_words(words), x_at(at), x_link(link) {}
  std::size_t at() const { return x_at; }
  bool done() const { return x_at >= x_words.size(); }
  const Argument& word() const { return x_words[x_at]; }
  void skip() { ++x_at; }

  /// True while the word here is an option or of unknown number; `program`: what only can be the program.
  bool is_option(std::size_t program = std::string::npos) {
    for (; !done(); skip()) {
      const auto head = word().prefix();
      // What begins with an option's name is that option, though its value may be cut at spaces:
      // "--nnodes=$N".
      const bool named = head.size() > 1 && head[0] == '-' && head != "--";
      if (!word().many || named) return head.size() > 1 && head[0] == '-';
      // A path after something unknown, `pwd`/train.py, is an operand anyway.
      if (word().text().find('/', word().unknown().size()) != std::string::npos || x_at == program ||
          word().program())
        return false;
      x_link.complete = false;
    }
    return false;
  }
  void flag(const std::string& name) {
    x_link.options.push_back({name, std::nullopt, word().place});
    skip();
  }
  /// One of several letters of the word.
  void note_flag(const std::string& name) { x_link.options.push_back({name, std::nullopt, word().place}); }
  /// Notes an unknown option: the next word may be its value.
  void note_unknown() { x_link.complete = false; }
  void glued(const std::string& name, std::size_t head) {
    x_link.options.push_back({name, cut(word(), head), word().place});
    skip();
  }
  void with_next(const std::string& name) {
    const auto first = word().place;
    skip();
    if (done()) return;
    x_link.options.push_back({name, word(), span(first, word().place)});
    skip();
  }
  /// `-genv NAME VALUE` as `NAME=VALUE`.
  void with_next_two(const std::string& name) {
    const auto first = word().place;
    skip();
    if (done()) return;
    auto value = word();
    skip();
    if (done()) return;
    value.pieces.push_back({true, "=", value.place});
    value.pieces.insert(value.pieces.end(), word().pieces.begin(), word().pieces.end());
    value.many = value.many || word().many;
    x_link.options.push_back({name, std::move(value), span(first, word().place)});
    skip();
  }

private:
  const Arguments& x_words;
  std::size_t x_at;
  Link& x_link;
};

/// srun's options, by the table of Slurm's options. Short ones can be together: "-lN2".
void read_srun(OptionReader& reader) {
  using slurm::TakesValue;
  while (reader.is_option()) {
    const auto head = reader.word().prefix();
    if (head == "--") return reader.skip();
    if (head.starts_with("--")) {
      const auto equals = head.find('=');
      const auto match = slurm::find_option(
          slurm::Program::srun,
          std::string_view(head).substr(2, equals == std::string::npos ? equals : equals - 2));
      const auto name = match.option ? match.option->name
                                     : head.substr(2, equals == std::string::npos ? equals : equals - 2);
      if (equals != std::string::npos)
        reader.glued(name, equals + 1);
      else {
        // Options of the common plugins of srun; what others bring is not known.
        const auto* engine = match.option ? nullptr : model::find_engine_option(name);
        if ((match.option && match.option->argument == TakesValue::required) ||
            (engine && has_word(engine->step_options, name)))
          reader.with_next(name);
        else {
          if (!match.option && !engine) reader.note_unknown();
          reader.flag(name);
        }
      }
      continue;
    }
    std::size_t i = 1;
    for (; i < head.size(); ++i) {
      const auto option = slurm::find_option(slurm::Program::srun, head[i]);
      const bool last = i + 1 >= head.size() && reader.word().known();
      const auto name = option ? option->name : std::string(1, head[i]);
      if (!option || option->argument == TakesValue::none) {
        if (last)
          reader.flag(name);
        else
          reader.note_flag(name);
        continue;
      }
      if (!last)
        reader.glued(name, i + 1);
      else if (option->argument == TakesValue::required)
        reader.with_next(name);
      else
        reader.flag(name);
      break;
    }
    if (i >= head.size() && !reader.done() && reader.word().prefix() == head && !reader.word().known())
      reader.skip();
  }
}

/// `-B/data:/data`, `-eB "$A"`: letters, the last of which may have a value in the same word. False if the
/// word is no such thing.
bool read_letters(OptionReader& reader, const model::ProgramSyntax& wrapper) {
  const auto head = reader.word().prefix();
  if (!wrapper.joins_letters || head.size() < 2 || head[1] == '-') return false;
  if (head.size() == 2 && reader.word().known()) return false;
  for (std::size_t i = 1; i < head.size(); ++i) {
    const std::string name(1, head[i]);
    if (!has_word(wrapper.values, "-" + name)) {
      reader.note_flag(name);
      continue;
    }
    if (i + 1 == head.size() && reader.word().known())
      reader.with_next(name);
    else
      reader.glued(name, i + 1);
    return true;
  }
  reader.skip();
  return true;
}

void read_options(OptionReader& reader, const model::ProgramSyntax& wrapper,
                  std::size_t program = std::string::npos) {
  while (reader.is_option(program)) {
    const auto head = reader.word().prefix();
    if (head == "--") return reader.skip();
    if (wrapper.name == "python" && (head == "-m" || head == "-c")) return;
    if (read_letters(reader, wrapper)) continue;
    const auto equals = head.find('=');
    const auto dashes = head.find_first_not_of('-');
    if (dashes == std::string::npos) return;
    const auto option = full_option(wrapper, head.substr(0, equals));
    const auto name = option.substr(dashes);
    if (equals != std::string::npos)
      reader.glued(name, equals + 1);
    else if (has_word(wrapper.values, option))
      reader.with_next(name);
    else if (has_word(wrapper.pairs, option))
      reader.with_next_two(name);
    else if (!reader.word().known())
      reader.skip();
    else
      reader.flag(name);
  }
}

/// `A=1` among the words of `env`.
void add_settings(std::span<const Argument> words, std::vector<shell::CommandPrefixVariable>& sets) {
  for (const auto& word : words) {
    const auto head = word.prefix();
    const auto equals = head.find('=');
    if (equals == std::string::npos || !util::is_variable_name(head.substr(0, equals))) continue;
    sets.push_back({head.substr(0, equals), cut(word, equals + 1)});
  }
}

/// What `--export=ALL,A=1`, `--env A=1,B=2`, `-e A=1` and `-x A=1` set, and what the same hand on without
/// "=".
void add_option_settings(Link& link) {
  static constexpr std::array<std::string_view, 5> k_names = {"export", "env", "e", "x", "genv"};
  const auto* engine = model::find_engine_program(link.program);
  for (const auto& option : link.options) {
    const auto& name = option.name;
    if (std::find(k_names.begin(), k_names.end(), name) == k_names.end() || !option.value) continue;
    // Several in one word only where a comma separates them.
    if (name != "export" && (name != "env" || engine == nullptr || !engine->bind_lists)) {
      add_settings({&*option.value, 1}, link.sets);
      if (util::is_variable_name(option.value->text())) link.passes.push_back(option.value->text());
      continue;
    }
    for (const auto& part : util::split(option.value->text(), ',')) {
      if (util::is_variable_name(part)) link.passes.push_back(part);
      const bool known = option.value->known() || part.find_first_of("$`") == std::string::npos;
      auto word = known ? shell::known_argument(part, option.place)
                        : shell::unknown_argument(part.substr(part.find('=') + 1), option.place, false);
      const auto variable = part.substr(0, part.find('='));
      if (variable.size() < part.size() && util::is_variable_name(variable))
        link.sets.push_back({variable, known ? cut(std::move(word), variable.size() + 1) : std::move(word)});
    }
  }
}

class Chains {
public:
  /// Appends the links that the words from `at` on make.
  void add(const Arguments& words, std::size_t at, std::vector<Link>& chain) {
    for (std::size_t before = 0; at < words.size() && chain.size() < 16; before = at) {
      const bool own = is_own_program(words, at);
      const auto program = own ? std::optional(at) : shell::skip_prefixes(words, at);
      if (!program || *program >= words.size()) return;
      at = *program;
      Link link;
      link.program = own ? "hpcml" : program_name(words[at]);
      link.place = words[at].place;
      add_settings(std::span(words).subspan(before, at - before), link.sets);
      at = read(words, at, link);
      link.role = role_of(link.program);
      add_option_settings(link);
      const bool ends = !continues(link);
      if (ends)
        link.operands.insert(link.operands.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
                             words.end());
      chain.push_back(std::move(link));
      if (ends) return;
    }
  }

private:
  /// True if another program follows after the options.
  static bool continues(const Link& link) {
    if (link.role == Role::step) return true;
    return link.role != Role::agent && link.program != "python" && find_wrapper(link.program) &&
           (link.complete || names_image(link));
  }

  /// True if the image is known: no unknown option can contain it.
  static bool names_image(const Link& link) {
    if (link.role != Role::container || link.operands.empty()) return false;
    const auto& word = link.operands.front();
    return !word.known() || is_image_name(word.text());
  }

  /// Reads the options of words[at]'s program; returns where the rest begins.
  static std::size_t read(const Arguments& words, std::size_t at, Link& link) {
    OptionReader reader(words, at + 1, link);
    if (link.program == "srun") {
      read_srun(reader);
      return reader.at();
    }
    const auto* wrapper = find_wrapper(link.program);
    if (!wrapper) return at + 1;
    const auto written = words[at].text();
    if (!wrapper->subcommands.empty() &&
        !has_subcommand_in_name(*wrapper, std::string_view(written).substr(written.rfind('/') + 1))) {
      while (reader.is_option()) reader.flag(reader.word().text()); // options of the engine itself
      if (reader.done() || !has_word(wrapper->subcommands, reader.word().text())) {
        link.complete = false;
        return reader.at();
      }
      reader.skip();
    }
    const bool image = role_of(link.program) == Role::container && wrapper->operands > 0;
    const auto unknown = image ? find_unknown_image(words, reader.at(), *wrapper)
                               : find_unknown_program(words, reader.at(), *wrapper);
    read_options(reader, *wrapper, unknown);
    if (link.program == "python" && !reader.done() && reader.word().text() == "-m")
      return read_module(words, reader, link);
    for (std::size_t i = 0; i < wrapper->operands && !reader.done(); ++i) {
      link.operands.push_back(reader.word());
      reader.skip();
    }
    return reader.at();
  }

  /// `python -m torch.distributed.run` is torchrun.
  static std::size_t read_module(const Arguments& words, OptionReader& reader, Link& link) {
    reader.skip();
    if (reader.done()) return reader.at();
    link.module = reader.word().text();
    reader.skip();
    const auto launcher = model::launcher_of_module(link.module);
    if (launcher.empty()) return reader.at();
    link.program = std::string(launcher);
    link.options.clear(); // python's own: the programs do not get them
    OptionReader rest(words, reader.at(), link);
    const auto& wrapper = *find_wrapper(link.program);
    read_options(rest, wrapper, find_unknown_program(words, rest.at(), wrapper));
    return rest.at();
  }
};

} // namespace

std::vector<Launch> find_launches(const shell::ScriptCommands& listing) {
  Chains chains;
  std::vector<Launch> launches;
  std::vector<std::vector<Link>> by_command(listing.commands.size()); // of those whose text holds others
  std::vector<bool> is_parent(listing.commands.size());
  for (const auto& command : listing.commands)
    if (command.parent) is_parent[*command.parent] = true;
  for (std::size_t i = 0; i < listing.commands.size(); ++i) {
    const auto& command = listing.commands[i];
    if (!command.program || command.context.uncalled || command.context.unreached || command.calls_function)
      continue;
    std::vector<Link> chain;
    if (command.parent && *command.parent < i) chain = by_command[*command.parent];
    chains.add(command.words, *command.program, chain);
    if (is_parent[i]) by_command[i] = chain;
    if (!chain.empty()) launches.push_back({&command, std::move(chain)});
  }
  return launches;
}

} // namespace hpcml::launch_chain
