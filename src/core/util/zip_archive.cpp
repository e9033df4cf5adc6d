// SPDX-License-Identifier: MIT
#include "core/util/zip_archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/util/scoped_descriptor.hpp"
#include "hpcml/crc32.hpp"

namespace hpcml::util {

namespace {

// Records of PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16: signature and bytes before what varies.
constexpr std::string_view k_local = "PK\3\4", k_central = "PK\1\2", k_end = "PK\5\6", k_end64 = "PK\6\6",
                           k_locator64 = "PK\6\7";
constexpr std::uint64_t k_local_bytes = 30, k_central_bytes = 46, k_end_bytes = 22, k_end64_bytes = 56,
                        k_locator64_bytes = 20, k_longest_comment = 0xFFFF;
constexpr std::uint64_t k_largest_directory = 1U << 30U;
constexpr std::uint32_t k_in_extra = 0xFFFFFFFFU;     ///< the value is in the extra field of zip64
constexpr std::uint64_t k_unsupported_flags = 0x2061; ///< encrypted, patched, masked: torch.load rejects them
constexpr const char* k_no_end_record = "it has no end-of-central-directory record";
constexpr const char* k_other_checkpoint_hint = "use another checkpoint: torch.load cannot read this one";
constexpr std::uint64_t k_directory_attribute = 0x10; ///< torch.load reads no bytes of such an entry

/// A number in little-endian order.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

class ArchiveFile {
public:
  explicit ArchiveFile(const std::filesystem::path& path)
      : x_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}

  /// The size of a regular file.
  Result<std::uint64_t> size() const {
    struct stat found {};
    if (x_file.get() < 0 || ::fstat(x_file.get(), &found) != 0) return Error{std::strerror(errno)};
    if (!S_ISREG(found.st_mode))
      return Error{"the checkpoint is not a regular file", "use a file that torch.save wrote"};
    return static_cast<std::uint64_t>(found.st_size);
  }

