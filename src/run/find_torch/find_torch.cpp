// SPDX-License-Identifier: MIT
#include "run/find_torch/find_torch.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/launch_chain/started_program.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/shell/script.hpp"
#include "core/util/text.hpp"
#include "run/find_torch/import_path.hpp"
#include "run/find_torch/runner_environment.hpp"

namespace hpcml::find_torch {

namespace {

// The libraries that a compiled program asks its loader for.

/// What the dynamic section of a program says.
struct ElfNeeds {
  std::vector<std::string> libraries;   ///< DT_NEEDED: "libtorch_cpu.so"
  std::vector<std::string> directories; ///< DT_RUNPATH, else DT_RPATH, with $ORIGIN as it is written
};

constexpr std::size_t k_most_headers = 128, k_most_dynamic = 64 << 10, k_most_name = 4096;

/// The object at `offset` of `bytes`; nothing where it ends before.
template <class T> std::optional<T> object_at(const std::string& bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T object;
  std::memcpy(&object, bytes.data() + offset, sizeof object);
  return object;
}

std::vector<Elf64_Phdr> read_segments(const std::string& path, const FileSystemView& files) {
  const auto head = files.read(path, 4096);
  const auto elf = head ? object_at<Elf64_Ehdr>(*head, 0) : std::nullopt;
  if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
      elf->e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) ||
      elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phnum > k_most_headers)
    return {};
  const std::size_t length = elf->e_phnum * sizeof(Elf64_Phdr);
  const bool near = elf->e_phoff <= head->size() && head->size() - elf->e_phoff >= length;
  const auto table =
      near ? head->substr(elf->e_phoff, length) : files.read(path, length, elf->e_phoff).value_or("");
  std::vector<Elf64_Phdr> segments;
  for (std::size_t at = 0; at < length; at += sizeof(Elf64_Phdr)) {
    const auto segment = object_at<Elf64_Phdr>(table, at);
    if (!segment) return {};
    segments.push_back(*segment);
  }
  return segments;
}

std::optional<std::size_t> offset_of_address(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const auto& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

/// Reads a 64-bit program of this machine's byte order; nothing where it is none or is cut short. A program
/// that is linked statically needs nothing.
std::optional<ElfNeeds> read_elf_needs(const std::string& path, const FileSystemView& files) {
  const auto segments = read_segments(path, files);
  if (segments.empty()) return std::nullopt;
  ElfNeeds needs;
  const Elf64_Phdr* dynamic = nullptr;
  for (const auto& segment : segments)
    if (segment.p_type == PT_DYNAMIC) dynamic = &segment;
  if (!dynamic) return needs;
  if (dynamic->p_filesz > k_most_dynamic) return std::nullopt;
  const auto entries = files.read(path, dynamic->p_filesz, dynamic->p_offset).value_or("");
  std::vector<std::uint64_t> libraries, runpath, rpath;
  std::optional<std::size_t> texts;
  for (std::size_t at = 0;; at += sizeof(Elf64_Dyn)) {
    const auto entry = object_at<Elf64_Dyn>(entries, at);
    if (!entry) return std::nullopt;
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) libraries.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_RUNPATH) runpath.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_RPATH) rpath.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) texts = offset_of_address(segments, entry->d_un.d_ptr);
  }
  if (!texts) return libraries.empty() ? std::optional(needs) : std::nullopt;
  const auto text_at = [&](std::uint64_t at) {
    const auto bytes = files.read(path, k_most_name, *texts + at).value_or("");
    return bytes.substr(0, bytes.find('\0'));
  };
  for (const auto at : libraries) needs.libraries.push_back(text_at(at));
  for (const auto at : runpath.empty() ? rpath : runpath)
    for (const auto& directory : util::split(text_at(at), ':'))
      if (!directory.empty()) needs.directories.push_back(directory);
  return needs;
}

using Kind = TorchLookupResult::Kind;

constexpr std::size_t k_most_of_a_version_file = 16 << 10;

class LiveFiles : public FileSystemView {
public:
  bool exists(const std::string& path) const override { return ::access(path.c_str(), F_OK) == 0; }
  bool runs(const std::string& path) const override {
    struct stat found {};
    return ::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
  }
  std::optional<std::string> read(const std::string& path, std::size_t most,
                                  std::size_t offset) const override {
    // A pipe in a file's place would wait for ever.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return std::nullopt;
    std::string text(most, '\0');
    const auto count = ::pread(fd, text.data(), most, static_cast<off_t>(offset));
    ::close(fd);
    if (count < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(count));
    return text;
  }
  std::optional<std::string> link(const std::string& path) const override {
    std::string target(4096, '\0');
    const auto count = ::readlink(path.c_str(), target.data(), target.size());
    if (count <= 0) return std::nullopt;
    target.resize(static_cast<std::size_t>(count));
    return target;
  }
  std::vector<std::string> names(const std::string& directory) const override {
    std::vector<std::string> found;
    DIR* stream = ::opendir(directory.c_str());
    if (!stream) return found;
    while (const dirent* entry = ::readdir(stream)) found.emplace_back(entry->d_name);
    ::closedir(stream);
    std::sort(found.begin(), found.end());
    return found;
  }
};

