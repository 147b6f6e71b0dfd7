# SPDX-License-Identifier: Apache-2.0
# llmscape_page(TARGET FOLDER SCRIPTS...): compiles the page of `llmscape report` into TARGET as one string, from
# page.html, style.css and the modules of FOLDER. The modules become one script: each stands behind those that it
# imports, as the list has them, and the lines of import and the words of export go. What the page's policy lets run is
# the script and the style with just these hashes.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(llmscape_page target folder)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/page_template.cpp)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE scripts)
    string(REPLACE ";" "," names "${ARGN}")
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D FOLDER=${CMAKE_CURRENT_SOURCE_DIR}/${folder} -D SCRIPTS=${names} -D OUTPUT=${output}
        -P ${PROJECT_SOURCE_DIR}/cmake/LlmscapePage.cmake
      DEPENDS ${PROJECT_SOURCE_DIR}/cmake/LlmscapePage.cmake ${scripts} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/page.html
        ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/style.css
      COMMENT "Putting the report's page together"
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

# The SHA-256 of a text in base64, as policies of pages write it: three hexadecimal digits are two of base64.
function(base64_hash text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  string(APPEND hex 00)  # 256 bits are 42 2/3 digits
  set(base64 "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${hex} ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING ${digits} ${high} 1 first)
    string(SUBSTRING ${digits} ${low} 1 second)
    string(APPEND base64 ${first}${second})
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "${base64}=" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/style.css style)
set(script "")
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
foreach(name IN LISTS SCRIPTS)
  file(READ ${FOLDER}/${name} module)
  string(REGEX REPLACE "\nimport [^\n]*" "" module "${module}")
  string(REGEX REPLACE "\nexport " "\n" module "${module}")
  string(REPLACE "// SPDX-License-Identifier: Apache-2.0\n" "" module "${module}")
  string(APPEND script "${module}")
endforeach()
string(PREPEND script "// SPDX-License-Identifier: Apache-2.0\n")
base64_hash("${script}" script_hash)
base64_hash("${style}" style_hash)
string(REPLACE "@SCRIPT_HASH@" ${script_hash} page "${page}")
string(REPLACE "@STYLE_HASH@" ${style_hash} page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUTPUT} "// Written by cmake/LlmscapePage.cmake.
#include \"sim/report/page_template.hpp\"

namespace llmscape::report {

const std::string_view kPageTemplate = R\"page(${page})page\";

}  // namespace llmscape::report
")
