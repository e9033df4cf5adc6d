// SPDX-License-Identifier: MIT
#include "core/config/profile_layers.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "core/util/embedded.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

/// Hands "source" and "checked" down to the values they are around. Before merging: each layer keeps its own
/// sources.
void annotate(JsonNode& node, util::SharedText source, util::SharedText checked) {
  if (node.is(JsonKind::object)) {
    const auto take = [&](std::string_view key, util::SharedText& into) {
      if (const auto* value = node.find(key); value && value->is(JsonKind::string)) into = value->text;
    };
    take("source", source);
    take("checked", checked);
  }
  node.source = source;
  node.checked = checked;
  for (auto& item : node.items) annotate(item, source, checked);
  for (auto& member : node.members) annotate(member.value, source, checked);
}

bool is_wrapper(const JsonNode& node) { return node.is(JsonKind::object) && node.find("value") != nullptr; }

/// Gives a source another name, wherever it is named.
void rename_source(JsonNode& node, const std::string& from, const std::string& to) {
  if (node.source == from) node.source = to;
  if (auto* named = node.is(JsonKind::object) ? node.find("source") : nullptr;
      named && named->is(JsonKind::string) && named->text == from)
    named->text = to;
  for (auto& item : node.items) rename_source(item, from, to);
  for (auto& member : node.members) rename_source(member.value, from, to);
}

/// Two layers may call different documents the same: facts keep theirs, under the name "LAYER.NAME" where
/// `extended` has the name as well.
void keep_sources_separate(JsonNode& layer, const std::string& id, const JsonNode& extended) {
  auto* own = layer.find("sources");
  const auto* others = extended.find("sources");
  if (!own || !others) return;
  const auto url_of = [](const JsonNode& source) {
    const auto* url = source.is(JsonKind::object) ? source.find("url") : nullptr;
    return url ? url->text : std::string();
  };
  for (auto& member : own->members) {
    const auto* same = others->find(member.key);
    if (!same || url_of(*same) == url_of(member.value)) continue;
    const auto name = id + "." + member.key;
    rename_source(layer, member.key, name);
    member.key = name;
  }
}

/// One file may be named in several ways: as typed, and as it is found by its id.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code missing;
  return a == b || std::filesystem::equivalent(a, b, missing);
}

/// Sites have three layers at most; what is deeper is made by a program, or by mistake.
constexpr std::size_t k_deepest = 32;

/// The layers of one profile, depth first.
class Loader {
public:
  Loader(const FindProfile& find, ProfilesToValidate scope) : x_find(find), x_scope(scope) {}

  std::optional<JsonNode> load(const ProfileFile& file) {
    // Several layers may extend the same one: it is read once.
    if (const auto done = x_done.find(file.path); done != x_done.end()) return done->second;
    x_open.push_back(file.path);
    auto merged = load_open(file);
    x_open.pop_back();
    x_done.emplace(file.path, merged);
    return merged;
  }

  ProfileLoadResult take(std::optional<JsonNode> root) {
    x_result.root = std::move(root);
    return std::move(x_result);
  }

private:
  std::optional<JsonNode> load_open(const ProfileFile& file) {
    x_result.files.push_back(file);
    util::log_debug(fmt::format("profile {}", file.path));
    auto parsed = parse_json(file.text, file.path, "site");
    append(std::move(parsed.diagnostics));
    if (!parsed.root) return std::nullopt;
    if (!parsed.root->is(JsonKind::object)) {
      report("type", fmt::format("a site profile must be an object, not {}", name_of(parsed.root->kind)),
             parsed.root->place, fmt::format("use {}", example_of(JsonKind::object)));
      return std::nullopt;
    }
    x_result.checked_by_build =
        x_result.checked_by_build && file.built_in && x_scope != ProfilesToValidate::all;
    annotate(*parsed.root, "", "");
    return with_bases(std::move(*parsed.root), file);
  }

  /// With the layers that can be read: what is wrong in the profile itself is to be found as well.
  JsonNode with_bases(JsonNode own, const ProfileFile& file) {
    const auto* extends = own.find("extends");
    if (!extends) return own;
    if (!extends->is(JsonKind::array)) {
      report("type",
             fmt::format("\"extends\" of a site profile must be a list, not {}", name_of(extends->kind)),
             extends->place, R"(use a list of ids of profiles: "extends": ["alliance"])");
      x_result.whole = false;
      return own;
    }
    JsonNode base;
    base.kind = JsonKind::object;
    for (const auto& entry : extends->items) {
      auto layer = load_base(own, entry, file);
      x_result.whole = x_result.whole && layer.has_value();
      if (!layer) continue;
      keep_sources_separate(*layer, entry.text, own);
      keep_sources_separate(*layer, entry.text, base);
      base = merge_layers(std::move(base), *layer);
    }
    return merge_layers(std::move(base), own);
  }

