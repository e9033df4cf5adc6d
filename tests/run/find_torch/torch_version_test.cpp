// SPDX-License-Identifier: MIT
// Which torch a command imports: beside this machine's Python, and in trees of other machines.
#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/resolve/store_selection.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using find_torch::TorchLookupResult;
using launch::StoreProvider;
using util::EnvSnapshot;
using Kind = find_torch::TorchLookupResult::Kind;
using Words = std::vector<std::string>;

namespace {

/// Files as another machine has them: contents by path; a link's begins with "->".
class ListedFiles : public find_torch::FileSystemView {
public:
  explicit ListedFiles(std::map<std::string, std::string> files) : x_files(std::move(files)) {}
  bool exists(const std::string& path) const override { return ++calls, x_files.count(path) > 0; }
  bool runs(const std::string& path) const override { return exists(path); }
  std::optional<std::string> read(const std::string& path, std::size_t most, std::size_t at) const override {
    ++calls;
    auto found = x_files.find(path);
    for (; found != x_files.end() && found->second.starts_with("->");)
      found = x_files.find(found->second.substr(2));
    return found == x_files.end()
               ? std::nullopt
               : std::optional(at > found->second.size() ? std::string() : found->second.substr(at, most));
  }
  std::optional<std::string> link(const std::string& path) const override {
    ++calls;
    const auto found = x_files.find(path);
    const bool is = found != x_files.end() && found->second.starts_with("->");
    return is ? std::optional(found->second.substr(2)) : std::nullopt;
  }
  std::vector<std::string> names(const std::string& directory) const override {
    ++calls;
    std::set<std::string> found;
    for (const auto& [path, text] : x_files)
      if (path.starts_with(directory + "/")) {
        const auto rest = path.substr(directory.size() + 1);
        found.insert(rest.substr(0, rest.find('/')));
      }
    return {found.begin(), found.end()};
  }
  mutable unsigned calls = 0;

private:
  std::map<std::string, std::string> x_files;
};

const std::string k_elf = "\x7f"
                          "ELF";
std::string version_py(const std::string& version) {
  return "debug = False\n__version__ = '" + version + "'\n";
}

void add_torch(std::map<std::string, std::string>& files, const std::string& directory,
               const std::string& version) {
  files[directory + "/torch/__init__.py"] = "";
  files[directory + "/torch/version.py"] = version_py(version);
}

void write(const std::filesystem::path& path, const std::string& text, bool runs = false) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  if (runs) std::filesystem::permissions(path, std::filesystem::perms(0755));
}

void put_torch(const std::filesystem::path& directory, const std::string& version) {
  write(directory / "torch/__init__.py", "from .version import __version__\n");
  write(directory / "torch/version.py", version_py(version));
}

std::string text_of(const TorchLookupResult& found) {
  return found.kind == Kind::found ? found.text : found.kind == Kind::none ? "none" : "unknown: " + found.why;
}

constexpr const char* k_print_version = R"(import importlib.util, re
spec = importlib.util.find_spec("torch")
print(re.search("__version__ = '(.*)'", open(spec.origin.replace("__init__", "version")).read())[1] if spec else "none")
)";

/// What the command's own Python imports: its script is one that tells.
std::string read_with_python(const Words& command, const EnvSnapshot& env, const std::string& cwd) {
  Words words = {"env", "-C", cwd};
  words.insert(words.end(), command.begin(), command.end());
  const auto output = util::run_process(words, env);
  REQUIRE(output);
  INFO(output->err);
  CHECK(output->exit_code == 0);
  return std::string(util::trim(output->out));
}

} // namespace

