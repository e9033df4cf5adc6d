// SPDX-License-Identifier: MIT
#include "core/topo/mask_text.hpp"

#include <charconv>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::IdSet;

/// One entry and its number of repetitions: "0xff*2".
struct Entry {
  std::string text;
  unsigned count = 1;
};

util::Result<std::vector<Entry>> split_entries(std::string_view text) {
  std::vector<Entry> entries;
  for (const std::string& piece : util::split(util::trim(text), ',')) {
    const std::size_t star = piece.find('*');
    Entry entry{piece.substr(0, star)};
    if (star != std::string::npos) {
      const auto count = util::parse_unsigned(piece.substr(star + 1));
      if (!count || *count == 0 || *count > 65535)
        return util::Error{
            fmt::format("'{}' in the list of CPU masks needs a count from 1 to 65535 after *", piece),
            "use MASK*COUNT, such as 0xff*2"};
      entry.count = static_cast<unsigned>(*count);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

util::Result<std::vector<IdSet>> parse_map_list(std::string_view text) {
  TRY(const auto entries, split_entries(text));
  std::vector<IdSet> sets;
  for (const Entry& entry : entries) {
    unsigned long long cpu = 65536;
    const bool hex = entry.text.starts_with("0x") || entry.text.starts_with("0X");
    const char* const begin = entry.text.data() + (hex ? 2 : 0);
    const char* const end = entry.text.data() + entry.text.size();
    const auto read = std::from_chars(begin, end, cpu, hex ? 16 : 10);
    if (read.ec != std::errc() || read.ptr != end || cpu > 65535)
      return util::Error{fmt::format("'{}' in the list of CPUs is not a number from 0 to 65535", entry.text),
                         "use a list such as map_cpu:0,8,16"};
    sets.insert(sets.end(), entry.count, IdSet::of({static_cast<unsigned>(cpu)}));
  }
  return sets;
}

} // namespace

util::Result<std::vector<IdSet>> parse_mask_list(std::string_view text) {
  TRY(const auto entries, split_entries(text));
  std::vector<IdSet> masks;
  for (const Entry& entry : entries) {
    TRY(const auto mask, IdSet::parse_mask(entry.text));
    masks.insert(masks.end(), entry.count, mask);
  }
  return masks;
}

util::Result<std::vector<IdSet>> parse_cpu_bind(std::string_view text, unsigned tasks) {
  for (const char* name : {"mask_cpu", "map_cpu"}) {
    const std::size_t found = text.find(name);
    if (found == std::string_view::npos) continue;
    std::string_view rest = text.substr(found + std::string_view(name).size());
    if (rest.empty() || (rest.front() != ':' && rest.front() != '='))
      return util::Error{fmt::format("{} in the CPU binding has no list of CPUs after it", name),
                         fmt::format("use {}:LIST", name)};
    rest.remove_prefix(1);
    const bool masks = std::string_view(name) == "mask_cpu";
    TRY(auto list, masks ? parse_mask_list(rest) : parse_map_list(rest));
    std::vector<IdSet> sets;
    for (unsigned task = 0; task < tasks; ++task) sets.push_back(list[task % list.size()]);
    return sets;
  }
  return util::Error{fmt::format("the CPU binding '{}' contains neither mask_cpu nor map_cpu", text),
                     "use mask_cpu:LIST or map_cpu:LIST"};
}

std::string render_cpu_bind(const std::vector<IdSet>& masks) {
  std::vector<std::string> texts;
  texts.reserve(masks.size());
  for (const IdSet& mask : masks) texts.push_back(mask.to_mask());
  return "mask_cpu:" + util::join(texts, ",");
}

std::optional<unsigned> resolve_visible(const std::optional<std::string>& list, unsigned local,
                                        const std::vector<std::string>& uuids) {
  const auto resolve = [&](const std::string& entry) -> std::optional<unsigned> {
    if (const auto index = util::parse_unsigned(entry); index && *index <= 65535)
      return static_cast<unsigned>(*index);
    std::optional<unsigned> match;
    for (std::size_t i = 0; i < uuids.size(); ++i)
      if (!entry.empty() && uuids[i].starts_with(entry)) {
        if (match) return std::nullopt; // a shortened UUID must name one device
        match = static_cast<unsigned>(i);
      }
    return match;
  };
  if (!list || util::trim(*list).empty()) return std::nullopt;
  const auto entries = util::split(*list, ',');
  if (local >= entries.size()) return std::nullopt;
  for (unsigned i = 0; i < local; ++i)
    if (!resolve(std::string(util::trim(entries[i])))) return std::nullopt;
  return resolve(std::string(util::trim(entries[local])));
}

} // namespace hpcml::topo
