# SPDX-License-Identifier: Apache-2.0
# Enables CUDA where a toolkit is found: LLMSCAPE_HAS_CUDA says whether. Without one everything else builds as it does with.
option(LLMSCAPE_CUDA "Build the CUDA kernels where a CUDA toolkit is found" ON)
set(LLMSCAPE_HAS_CUDA FALSE)
if(LLMSCAPE_CUDA)
  find_program(LLMSCAPE_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(LLMSCAPE_NVCC AND NOT DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${LLMSCAPE_NVCC}")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # named in llmscape_cuda_flags
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(LLMSCAPE_HAS_CUDA TRUE)
    if(CMAKE_VERSION VERSION_LESS 3.26)  # it does not know that nvcc has C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    if(CCACHE_PROGRAM)
      set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)  # so that the program starts where there is no driver
    find_package(CUDAToolkit REQUIRED)
  endif()
endif()

# llmscape_cuda_library(NAME SOURCES... PUBLIC libs...): .cu files as a static library llmscape_NAME. Machine code for the
# data-center GPUs in one fat binary, and PTX that the driver compiles for the others: 80 runs on 86 and 89 as it is; 90a,
# unlike 90, has Hopper's own matrix instructions; 100 where the compiler knows it.
function(llmscape_cuda_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC" ${ARGN})
  add_library(llmscape_${name} STATIC ${ARG_SOURCES})
  add_library(llmscape::${name} ALIAS llmscape_${name})
  target_include_directories(llmscape_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_options(llmscape_${name} PRIVATE --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow
    -gencode=arch=compute_80,code=[sm_80,compute_80] -gencode=arch=compute_90a,code=sm_90a
    $<$<VERSION_GREATER_EQUAL:${CMAKE_CUDA_COMPILER_VERSION},12.8>:-gencode=arch=compute_100,code=sm_100>
    $<$<BOOL:${LLMSCAPE_WERROR}>:-Werror=all-warnings>)
  target_link_libraries(llmscape_${name} PUBLIC ${ARG_PUBLIC})
endfunction()
