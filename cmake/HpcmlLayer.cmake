# Two files of a directory may not use one name for two things: with -DHPCML_UNITY=OFF the compiler would not say so.
# hpcml_compile_together(TARGET [SOURCES_AT_ONCE])
function(hpcml_compile_together TARGET)
  set(at_once ${ARGN} 24)
  list(GET at_once 0 at_once)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ${HPCML_UNITY} UNITY_BUILD_BATCH_SIZE ${at_once})
endfunction()

# What runs once per command, or mostly waits, is optimised less: three quarters of the time to compile.
function(hpcml_optimise_less TARGET)
  if(NOT MSVC)
    target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# hpcml_tests_together(OUT SOURCES...): the sources of a directory of tests, twelve to a file, each in a namespace of its own, so
# that two tests may use one name for two things. OUT is what to compile; a test's own words stay where errors point.
function(hpcml_tests_together OUT)
  set(sources ${ARGN})
  if(HPCML_UNITY)
    set(sources "")
    set(script ${PROJECT_SOURCE_DIR}/cmake/tests_together.cmake)
    while(ARGN)
      list(SUBLIST ARGN 0 12 some)
      list(REMOVE_ITEM ARGN ${some})
      list(LENGTH sources number)
      set(together ${CMAKE_CURRENT_BINARY_DIR}/together/${OUT}_${number}.cpp)
      add_custom_command(OUTPUT ${together} COMMAND ${CMAKE_COMMAND} "-DSOURCES=${some}" -DTOGETHER=${together} -P ${script}
        DEPENDS ${some} ${script} VERBATIM)
      list(APPEND sources ${together})
    endwhile()
  endif()
  set(${OUT} ${sources} PARENT_SCOPE)
endfunction()

# hpcml_layer(DIRECTORY [HOT] [NAME name] [LINK libs...]): src/DIRECTORY/*.cpp as the static library hpcml_NAME; the name is the last
# part of the directory unless it is set. Adding a file needs no edit here.
# HOT: long inputs go through it; it is optimised fully. The others share options and the precompiled headers.
add_library(hpcml_settings INTERFACE)
target_compile_options(hpcml_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
# GCC 12 sees overlaps in optimised std::string concatenations that are not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(hpcml_settings INTERFACE -Wno-restrict)
endif()
if(HPCML_WERROR)
  target_compile_options(hpcml_settings INTERFACE -Werror)
endif()
if(HPCML_SANITIZE STREQUAL "thread")
  target_compile_options(hpcml_settings INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(hpcml_settings INTERFACE -fsanitize=thread)
elseif(HPCML_SANITIZE)
  # The four take a third of the time to compile; of what they find AddressSanitizer stops at a null pointer, too, and x86 minds no alignment.
  target_compile_options(hpcml_settings INTERFACE -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(hpcml_settings INTERFACE -fsanitize=address,undefined)
endif()

# The linker leaves out what nobody calls: a tenth of the program, which every start would map and relocate.
if(NOT MSVC AND NOT HPCML_SANITIZE)
  target_compile_options(hpcml_settings INTERFACE -ffunction-sections -fdata-sections)
endif()

# The standard headers that most sources include. Sources that are compiled one by one include them themselves, so that
# -DHPCML_UNITY=OFF finds a missing #include.
function(hpcml_share_headers TARGET)
  hpcml_optimise_less(${TARGET})
  if(NOT HPCML_UNITY)
    return()
  endif()
  if(NOT TARGET hpcml_layer_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/layer_headers.cpp "// The precompiled headers of the layers need a source.\n")
    add_library(hpcml_layer_headers OBJECT ${CMAKE_BINARY_DIR}/generated/layer_headers.cpp)
    target_link_libraries(hpcml_layer_headers PRIVATE hpcml_settings hpcml_text)
    hpcml_optimise_less(hpcml_layer_headers)
    target_precompile_headers(hpcml_layer_headers PRIVATE <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory>
      <optional> <set> <span> <string> <string_view> <variant> <vector> <fmt/format.h>)
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM hpcml_layer_headers)
endfunction()

function(hpcml_layer DIRECTORY)
  cmake_parse_arguments(ARG "HOT" "NAME" "LINK" ${ARGN})
  get_filename_component(name ${DIRECTORY} NAME)
  if(ARG_NAME)
    set(name ${ARG_NAME})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${DIRECTORY}/*.cpp)
  if(sources)
    add_library(hpcml_${name} STATIC ${sources})
    target_include_directories(hpcml_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(hpcml_${name} PUBLIC ${ARG_LINK} PRIVATE hpcml_settings)
    hpcml_compile_together(hpcml_${name})
    if(NOT ARG_HOT)
      hpcml_share_headers(hpcml_${name})
    endif()
  else()
    add_library(hpcml_${name} INTERFACE)
    target_link_libraries(hpcml_${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# Writes FILE with a line HPCML_RULE(rule_NAME) for each NAME.cpp in DIRECTORY and lets TARGET include it: a new rule is a new file.
function(hpcml_list_rules TARGET DIRECTORY FILE)
  file(GLOB files CONFIGURE_DEPENDS ${DIRECTORY}/*.cpp)
  set(text "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND text "HPCML_RULE(rule_${name})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/${FILE} CONTENT "${text}" @ONLY)
  target_include_directories(${TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
