# SPDX-License-Identifier: Apache-2.0
# llmscape_header_tests(folders...): each header below the folders is compiled alone, without any library's include path,
# as one object library. Building it is the test.
function(llmscape_header_tests)
  set(sources "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
    foreach(header IN LISTS headers)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${header}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"  // again: it is guarded\n")
      list(APPEND sources ${source})
    endforeach()
  endforeach()
  add_library(llmscape_header_tests OBJECT ${sources})
  llmscape_flags(llmscape_header_tests)
endfunction()
