# SPDX-License-Identifier: Apache-2.0
# llmscape_library(NAME SOURCES... PUBLIC libs... PRIVATE libs...): one floor or a folder of it as a static library llmscape_NAME.
function(llmscape_flags target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # No fused multiply-add: the same input gives the same bytes on every machine.
  # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
  # GCC 13 and 14 see members of std::variant that are not set, of alternatives that it does not hold.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wno-restrict -ffp-contract=off
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized>
    $<$<BOOL:${LLMSCAPE_WERROR}>:-Werror>)
endfunction()

# ONCE: what it does is done once in a run of the program, so that -O1 is fast enough: it compiles in three quarters of the time.
# ALONE: those of its sources that are compiled one by one, because names of their anonymous namespaces meet others there.
# All others are compiled in batches: a file of this project is mostly the headers that it includes, and a cold build takes
# a third of the time.
function(llmscape_library name)
  cmake_parse_arguments(ARG "ONCE" "" "SOURCES;ALONE;PUBLIC;PRIVATE" ${ARGN})
  add_library(llmscape_${name} STATIC ${ARG_SOURCES})
  llmscape_batches(llmscape_${name} ${ARG_ALONE})
  add_library(llmscape::${name} ALIAS llmscape_${name})
  llmscape_flags(llmscape_${name})
  if(ARG_ONCE)
    llmscape_compile_fast(llmscape_${name})
  endif()
  target_link_libraries(llmscape_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# llmscape_module(NAME SOURCES... PRIVATE libs...): a part of the program that is loaded when it is needed (base/module.hpp).
# What it shares with the rest is compiled into both.
function(llmscape_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE" ${ARGN})
  set(target llmscape_${name}_module)
  add_library(${target} MODULE ${ARG_SOURCES})
  llmscape_flags(${target})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME llmscape-${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
  target_link_libraries(${target} PRIVATE ${ARG_PRIVATE})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/llmscape)
endfunction()

function(llmscape_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 25)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(llmscape_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# llmscape_test(NAME SOURCES... LIBS... LABELS...): one doctest program, registered with ctest under NAME. Its suite, the
# folder of tests/ that it stands in, is a label too.
function(llmscape_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  llmscape_batches(test_${name})
  llmscape_flags(test_${name})
  target_compile_definitions(test_${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_link_libraries(test_${name} PRIVATE llmscape_test_main ${ARG_LIBS})
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE suite)
  string(REGEX REPLACE "/.*" "" suite ${suite})
  set_tests_properties(${name} PROPERTIES LABELS "${suite};${ARG_LABELS}")
endfunction()
