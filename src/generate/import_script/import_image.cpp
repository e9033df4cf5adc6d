// SPDX-License-Identifier: MIT
// The image of the old script at the new site: whether its engine takes it, and what it shows of the host.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/launch_chain/image.hpp"
#include "core/model/container_engine.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/image_form.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/program_text.hpp"
#include "generate/import_script/unknown_words.hpp"

namespace hpcml::import_script {
namespace {

using check::GivenOption;
using check::Link;
using model::EngineRow;
using Form = model::ImageForm;
using shell::Argument;

struct Image {
  Argument word;
  Form form = Form::file;
  bool of_family = false; ///< an option of singularity or apptainer, which both accept
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class ImagePorter {
public:
  ImagePorter(ImportState& porting, const slurm::ScriptHeader& header,
              const std::vector<check::Launch>& launches, std::vector<FoundLaunch>& programs)
      : x_porting(porting), x_header(header), x_launches(launches), x_programs(programs) {}

  void port() {
    auto image = find();
    if (!x_porting.chosen.environment.empty()) return replace_image(image);
    if (!image) {
      refuse_unnamed();
      return check_hidden_engines();
    }
    const diag::TextRange place = image->word.place;
    const auto text = image->word.text();
    const auto source = image->word.known() || !(image->of_family || model::has_image_ending(text))
                            ? std::nullopt
                            : rebuilt(image->word);
    if (!image->word.known() && !source)
      return x_porting.error(place, "port/container",
                             fmt::format("container image '{}' cannot be imported: its name is known only "
                                         "when the script runs",
                                         text),
                             "add --container IMAGE to hpcml gen to name the image");
    if (x_porting.to.containers.empty()) return take(text, place); // the plan says that there is no engine
    for (const auto& rule : x_porting.to.containers) {
      const auto& engine = model::row_of(rule.engine);
      const auto name = image_for_engine(text, image->form, engine);
      if (!name || (source && (image->of_family && !model::has_image_ending(text) ? engine.family.empty()
                                                                                  : engine.by_slurm)))
        continue;
      take(*name, place);
      evaluate(*name, place);
      if (source)
        for (auto& found : x_programs) found.program.image = *source;
      port_other_images(*image, engine);
      return port_binds(engine);
    }
    const auto& first = model::row_of(x_porting.to.containers.front().engine);
    x_porting.error(
        place, "port/container",
        fmt::format("container image '{}' is {}, which {} on {} does not accept", text,
                    describe_image_form(image->form), first.name, x_porting.to.id),
        fmt::format("add --container IMAGE to hpcml gen with an image that it accepts, such as {}",
                    first.example));
  }

private:
  /// Launches in other images, and those outside of any.
  void port_other_images(const Image& main, const EngineRow& engine) {
    for (auto& found : x_programs) {
      if (found.in_batch) continue;
      const auto own = image_of(*found.launch);
      if (!own) {
        found.program.on_host = !x_by_header;
        continue;
      }
      if (own->word.text() == main.word.text()) continue;
      const auto name = image_for_engine(own->word.text(), own->form, engine);
      const auto text = own->word.known() ? name : rebuilt(own->word);
      if (text && !engine.by_slurm)
        found.program.image = own->word.known() ? util::shell_quote(*text) : *text;
      else
        x_porting.error(
            own->word.place, "port/container",
            fmt::format("container image '{}' cannot be used in addition to the job's first image '{}' on {}",
                        own->word.text(), main.word.text(), x_porting.to.id),
            "use a separate script for each image");
    }
  }

  /// `srun shifter python x.py`: the image is named somewhere else.
  void refuse_unnamed() {
    for (const auto& found : x_programs)
      if (const auto* container = found.launch->container();
          container && x_porting.chosen.environment.empty())
        x_porting.error(
            container->place, "port/container",
            fmt::format("the script starts {} without the name of a container image", container->program),
            "add --container IMAGE to hpcml gen to name the image");
  }

  /// An engine after another program, `./wrapper.sh apptainer exec …`: the image stays in the
  /// program's words.
  void check_hidden_engines() {
    for (const auto& found : x_programs) {
      const auto& words = found.program.command;
      const auto word = std::find_if(words.begin(), words.end(), [](const std::string& text) {
        const auto* engine = model::find_engine_program(util::base_name(text));
        return engine != nullptr && text.find(' ') == std::string::npos;
      });
      if (word == words.end()) continue;
      const auto name = util::base_name(*word);
      const auto& old = *model::find_engine_program(name);
      const auto& rules = x_porting.to.containers;
      const bool same = std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
        const auto& engine = model::row_of(rule.engine);
        return engine.words.name == old.words.name || (!old.family.empty() && engine.family == old.family);
      });
      const diag::TextRange place{found.begin, found.end - found.begin};
      if (x_porting.is_of_new_site()) continue;
      if (!same && old.of_sites)
        x_porting.error(place, "port/container",
                        fmt::format("'{}' starts the container engine {}, but {} has no {}",
                                    shown_command(found), name, x_porting.to.id, name),
                        "run hpcml gen --container IMAGE -- COMMAND, without --from and without this engine");
      else
        x_porting.warn(place, "port/container",
                       fmt::format("'{}' starts {} itself: its image and binds are not changed for {}",
                                   shown_command(found), name, x_porting.to.id),
                       fmt::format("check that {} has {}, the image and the directories of its binds",
                                   x_porting.to.id, name));
    }
  }

