// SPDX-License-Identifier: MIT
// What the reader can and cannot read, against `bash -n`: scripts of all constructs, and the same with random
// damage.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "core/shell/random_script_helper.hpp"
#include "core/shell/script.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

bool is_read(const std::string& text) {
  const auto script = shell::read_script(text);
  return shell::unread_parts(script.program).empty();
}

/// True for each text that `bash -n` takes without an error.
std::vector<bool> bash_takes(const std::vector<std::string>& texts) {
  const test::TempDirectory directory;
  for (std::size_t i = 0; i < texts.size(); ++i) std::ofstream(directory / std::to_string(i)) << texts[i];
  const util::EnvSnapshot env(std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}});
  // bash reports some errors within [[ ]] without an exit status.
  const std::string loop = "cd " + directory.path().string() + " && for ((i = 0; i < " +
                           std::to_string(texts.size()) +
                           "; i++)); do if said=$(bash -n $i 2>&1) && [[ $said != *error* && $said != "
                           "*expected* && $said != *unexpected* ]]; then printf 1; else printf 0; fi; done";
  const auto output = util::run_process({"/bin/bash", "-c", loop}, env);
  REQUIRE(output.ok());
  REQUIRE(output->out.size() == texts.size());
  std::vector<bool> list;
  for (const char c : output->out) list.push_back(c == '1');
  return list;
}

std::string damaged(std::string text, std::mt19937& random) {
  static const std::vector<std::string> k_tokens = {
      "'",          "\"",        "`",    "$(", "${",          "}",   ")",  "(",  ";;",  "fi",
      " then ",     "do",        "done", "\n", "<<EOF\n",     "[[ ", "]]", "|",  "&&",  "&",
      ";",          "case x in", "esac", "{ ", "#",           "$",   "\\", "((", "))",  "if ",
      "for i in a", "<",         ">",    "!",  "function f ", "a=(", "\t", "\r", "<<<", "else"};
  for (auto i = random() % 2 + 1; i > 0 && !text.empty(); --i) {
    const auto at = random() % (text.size() + 1);
    if (random() % 2 == 0)
      text.erase(at, random() % 5 + 1);
    else
      text.insert(at, k_tokens[random() % k_tokens.size()]);
  }
  return text;
}

} // namespace

