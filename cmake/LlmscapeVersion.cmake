# SPDX-License-Identifier: Apache-2.0
# The target llmscape_version: one file that says which commit, compiler and build type this binary is. The file is made
# again by every build, by this same script, and replaced only when it changed: a new commit recompiles one file and relinks.
if(CMAKE_SCRIPT_MODE_FILE)  # cmake -D SOURCE_DIR= -D OUTPUT= -D NUMBER= -D COMPILER= -D BUILD_TYPE= -P LlmscapeVersion.cmake
  # Takes no lock and trusts a tree of another owner: building must not depend on who made the checkout. Naming .git keeps
  # an unpacked archive from taking the commit of a repository around it.
  set(git git -c safe.directory=${SOURCE_DIR} --no-optional-locks --git-dir=.git)
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(revision unknown)
  endif()
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty true)
  else()
    set(dirty false)
  endif()
  set(text "// Written by cmake/LlmscapeVersion.cmake.
#include \"sim/cli/version.hpp\"

const llmscape::cli::Version& llmscape::cli::version() {
  static constexpr Version kVersion{\"${NUMBER}\", \"${revision}\", ${dirty}, \"${COMPILER}\", \"${BUILD_TYPE}\"};
  return kVersion;
}
")
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}" @ONLY)  # leaves a file with the same content alone
  return()
endif()

set(version_source ${PROJECT_BINARY_DIR}/sim/cli/version.cpp)
add_custom_target(llmscape_version_source
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D OUTPUT=${version_source} -D NUMBER=${PROJECT_VERSION}
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
    -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${version_source}
  COMMENT "Reading the version from git"
  VERBATIM)
llmscape_library(version SOURCES ${version_source})
add_dependencies(llmscape_version llmscape_version_source)
