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

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "sources.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

/// The declarations of src/LAYERS and of the LAYERS in it.
struct Rules {
  std::map<std::string, std::set<std::string>> products; ///< product -> products or directories of products
  std::map<std::string, std::set<std::string>> directories; ///< "core/topo" -> the same, as full paths
  std::map<std::string, std::set<std::string>> externals; ///< '<' or '"' and the name's prefix -> directories
  std::map<std::string, std::string> printers;            ///< file or directory -> why it may print
};

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> list;
  for (std::string word; stream >> word;) list.insert(word);
  return list;
}

void read_product_layers(const std::string& product, Rules& rules) {
  const auto text = util::read_file(source_root() / product / "LAYERS");
  if (!text) return;
  std::set<std::string> names;
  std::istringstream lines(*text);
  std::vector<std::pair<std::string, std::set<std::string>>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto colon = line.find(':');
    REQUIRE(colon != std::string::npos);
    rows.emplace_back(line.substr(0, colon), words(line.substr(colon + 1)));
    names.insert(rows.back().first);
  }
  for (const auto& [name, right] : rows)
    for (auto& paths = rules.directories[product + "/" + name]; const auto& word : right)
      paths.insert(names.count(word) == 1 ? product + "/" + word : word);
}

Rules read_rules() {
  Rules rules;
  std::istringstream lines(util::read_file(source_root() / "LAYERS").value());
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
      rules.products[line.substr(0, colon)] = right;
  }
  for (const auto& [product, ignored] : rules.products) read_product_layers(product, rules);
  return rules;
}

bool names_target(const std::set<std::string>& declared, const std::string& directory) {
  return declared.count(directory) == 1 || declared.count(product_of(directory)) == 1;
}

/// Whether the declarations allow a file of `from` to include one of `to`.
bool is_allowed(const Rules& rules, const std::string& from, const std::string& to) {
  if (from == to) return true;
  const auto inner = rules.directories.find(from);
  if (inner != rules.directories.end() && !names_target(inner->second, to)) return false;
  return product_of(from) == product_of(to) || names_target(rules.products.at(product_of(from)), to);
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

TEST_CASE("includes between directories are declared in LAYERS") {
  const auto rules = read_rules();
  for (const auto& file : sources()) {
    const auto path = relative_path(file);
    const auto directory = directory_of(path);
    INFO(path);
    REQUIRE(rules.products.count(product_of(path)) == 1);
    REQUIRE((directory == product_of(path) || rules.directories.count(directory) == 1));
    for (const auto& [kind, header] : includes_of(file)) {
      INFO(header);
      for (const auto& [prefix, directories] : rules.externals)
        if ((kind + header).starts_with(prefix)) CHECK(directories.count(directory) == 1);
      if (kind == '<' || rules.products.count(product_of(header)) == 0) continue;
      CHECK(is_allowed(rules, directory, directory_of(header)));
    }
  }
}

TEST_CASE("undeclared edges are not allowed") {
  Rules rules;
  rules.products = {
      {"core", {}}, {"check", {"core"}}, {"run", {"core", "generate/plan"}}, {"generate", {"core"}}};
  rules.directories = {{"core/util", {}},
                       {"core/topo", {"core/util"}},
                       {"run/store", {"core"}},
                       {"run/launch", {"core", "generate/plan", "run/store"}},
                       {"generate/plan", {"core"}}};
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"core/util", "core/util"},
                                                        {"core/topo", "core/util"},
                                                        {"check", "core/topo"},
                                                        {"run/launch", "run/store"},
                                                        {"run/launch", "generate/plan"}}) {
    INFO(from << " -> " << to);
    CHECK(is_allowed(rules, from, to));
  }
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"core/util", "core/topo"},
                                                        {"core/topo", "check"},
                                                        {"check", "run/store"},
                                                        {"run/store", "generate/plan"},
                                                        {"run/store", "run/launch"},
                                                        {"run/launch", "generate/render"}}) {
    INFO(from << " -> " << to);
    CHECK_FALSE(is_allowed(rules, from, to));
  }
}