TEST_CASE("the torch that is found is the one that Python imports, wherever it lies") {
  const test::TempDirectory directory;
  const std::string at = directory.path();
  const std::string path = "/usr/bin:/bin";
  const auto make = [&](const std::string& python, const std::string& name, bool system) {
    Words words = {python, "-m", "venv", "--without-pip", at + "/" + name};
    if (system) words.emplace_back("--system-site-packages");
    const auto made =
        util::run_process(words, EnvSnapshot(std::map<std::string, std::string>{{"PATH", path}}));
    REQUIRE(made);
    REQUIRE(made->exit_code == 0);
  };
  make("/usr/bin/python3", "own", false);
  make("/usr/bin/python3", "empty", false);
  make("/usr/bin/python3", "system", true);
  make("/usr/bin/python3", "noted", false);
  make(at + "/system/bin/python", "nested", true);
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(at + "/own/lib"))
    name = entry.path().filename();
  const auto packages = [&](const std::string& prefix) {
    return at + "/" + prefix + "/lib/" + name + "/site-packages";
  };
  put_torch(packages("own"), "2.9.1+cu128");
  put_torch(packages("user"), "2.4.0");
  put_torch(at + "/module", "2.8.0a0+git1");
  put_torch(at + "/beside", "2.1.2");
  write(packages("noted") + "/others.pth", "# a comment\nimport sys\n" + at + "/module\n");
  const std::string reader = k_print_version;
  for (const auto* script : {"/tell.py", "/beside/tell.py"}) write(at + script, reader);
  std::filesystem::create_symlink(at + "/beside/tell.py", at + "/linked.py");
  std::filesystem::create_symlink(at + "/own/bin/python", at + "/mypython3");
  write(at + "/own/bin/tool", "#!" + at + "/own/bin/python\n" + reader, true);
  write(at + "/own/bin/long",
        "#!/bin/sh\n'''exec' \"" + at + "/own/bin/python\" \"$0\" \"$@\"\n' '''\n" + reader, true);
  write(at + "/own/bin/env-tool", "#!/usr/bin/env python3\n" + reader, true);
  struct Row {
    Words command;
    std::map<std::string, std::string> env;
    std::string cwd = {};
  };
  const std::string own = at + "/own/bin/python", script = at + "/tell.py";
  const std::string user = at + "/user", system = at + "/system/bin/python3";
  const Row rows[] = {
      {{own, script}, {}},
      {{own, "-u", "-W", "ignore", "-Xutf8", script, "-I"}, {}},
      {{own, "-m", "tell"}, {}, at},
      {{own, "-m", "tell"}, {}, at + "/beside"},
      {{own, "-c", reader}, {}, at + "/beside"},
      {{own, at + "/beside/tell.py"}, {}},
      {{own, at + "/linked.py"}, {}},
      {{own, "linked.py"}, {}, at},
      {{own, "-P", at + "/beside/tell.py"}, {}},
      {{own, "-I", at + "/beside/tell.py"}, {{"PYTHONPATH", at + "/module"}}},
      {{own, at + "/beside/tell.py"}, {{"PYTHONSAFEPATH", "1"}}},
      {{own, script}, {{"PYTHONPATH", at + "/nothing:" + at + "/module"}}},
      {{own, script}, {{"PYTHONPATH", "module"}}, at},
      {{own, "-E", script}, {{"PYTHONPATH", at + "/module"}}},
      {{own, script}, {{"PYTHONUSERBASE", user}}},
      {{at + "/empty/bin/python", script}, {{"PYTHONUSERBASE", user}}},
      {{at + "/noted/bin/python", script}, {}},
      {{at + "/mypython3", script}, {{"PYTHONUSERBASE", user}}},
      {{system, script}, {{"PYTHONUSERBASE", user}}},
      {{system, "-s", script}, {{"PYTHONUSERBASE", user}}},
      {{system, script}, {{"PYTHONUSERBASE", user}, {"PYTHONNOUSERSITE", "1"}}},
      {{at + "/nested/bin/python", script}, {{"PYTHONUSERBASE", user}}},
      {{at + "/nested/bin/python", script}, {{"HOME", at}}},
      {{"python3", script}, {{"HOME", at}}},
      {{"/usr/bin/python3", script}, {{"PYTHONUSERBASE", user}}},
      {{"/bin/python3", "-S", script}, {{"PYTHONUSERBASE", user}}},
      {{"python3", script}, {{"PATH", at + "/own/bin:" + path}}},
      {{"python3", script}, {{"VIRTUAL_ENV", at + "/own"}, {"HOME", at}}},
      {{"env", "PYTHONPATH=" + at + "/module", own, script}, {}},
      {{"nice", "-n", "1", own, script}, {}},
      {{"timeout", "60", "env", "PATH=" + at + "/own/bin:" + path, "python", script}, {}},
      {{at + "/own/bin/tool"}, {}},
      {{"tool"}, {{"PATH", at + "/own/bin:" + path}}},
      {{at + "/own/bin/long", "-I"}, {{"PYTHONPATH", at + "/module"}}},
      {{at + "/own/bin/env-tool"}, {{"PATH", at + "/own/bin:" + path}}},
      {{"./own/bin/python", "tell.py"}, {}, at},
  };
  for (const auto& row : rows) {
    auto variables = row.env;
    variables.emplace("PATH", path);
    variables.emplace("HOME", at + "/nobody");
    const EnvSnapshot env(variables);
    const auto cwd = row.cwd.empty() ? at + "/own" : row.cwd;
    INFO(util::join(row.command, " ") << " with " << util::join(env.to_envp(), " ") << " in " << cwd);
    CHECK(text_of(find_torch::find_torch(row.command, env, cwd)) == read_with_python(row.command, env, cwd));
  }
}