TorchLookupResult not_found(Kind kind, std::string why) {
  TorchLookupResult found;
  found.kind = kind;
  found.why = std::move(why);
  return found;
}

TorchLookupResult found_at(const std::string& text, const std::string& place) {
  TorchLookupResult found;
  const auto version = parse_torch_version(text);
  if (!version) return not_found(Kind::unknown, fmt::format("{} contains no torch version", place));
  found.kind = Kind::found;
  found.version = *version;
  found.text = text;
  found.place = place;
  return found;
}

/// Returns the quoted text after `key` at the beginning of a line.
std::optional<std::string> quoted_behind(const std::string& text, std::string_view key) {
  for (const auto& line : util::split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto open = line.find_first_of("'\"", key.size());
    if (open == std::string::npos) continue;
    const auto close = line.find(line[open], open + 1);
    if (close != std::string::npos) return line.substr(open + 1, close - open - 1);
  }
  return std::nullopt;
}

/// Returns the torch that Python imports from `directory`, or nothing if Python searches the next one.
std::optional<TorchLookupResult> torch_in(const std::string& directory, const FileSystemView& files) {
  const auto package = directory + "/torch";
  const bool is_package = files.exists(package + "/__init__.py");
  if (is_package) {
    const auto text = files.read(package + "/version.py", k_most_of_a_version_file);
    if (const auto version = quoted_behind(text.value_or(""), "__version__"))
      return found_at(*version, package + "/version.py");
  }
  return is_package
             ? std::optional(not_found(Kind::unknown, fmt::format("{} contains no torch version", package)))
             : std::nullopt;
}

/// Returns a torch whose files are elsewhere, as pip records it: torch-2.8.0.dist-info without a package in
/// the same directory.
std::optional<TorchLookupResult> noted_torch(const std::string& directory,
                                             const std::vector<std::string>& names) {
  for (const auto& name : names)
    for (const std::string_view ending : {".dist-info", ".egg-info", ".egg-link"}) {
      if (!name.ends_with(ending) || !name.starts_with("torch")) continue;
      if (name == "torch.egg-link")
        return not_found(
            Kind::unknown,
            fmt::format("{}/torch.egg-link points to a development version of torch", directory));
      if (name.starts_with("torch-"))
        return found_at(name.substr(6, name.size() - 6 - ending.size()), directory + "/" + name);
    }
  return std::nullopt;
}

TorchLookupResult torch_of_python(const std::string& program, const std::vector<std::string>& words,
                                  const util::EnvSnapshot& env, const std::string& cwd,
                                  const FileSystemView& files) {
  std::optional<TorchLookupResult> found;
  const auto options = read_import_options(words, env, cwd, files);
  const auto see = [&](const std::string& directory, const std::vector<std::string>* names) {
    found = names ? noted_torch(directory, *names) : torch_in(directory, files);
    return found.has_value();
  };
  const auto why = visit_import_directories(program, options, env, cwd, files, see);
  if (found) return *found;
  if (!why.empty()) return not_found(Kind::unknown, why);
  return not_found(Kind::none, fmt::format("torch is not installed for {}", program));
}

} // namespace

std::optional<TorchLookupResult> torch_around(const std::string& directory, const FileSystemView& files) {
  const auto parent = directory + "/..";
  if (const auto text = files.read(parent + "/version.py", k_most_of_a_version_file))
    if (const auto version = quoted_behind(*text, "__version__"))
      return found_at(*version, parent + "/version.py");
  if (const auto text = files.read(parent + "/build-version", k_most_of_a_version_file))
    if (parse_torch_version(std::string(util::trim(*text))))
      return found_at(std::string(util::trim(*text)), parent + "/build-version");
  const auto config = parent + "/share/cmake/Torch/TorchConfigVersion.cmake";
  if (const auto text = files.read(config, k_most_of_a_version_file))
    if (const auto version = quoted_behind(*text, "set(PACKAGE_VERSION")) return found_at(*version, config);
  return std::nullopt;
}