  std::optional<Image> find() {
    for (const auto& found : x_programs)
      if (auto image = image_of(*found.launch)) return image;
    x_by_header = true;
    for (const auto& directive : x_header.directives)
      for (std::size_t i = 0; i < directive.words.size(); ++i) {
        const auto& word = directive.words[i];
        if (!is_image_option(word.text)) continue;
        const auto equals = word.text.find('=');
        const auto option = word.text.substr(2, equals == std::string::npos ? equals : equals - 2);
        const auto value = equals != std::string::npos      ? word.text.substr(equals + 1)
                           : i + 1 < directive.words.size() ? directive.words[i + 1].text
                                                            : std::string();
        const auto place = word.place;
        const auto* engine = model::find_image_option(option);
        if (engine->binds_option == option)
          x_mounts.push_back({value, place});
        else if (!x_image && !value.empty())
          x_image = Image{shell::known_argument(value, place), image_form_of(value, engine, true)};
      }
    return x_image;
  }

  static std::optional<Image> image_of(const check::Launch& launch) {
    const auto image = launch_chain::find_image(launch);
    if (!image) return std::nullopt;
    return Image{*image->word, image_form_of(image->word->text(), image->engine, image->by_option),
                 !image->by_option && image->engine && !image->engine->family.empty()};
  }

  void take(const std::string& image, diag::TextRange place) {
    x_porting.result.job.container = model::Sourced<std::string>{image, x_porting.origin("the image")};
    x_porting.note(place, "port/container",
                   fmt::format("the script for {} runs the program in the image of the old script, '{}'",
                               x_porting.to.id, image),
                   "check that the image exists there, or add --container IMAGE to hpcml gen");
  }

  /// "--nv" at a site of AMD's GPUs, "--rocm" at one of NVIDIA's; empty where the script says neither.
  std::string foreign_flag(model::GpuVendor vendor) const {
    const std::string flag = vendor == model::GpuVendor::amd      ? "nv"
                             : vendor == model::GpuVendor::nvidia ? "rocm"
                                                                  : "";
    const bool is_given =
        !flag.empty() && std::any_of(x_programs.begin(), x_programs.end(), [&](const auto& found) {
          const auto* container = found.launch->container();
          return container && container->find(flag);
        });
    return is_given ? "--" + flag : "";
  }

