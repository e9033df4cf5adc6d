# Adds NCCL (on AMD: RCCL, under the same names) to hpcml::libtorch where this LibTorch was built with it and the vendor's
# headers are here; otherwise says what is missing, and the process group uses Gloo only.
set(HPCML_TORCH_NCCL OFF)
if(EXISTS "${hpcml_torch_lib}/libtorch_cuda.so")
  set(hpcml_gpu_kind cuda)
elseif(EXISTS "${hpcml_torch_lib}/libtorch_hip.so")
  set(hpcml_gpu_kind hip)
else()
  message(STATUS "NCCL: this LibTorch is a CPU build; the process group uses Gloo")
  return()
endif()

# The wheels bring the CUDA headers in packages beside torch; a toolkit or ROCm has them in one place.
file(GLOB hpcml_wheel_includes "${hpcml_torch_root}/../nvidia/*/include")
set(hpcml_gpu_hints ${hpcml_wheel_includes} $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include
  $ENV{ROCM_PATH}/include /opt/rocm/include)
if(hpcml_gpu_kind STREQUAL "cuda")
  set(hpcml_gpu_headers cuda_runtime_api.h nccl.h cusparse.h cublas_v2.h cusolverDn.h)
  # What these include in some releases; wheels of CUDA 13 have them in packages that torch does not bring.
  set(hpcml_gpu_more_headers crt/host_config.h nv/target)
  set(hpcml_gpu_definitions USE_C10D_NCCL)
else()
  set(hpcml_gpu_headers hip/hip_runtime_api.h)
  set(hpcml_gpu_more_headers "")
  set(hpcml_gpu_definitions USE_C10D_NCCL USE_ROCM __HIP_PLATFORM_AMD__=1)
endif()

set(hpcml_gpu_includes "")
set(hpcml_gpu_missing "")
set(hpcml_gpu_more_missing "")
foreach(header IN LISTS hpcml_gpu_headers hpcml_gpu_more_headers)
  string(MAKE_C_IDENTIFIER "HPCML_DIR_OF_${header}" variable)
  find_path(${variable} ${header} HINTS ${hpcml_gpu_hints} PATH_SUFFIXES rccl cccl)
  mark_as_advanced(${variable})
  if(${variable})
    list(APPEND hpcml_gpu_includes ${${variable}})
  elseif(header IN_LIST hpcml_gpu_more_headers)
    list(APPEND hpcml_gpu_more_missing ${header})
  else()
    list(APPEND hpcml_gpu_missing ${header})
  endif()
endforeach()
if(hpcml_gpu_kind STREQUAL "hip")
  foreach(directory IN LISTS hpcml_gpu_includes)
    if(EXISTS "${directory}/rccl/rccl.h")
      list(APPEND hpcml_gpu_includes ${directory}/rccl)
    endif()
  endforeach()
endif()
if(hpcml_gpu_missing)
  string(REPLACE ";" ", " hpcml_gpu_missing "${hpcml_gpu_missing}")
  message(STATUS "NCCL: left out, because these headers are not here: ${hpcml_gpu_missing}. "
    "Load the cluster's CUDA or ROCm module, or set CUDA_HOME or ROCM_PATH, and configure again; until then the process group uses Gloo only.")
  return()
endif()
list(REMOVE_DUPLICATES hpcml_gpu_includes)

# Asked of the compiler and not of a table: what the header needs differs from release to release.
file(GLOB hpcml_gpu_libraries "${hpcml_torch_lib}/libtorch_cuda.so" "${hpcml_torch_lib}/libc10_cuda.so"
  "${hpcml_torch_lib}/libtorch_hip.so" "${hpcml_torch_lib}/libc10_hip.so")
set(hpcml_probe_definitions ${hpcml_torch_definitions} ${hpcml_gpu_definitions})
list(TRANSFORM hpcml_probe_definitions PREPEND "-D") # try_compile hands them on as they are
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)    # and knows this as a variable of the caller only: nothing is to be linked
try_compile(HPCML_NCCL_HEADER_COMPILES ${CMAKE_BINARY_DIR}/_deps/nccl_probe
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/nccl_probe.cpp
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${hpcml_torch_include};${hpcml_torch_include}/torch/csrc/api/include;${hpcml_gpu_includes}"
  COMPILE_DEFINITIONS ${hpcml_probe_definitions}
  CXX_STANDARD ${HPCML_TORCH_CXX_STANDARD} OUTPUT_VARIABLE hpcml_nccl_output)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
if(NOT HPCML_NCCL_HEADER_COMPILES)
  file(WRITE ${CMAKE_BINARY_DIR}/nccl_probe.log "${hpcml_nccl_output}")
  set(hpcml_gpu_hint "")
  if(hpcml_gpu_more_missing)
    string(REPLACE ";" ", " hpcml_gpu_hint "; not here: ${hpcml_gpu_more_missing}, in pip's nvidia-cuda-crt and nvidia-cuda-cccl or the CUDA module")
  endif()
  message(STATUS "NCCL: left out, because LibTorch's NCCL header does not compile here (${CMAKE_BINARY_DIR}/nccl_probe.log${hpcml_gpu_hint}); "
    "the process group uses Gloo only")
  return()
endif()
set(HPCML_TORCH_NCCL ON)
message(STATUS "NCCL: on (${hpcml_gpu_kind})")
target_include_directories(hpcml_libtorch SYSTEM INTERFACE ${hpcml_gpu_includes})
target_compile_definitions(hpcml_libtorch INTERFACE ${hpcml_gpu_definitions})
# The driver's library comes with the compute nodes; the machine that builds may lack it. GPU kernels register
# themselves when the library is loaded, so the linker may not drop it as unused.
target_link_libraries(hpcml_libtorch INTERFACE -Wl,--no-as-needed ${hpcml_gpu_libraries} -Wl,--as-needed)
target_link_options(hpcml_libtorch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