namespace {

TorchLookupResult torch_of_program(const std::string& program, const util::EnvSnapshot& env,
                                   const FileSystemView& files) {
  const auto needs = read_elf_needs(program, files);
  if (!needs) return not_found(Kind::unknown, fmt::format("the libraries of {} cannot be read", program));
  std::string library;
  for (const auto& name : needs->libraries) {
    if (!name.starts_with("libtorch") && !name.starts_with("libc10")) continue;
    library = name;
    // "libtorch_cpu.so.1.13": the file name of Debian contains the version.
    const auto number = name.find(".so.");
    if (number != std::string::npos && parse_torch_version(name.substr(number + 4)))
      return found_at(name.substr(number + 4), program);
  }
  if (library.empty()) return not_found(Kind::none, fmt::format("{} is not linked with LibTorch", program));
  auto directories = needs->directories;
  for (const auto& directory : util::split(env.get_or("LD_LIBRARY_PATH", ""), ':'))
    if (!directory.empty()) directories.push_back(directory);
  for (const auto& [name, value] : env.variables())
    if (name == "CONDA_PREFIX" && !value.empty()) directories.push_back(value + "/lib");
  const auto slash = program.rfind('/');
  const auto origin = slash == std::string::npos ? std::string(".") : program.substr(0, slash);
  for (auto directory : directories) {
    directory = util::replace_all(util::replace_all(directory, "${ORIGIN}", origin), "$ORIGIN", origin);
    if (!files.exists(directory + "/" + library)) continue;
    if (auto found = torch_around(directory, files)) return *found;
    return not_found(Kind::unknown,
                     fmt::format("no file next to {}/{} contains the torch version", directory, library));
  }
  return not_found(Kind::unknown, fmt::format("the library {} of {} was not found in its library directories",
                                              library, program));
}

bool is_shell(const std::string& program) {
  static constexpr std::string_view c_shells[] = {"bash", "sh", "dash", "zsh", "ksh", "csh", "tcsh", "fish"};
  return std::find(std::begin(c_shells), std::end(c_shells), util::base_name(program)) != std::end(c_shells);
}

std::optional<std::string> find_runnable(const std::string& name, const util::EnvSnapshot& env,
                                         const std::string& cwd, const FileSystemView& files) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    auto path = absolute_path(name, cwd);
    return files.runs(path) ? std::optional(std::move(path)) : std::nullopt;
  }
  for (const auto& directory : util::split(env.get_or("PATH", "/usr/local/bin:/usr/bin:/bin"), ':')) {
    auto path = absolute_path(directory, cwd) + "/" + name;
    if (files.runs(path)) return path;
  }
  return std::nullopt;
}

/// The interpreter's words of "#!/usr/bin/env python3 -u", and those of the two lines that pip writes where
/// the path of Python is too long for one.
std::vector<std::string> interpreter_words(const std::string& head) {
  const auto lines = util::split(head, '\n');
  std::vector<std::string> words;
  for (const auto& word : util::split(std::string_view(lines[0]).substr(2), ' '))
    if (!util::trim(word).empty()) words.emplace_back(util::trim(word));
  constexpr std::string_view k_exec = "'''exec' ";
  if (lines.size() > 1 && lines[1].starts_with(k_exec)) {
    auto path = lines[1].substr(k_exec.size());
    path = path.substr(0, path.find(" \"$0\""));
    words = {util::replace_all(path, "\"", "")};
  }
  if (!words.empty() && util::base_name(words[0]) == "env") {
    words.erase(words.begin());
    if (!words.empty() && words[0] == "-S") words.erase(words.begin());
  }
  return words;
}

} // namespace

const FileSystemView& live_files() {
  static const LiveFiles files;
  return files;
}

std::optional<TorchVersion> parse_torch_version(const std::string& text) {
  TorchVersion version;
  const auto dot = text.find('.');
  if (dot == std::string::npos) return std::nullopt;
  auto end = dot + 1;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  const auto major = util::parse_unsigned(text.substr(0, dot));
  const auto minor = util::parse_unsigned(text.substr(dot + 1, end - dot - 1));
  if (!major || !minor || *major > 1000 || *minor > 1000) return std::nullopt;
  version.major = static_cast<unsigned>(*major);
  version.minor = static_cast<unsigned>(*minor);
  // "2.7.0a0+git", "2.7.0.dev2025", "2.7.0rc1" have letters before the "+" of a build.
  const auto release = text.substr(end, text.find('+', end) - end);
  version.pre_release = release.find_first_not_of(".0123456789") != std::string::npos &&
                        release.find("post") == std::string::npos;
  return version;
}

namespace {

/// The program of a command, with the variables that what is before it sets.
struct ProgramWords {
  std::vector<std::string> words;
  util::EnvSnapshot env;
};

/// Returns the text that a shell is given with -c; nothing for scripts, and for login shells, whose profile
/// may choose another Python.
std::optional<std::string> text_of_shell(const std::vector<std::string>& words) {
  if (words.empty() || !is_shell(words[0])) return std::nullopt;
  bool has_text = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with("-")) return has_text ? std::optional(words[i]) : std::nullopt;
    if (words[i].find_first_not_of("-cexu") != std::string::npos) return std::nullopt;
    has_text = has_text || words[i].find('c') != std::string::npos;
  }
  return std::nullopt;
}