  /// Reports an image that is made for other GPUs or processors, as far as its name and flags show.
  void evaluate(const std::string& image, diag::TextRange place) {
    const auto* node = target_node(x_porting);
    if (!node) return;
    const auto lower = util::to_lower(image);
    const auto names = [&](std::initializer_list<std::string_view> words) {
      return std::any_of(words.begin(), words.end(), [&](auto word) { return holds(lower, word); });
    };
    const auto vendor = node->gpu ? node->gpu->vendor : model::GpuVendor::unknown;
    const auto& site = x_porting.to.id;
    if (vendor == model::GpuVendor::nvidia && names({"rocm", "lumi-", "amd"}))
      x_porting.warn(
          place, "port/image-gpu",
          fmt::format("the name of image '{}' indicates AMD GPUs, but {} has NVIDIA GPUs", image, site),
          "add --container IMAGE to hpcml gen with an image made for CUDA");
    if (vendor == model::GpuVendor::amd && names({"cuda", "nvcr.io", "nvidia", "ngc"}))
      x_porting.warn(
          place, "port/image-gpu",
          fmt::format("the name of image '{}' indicates NVIDIA GPUs, but {} has AMD GPUs", image, site),
          "add --container IMAGE to hpcml gen with an image made for ROCm");
    else if (const auto flag = foreign_flag(vendor); !flag.empty())
      x_porting.warn(
          place, "port/image-gpu",
          fmt::format("the script starts image '{}' with {}, which is for {} GPUs, but {} has {} GPUs", image,
                      flag, flag == "--nv" ? "NVIDIA" : "AMD", site, flag == "--nv" ? "AMD" : "NVIDIA"),
          "add --container IMAGE to hpcml gen with an image made for these GPUs");
    const bool arm = names({"aarch64", "arm64", "sbsa"});
    if (node->cpu_arch == model::CpuArch::aarch64 && !arm)
      x_porting.warn(
          place, "port/image-arch",
          fmt::format("nodes of {} are aarch64 (Arm) and cannot start image '{}' if it is built for x86_64",
                      site, image),
          "check the image, or add --container IMAGE to hpcml gen with one built for aarch64");
    if (node->cpu_arch == model::CpuArch::x86_64 && (arm || names({"ppc64le"})))
      x_porting.warn(
          place, "port/image-arch",
          fmt::format("the name of image '{}' indicates another architecture than the x86_64 of {}", image,
                      site),
          "add --container IMAGE to hpcml gen with an image built for x86_64");
  }

  struct Mount {
    std::string text;
    diag::TextRange place;
  };

  void replace_image(const std::optional<Image>& image) {
    if (image)
      x_porting.note(
          image->word.place, "port/container",
          x_porting.chosen.container
              ? fmt::format("image '{}' is removed: --container of hpcml gen replaces it", image->word.text())
              : fmt::format("image '{}' is removed: the environment that hpcml gen uses replaces it",
                            image->word.text()),
          "remove --container, --venv, --conda or --wheelhouse from hpcml gen to keep the image");
    port_binds_of_request();
    report_kept_images();
    check_hidden_engines();
    if (x_porting.chosen.container) refuse_outside();
  }

  /// A program that stays in the batch script does not run in the image of the request.
  void refuse_outside() {
    for (const auto& found : x_programs)
      if (found.in_batch && !found.is_helper)
        return x_porting.error(
            {found.begin, found.end - found.begin}, "port/container",
            fmt::format("'{}' stays in the batch script, where it would run outside of the image of {}",
                        shown_command(found), x_porting.chosen.environment),
            "add srun before it in the old script, or start the image in that line");
  }

  /// Commands that stay as the script has them run in their old images.
  void report_kept_images() {
    for (const auto& launch : x_launches) {
      const auto image = image_of(launch);
      const auto at = std::size_t{launch.chain.front().place.offset};
      const bool is_replaced =
          std::any_of(x_programs.begin(), x_programs.end(), [&](const FoundLaunch& found) {
            return !found.in_batch && at >= found.begin && at < found.end;
          });
      if (!image || is_replaced || launch.command->parent) continue;
      const auto& last = launch.last();
      const auto& words = launch.command->words;
      std::vector<std::string> command;
      for (const auto& word : words)
        if (word.place.offset >= last.place.offset) command.push_back(word.text());
      x_porting.warn(launch.chain.front().place, "port/container",
                     fmt::format("line {} still runs '{}' in image '{}': {} replaces only the image of the "
                                 "job's programs",
                                 x_porting.script.number_at(at), short_line(util::join(command, " ")),
                                 image->word.text(), x_porting.chosen.environment),
                     "use the new environment in this line of the script");
    }
  }

  /// The request names an environment: its image has the binds of the old one, and a program outside of
  /// images loses them.
  void port_binds_of_request() {
    const auto& rules = x_porting.to.containers;
    if (x_porting.chosen.container && !rules.empty()) return port_binds(model::row_of(rules.front().engine));
    for (const auto& mount : x_mounts) report_lost_binds(mount.text, mount.place);
    for (auto& found : x_programs) {
      if (const auto* step = found.launch->step())
        for (const auto& option : step->options)
          if (const auto* engine = model::find_image_option(option.name);
              engine && engine->binds_option == option.name && option.value)
            report_lost_binds(option.value->text(), option.place);
      port_unknown_options(x_porting, x_launches, found, nullptr);
      if (const auto* container = found.launch->container())
        for (const auto& option : container->options)
          if (option.value && is_bind_option(option.name))
            report_lost_binds(option.value->text(), option.place);
    }
  }