  std::optional<JsonNode> load_base(const JsonNode& own, const JsonNode& entry, const ProfileFile& file) {
    if (!entry.is(JsonKind::string)) {
      report(
          "type",
          fmt::format("\"extends\" of a site profile must list ids of profiles, not {}", name_of(entry.kind)),
          entry.place, R"(use texts: "extends": ["alliance"])");
      return std::nullopt;
    }
    const auto* id = own.find("id");
    // A user's lumi.json may refine the lumi of the next place: its own id means that one.
    const bool same = id && id->is(JsonKind::string) && id->text == entry.text;
    const auto found = x_find(entry.text, same ? file.place + 1 : 0);
    if (!found) {
      report("extends",
             fmt::format("the site profile extends the profile \"{}\", which was not found", entry.text),
             entry.place,
             fmt::format(
                 "add {}.json to one of the profile directories, or use another name (see hpcml sites list)",
                 entry.text));
      return std::nullopt;
    }
    if (std::any_of(x_open.begin(), x_open.end(),
                    [&](const auto& open) { return is_same_file(open, found->path); })) {
      report("extends",
             fmt::format("the profiles extend each other in a circle: {} -> {}", util::join(x_open, " -> "),
                         found->path),
             entry.place, "remove one of them from the \"extends\" of another");
      return std::nullopt;
    }
    if (x_open.size() >= k_deepest) {
      report("extends",
             fmt::format("the profiles extend each other in more than {} layers (limit)", k_deepest),
             entry.place, "remove profiles from the chain of \"extends\"");
      return std::nullopt;
    }
    auto layer = load(*found);
    if (!layer) return std::nullopt;
    // Marks of the layer itself, not facts to inherit.
    std::erase_if(layer->members, [](const JsonMember& member) {
      return member.key == "abstract" || member.key == "extends" || member.key == "$schema";
    });
    return layer;
  }

  void append(diag::Diagnostics list) {
    x_result.diagnostics.insert(x_result.diagnostics.end(), std::make_move_iterator(list.begin()),
                                std::make_move_iterator(list.end()));
  }
  void report(std::string_view rule, std::string message, const JsonSourceLocation& place, std::string hint) {
    x_result.diagnostics.push_back({diag::Severity::error, fmt::format("site/{}", rule), std::move(message),
                                    place.location(), std::move(hint)});
  }

  const FindProfile& x_find;
  ProfilesToValidate x_scope;
  ProfileLoadResult x_result;
  std::vector<std::string> x_open;                       // files that are being loaded, for circles
  std::map<std::string, std::optional<JsonNode>> x_done; // what the others gave, by path
};

} // namespace

JsonNode merge_layers(JsonNode base, const JsonNode& over) {
  const bool mergeable =
      base.is(JsonKind::object) && over.is(JsonKind::object) && !is_wrapper(base) && !is_wrapper(over);
  if (!mergeable) return over;
  for (const auto& member : over.members) {
    if (member.value.is(JsonKind::null)) {
      std::erase_if(base.members, [&](const JsonMember& m) { return m.key == member.key; });
    } else if (auto* old = base.find(member.key)) {
      *old = merge_layers(std::move(*old), member.value);
    } else {
      base.members.push_back(member);
    }
  }
  if (!over.source.empty() || base.members.empty()) {
    base.source = over.source;
    base.checked = over.checked;
  }
  base.place = over.place;
  return base;
}

std::optional<ProfileFile> find_built_in(const std::string& id, std::size_t place) {
  const auto name = id + ".json";
  for (const auto& file : embedded::site_files())
    if (file.name == name)
      return ProfileFile{fmt::format("built in: {}", name), std::string(file.text), true, place, id};
  return std::nullopt;
}

ProfileLoadResult load_layers(const ProfileFile& file, const FindProfile& find, ProfilesToValidate scope) {
  Loader loader(find, scope);
  auto root = loader.load(file);
  const auto* abstract = root ? root->find("abstract") : nullptr;
  const bool is_abstract = abstract && abstract->is(JsonKind::boolean) && abstract->boolean;
  auto result = loader.take(std::move(root));
  result.is_abstract = is_abstract;
  return result;
}

} // namespace hpcml::config