/// A word without its quotes; variables and substitutions in it stay as written.
std::string text_of_word(const shell::Word& word) {
  std::string text;
  for (const auto& part : word.parts) text += part.text;
  return text;
}

/// The command of a shell's text, with the variables that it sets first; nothing if the text is not one
/// simple command without redirections, or if its program is in a variable.
std::optional<ProgramWords> read_shell_text(const std::string& text, const util::EnvSnapshot& env) {
  const auto script = shell::read_script(text);
  const auto& commands = script.program.children;
  if (commands.size() != 1 || commands[0].kind != shell::SyntaxNode::Kind::simple ||
      commands[0].link != shell::ListOperator::next || !commands[0].redirects.empty() ||
      !commands[0].declared.empty())
    return std::nullopt;
  ProgramWords program{{}, env};
  for (const auto& assignment : commands[0].assignments) {
    if (assignment.append || assignment.array || !assignment.subscript.empty()) return std::nullopt;
    program.env.set(assignment.name, text_of_word(assignment.value));
  }
  auto& words = program.words;
  for (const auto& word : commands[0].words) words.push_back(text_of_word(word));
  if (!words.empty() && words[0] == "exec") words.erase(words.begin());
  if (words.empty() || words[0].find_first_of("$`") != std::string::npos) return std::nullopt;
  return program;
}

/// Removes what starts the program: `env`, profilers, and runners such as uv and conda, whose environment is
/// then first in PATH. The error is a clause about why the program is unknown.
util::Result<ProgramWords> find_program_words(const std::vector<std::string>& outer_command,
                                              const util::EnvSnapshot& env, const std::string& cwd,
                                              const FileSystemView& files) {
  ProgramWords program{outer_command, env};
  if (const auto text = text_of_shell(outer_command))
    if (auto found = read_shell_text(*text, env)) program = std::move(*found);
  const auto command = program.words;
  if (launch_chain::is_python(command[0])) return program;
  const auto started = launch_chain::find_started_program(command);
  if (!started) return unknown_program(util::base_name(command[0]));
  for (const auto& [name, value] : started->sets) program.env.set(name, value);
  auto& words = program.words;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(started->at));
  for (const auto& outer : started->before) {
    if (outer == "nsys" || outer == "ncu") continue;
    const auto begin = std::find_if(command.begin(), command.end(),
                                    [&](const auto& word) { return util::base_name(word) == outer; });
    const auto end = command.begin() + static_cast<std::ptrdiff_t>(started->at);
    if (begin >= end) return unknown_program(outer);
    TRY(const auto prefix, find_runner_environment({begin, end}, program.env, cwd, files));
    program.env.set("PATH", prefix + "/bin:" + program.env.get_or("PATH", "/usr/local/bin:/usr/bin:/bin"));
    if (outer == "uv" && !words.empty() && words[0].ends_with(".py")) words.insert(words.begin(), "python");
  }
  return program;
}

} // namespace

TorchLookupResult find_torch(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                             const std::string& cwd, const FileSystemView& files) {
  if (command.empty()) return not_found(Kind::unknown, "no command given");
  auto started = find_program_words(command, env, cwd, files);
  if (!started) return not_found(Kind::unknown, started.error().what);
  auto& [words, variables] = *started;
  if (!words.empty() && is_shell(words[0]))
    return not_found(Kind::unknown, unknown_program(util::base_name(words[0])).what);
  for (int depth = 0; depth < 4; ++depth) {
    const auto runnable = words.empty() ? std::nullopt : find_runnable(words[0], variables, cwd, files);
    if (!runnable)
      return not_found(Kind::unknown,
                       fmt::format("the program {} was not found", words.empty() ? command[0] : words[0]));
    const auto program = follow_pyenv_shim(*runnable, variables, cwd, files);
    if (!program) return not_found(Kind::unknown, program.error().what);
    const auto head = files.read(*program, 1024);
    if (head && head->starts_with("#!")) {
      auto interpreter = interpreter_words(*head);
      if (interpreter.empty() || !launch_chain::is_python(interpreter[0]))
        return not_found(Kind::unknown,
                         fmt::format("{} is a {} script, and the program that it starts is unknown", *program,
                                     interpreter.empty() ? "shell" : util::base_name(interpreter[0])));
      words[0] = *program;
      words.insert(words.begin(), interpreter.begin(), interpreter.end());
      continue;
    }
    if (launch_chain::is_python(*program) || launch_chain::is_python(follow_links(*program, files)))
      return torch_of_python(*program, {words.begin() + 1, words.end()}, variables, cwd, files);
    return torch_of_program(*program, variables, files);
  }
  return not_found(Kind::unknown, fmt::format("{} is a script that starts another script", command[0]));
}

} // namespace hpcml::find_torch
