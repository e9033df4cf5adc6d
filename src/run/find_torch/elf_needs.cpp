// SPDX-License-Identifier: MIT
#include "run/find_torch/elf_needs.hpp"

#include <cstring>
#include <elf.h>

#include "core/util/text.hpp"

namespace hpcml::find_torch {
namespace {

constexpr std::size_t k_most_headers = 128, k_most_dynamic = 64 << 10, k_most_name = 4096;

/// The object at `offset` of `bytes`; nothing where it ends before.
template <class T> std::optional<T> object_at(const std::string& bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T object;
  std::memcpy(&object, bytes.data() + offset, sizeof object);
  return object;
}

std::vector<Elf64_Phdr> read_segments(const std::string& path, const FileView& files) {
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

} // namespace

std::optional<ElfNeeds> read_elf_needs(const std::string& path, const FileView& files) {
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
    for (const auto& folder : util::split(text_at(at), ':'))
      if (!folder.empty()) needs.folders.push_back(folder);
  return needs;
}

} // namespace hpcml::find_torch