  Result<std::string> read(std::uint64_t at, std::uint64_t count) const {
    std::string bytes(count, '\0');
    for (std::uint64_t done = 0; done < count;) {
      const auto got =
          ::pread(x_file.get(), bytes.data() + done, count - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error{std::strerror(errno)};
      if (got == 0)
        return Error{"the checkpoint file became shorter while hpcml read it",
                     "check whether a program still writes to the file"};
      done += static_cast<std::uint64_t>(got);
    }
    return bytes;
  }

private:
  ScopedDescriptor x_file;
};

/// Where the central directory is.
struct Directory {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
  std::uint64_t end = 0; ///< where the record after it begins
};

struct Entry {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t crc = 0;
};

Error damaged(const std::string& what) {
  return {fmt::format("the zip archive is damaged: {}", what), k_other_checkpoint_hint};
}

Error truncated(const char* what) {
  return {fmt::format("the checkpoint is truncated: {}", what), k_other_checkpoint_hint};
}

/// The end-of-central-directory record, which a truncated archive lacks.
Result<Directory> read_end(const ArchiveFile& file, std::uint64_t size) {
  const auto tail_bytes = std::min(size, k_end_bytes + k_longest_comment);
  TRY(const auto tail, file.read(size - tail_bytes, tail_bytes));
  std::size_t at = std::string::npos;
  for (auto next = tail.rfind(k_end); next != std::string::npos && at == std::string::npos;
       next = next == 0 ? std::string::npos : tail.rfind(k_end, next - 1))
    if (tail.size() - next >= k_end_bytes &&
        next + k_end_bytes + number_at(tail, next + 20, 2) == tail.size())
      at = next;
  if (at == std::string::npos) return truncated(k_no_end_record);
  Directory found{number_at(tail, at + 16, 4), number_at(tail, at + 12, 4), number_at(tail, at + 10, 2),
                  size - tail_bytes + at};
  if (number_at(tail, at + 4, 4) != 0 || number_at(tail, at + 8, 2) != found.entries)
    return damaged("its end record is inconsistent");
  const std::string_view record = tail;
  if (at < k_locator64_bytes || record.substr(at - k_locator64_bytes, 4) != k_locator64) return found;
  const auto offset = number_at(tail, at - k_locator64_bytes + 8, 8);
  if (found.end < k_locator64_bytes + k_end64_bytes ||
      offset != found.end - k_locator64_bytes - k_end64_bytes ||
      number_at(tail, at - k_locator64_bytes + 4, 4) != 0 || number_at(tail, at - 4, 4) != 1)
    return damaged("its zip64 locator is inconsistent");
  TRY(const auto end64, file.read(offset, k_end64_bytes));
  const Directory found64{number_at(end64, 48, 8), number_at(end64, 40, 8), number_at(end64, 32, 8), offset};
  const auto agrees = [](std::uint64_t small, std::uint64_t large, std::uint64_t most) {
    return small == large || (small == most && large >= most);
  };
  if (!end64.starts_with(k_end64) || number_at(end64, 4, 8) != k_end64_bytes - 12 ||
      number_at(end64, 16, 8) != 0 || number_at(end64, 24, 8) != found64.entries ||
      !agrees(found.entries, found64.entries, 0xFFFF) || !agrees(found.bytes, found64.bytes, k_in_extra) ||
      !agrees(found.offset, found64.offset, k_in_extra))
    return damaged("its zip64 end record is inconsistent");
  return found64;
}

/// Replaces the values that the central directory leaves to the extra field of zip64.
bool read_extra(std::string_view extra, std::uint64_t& bytes, std::uint64_t& stored, std::uint64_t& offset) {
  while (extra.size() >= 4) {
    const auto id = number_at(extra, 0, 2), length = number_at(extra, 2, 2);
    if (extra.size() < 4 + length) return false;
    auto values = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (auto* value : {&bytes, &stored, &offset}) {
      if (*value != k_in_extra) continue;
      if (values.size() < 8) return false;
      *value = number_at(values, 0, 8);
      values.remove_prefix(8);
    }
  }
  return bytes != k_in_extra && stored != k_in_extra && offset != k_in_extra;
}

Result<std::vector<Entry>> read_directory(const ArchiveFile& file, const Directory& directory) {
  if (directory.bytes > k_largest_directory || directory.offset > directory.end ||
      directory.end - directory.offset != directory.bytes)
    return damaged("its central directory is not where the end record says");
  TRY(const auto text, file.read(directory.offset, directory.bytes));
  std::string_view rest = text;
  std::vector<Entry> entries;
  while (!rest.empty()) {
    const auto at = fmt::format(" at entry {}", entries.size() + 1);
    if (rest.size() < k_central_bytes || !rest.starts_with(k_central))
      return damaged(fmt::format("its central directory ends{}", at));
    const auto name = number_at(rest, 28, 2), extra = number_at(rest, 30, 2),
               comment = number_at(rest, 32, 2);
    if (rest.size() < k_central_bytes + name + extra + comment)
      return damaged(fmt::format("its central directory ends{}", at));
    Entry entry{std::string(rest.substr(k_central_bytes, name)), number_at(rest, 42, 4),
                number_at(rest, 24, 4), static_cast<std::uint32_t>(number_at(rest, 16, 4))};
    auto stored = number_at(rest, 20, 4);
    if (!read_extra(rest.substr(k_central_bytes + name, extra), entry.bytes, stored, entry.offset))
      return damaged(fmt::format("its zip64 sizes are inconsistent{}", at));
    if ((number_at(rest, 8, 2) & k_unsupported_flags) != 0 || number_at(rest, 34, 2) != 0 ||
        (number_at(rest, 38, 4) & k_directory_attribute) != 0)
      return damaged(fmt::format("its flags, disk or attributes are inconsistent{}", at));
    if (number_at(rest, 10, 2) != 0 || stored != entry.bytes)
      return Error{
          fmt::format("entry '{}' of the zip archive is compressed, which torch.save never does", entry.name),
          "use a file that torch.save wrote"};
    rest.remove_prefix(k_central_bytes + name + extra + comment);
    entries.push_back(std::move(entry));
  }
  if (entries.size() != directory.entries) return damaged("its central directory lacks entries");
  return entries;
}

/// Checks the entry's own header; returns where its bytes begin.
Result<std::uint64_t> read_local(const ArchiveFile& file, const Entry& entry, const Directory& directory) {
  const auto wrong = damaged(fmt::format("the header of entry '{}' is inconsistent", entry.name));
  if (entry.offset > directory.offset || directory.offset - entry.offset < k_local_bytes) return wrong;
  TRY(const auto header, file.read(entry.offset, k_local_bytes));
  const auto name = number_at(header, 26, 2), extra = number_at(header, 28, 2);
  const auto before = k_local_bytes + name + extra;
  if (!header.starts_with(k_local) || number_at(header, 8, 2) != 0 || name != entry.name.size() ||
      directory.offset - entry.offset < before || directory.offset - entry.offset - before < entry.bytes)
    return wrong;
  TRY(const auto own_name, file.read(entry.offset + k_local_bytes, name));
  if (own_name != entry.name) return wrong;
  return entry.offset + before;
}

Status check_bytes(const ArchiveFile& file, const Entry& entry, std::uint64_t begin) {
  constexpr std::uint64_t k_piece = 1U << 20U;
  Crc32 crc;
  for (std::uint64_t done = 0; done < entry.bytes; done += k_piece) {
    TRY(const auto piece, file.read(begin + done, std::min(k_piece, entry.bytes - done)));
    crc.add(piece);
  }
  if (crc.value() != entry.crc)
    return damaged(fmt::format("entry '{}' does not match its CRC-32", entry.name));
  return Success{};
}

/// Why a file without a zip archive's signature is none.
Error other_kind(std::string_view begin) {
  // Pickle's protocol 2: files of torch 1.5 and earlier, which have no record at their end.
  if (begin.starts_with("\x80\x02"))
    return {"the file is in the format of torch 1.5 and earlier, which has no end record to check",
            "use torch 1.6 or later to save checkpoints"};
  return {"the file is not a zip archive of torch.save", "use a file that torch.save wrote"};
}

} // namespace

Status check_torch_archive(const std::filesystem::path& path, ZipCheckLevel check) {
  const ArchiveFile file(path);
  TRY(const auto size, file.size());
  if (size == 0) return truncated("the file is empty");
  TRY(const auto begin, file.read(0, std::min<std::uint64_t>(size, 4)));
  if (begin != k_local) {
    if (k_local.starts_with(begin)) return truncated(k_no_end_record);
    return other_kind(begin);
  }
  TRY(const auto directory, read_end(file, size));
  TRY(const auto entries, read_directory(file, directory));
  bool has_pickle = false, has_checksums = false;
  for (const auto& entry : entries) {
    has_pickle = has_pickle || entry.name.ends_with("/data.pkl");
    has_checksums = has_checksums || entry.crc != 0;
  }
  if (!has_pickle)
    return Error{"the zip archive is not an archive of torch.save: it has no entry data.pkl",
                 "use a file that torch.save wrote"};
  if (check == ZipCheckLevel::checksums && !has_checksums)
    return Error{"the checkpoint has no checksums to verify: set_crc32_options(False) of torch was used",
                 "remove --verify, or set_crc32_options(False) from the program"};
  for (const auto& entry : entries) {
    TRY(const auto at, read_local(file, entry, directory));
    if (check == ZipCheckLevel::checksums) TRY_DONE(check_bytes(file, entry, at));
  }
  return Success{};
}

} // namespace hpcml::util