TEST_CASE("LAYERS names only directories, edges and libraries in use") {
  const auto rules = read_rules();
  std::set<std::string> found; // products and directories
  std::map<std::string, std::set<std::string>> users, edges;
  for (const auto& file : sources()) {
    const auto path = relative_path(file);
    const auto directory = directory_of(path), product = product_of(path);
    found.insert({product, directory});
    for (const auto& [kind, header] : includes_of(file)) {
      for (const auto& [prefix, allowed] : rules.externals)
        if ((kind + header).starts_with(prefix)) users[prefix].insert(directory);
      if (kind == '<' || rules.products.count(product_of(header)) == 0) continue;
      for (const auto& from : {product, directory})
        edges[from].insert({product_of(header), directory_of(header)});
    }
  }
  for (const auto* rows : {&rules.products, &rules.directories})
    for (const auto& [name, may_include] : *rows) {
      INFO(name);
      CHECK(found.count(name) == 1);
      for (const auto& included : may_include) {
        INFO(included);
        CHECK(found.count(included) == 1);
        CHECK(edges[name].count(included) == 1);
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
    const auto name = relative_path(file);
    const auto rule = rules.printers.count(name) == 1 ? name : product_of(name);
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
  std::function<void(const std::string&)> visit = [&](const std::string& name) {
    INFO(name);
    REQUIRE(state[name] != 1);
    if (state[name] == 2) return;
    state[name] = 1;
    // A directory is what its own line says; a product is all of its directories.
    std::set<std::string> next;
    if (const auto inner = rules.directories.find(name); inner != rules.directories.end()) {
      next = inner->second;
    } else {
      next = rules.products.at(name);
      for (const auto& [directory, ignored] : rules.directories)
        if (product_of(directory) == name) next.insert(directory);
    }
    for (const auto& target : next) visit(target);
    state[name] = 2;
  };
  for (const auto& [name, ignored] : rules.products) visit(name);
  for (const auto& [name, ignored] : rules.directories) visit(name);
}

TEST_CASE("slow headers, the environment and the shell stay where they belong") {
  for (const auto& file : sources()) {
    const auto text = util::read_file(file).value();
    const auto directory = directory_of(relative_path(file));
    const bool sees_torch = directory == "torch/helper" || directory == "ddp";
    INFO(file.string());
    if (file.extension() == ".hpp") {
      CHECK(text.find("nlohmann/json.hpp") == std::string::npos);
      CHECK(text.find("<CLI/") == std::string::npos);
    }
    if (!sees_torch)
      for (const auto* name : {"getenv", "setenv", "putenv"}) CHECK_FALSE(calls(text, name));
    // See ddp/posix_files.hpp: of std::filesystem only paths are safe beside torch's libraries.
    if (sees_torch) {
      static const std::regex k_functions(R"((filesystem|fs)::(?!path\b|__))");
      CHECK_FALSE(std::regex_search(text, k_functions));
    }
    for (const auto* name : {"system", "popen"}) CHECK_FALSE(calls(text, name));
    CHECK(text.find("SPDX-License-Identifier: MIT") != std::string::npos);
  }
}

TEST_CASE("run/resolve decides from values and reads nothing from the system") {
  static const std::regex k_system(
      R"(unistd\.h|(sys|net|netinet|arpa)/.*|netdb\.h|ifaddrs\.h|fcntl\.h|dirent\.h|poll\.h|csignal|signal\.h|)"
      R"(sched\.h|filesystem|fstream|iostream|thread|mutex|cstdlib|ctime|cstdio|(core/util|run/store)/.*)");
  // Their functions work on values; what channel_key.hpp reads is behind NodeQueries.
  const std::set<std::string> values = {"core/util/dollar_template.hpp", "core/util/env_snapshot.hpp",
                                        "core/util/host_names.hpp",      "core/util/result.hpp",
                                        "core/util/shell_quote.hpp",     "core/util/text.hpp",
                                        "run/store/channel_key.hpp",     "run/store/hpcml_protocol.hpp"};
  const std::vector<std::string> reading = {"read_live_node",
                                            "read_live_cpus",
                                            "read_live_gpus",
                                            "read_live_nics",
                                            "read_allowed_cpus",
                                            "read_host_name",
                                            "read_host_names",
                                            "of_process",
                                            "ask_step_nodes",
                                            "find_channel_key",
                                            "load_user_key",
                                            "find_torch",
                                            "live_files",
                                            "make_random",
                                            "find_program",
                                            "read_memory_policy",
                                            "now"};
  std::size_t count = 0;
  for (const auto& file : sources("src/run/resolve")) {
    INFO(file.string());
    ++count;
    for (const auto& [kind, header] : includes_of(file)) {
      INFO(header);
      CHECK((!std::regex_match(header, k_system) || values.count(header) == 1));
    }
    const auto text = util::read_file(file).value();
    for (const auto& name : reading) {
      INFO(name);
      CHECK_FALSE(calls(text, name));
    }
  }
  CHECK(count > 20);
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