namespace {

struct TorchRow {
  const char* what;
  std::map<std::string, std::string> files;
  Words command;
  std::map<std::string, std::string> env;
  std::string expected;
};

/// Commands of programs that choose an environment first. Each environment has a version of its own.
void add_runners(std::vector<TorchRow>& rows) {
  std::map<std::string, std::string> files = {
      {"/w/pyproject.toml", ""},
      {"/w/pixi.toml", ""},
      {"/other/pyproject.toml", ""},
      {"/home/.pyenv/version", "3.12\n"},
      {"/home/.pyenv/shims/python", "#!/usr/bin/env bash\npyenv exec"}};
  const auto add_environment = [&](const std::string& prefix, const std::string& version) {
    files[prefix + "/bin/python"] = "->" + prefix + "/bin/python3.12";
    files[prefix + "/bin/python3.12"] = k_elf;
    files[prefix + "/bin/torchrun"] = "#!" + prefix + "/bin/python\n";
    add_torch(files, prefix + "/lib/python3.12/site-packages", version);
  };
  add_environment("/w/.venv", "2.1.0");
  add_environment("/w/.pixi/envs/default", "2.2.0");
  add_environment("/w/.pixi/envs/gpu", "2.3.0");
  add_environment("/conda/envs/train", "2.4.0");
  add_environment("/home/.conda/envs/own", "2.5.0");
  add_environment("/other/.venv", "2.6.0");
  add_environment("/home/.pyenv/versions/3.12.9", "2.7.0");
  add_environment("/home/.pyenv/versions/3.12.11", "2.8.0");
  add_environment("/usr", "1.13.0");
  const std::map<std::string, std::string> usual = {
      {"HOME", "/home"}, {"PATH", "/usr/bin"}, {"CONDA_EXE", "/conda/bin/conda"}};
  const auto add = [&](const char* what, const Words& command, const std::string& expected,
                       const std::map<std::string, std::string>& more = {}) {
    auto env = more;
    env.insert(usual.begin(), usual.end());
    rows.push_back({what, files, command, std::move(env), expected});
  };
  add("uv", {"uv", "run", "python", "x.py"}, "2.1.0");
  add("uv with a script", {"uv", "run", "x.py"}, "2.1.0");
  add("uv with torchrun", {"uv", "run", "torchrun", "--nproc-per-node", "4", "x.py"}, "2.1.0");
  add("uv in another directory", {"uv", "run", "--project", "/other", "python", "x.py"}, "2.6.0");
  add("uv with an environment of its variable", {"uv", "run", "python", "x.py"}, "2.6.0",
      {{"UV_PROJECT_ENVIRONMENT", "/other/.venv"}});
  add("uv with another package", {"uv", "run", "--with", "torch==2.9", "python", "x.py"},
      "unknown: hpcml cannot determine the Python environment of 'uv': its options change it");
  add("uv before its first run", {"uv", "run", "python", "x.py"},
      "unknown: 'uv' has no Python environment in '/none'", {{"UV_PROJECT_ENVIRONMENT", "/none"}});
  add("pixi", {"pixi", "run", "python", "x.py"}, "2.2.0");
  add("pixi with a named environment", {"pixi", "run", "-e", "gpu", "python", "x.py"}, "2.3.0");
  add("conda by a name", {"conda", "run", "-n", "train", "python", "x.py"}, "2.4.0");
  add("conda by a user's name", {"conda", "run", "--name", "own", "python", "x.py"}, "2.5.0");
  add("conda by a path", {"conda", "run", "-p", "/conda/envs/train", "python", "x.py"}, "2.4.0");
  add("a shell's text", {"bash", "-c", "exec python -u 'x y.py' --lr \"$LR\""}, "1.13.0");
  add("a shell's text with substitutions", {"bash", "-c", "torchrun --node_rank $( (id) | wc -l) x.py `pwd`"},
      "1.13.0");
  add("a shell's text of two lines", {"bash", "-c", "torchrun \\\n  x.py # the first test"}, "1.13.0");
  add("a shell's text that sets variables", {"sh", "-xc", "PATH=/other/.venv/bin A=1 python x.py"}, "2.6.0");
  add("a runner in a shell's text", {"bash", "-c", "conda run -n train torchrun x.py"}, "2.4.0");
  add("poetry", {"poetry", "run", "python", "x.py"}, "2.1.0");
  add("a shim of pyenv", {"python", "x.py"}, "2.8.0", {{"PATH", "/home/.pyenv/shims:/usr/bin"}});
  add("a shim with a version", {"python", "x.py"}, "2.7.0",
      {{"PATH", "/home/.pyenv/shims:/usr/bin"}, {"PYENV_VERSION", "3.12.9"}});
  add("a shim of the system's Python", {"python", "x.py"},
      "unknown: hpcml cannot determine which Python the pyenv shim '/home/.pyenv/shims/python' runs",
      {{"PATH", "/home/.pyenv/shims:/usr/bin"}, {"PYENV_VERSION", "system"}});
}

} // namespace

