// SPDX-License-Identifier: MIT
#include "core/config/merged_profile.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>

#include "core/config/profile_layers.hpp"
#include "core/config/site_reader.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

/// What is the same for many values: where they are and who states it.
struct About {
  std::shared_ptr<const std::string> file;
  util::SharedText source;
  util::SharedText checked;
};

// A number is written seven bits a byte, the lowest first, a negative one and one with a fraction as its 64
// bits; a text as its length and its bytes; a value as its kind, the number of its About and what the kind
// needs.

class Writer {
public:
  std::string take(const MergedProfile& profile) {
    add_node(profile.root);
    std::string body;
    body.swap(x_text);
    add_text(profile.hash);
    add_number(x_abouts.size());
    for (const auto& about : x_abouts) {
      add_text(about.file ? *about.file : std::string());
      add_text(about.source.text());
      add_text(about.checked.text());
    }
    return x_text + body;
  }

private:
  void add_number(unsigned long long value) {
    for (; value >= 0x80; value >>= 7) x_text += static_cast<char>((value & 0x7f) | 0x80);
    x_text += static_cast<char>(value);
  }
  void add_text(std::string_view text) {
    add_number(text.size());
    x_text += text;
  }
  std::size_t about_of(const JsonNode& node) {
    const auto same = [&](const About& about) {
      return about.file == node.place.file && about.source == node.source && about.checked == node.checked;
    };
    const auto found = std::find_if(x_abouts.begin(), x_abouts.end(), same);
    if (found != x_abouts.end()) return static_cast<std::size_t>(found - x_abouts.begin());
    x_abouts.push_back({node.place.file, node.source, node.checked});
    return x_abouts.size() - 1;
  }
  void add_node(const JsonNode& node) {
    add_number(static_cast<unsigned>(node.kind));
    add_number(about_of(node));
    switch (node.kind) {
    case JsonKind::null: return;
    case JsonKind::boolean: return add_number(node.boolean ? 1 : 0);
    case JsonKind::integer: return add_number(static_cast<unsigned long long>(node.integer));
    case JsonKind::real: return add_number(std::bit_cast<std::uint64_t>(node.real));
    case JsonKind::string: return add_text(node.text);
    case JsonKind::array:
      add_number(node.items.size());
      for (const auto& item : node.items) add_node(item);
      return;
    case JsonKind::object: break;
    }
    add_number(node.members.size());
    for (const auto& member : node.members) {
      add_text(member.key);
      add_node(member.value);
    }
  }

  std::string x_text;
  std::vector<About> x_abouts;
};

class Reader {
public:
  explicit Reader(std::string_view text) : x_text(text) {}

  std::optional<MergedProfile> take() {
    MergedProfile profile;
    profile.hash = text();
    x_abouts.resize(count());
    for (auto& about : x_abouts) {
      const auto file = text();
      const auto before = std::find_if(x_abouts.begin(), x_abouts.end(),
                                       [&](const About& known) { return known.file && *known.file == file; });
      about.file = before == x_abouts.end() ? std::make_shared<const std::string>(file) : before->file;
      about.source = text();
      about.checked = text();
    }
    read(profile.root);
    if (x_wrong || x_at != x_text.size()) return std::nullopt;
    return profile;
  }

private:
  unsigned long long number() {
    unsigned long long value = 0;
    for (unsigned shift = 0; shift < 64 && x_at < x_text.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(x_text[x_at++]);
      value |= static_cast<unsigned long long>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    x_wrong = true;
    return 0;
  }
  /// How many of something come, each of at least one byte.
  std::size_t count() {
    const auto value = number();
    if (value <= x_text.size() - x_at) return value;
    x_wrong = true;
    return 0;
  }
  std::string_view text() {
    const auto size = count();
    x_at += size;
    return x_text.substr(x_at - size, size);
  }
  void read(JsonNode& node) {
    const auto kind = number();
    const auto about = number();
    x_wrong = x_wrong || kind > static_cast<unsigned>(JsonKind::object) || about >= x_abouts.size();
    if (x_wrong) return;
    node.kind = static_cast<JsonKind>(kind);
    node.place.file = x_abouts[about].file;
    node.source = x_abouts[about].source;
    node.checked = x_abouts[about].checked;
    switch (node.kind) {
    case JsonKind::null: return;
    case JsonKind::boolean: node.boolean = number() != 0; return;
    case JsonKind::integer: node.integer = static_cast<long long>(number()); return;
    case JsonKind::real: node.real = std::bit_cast<double>(static_cast<std::uint64_t>(number())); return;
    case JsonKind::string: node.text = text(); return;
    case JsonKind::array:
      node.items.resize(count());
      for (auto& item : node.items) read(item);
      return;
    case JsonKind::object: break;
    }
    node.members.resize(count());
    for (auto& member : node.members) {
      member.key = text();
      read(member.value);
    }
  }

  std::string_view x_text;
  std::size_t x_at = 0;
  bool x_wrong = false;
  std::vector<About> x_abouts;
};

bool has_file(const std::vector<std::string>& directories, const std::string& id) {
  std::error_code error;
  return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
    return std::filesystem::exists(std::filesystem::path(directory) / (id + ".json"), error);
  });
}

/// The site as the build merged it; nothing where a file of a user's has a part in it.
std::optional<SiteLoad> load_merged(const std::string& id, const std::vector<std::string>& directories,
                                    MergedProfiles merged) {
  const auto found = std::find_if(merged.begin(), merged.end(), [&](const embedded::EmbeddedFile& file) {
    return file.name.substr(0, file.name.find(',')) == id;
  });
  if (found == merged.end()) return std::nullopt;
  SiteLoad load;
  load.layers = util::split(found->name, ',');
  if (std::any_of(load.layers.begin(), load.layers.end(),
                  [&](const std::string& layer) { return has_file(directories, layer); }))
    return std::nullopt;
  auto profile = parse_merged(found->text);
  if (!profile) return std::nullopt;
  auto read =
      read_site(profile->root, "built in", ProfileValidationTime::done_by_build, std::move(profile->hash));
  if (!read.site || !read.diagnostics.empty())
    return std::nullopt; // the files themselves say what is wrong, and where
  for (const auto& layer : load.layers) util::log_debug(fmt::format("profile built in: {}.json", layer));
  load.site = std::move(read.site);
  return load;
}

} // namespace

std::string render_merged(const MergedProfile& profile) { return Writer().take(profile); }

std::optional<MergedProfile> parse_merged(std::string_view text) { return Reader(text).take(); }

std::string merge_built_in(const std::string& id) {
  const auto file = find_built_in(id);
  const FindProfile find = [](const std::string& layer, std::size_t) { return find_built_in(layer); };
  auto layers = file ? load_layers(*file, find) : ProfileLoadResult();
  if (!layers.root) return {};
  auto hash = hash_of(*layers.root);
  return render_merged({std::move(hash), std::move(*layers.root)});
}

SiteLoad load_site(const std::string& id, const std::vector<std::string>& directories,
                   MergedProfiles merged) {
  if (auto load = load_merged(id, directories, merged)) return std::move(*load);
  return load_site(id, directories);
}

} // namespace hpcml::config
