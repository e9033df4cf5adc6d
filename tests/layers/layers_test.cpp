// SPDX-License-Identifier: MIT
// src/LAYERS is law: the include graph of src/ is read and compared with it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "sources.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

struct Rules {
  std::map<std::string, std::set<std::string>> allowed;
  std::map<std::string, std::set<std::string>> externals; // prefix of the header's name -> folders
  std::map<std::string, std::string> printers;            // file or folder -> why it may print
};

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> list;
  for (std::string word; stream >> word;) list.insert(word);
  return list;
}

Rules read_rules() {
  Rules rules;
  std::istringstream lines(util::read_file(fs::path(HPCML_SOURCE_DIR) / "src/LAYERS").value());
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto colon = line.find(':');
    REQUIRE(colon != std::string::npos);
    const auto right = words(line.substr(colon + 1));
    const auto name = std::string(util::trim(line.substr(1, colon - 1)));
    if (line[0] == '>')
      rules.printers[name] = std::string(util::trim(line.substr(colon + 1)));
    else if (line[0] == '!')
      rules.externals[name] = right;
    else
      rules.allowed[line.substr(0, colon)] = right;
  }
  return rules;
}

std::string folder_of(const fs::path& file) {
  return fs::relative(file, fs::path(HPCML_SOURCE_DIR) / "src").begin()->string();
}

/// The headers that a file includes, as they stand between <> or "".
std::vector<std::pair<char, std::string>> includes_of(const fs::path& file) {
  static const std::regex k_include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<std::pair<char, std::string>> list;
  std::istringstream lines(util::read_file(file).value());
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (line.find("include") != std::string::npos && std::regex_search(line, match, k_include))
      list.emplace_back(match.str(1)[0], match.str(2));
  return list;
}

/// Whether the text calls the function. An expression searched for in all of it would take a minute in all
/// files.
bool calls(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto behind = text.find_first_not_of(" \t\n", at + name.size());
    if ((at == 0 || !util::is_name_char(text[at - 1])) && behind != std::string::npos && text[behind] == '(')
      return true;
  }
  return false;
}

/// True if the line of code writes to standard output or standard error.
bool prints(const std::string& line) {
  static const std::vector<std::regex> k_printing = {
      std::regex(R"(\bstd::(cout|cerr|clog)\b)"),
      std::regex(R"(\b(printf|vprintf|puts|putchar|perror)\s*\()"),
      std::regex(R"(\b(fprintf|vfprintf|dprintf|fputs|fputc|putc|fwrite|fflush)\s*\(.*\bstd(out|err)\b)"),
      std::regex(R"(\bdprintf\s*\(\s*(1|2|STD(OUT|ERR)_FILENO)\b)"),
      std::regex(R"(\bwritev?\s*\(\s*(1|2|STD(OUT|ERR)_FILENO)\b)"),
      std::regex(R"(\bfmt::print(ln)?\s*\()"),
  };
  static const std::vector<std::string> k_hints = {"std::c", "print",  "put",  "perror",
                                                   "fwrite", "fflush", "write"};
  if (std::none_of(k_hints.begin(), k_hints.end(),
                   [&](const std::string& hint) { return line.find(hint) != std::string::npos; }))
    return false;
  return std::any_of(k_printing.begin(), k_printing.end(),
                     [&](const std::regex& call) { return std::regex_search(line, call); });
}

} // namespace

TEST_CASE("every include between folders is one that src/LAYERS allows") {
  const auto rules = read_rules();
  for (const auto& file : sources()) {
    const auto folder = folder_of(file);
    INFO(file.string());
    REQUIRE(rules.allowed.count(folder) == 1);
    for (const auto& [kind, header] : includes_of(file)) {
      INFO(header);
      for (const auto& [prefix, folders] : rules.externals)
        if (header.starts_with(prefix)) CHECK(folders.count(folder) == 1);
      const auto slash = header.find('/');
      if (kind == '<' || slash == std::string::npos) continue;
      const auto included = header.substr(0, slash);
      if (rules.allowed.count(included) == 0 || included == folder) continue;
      CHECK(rules.allowed.at(folder).count(included) == 1);
    }
  }
}

TEST_CASE("src/LAYERS names only folders that are there, and edges and libraries that are used") {
  const auto rules = read_rules();
  std::set<std::string> folders;
  std::map<std::string, std::set<std::string>> users, edges;
  for (const auto& file : sources()) {
    folders.insert(folder_of(file));
    for (const auto& [kind, header] : includes_of(file)) {
      if (kind == '"') edges[folder_of(file)].insert(header.substr(0, header.find('/')));
      for (const auto& [prefix, allowed] : rules.externals)
        if (header.starts_with(prefix)) users[prefix].insert(folder_of(file));
    }
  }
  for (const auto& [folder, may_include] : rules.allowed) {
    INFO(folder);
    CHECK(folders.count(folder) == 1);
    for (const auto& included : may_include) {
      INFO(included);
      CHECK(folders.count(included) == 1);
      CHECK(edges[folder].count(included) == 1);
    }
  }
  for (const auto& [prefix, allowed] : rules.externals) {
    INFO(prefix);
    CHECK(users[prefix] == allowed);
  }
}

