# SPDX-License-Identifier: Apache-2.0
# Every dependency comes from the system's packages: nothing is downloaded at configure time.
find_package(yaml-cpp REQUIRED)
find_package(Boost REQUIRED)
find_package(fmt REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

# The optimiser of `llmscape optimize`.
find_package(pagmo REQUIRED)

# The harness measures with oneDNN on one OpenMP thread. oneDNN's own package files ask for OpenCL's headers as well.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(ONEDNN_LIBRARY dnnl REQUIRED)
add_library(oneDNN::oneDNN UNKNOWN IMPORTED)
set_target_properties(oneDNN::oneDNN PROPERTIES
  IMPORTED_LOCATION "${ONEDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ONEDNN_INCLUDE_DIR}")

find_package(SimGrid QUIET)  # found only where SimGrid was installed from source
if(NOT TARGET SimGrid::SimGrid)
  pkg_check_modules(SIMGRID REQUIRED IMPORTED_TARGET GLOBAL simgrid>=3.32)
  add_library(SimGrid::SimGrid ALIAS PkgConfig::SIMGRID)
endif()

if(LLMSCAPE_TESTS)
  find_package(doctest REQUIRED)
endif()