TEST_CASE("torch is found where other machines have it") {
  const std::string python = "/opt/py/bin/python3";
  const std::map<std::string, std::string> installed = {{python, "->python3.12"},
                                                        {"/opt/py/bin/python3.12", k_elf}};
  std::vector<TorchRow> rows;
  const auto add = [&](const char* what, const std::string& torch, const Words& command,
                       std::map<std::string, std::string> env, const std::string& expected,
                       const std::map<std::string, std::string>& more = {}) {
    auto files = installed;
    files.insert(more.begin(), more.end());
    if (!torch.empty()) add_torch(files, torch, "2.5.1");
    rows.push_back({what, files, command, std::move(env), expected});
  };
  const Words run = {python, "train.py"};
  add("a module's own Python", "/opt/py/lib/python3.12/site-packages", run, {}, "2.5.1");
  add("lib64", "/opt/py/lib64/python3.12/site-packages", run, {}, "2.5.1");
  add("another Python's folder", "/opt/py/lib/python3.11/site-packages", run, {}, "none");
  add("EasyBuild's prefixes", "/eb/torch/lib/python3.12/site-packages", run,
      {{"EBPYTHONPREFIXES", "/eb/numpy:/eb/torch"}}, "2.5.1");
  add("Debian's folder for a Python of another prefix", "/usr/lib/python3/dist-packages", run, {}, "none");
  add("uv's version_info", "/w/.venv/lib/python3.13/site-packages", {"/w/.venv/bin/python", "x.py"}, {},
      "2.5.1",
      {{"/w/.venv/bin/python", "->" + python},
       {"/w/.venv/pyvenv.cfg", "home = /opt/py/bin\nversion_info = 3.13.1\n"}});
  add("a package that is being developed", "", run, {}, "2.9.0a0+git12ab",
      {{"/opt/py/lib/python3.12/site-packages/torch-2.9.0a0+git12ab.dist-info/METADATA", ""},
       {"/opt/py/lib/python3.12/site-packages/__editable___torch_finder.py", ""}});
  add("an egg link", "", run, {},
      "unknown: /opt/py/lib/python3.12/site-packages/torch.egg-link points to a development version of "
      "torch",
      {{"/opt/py/lib/python3.12/site-packages/torch.egg-link", "/src/pytorch\n."}});
  add("a Python without a version", "", {"/x/bin/python", "x.py"}, {},
      "unknown: the Python version of /x/bin/python is unknown", {{"/x/bin/python", k_elf}});
  add("a package without a version", "", run, {}, "unknown: /w/torch contains no torch version",
      {{"/w/torch/__init__.py", ""}});
  add("a folder of that name", "/opt/py/lib/python3.12/site-packages", run, {}, "2.5.1",
      {{"/w/torch/weights.pt", ""}});
  add("a Python that is a shell script", "", {"/tykky/bin/python", "x.py"}, {},
      "unknown: /tykky/bin/python is a bash script, and the program that it starts is unknown",
      {{"/tykky/bin/python", "#!/bin/bash\nexec apptainer …"}});
  add("a container", "", {"apptainer", "exec", "i.sif", "python", "x.py"}, {},
      "unknown: hpcml cannot determine which program 'apptainer' runs");
  add("an environment that conda does not have", "", {"conda", "run", "-n", "e", "python", "x.py"}, {},
      "unknown: hpcml cannot determine the Python environment of 'conda': 'e' was not found");
  for (const auto* text : {"module load torch; python x.py", "python x.py && true", "$PYTHON x.py",
                           "$(which python) x.py", "python x.py --a $(b", "python x.py > log"})
    add("a shell's text of several commands", "/opt/py/lib/python3.12/site-packages", {"bash", "-c", text},
        {{"PATH", "/opt/py/bin"}}, "unknown: hpcml cannot determine which program 'bash' runs");
  add("a login shell", "/opt/py/lib/python3.12/site-packages", {"bash", "-lc", "python3 x.py"},
      {{"PATH", "/opt/py/bin"}}, "unknown: hpcml cannot determine which program 'bash' runs");
  add("nothing", "", {"nosuch"}, {{"PATH", "/bin"}}, "unknown: the program nosuch was not found");
  add("a profiler", "/opt/py/lib/python3.12/site-packages", {"nsys", "profile", "-o", "x", python, "x.py"},
      {}, "2.5.1");
  add_runners(rows);
  for (const auto& row : rows) {
    INFO(row.what);
    const ListedFiles files(row.files);
    CHECK(text_of(find_torch::find_torch(row.command, EnvSnapshot(row.env), "/w", files)) == row.expected);
    CHECK(files.calls <= 40);
  }
  const ListedFiles usual(rows[0].files);
  find_torch::find_torch(run, EnvSnapshot(std::map<std::string, std::string>{{"PATH", "/opt/py/bin:/bin"}}),
                         "/w", usual);
  CHECK(usual.calls <= 15);
}

