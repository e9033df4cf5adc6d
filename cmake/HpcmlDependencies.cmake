# Every dependency through find_package first; elsewhere a pinned download with the same target names.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt GIT_TAG 9.1.0 FIND_PACKAGE_ARGS 9)
FetchContent_Declare(spdlog GIT_REPOSITORY https://github.com/gabime/spdlog GIT_TAG v1.10.0 FIND_PACKAGE_ARGS 1.9)
FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json GIT_TAG v3.11.2 FIND_PACKAGE_ARGS 3.9)
FetchContent_Declare(CLI11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11 GIT_TAG v2.1.2 FIND_PACKAGE_ARGS 2)
FetchContent_MakeAvailable(fmt spdlog nlohmann_json CLI11)

find_package(Threads REQUIRED)

# Two header-only libraries whose packages bring no target that works everywhere.
find_path(HPCML_MUSTACHE_INCLUDE kainjow/mustache.hpp)
if(NOT HPCML_MUSTACHE_INCLUDE)
  FetchContent_Declare(kainjow_mustache GIT_REPOSITORY https://github.com/kainjow/Mustache GIT_TAG v4.1)
  FetchContent_MakeAvailable(kainjow_mustache)
  file(COPY ${kainjow_mustache_SOURCE_DIR}/mustache.hpp DESTINATION ${CMAKE_BINARY_DIR}/_deps/mustache/kainjow)
  set(HPCML_MUSTACHE_INCLUDE ${CMAKE_BINARY_DIR}/_deps/mustache CACHE PATH "" FORCE)
endif()
add_library(hpcml_mustache INTERFACE)
target_include_directories(hpcml_mustache SYSTEM INTERFACE ${HPCML_MUSTACHE_INCLUDE})

find_path(HPCML_VALIJSON_INCLUDE valijson/validator.hpp)
if(NOT HPCML_VALIJSON_INCLUDE)
  FetchContent_Declare(valijson GIT_REPOSITORY https://github.com/tristanpenman/valijson GIT_TAG v1.0)
  FetchContent_GetProperties(valijson)
  if(NOT valijson_POPULATED)
    FetchContent_Populate(valijson)
  endif()
  set(HPCML_VALIJSON_INCLUDE ${valijson_SOURCE_DIR}/include CACHE PATH "" FORCE)
endif()
add_library(hpcml_valijson INTERFACE)
target_include_directories(hpcml_valijson SYSTEM INTERFACE ${HPCML_VALIJSON_INCLUDE})
