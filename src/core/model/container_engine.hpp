// SPDX-License-Identifier: MIT
// Engines that run images on a cluster: a row for each. Code does not compare their names; a new property is
// a new column.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/enum_names.hpp"
#include "core/model/program_syntax.hpp"

namespace hpcml::model {

/// The engines that gen writes scripts for.
enum class ContainerEngine : std::uint8_t { singularity, apptainer, shifter, pyxis, edf, uenv };

/// What an image is: a file that one engine runs, a name in a registry, a description of an environment.
enum class ImageForm : std::uint8_t { file, squashed, registry, edf, uenv };

/// All that is known of an engine.
struct EngineRow {
  std::string_view name;                      ///< in profiles and flags
  std::optional<ContainerEngine> engine = {}; ///< nothing: it is known in scripts of others only
  ProgramSyntax words = {};                   ///< its program's; no name: it has none
  bool by_slurm = false; ///< an image starts by options of Slurm, not by a program before the command
  bool keeps_host =
      false;             ///< the host's own files and programs stay: it is next to them, others replace them
  bool in_chain = false; ///< what is after its program is seen to run in the image
  bool of_sites = false; ///< a site that has no such engine does not run its program
  std::string_view family = ""; ///< programs of one family exist under each other's name
  /// Options with a value that its plugin gives Slurm, without dashes and between spaces.
  std::string_view step_options = "";
  std::string_view option_start = ""; ///< how all options of the plugin begin
  std::string_view image_option = ""; ///< the one of them, or of its program, that names the image
  std::string_view binds_option = ""; ///< the one of them for binds
  std::string_view exec = "";         ///< its subcommand, with what always is after it, that runs a command
  std::string_view behind_image = ""; ///< what is between the image and the command
  std::string_view bind = "";         ///< what is before a bind in its program's words; empty: it takes none
  bool bind_lists = false;            ///< its -B takes SOURCE:TARGET:ro, several separated by commas
  std::string_view gpu_options = "";  ///< options of its program that bring the GPU driver, between spaces
  std::string_view variables = "";    ///< beginning of the names of its variables: "APPTAINER"
  std::string_view downloads = "";    ///< subcommands that fetch an image, between spaces
  /// Its processes that stay above the program and pass signals on to it, as the kernel names them.
  std::string_view starters = "";
  bool clears_environment = false; ///< its images get no variable unless an option names it
  /// Options of its program, without dashes and between spaces, that hide the environment from the image; of
  /// one that ends in "=" those variables whose names match its value.
  std::string_view clearing_options = "";
  std::string_view passing_options = ""; ///< likewise, those that hand all of it on
  std::optional<ImageForm> named_form =
      {};                                ///< of what its option or program names; else by the name's own form
  std::array<ImageForm, 3> takes = {};   ///< images that it runs
  std::size_t taken = 0;                 ///< how many of these
  std::string_view registry_scheme = ""; ///< before the name of a registry's image
  bool registry_hash = false;            ///< "registry#image" stays; others write a slash
  std::string_view example = "";         ///< how its images are written
  bool by_description =
      false; ///< its image is a description in a file: the job writes its own one, srun enters it
  bool mounts_in_image = false; ///< squashfs files are mounted by the image's own name
};

namespace rows {

inline constexpr std::string_view k_apptainer_values =
    " -B --bind -W --workdir -H --home --env --env-file --pwd --overlay -o --network --security --scratch -S "
    "--fakeroot-uid --app --dns --hostname --mount --cwd "
    "--contain-uid --fusemount --apply-cgroups --add-caps --drop-caps ";
inline constexpr std::string_view k_oci_values =
    " -v --volume -e --env --env-file -w --workdir --name --net --network --gpus --device --mount --shm-size "
    "--ipc -u --user --entrypoint --ulimit ";

constexpr ProgramSyntax wrapper_words(std::string_view name) {
  return {.name = name, .values = k_apptainer_values, .subcommands = " exec run ", .joins_letters = true};
}

constexpr ProgramSyntax oci_words(std::string_view name) {
  return {.name = name,
          .values = k_oci_values,
          .operands = 1,
          .subcommands = " run exec ",
          .joins_letters = true};
}

/// Apptainer is Singularity by its new name.
constexpr EngineRow apptainer_row(std::string_view name, ContainerEngine engine, std::string_view variables) {
  return {.name = name,
          .engine = engine,
          .words = {.name = name,
                    .values = k_apptainer_values,
                    .operands = 1,
                    .subcommands = " exec run shell ",
                    .joins_letters = true},
          .in_chain = true,
          .of_sites = true,
          .family = "apptainer",
          .exec = "exec",
          .bind = "--bind ",
          .bind_lists = true,
          .gpu_options = " nv nvccli rocm ",
          .variables = variables,
          .downloads = " pull build ",
          .starters = " starter starter-suid ",
          .takes = {ImageForm::file, ImageForm::squashed, ImageForm::registry},
          .taken = 3,
          .registry_scheme = "docker://",
          .example = "/path/to/image.sif"};
}

} // namespace rows

/// The engines.
inline constexpr auto k_engines = std::to_array<EngineRow>({
    rows::apptainer_row("singularity", ContainerEngine::singularity, "SINGULARITY"),
    rows::apptainer_row("apptainer", ContainerEngine::apptainer, "APPTAINER"),
    {.name = "shifter",
     .engine = ContainerEngine::shifter,
     .words = {.name = "shifter",
               .values = " --image -V --volume --module --env --env-file --entrypoint --workdir -w ",
               .joins_letters = true},
     .by_slurm = true,
     .in_chain = true,
     .of_sites = true,
     .step_options = " image module volume ",
     .image_option = "image",
     .binds_option = "volume",
     .bind = "--volume=",
     .clearing_options = " clearenv E ",
     .named_form = ImageForm::registry,
     .takes = {ImageForm::registry},
     .taken = 1,
     .example = "REPOSITORY/IMAGE:TAG"},
    {.name = "pyxis",
     .engine = ContainerEngine::pyxis,
     .by_slurm = true,
     .step_options = " container-image container-mounts container-workdir container-name container-save "
                     "container-env ",
     .option_start = "container-",
     .image_option = "container-image",
     .binds_option = "container-mounts",
     .takes = {ImageForm::registry, ImageForm::squashed},
     .taken = 2,
     .registry_hash = true,
     .example = "REPOSITORY/IMAGE:TAG"},
    {.name = "edf",
     .engine = ContainerEngine::edf,
     .by_slurm = true,
     .step_options = " environment ",
     .image_option = "environment",
     .named_form = ImageForm::edf,
     .takes = {ImageForm::edf},
     .taken = 1,
     .example = "~/.edf/IMAGE.toml",
     .by_description = true},
    {.name = "uenv",
     .engine = ContainerEngine::uenv,
     .by_slurm = true,
     .keeps_host = true,
     .step_options = " uenv view ",
     .image_option = "uenv",
     .named_form = ImageForm::uenv,
     .takes = {ImageForm::uenv},
     .taken = 1,
     .example = "NAME/VERSION:TAG",
     .mounts_in_image = true},
    {.name = "podman-hpc",
     .words = {.name = "podman-hpc",
               .values = " -v --volume -e --env -w --workdir --name --net --network ",
               .operands = 1,
               .subcommands = " run exec ",
               .joins_letters = true},
     .in_chain = true,
     .named_form = ImageForm::registry},
    {.name = "docker", .words = rows::oci_words("docker"), .of_sites = true, .clears_environment = true},
    {.name = "podman",
     .words = rows::oci_words("podman"),
     .of_sites = true,
     .clears_environment = true,
     .passing_options = " env-host "},
    {.name = "sarus",
     .words = {.name = "sarus",
               .values = " --mount --device --workdir -w --entrypoint --env -e ",
               .operands = 1,
               .subcommands = " run "},
     .of_sites = true},
    {.name = "charliecloud",
     .words = {.name = "ch-run",
               .values = " -b --bind -c --cd -g --gid -m --mount -u --uid -s --storage ",
               .operands = 1,
               .joins_letters = true},
     .clearing_options = " unset-env= "},
    // Scripts of a site's modules that name the image themselves.
    {.name = "singularity_wrapper", .words = rows::wrapper_words("singularity_wrapper")},
    {.name = "apptainer_wrapper", .words = rows::wrapper_words("apptainer_wrapper")},
});

template <>
inline constexpr auto k_words<ContainerEngine> = [] {
  constexpr auto c_count = std::count_if(k_engines.begin(), k_engines.end(),
                                         [](const EngineRow& row) { return row.engine.has_value(); });
  std::array<NamedValue<ContainerEngine>, c_count> words = {};
  std::size_t at = 0;
  for (const auto& row : k_engines)
    if (row.engine) words[at++] = {row.name, *row.engine};
  return words;
}();

/// The engines' names as profiles and flags take them.
inline constexpr auto k_engine_names = [] {
  std::array<std::string_view, k_words<ContainerEngine>.size()> names = {};
  std::transform(k_words<ContainerEngine>.begin(), k_words<ContainerEngine>.end(), names.begin(),
                 [](const auto& word) { return word.text; });
  return names;
}();

/// What is known of the engine.
constexpr const EngineRow& row_of(ContainerEngine engine) {
  return *std::find_if(k_engines.begin(), k_engines.end(),
                       [&](const EngineRow& row) { return row.engine == engine; });
}
/// The engine whose program this is, by its name without directory; nothing where none is.
const EngineRow* find_engine_program(std::string_view program);
/// The programs that are before a command and take it into an image; the newest name of a family first.
std::vector<std::string> engine_programs();
/// The engine whose plugin brings the option, written without dashes, to Slurm; nothing where none is known.
const EngineRow* find_engine_option(std::string_view option);
/// The variables that engines read under a name that begins with theirs: of "_BIND" SINGULARITY_BIND,
/// APPTAINER_BIND.
std::vector<std::string> engine_variables(std::initializer_list<std::string_view> ends);
/// The engine whose image or whose binds an option of Slurm names; nothing where it is none such.
const EngineRow* find_image_option(std::string_view option);
/// True if the end of the name is that of an image file.
bool has_image_ending(std::string_view name);

} // namespace hpcml::model