TEST_CASE("a version of torch is read from what its builders write") {
  const std::tuple<const char*, unsigned, unsigned, bool> rows[] = {
      {"2.13.0+cpu", 2, 13, false},
      {"1.13.0a0", 1, 13, true},
      {"2.7.0", 2, 7, false},
      {"2.7.0a0+79aa17489c.nv25.04", 2, 7, true},
      {"2.8.0.dev20250601", 2, 8, true},
      {"2.7.0rc3", 2, 7, true},
      {"2.6.0+rocm6.2.4.git1ded221d", 2, 6, false},
      {"2.5.1.post303", 2, 5, false},
      {"1.13", 1, 13, false}};
  for (const auto& [text, major, minor, pre] : rows) {
    INFO(text);
    const auto found = find_torch::parse_torch_version(text);
    REQUIRE(found);
    CHECK(found->major == major);
    CHECK(found->minor == minor);
    CHECK(found->pre_release == pre);
  }
  for (const auto* text : {"", "Unknown", "2", "2.", ".7", "two.seven", "-2.7", "99999999999999999999.1"})
    CHECK_FALSE(find_torch::parse_torch_version(text));
}

TEST_CASE("who serves the store and what torch is told follow from its version") {
  const auto torch = [](const std::string& text) {
    TorchLookupResult found;
    found.text = text;
    found.kind = text == "none" ? Kind::none : text == "?" ? Kind::unknown : Kind::found;
    found.why = "why";
    if (found.kind == Kind::found) found.version = *find_torch::parse_torch_version(text);
    return found;
  };
  struct Row {
    StoreProvider choice;
    const char* torch;
    const char* agent_store; ///< empty: rank 0's program serves
    bool is_reported;
  };
  using enum StoreProvider;
  const Row rows[] = {{automatic, "2.13.0+cpu", "1", false},
                      {automatic, "2.7.0", "1", false},
                      {automatic, "2.8.0a0+git", "1", false},
                      {automatic, "2.7.0a0+nv25.02", "", false},
                      {automatic, "2.6.0", "", false},
                      {automatic, "1.13.0a0", "", false},
                      {automatic, "none", "", false},
                      {automatic, "?", "", false},
                      {own, "2.13.0", "1", false},
                      {own, "2.6.0", "True", true},
                      {own, "1.13.0", "True", true},
                      {own, "1.8.1", "", true},
                      {own, "?", "1", true},
                      {own, "none", "1", true},
                      {env, "2.13.0", "", false},
                      {env, "?", "", false}};
  for (const auto& row : rows) {
    INFO(row.torch);
    const auto words = launch::choose_store(row.choice, torch(row.torch));
    CHECK(words.own == !std::string(row.agent_store).empty());
    const std::string variable = row.agent_store;
    CHECK(words.agent_store == (variable.empty()  ? store::AgentStoreUse::unset
                                : variable == "1" ? store::AgentStoreUse::allowed
                                                  : store::AgentStoreUse::always));
    CHECK(words.is_reported == row.is_reported);
    CHECK_FALSE(words.reason.empty());
  }
}