  void report_lost_binds(const std::string& text, diag::TextRange place) {
    for (const auto& mount : util::split(util::replace_all(text, ";", ","), ','))
      if (!mount.empty())
        x_porting.warn(place, "port/container",
                       fmt::format("bind '{}' is removed: the program runs outside of a container on {}",
                                   mount, x_porting.to.id),
                       fmt::format("use the path '{}' in the script, or add --container IMAGE to hpcml gen",
                                   mount.substr(0, mount.find(':'))));
  }

  void port_binds(const EngineRow& engine) {
    for (const auto& mount : x_mounts) add_mounts(mount.text, mount.place);
    for (auto& found : x_programs) {
      if (const auto* step = found.launch->step())
        for (const auto& candidate : model::k_engines)
          if (const auto* mounts =
                  candidate.binds_option.empty() ? nullptr : step->find(candidate.binds_option);
              mounts && mounts->value)
            add_bind(found, *mounts, engine);
      if (const auto* step = found.launch->step(); step && step->find("container-workdir"))
        add_directory(found, *step->find("container-workdir"), engine);
      const auto* container = found.launch->container();
      if (!container) continue;
      port_unknown_options(x_porting, x_launches, found, &engine);
      add_variables(found, engine);
      for (const auto& option : container->options) port_option(found, *container, option, engine);
    }
  }

  void port_option(FoundLaunch& found, const Link& container, const GivenOption& option,
                   const EngineRow& engine) {
    static constexpr std::string_view k_directories = " pwd cwd workdir w ";
    const auto is_in = [&](std::string_view names) {
      return holds(std::string(names), " " + option.name + " ");
    };
    const auto* old = model::find_engine_program(container.program);
    if (option.name == "nv" || option.name == "rocm" || (old && option.name == old->image_option)) return;
    if (is_bind_option(option.name)) return add_bind(found, option, engine);
    const bool same_family = old && !old->family.empty() && old->family == engine.family;
    if (!same_family && is_in(k_directories)) return add_directory(found, option, engine);
    const bool same_setting = option.name == "env" && !engine.bind.empty();
    const auto text = same_family || same_setting ? source_of(found, option) : std::nullopt;
    if (text) return found.program.image_options.push_back(*text);
    x_porting.warn(option.place, "port/container",
                   fmt::format("{} option '{}{}' is removed: it cannot be converted for {} on {}",
                               container.program, option.name.size() == 1 ? "-" : "--", option.name,
                               engine.name, x_porting.to.id),
                   "check that the program runs without this option");
  }

  /// Binds that a variable has: APPTAINER_BIND.
  void add_variables(FoundLaunch& found, const EngineRow& engine) {
    static const auto c_names = model::engine_variables({"_BIND"});
    for (const auto& name : c_names)
      if (const auto* value = found.launch->variable(name))
        add_bind(found, {name, *value, {found.begin, found.end - found.begin}}, engine);
  }

  /// Where the program starts inside the image.
  void add_directory(FoundLaunch& found, const GivenOption& option, const EngineRow& engine) {
    const auto text = option.value ? rebuilt(*option.value) : std::nullopt;
    if (text && !engine.family.empty()) return found.program.image_options.push_back("--pwd " + *text);
    x_porting.error(
        option.place, "port/container",
        fmt::format("option '{}{}' (working directory in the image) cannot be converted for {} on {}",
                    option.name.size() == 1 ? "-" : "--", option.name, engine.name, x_porting.to.id),
        "remove it from the script, and use bash -c 'cd DIR && COMMAND' as the program");
  }

  void add_bind(FoundLaunch& found, const GivenOption& option, const EngineRow& engine) {
    if (!option.value) return;
    const auto place = option.place;
    if (option.value->known()) return add_known_bind(found, option.value->text(), place, engine);
    const auto text =
        engine.bind.empty() || is_in_quoted_text(found, option) ? std::nullopt : rebuilt(*option.value);
    if (!text)
      return x_porting.error(place, "port/container",
                             fmt::format("bind '{}' cannot be imported: its directories are known only when "
                                         "the script runs",
                                         option.value->text()),
                             "remove it from the script, and add --bind SRC:DST to hpcml gen");
    found.program.image_options.push_back(std::string(engine.bind) + *text);
    x_porting.note(place, "port/container",
                   fmt::format("bind {} is kept: its directory must exist on {}", *text, x_porting.to.id),
                   "check that it exists there, or remove the bind from the script");
  }