TEST_CASE("each form of bash's grammar is read or refused as bash does") {
  const std::vector<std::string> texts = {"a",
                                          "a;b",
                                          "a;;b",
                                          "a & b &",
                                          "a & ; b",
                                          "a |& b | c",
                                          "a |",
                                          "a && \n\n b",
                                          "&& a",
                                          "! a | b",
                                          "time -p a",
                                          "time",
                                          "(a)",
                                          "()",
                                          "( (a) )",
                                          "((a))",
                                          "((a) )",
                                          "{ a; }",
                                          "{ a }",
                                          "{a}",
                                          "}",
                                          "if a; then b; fi",
                                          "if a then b; fi",
                                          "if a; then fi",
                                          "if a; then b; elif c; then d; else e; fi",
                                          "if a; then b",
                                          "fi",
                                          "while a; do b; done",
                                          "until a\ndo\nb\ndone >x",
                                          "while a; do done",
                                          "for i; do a; done",
                                          "for i in a b\ndo c; done",
                                          "for i in a; { b; }",
                                          "for ((i=0;i<3;i++)); do a; done",
                                          "for ((i=0;i<3)); do a; done",
                                          "for ((;;)) do a; done",
                                          "for i in a b do c; done",
                                          "select x in a; do b; done",
                                          "case a in esac",
                                          "case a in b) c;; (d|e) ;; *) f; esac",
                                          "case a in b) c;& d) e;;& esac",
                                          "case a in b c) d;; esac",
                                          "case a b in esac",
                                          "f() { a; }",
                                          "f() a",
                                          "f () (a)",
                                          "function f { a; }",
                                          "function f() { a; } >x",
                                          "function f-g() if a; then b; fi",
                                          "f( ) { a; }",
                                          "f(a) { b; }",
                                          "[[ -f a ]]",
                                          "[[ a ]]",
                                          "[[ a b ]]",
                                          "[[ a == b* && ( c < d || ! -z e ) ]]",
                                          "[[ -f ]]",
                                          "[[ a =~ ^(b|c)[0-9]+$ ]]",
                                          "[[ $a =~ a\\ b ]]",
                                          "[[ a",
                                          "a=(b c)",
                                          "a=(b\n# c\nd)",
                                          "a=(b;c)",
                                          "a+=(b) c=d e",
                                          "a[1]=b",
                                          "a=b(c)",
                                          "export a=(b) c",
                                          "echo a=(b)",
                                          "echo (a)",
                                          "echo a)",
                                          "a(",
                                          "echo $(a",
                                          "echo $(a; b)",
                                          "echo $( case x in a) b;; esac )",
                                          "echo `a \\`b\\``",
                                          "echo `a",
                                          "echo ${a:-b}",
                                          "echo ${a",
                                          "echo \"${a:-'}\"",
                                          "echo ${a#'}'}",
                                          "echo ${x.y}",
                                          "echo $((1+2))",
                                          "echo $((1+(2)))",
                                          "echo $[1+2]",
                                          "echo 'a",
                                          "echo \"a",
                                          "echo $'a\\'b'",
                                          "echo $\"a\"",
                                          "cat <<A\nb\nA",
                                          "cat <<A\nb",
                                          "cat <<-A\n\tb\n\tA\nc",
                                          "cat <<'A' <<B\n$(\nA\nb\nB",
                                          "cat <<A && b\n`\nA",
                                          "cat <<<a",
                                          "cat <<",
                                          "a >",
                                          "a >b 2>&1 &>c &>>d <>e >|f",
                                          "a 2>&-",
                                          "{fd}>x a",
                                          "a <(b) >(c)",
                                          "a < (b)",
                                          "a=1 b=2",
                                          "a#b # c",
                                          "coproc a",
                                          "a \\\n b",
                                          "if a; then\n#x\nb\nfi # y",
                                          "echo {a,b} }",
                                          "echo if then fi",
                                          "then",
                                          "a=if",
                                          "while read x; do y; done < <(z)",
                                          "f() {\n local x=1\n}\nf",
                                          "if [ a = b ]; then c; fi; d",
                                          "a || { b; exit 1; }",
                                          "(a; b) | c &",
                                          "trap 'a' EXIT",
                                          "$a $b",
                                          "\"a b\" c",
                                          "a=$(b <<X\nc\nX\n)",
                                          "echo \"$(echo \")\")\"",
                                          "echo a;# b",
                                          "a=([0]=x)",
                                          "a=([ x)",
                                          "b\na[1=]=%",
                                          "b\na[b[1]=2]=c",
                                          "b\na[i=]]=c",
                                          "let a=(3)%2",
                                          "let a=(3)*(2)",
                                          "let a=( 1\n+ 2 )*3 b=(4)",
                                          "let a[1]=(3)",
                                          "let (3)",
                                          "let a=3*(2)",
                                          "eval a=(3)",
                                          "alias a=(3)",
                                          "let a=(3"};
  const auto takes = bash_takes(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i] << "\nbash " << (takes[i] ? "takes it" : "refuses it"));
    CHECK(is_read(texts[i]) == takes[i]);
  }
}

TEST_CASE("damaged scripts are read or refused as bash does, and nothing hangs") {
  std::mt19937 random(7);
  std::vector<std::string> texts;
  for (unsigned seed = 0; seed < 1500; ++seed)
    texts.push_back(damaged(test::RandomScript(seed + 100000).make(), random));
  const auto takes = bash_takes(texts);
  std::size_t agreed = 0, refused = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    agreed += is_read(texts[i]) == takes[i] ? 1 : 0;
    refused += takes[i] ? 0 : 1;
  }
  std::cout << "reader and bash -n: " << agreed << " of " << texts.size()
            << " damaged scripts alike; bash refuses " << refused << "\n";
  CHECK(refused > 300);
  CHECK(agreed * 100 >= texts.size() * 97);
}
