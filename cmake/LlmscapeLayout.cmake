# SPDX-License-Identifier: Apache-2.0
# llmscape_lay_out(TARGET): links the functions that nearly every request runs through side by side (request_path.ld).
# There are some 350 of them, 200 of 5,600 KiB of code: spread among the rest they lie on more pages than a processor
# keeps addresses of, and a run takes some 3 % longer (docs/speed.md). Linkers that know no such script go without.
include(CheckCXXSourceCompiles)
set(LLMSCAPE_LAYOUT "${PROJECT_SOURCE_DIR}/cmake/request_path.ld")
set(CMAKE_REQUIRED_LINK_OPTIONS "-Wl,-T,${LLMSCAPE_LAYOUT}")
check_cxx_source_compiles("int main() { return 0; }" LLMSCAPE_LINKER_TAKES_LAYOUT)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

function(llmscape_lay_out target)
  if(LLMSCAPE_LINKER_TAKES_LAYOUT)
    target_link_options(${target} PRIVATE "$<$<CONFIG:Release>:-Wl,-T,${LLMSCAPE_LAYOUT}>")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${LLMSCAPE_LAYOUT}")
  endif()
endfunction()