TEST_CASE("only what src/LAYERS names prints") {
  const auto rules = read_rules();
  std::set<std::string> used;
  for (const auto& file : sources()) {
    const auto name = fs::relative(file, fs::path(HPCML_SOURCE_DIR) / "src").string();
    const auto rule = rules.printers.count(name) == 1 ? name : folder_of(file);
    std::istringstream lines(util::read_file(file).value());
    for (std::string line; std::getline(lines, line);) {
      if (!prints(line.substr(0, line.find("//")))) continue;
      INFO(name << ": " << line);
      CHECK(rules.printers.count(rule) == 1);
      used.insert(rule);
    }
  }
  for (const auto& [name, why] : rules.printers) {
    INFO(name);
    CHECK(used.count(name) == 1);
    CHECK_FALSE(why.empty());
  }
}

TEST_CASE("printing is recognised in all its forms") {
  for (const auto* line :
       {"std::cout << x;", "std::cerr<<x", "printf(\"x\");", "std::printf (\"x\")",
        "std::fprintf(stderr, \"x\")", "std::puts(x)", "std::fputs(x.c_str(), stdout);",
        "fmt::print(\"{}\", x)", "fmt::print(stderr, x)", "::write(2, a, b)", "::write(STDERR_FILENO, a, b)",
        "dprintf(1, x)", "std::fwrite(a, 1, n, stdout)", "perror(x)"}) {
    INFO(line);
    CHECK(prints(line));
  }
  for (const auto* line : {"std::snprintf(a, b)", "fmt::format(\"{}\")", "::write(fd, a, b)",
                           "std::fputs(x, file)", "std::fprintf(file, x)", "inputs(x)", "outputs(1)"}) {
    INFO(line);
    CHECK_FALSE(prints(line));
  }
}

TEST_CASE("the layers have no cycle") {
  const auto rules = read_rules();
  std::map<std::string, int> state; // 1: being visited, 2: done
  std::function<void(const std::string&)> visit = [&](const std::string& folder) {
    INFO(folder);
    REQUIRE(rules.allowed.count(folder) == 1);
    REQUIRE(state[folder] != 1);
    if (state[folder] == 2) return;
    state[folder] = 1;
    for (const auto& next : rules.allowed.at(folder)) visit(next);
    state[folder] = 2;
  };
  for (const auto& [folder, ignored] : rules.allowed) visit(folder);
}

TEST_CASE("slow headers, the environment and the shell stay where they belong") {
  for (const auto& file : sources()) {
    const auto text = util::read_file(file).value();
    const auto folder = folder_of(file);
    INFO(file.string());
    if (file.extension() == ".hpp") {
      CHECK(text.find("nlohmann/json.hpp") == std::string::npos);
      CHECK(text.find("<CLI/") == std::string::npos);
    }
    if (folder != "torch" && folder != "ddp")
      for (const auto* name : {"getenv", "setenv", "putenv"}) CHECK_FALSE(calls(text, name));
    // See ddp/posix_files.hpp: of std::filesystem only paths are safe beside torch's libraries.
    if (folder == "torch" || folder == "ddp") {
      static const std::regex k_functions(R"((filesystem|fs)::(?!path\b|__))");
      CHECK_FALSE(std::regex_search(text, k_functions));
    }
    for (const auto* name : {"system", "popen"}) CHECK_FALSE(calls(text, name));
    CHECK(text.find("SPDX-License-Identifier: MIT") != std::string::npos);
  }
}

TEST_CASE("no C++ source knows a site by name") {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(HPCML_SOURCE_DIR) / "sites")) {
    const auto name = entry.path().stem().string();
    if (entry.path().extension() == ".json" && name != "schema" && name != "local" && name != "generic")
      names.insert(name);
  }
  // Examples in help texts may name a site; comparing with one may not.
  const std::regex comparison(R"re((==|!=|compare\(|case)\s*"([^"]*)")re");
  for (const auto& file : sources()) {
    std::istringstream lines(util::read_file(file).value());
    for (std::string line; std::getline(lines, line);) {
      if (line.find('"') == std::string::npos) continue;
      const auto code = line.substr(0, line.find("//"));
      for (std::sregex_iterator it(code.begin(), code.end(), comparison), end; it != end; ++it) {
        INFO(file.string() << ": " << line);
        CHECK(names.count(it->str(2)) == 0);
      }
    }
  }
}