  /// Whether the option is in the text of a `bash -c`, and not one of the step that starts this shell.
  bool is_in_quoted_text(const FoundLaunch& found, const GivenOption& option) const {
    return found.launch->command->parent &&
           std::none_of(x_launches.begin(), x_launches.end(), [&](const check::Launch& launch) {
             const auto* step = launch.command->parent ? nullptr : launch.step();
             return step && std::any_of(step->options.begin(), step->options.end(), [&](const auto& own) {
                      return own.place.offset == option.place.offset;
                    });
           });
  }

  /// A bind that the plan cannot write, because its path is relative or because it mounts a part of an image
  /// file, stays as the script has it if the engine reads it the same way.
  void add_known_bind(FoundLaunch& found, const std::string& text, diag::TextRange place,
                      const EngineRow& engine) {
    std::vector<std::string> plain;
    for (const auto& mount : util::split(util::replace_all(text, ";", ","), ',')) {
      if (mount.empty()) continue;
      const bool special = mount.front() != '/' || holds(mount, ":image-src=");
      if (!special || engine.family.empty()) {
        plain.push_back(mount);
        continue;
      }
      found.program.image_options.push_back(std::string(engine.bind) + util::shell_quote(mount));
      x_porting.note(place, "port/container",
                     fmt::format("bind '{}' is kept: {} must exist on {}", mount,
                                 mount.substr(0, mount.find(':')), x_porting.to.id),
                     "check that it exists there, or remove the bind from the script");
    }
    add_mounts(util::join(plain, ","), place);
  }

  /// Binds with plain paths belong to the request: the plan knows them.
  void add_mounts(const std::string& text, diag::TextRange place) {
    for (const auto& mount : util::split(util::replace_all(text, ";", ","), ',')) {
      if (mount.empty()) continue;
      auto parts = util::split(mount, ':');
      if (parts.size() > 2) {
        x_porting.note(
            place, "port/container",
            fmt::format("bind '{}' is kept without its option ':{}': hpcml writes only SRC:DST", mount,
                        parts[2]),
            "check that the program does not need it: without ':ro' it can write to the directory");
        parts.resize(2);
      }
      if (parts[0].empty() || parts[0][0] != '/' ||
          (parts.size() > 1 && (parts[1].empty() || parts[1][0] != '/'))) {
        x_porting.error(place, "port/container", fmt::format("bind '{}' must have absolute paths", mount),
                        "remove it from the script, and add --bind SRC:DST to hpcml gen with absolute paths");
        continue;
      }
      const auto value = util::join(parts, ":");
      auto& binds = x_porting.result.job.binds;
      if (std::any_of(binds.begin(), binds.end(), [&](const auto& bind) { return bind.value == value; }))
        continue;
      binds.push_back({value, x_porting.origin("the bind")});
      const auto stays =
          fmt::format("bind '{}' is kept: {} must exist on {}", value, parts[0], x_porting.to.id);
      if (!x_porting.is_of_new_site() && is_path_of_system(parts[0]))
        x_porting.warn(place, "port/container", stays, "remove it if the binds of the new site are enough");
      else
        x_porting.note(place, "port/container", stays,
                       "check that it exists there, or remove the bind from the script");
    }
  }

  /// Returns the option as it is written in the script.
  std::optional<std::string> source_of(const FoundLaunch& found, const GivenOption& option) const {
    const auto dashes = (option.name.size() == 1 ? "-" : "--") + option.name;
    if (!option.value) return dashes;
    if (option.value->known()) return dashes + " " + util::shell_quote(option.value->text());
    if (found.launch->command->parent) return std::nullopt;
    return std::string(x_porting.text.substr(option.place.offset, option.place.length));
  }

  ImportState& x_porting;
  const slurm::ScriptHeader& x_header;
  const std::vector<check::Launch>& x_launches;
  std::vector<FoundLaunch>& x_programs;
  std::optional<Image> x_image;
  bool x_by_header = false; ///< the image is of the whole job
  std::vector<Mount> x_mounts;
};

} // namespace

bool is_image_option(std::string_view word) {
  if (!word.starts_with("--")) return false;
  const auto name = word.substr(2, word.find('=') == std::string_view::npos ? word.npos : word.find('=') - 2);
  return model::find_image_option(name) != nullptr;
}

void port_image(ImportState& porting, const slurm::ScriptHeader& header,
                const std::vector<check::Launch>& launches, std::vector<FoundLaunch>& programs) {
  ImagePorter(porting, header, launches, programs).port();
}

} // namespace hpcml::import_script
