// SPDX-License-Identifier: MIT
#include "core/shell/random_script_helper.hpp"

#include <array>
#include <initializer_list>

namespace hpcml::test {

namespace {

using Texts = std::initializer_list<const char*>;

} // namespace

std::string RandomScript::make() {
  std::string text = chance(50) ? "#!/bin/bash\n#SBATCH --nodes=2\nN=6\n" : "N=6\n";
  if (chance(80)) text += "A=alpha B='two words' C= D=\"5\"\nARGS=(-n 4 'q r') LIST=()\n";
  return text + block(0, 10);
}

std::string RandomScript::name() { return pick(Texts{"A", "B", "C", "D", "ARGS", "LIST"}); }

std::string RandomScript::plain() {
  return pick(Texts{"x",  "--nodes=2", "-n",   "4",  "a.b", "/opt/x", "k=v", "0x${c}", "a#b",
                    "%j", "@",         "1,2",  "+5", "a:b", "--",     "[",   "{",      "}",
                    "!",  "a}b",       "x{1}", "=",  "if",  "done",   "in",  "^"});
}

/// Something that may stand in a word, in double quotes or outside.
std::string RandomScript::piece(bool in_quotes) {
  switch (below(in_quotes ? 5 : 9)) {
  case 0: return expansion();
  case 1: return pick(Texts{"\\$A", "\\\\", "\\\"", "a", "\\`"});
  case 2: return expansion();
  case 3:
    return in_quotes ? pick(Texts{" a  b ", "'", "#", "*", "~", "\\n", "|", "$ ", "{a,b}", "\n", "\\\n"})
                     : "\"" + piece(true) + piece(true) + "\"";
  case 4: return pick(Texts{"z", "7", "_q", "=", ":"});
  case 5:
    return x_single_quotes ? pick(Texts{"'a b'", "''", "'$A'", "'\\'", "'*'", "$'a\\tb'", "$'q'"})
                           : "''\"q\"";
  case 6: return pick(Texts{"\\ ", "\\*", "\\;", "a", "\\\n"});
  case 7: return "\"\"";
  default: return "\"" + expansion() + "\"";
  }
}

std::string RandomScript::expansion() {
  const auto variable = name();
  switch (below(18)) {
  case 0: return "${" + variable + "}";
  case 1: return "${" + variable + ":-" + pick(Texts{"d", "two words", "\"q r\"", "$B", ""}) + "}";
  case 2: return "${" + variable + "-none}";
  case 3: return "${" + variable + ":+" + pick(Texts{"alt", "$C", "\"s  t\""}) + "}";
  case 4: return "${#" + variable + "}";
  case 5: return "${" + variable + "[@]}";
  case 6: return "${" + variable + "[" + std::to_string(below(3)) + "]}";
  case 7: return "${#" + variable + "[@]}";
  case 8:
    return "$((" + std::to_string(below(9)) + pick(Texts{"+", "*", "-", " % ", " / "}) +
           std::to_string(1 + below(5)) + pick(Texts{"", "*2", "+($N)", " - 1"}) + "))";
  case 9: return "$(show " + std::to_string(++x_number) + " sub)";
  case 10: return "${" + variable + "%" + pick(Texts{"x", "*", ".b"}) + "}";
  case 11: return "${" + variable + "[*]}";
  case 12: return "${" + variable + "=" + pick(Texts{"set", "a b"}) + "}";
  case 13: return pick(Texts{"$1", "$@", "$#", "$2", "$*"});
  default: return "$" + variable;
  }
}

std::string RandomScript::word() {
  if (chance(45)) return plain();
  std::string text;
  for (unsigned i = 0, n = 1 + below(3); i < n; ++i)
    text += chance(30) ? pick(Texts{"a", "b-", "c", ","}) : piece(false);
  return text;
}

std::string RandomScript::words(unsigned most) {
  std::string text;
  for (unsigned i = 0, n = below(most + 1); i < n; ++i)
    text += pick(Texts{" ", "  ", "\t", " ", " ", " \\\n  "}) + word();
  return text;
}

std::string RandomScript::show() {
  const auto number = std::to_string(++x_number);
  if (chance(7)) return "envshow " + number;
  const std::string prefix =
      chance(15) ? pick(Texts{"command ", "env ", "nohup ", "timeout 9 ", "nice -n 1 ", "env A=5 ", "time ",
                              "A=1 ", "exec_not=1 ", "LAUNCH=show; $LAUNCH"})
                 : "";
  if (prefix.find("$LAUNCH") != std::string::npos) return prefix + " " + number + words(4);
  return prefix + "show " + number + words(5) +
         (chance(10) ? pick(Texts{" >/dev/null", " 2>&1", " </dev/null", " # comment", " >/dev/null 2>&1"})
                     : "");
}

std::string RandomScript::assignment() {
  const auto variable = name();
  switch (below(9)) {
  case 0: return variable + "=(" + words(4) + ")";
  case 1: return variable + "+=(" + words(3) + ")";
  case 2: return variable + "+=" + word();
  case 3: return "export " + variable + "=" + word();
  case 4: return variable + "[" + std::to_string(below(3)) + "]=" + word();
  case 5: return "A=1 B=$A C=" + word();
  case 6: return "unset " + variable;
  default: return variable + "=" + word();
  }
}

std::string RandomScript::builtin() {
  switch (below(12)) {
  case 0: return "set -- " + words(3);
  case 1: return "shift";
  case 2: return "export A B=2";
  case 3: return "read -r C <<< \"x y\"";
  case 4: return "declare -i A=3+4";
  case 5: return "set -f";
  case 6: return "printf -v B '%s' q";
  case 7: return "eval 'show " + std::to_string(++x_number) + " \"$A\"; B=evaluated'";
  case 8: return "IFS=,";
  case 9: return "((A++)) || :";
  case 10: return "envshow " + std::to_string(++x_number);
  default: return ": ${D:=default}";
  }
}

std::string RandomScript::block(int depth, unsigned most) {
  std::string text;
  for (unsigned i = 0, n = 1 + below(most); i < n; ++i) text += statement(depth) + "\n";
  return text;
}

std::string RandomScript::statement(int depth) {
  const auto kind = below(depth > 2 ? 55 : 100);
  if (kind < 30) return show();
  if (kind < 50) return assignment();
  if (kind < 55) return builtin();
  if (kind < 65) return show() + pick(Texts{" && ", " || ", "; ", " | cat && ", " && \n"}) + show();
  if (kind < 68) return "# a comment with ' and \" and $(\n\n" + show();
  return kind < 86 ? compound(depth + 1) : nested(depth + 1);
}

std::string RandomScript::compound(int depth) {
  switch (below(10)) {
  case 0:
    return "if " +
           std::string(pick(
               Texts{"true", "false", "[ -n \"$A\" ]", "[[ $B == x* ]]", "! [[ -z $C && a =~ ^(a|b) ]]"})) +
           "; then\n" + block(depth, 3) + (chance(50) ? "else\n" + block(depth, 3) : "") + "fi";
  case 1:
    return "for " + name() + " in" + words(3) + "; do\n" + block(depth, 3) + (chance(20) ? "break\n" : "") +
           "done";
  case 2:
    return "case $A in\n x) " + show() + ";;\n (a|b*) " + assignment() + "\n ;;\n *) " + show() + "\nesac";
  case 3: return "{ " + show() + "; " + assignment() + "\n}";
  case 4: return "(\n" + block(depth, 3) + ")";
  case 5: {
    const auto function = "f" + std::to_string(++x_functions);
    const auto body = (chance(40) ? "local A=" + word() + "\n" : "") + block(3, 3) +
                      (chance(30) ? "[ -n \"$B\" ] && return 0\n" + show() + "\n" : "");
    return (chance(50) ? "function " + function + " {\n" : function + "() {\n") + body + "}\n" + function +
           words(3) + "\n" + (chance(30) ? function + " again\n" : "");
  }
  case 6: return "i=0; while [ $i -lt 2 ]; do\n" + block(depth, 2) + "i=$((i+1))\ndone";
  case 7: return "for ((k=0; k<2; k++)); do\n" + block(depth, 2) + "done";
  case 8:
    return "cat <<EOF >/dev/null\ntext $A $(show " + std::to_string(++x_number) + " here) \"'\nEOF\n" +
           show();
  default:
    return "for v in 1 2 3; do\n" + assignment() + "\n[ $v = 2 ] && " + pick(Texts{"break", "continue"}) +
           "\n" + block(depth, 2) + "done";
  }
}

/// For double quotes and unquoted here-documents.
std::string RandomScript::escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '$' || c == '`' || c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

std::string RandomScript::nested(int depth) {
  const bool outer = x_single_quotes;
  x_single_quotes = false;
  const auto inner = [&] {
    auto text = block(depth + 1, 3);
    while (text.find('\'') != std::string::npos) text.replace(text.find('\''), 1, "q");
    return text;
  };
  std::string text;
  const auto delimiter = "HERE" + std::to_string(++x_here);
  const auto file = "run" + std::to_string(x_here) + ".sh";
  switch (below(6)) {
  case 0: text = "bash -c '" + inner() + "' zero one two"; break;
  case 1: text = "runner -x 1 bash -c \"" + escaped(inner()) + "\""; break;
  case 2:
    text = "cat > " + file + " <<'" + delimiter + "'\n" + inner() + delimiter + "\nbash " + file + " one";
    break;
  case 3:
    text = "cat <<" + delimiter + " > " + file + "\n#!/bin/bash\n" + escaped(show()) + "\nshow " +
           std::to_string(++x_number) + " $A \\$A\n" + delimiter + "\nchmod +x " + file + "\nrunner ./" +
           file;
    break;
  case 4: text = "bash <<'" + delimiter + "'\n" + inner() + delimiter; break;
  default: text = "bash -c \"show " + std::to_string(++x_number) + " $A '$B' \\$C\""; break;
  }
  x_single_quotes = outer;
  return text;
}

} // namespace hpcml::test