namespace {

/// A program of 64 bits as the linker lays it out, with nothing in it but what it needs.
std::string program_that_needs(const Words& libraries, const std::string& runpath) {
  std::string names(1, '\0');
  std::vector<Elf64_Dyn> entries;
  const auto add = [&](Elf64_Sxword tag, const std::string& name) {
    entries.push_back({tag, {names.size()}});
    names += name + '\0';
  };
  for (const auto& library : libraries) add(DT_NEEDED, library);
  if (!runpath.empty()) add(DT_RUNPATH, runpath);
  const auto start = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  const auto length = (entries.size() + 2) * sizeof(Elf64_Dyn);
  entries.push_back({DT_STRTAB, {0x1000 + start + length}});
  entries.push_back({DT_NULL, {0}});
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  head.e_phoff = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 2;
  Elf64_Phdr load{}, dynamic{};
  load.p_type = PT_LOAD;
  load.p_vaddr = 0x1000;
  load.p_filesz = start + length + names.size();
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = start;
  dynamic.p_filesz = length;
  std::string bytes;
  const auto put = [&](const void* from, std::size_t count) {
    bytes.append(static_cast<const char*>(from), count);
  };
  put(&head, sizeof head);
  put(&load, sizeof load);
  put(&dynamic, sizeof dynamic);
  put(entries.data(), length);
  return bytes + names;
}

} // namespace

TEST_CASE("a compiled program's torch is the one whose libraries its loader takes") {
  const std::string origin = program_that_needs({"libc.so.6", "libtorch_cpu.so"}, "/none:$ORIGIN/../lib");
  const std::string bare = program_that_needs({"libtorch.so", "libc10.so"}, "");
  const std::string library = "/app/bin/../lib/libtorch_cpu.so", near = "/app/bin/../lib/../";
  struct Row {
    const char* what;
    std::string program;
    std::map<std::string, std::string> files, env;
    std::string expected;
  };
  const Row rows[] = {
      {"Debian's", program_that_needs({"libc10.so.1.13", "libstdc++.so.6"}, ""), {}, {}, "1.13"},
      {"pip's", origin, {{library, ""}, {near + "version.py", version_py("2.13.0+cpu")}}, {}, "2.13.0+cpu"},
      {"LibTorch's archive",
       origin,
       {{library, ""}, {near + "build-version", "2.7.1+cu128\n"}},
       {},
       "2.7.1+cu128"},
      {"conda's",
       bare,
       {{"/conda/lib/libc10.so", ""},
        {"/conda/lib/../share/cmake/Torch/TorchConfigVersion.cmake", "set(PACKAGE_VERSION \"2.6.0\")\n"}},
       {{"LD_LIBRARY_PATH", "/x::/conda/lib"}},
       "2.6.0"},
      {"a library without a word",
       origin,
       {{library, ""}},
       {},
       "unknown: no file next to /app/bin/../lib/libtorch_cpu.so contains the torch version"},
      {"a library that is elsewhere",
       origin,
       {},
       {},
       "unknown: the library libtorch_cpu.so of /app/bin/train was not found in its library directories"},
      {"another program", program_that_needs({"libc.so.6", "libmpi.so.40"}, "/opt/lib"), {}, {}, "none"},
      {"no program", "text", {}, {}, "unknown: the libraries of /app/bin/train cannot be read"},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    auto files = row.files;
    files["/app/bin/train"] = row.program;
    CHECK(text_of(find_torch::find_torch({"/app/bin/train"}, EnvSnapshot(row.env), "/w",
                                         ListedFiles(files))) == row.expected);
  }
  // Half of a program, or one with a wrong byte, has an answer, too.
  for (std::size_t cut = 0; cut < origin.size(); ++cut) {
    const auto half =
        text_of(find_torch::find_torch({"/p"}, {}, "/", ListedFiles({{"/p", origin.substr(0, cut)}})));
    CHECK(half != "2.13.0+cpu");
    auto wrong = origin;
    wrong[cut] = static_cast<char>(wrong[cut] ^ 0xff);
    CHECK_FALSE(text_of(find_torch::find_torch({"/p"}, {}, "/", ListedFiles({{"/p", wrong}}))).empty());
  }
}
