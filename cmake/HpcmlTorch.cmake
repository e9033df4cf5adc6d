# Defines hpcml::libtorch (headers, libraries, ABI), or sets HPCML_TORCH OFF and says why. Which LibTorch: HpcmlFindTorch.cmake.
include(HpcmlFindTorch)
# The choice is kept: a later automatic run of CMake, in a shell without the Python environment, must not change the LibTorch.
set(HPCML_TORCH_ROOT "" CACHE STRING "The chosen torch directory, or 'system'; empty: choose again")
mark_as_advanced(HPCML_TORCH_ROOT)
hpcml_find_torch("${HPCML_TORCH_ROOT}")
if(hpcml_torch_problem)
  message(STATUS "LibTorch: ${hpcml_torch_problem}. Until then hpcml is built without preflight, hpcml::ddp and the training examples.")
  set(HPCML_TORCH OFF)
  return()
endif()
if(hpcml_torch_root)
  set(HPCML_TORCH_ROOT "${hpcml_torch_root}" CACHE STRING "" FORCE)
else()
  set(HPCML_TORCH_ROOT system CACHE STRING "" FORCE)
endif()
set(HPCML_TORCH_VERSION "${hpcml_torch_version}")
message(STATUS "LibTorch ${HPCML_TORCH_VERSION} (${hpcml_torch_from}: ${hpcml_torch_place})")

set(hpcml_torch_libraries ${hpcml_torch_lib}/libtorch.so ${hpcml_torch_lib}/libtorch_cpu.so ${hpcml_torch_lib}/libc10.so)
set(hpcml_torch_definitions USE_DISTRIBUTED USE_C10D_GLOO ${hpcml_torch_abi})

# Gloo's headers: ProcessGroupGloo.hpp includes them, wheels do not ship them; the symbols are inside libtorch_cpu.
find_path(HPCML_GLOO_INCLUDE gloo/rendezvous/store.h HINTS "${hpcml_torch_include}")
mark_as_advanced(HPCML_GLOO_INCLUDE)
if(NOT HPCML_GLOO_INCLUDE)
  FetchContent_Declare(gloo GIT_REPOSITORY https://github.com/pytorch/gloo GIT_TAG 5b143513263133af2b95547e97c07cebeb72bf72)
  FetchContent_GetProperties(gloo)
  if(NOT gloo_POPULATED)
    FetchContent_Populate(gloo)
  endif()
  # Only headers are wanted, and the one that Gloo's own build generates.
  set(hpcml_gloo_headers ${CMAKE_BINARY_DIR}/_deps/gloo-headers)
  file(COPY ${gloo_SOURCE_DIR}/gloo DESTINATION ${hpcml_gloo_headers} FILES_MATCHING PATTERN "*.h")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/gloo_config.h.in ${hpcml_gloo_headers}/gloo/config.h @ONLY)
  set(HPCML_GLOO_INCLUDE ${hpcml_gloo_headers} CACHE PATH "" FORCE)
endif()

add_library(hpcml_libtorch INTERFACE)
add_library(hpcml::libtorch ALIAS hpcml_libtorch)
target_include_directories(hpcml_libtorch SYSTEM INTERFACE
  ${hpcml_torch_include} ${hpcml_torch_include}/torch/csrc/api/include ${HPCML_GLOO_INCLUDE})
target_link_libraries(hpcml_libtorch INTERFACE ${hpcml_torch_libraries} Threads::Threads)
target_compile_definitions(hpcml_libtorch INTERFACE ${hpcml_torch_definitions})
# Warnings are ours; in a torch that is newer than the headers' author knew, deprecations are not errors.
target_compile_options(hpcml_libtorch INTERFACE -Wno-deprecated-declarations)
if(HPCML_TORCH_VERSION VERSION_LESS 2.9)
  set(HPCML_TORCH_CXX_STANDARD 17)
else()
  set(HPCML_TORCH_CXX_STANDARD 20)
endif()

include(HpcmlTorchGpu)
