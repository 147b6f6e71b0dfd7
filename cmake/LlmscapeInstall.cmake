# SPDX-License-Identifier: Apache-2.0
# `cmake --install` puts the program into bin and what it reads into share/llmscape, in the folders of the source tree, so
# that a path is the same in both; `cpack` makes a .deb and a .tar.gz of that.
include(GNUInstallDirs)
llmscape_library(data_folder SOURCES sim/cli/data_folder.cpp)
target_compile_definitions(llmscape_data_folder PRIVATE LLMSCAPE_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")

install(TARGETS llmscape)

# What the program prints about itself, as files: where man and the shells look for it.
function(llmscape_prints file folder)
  set(output ${PROJECT_BINARY_DIR}/share/${file})
  add_custom_command(OUTPUT ${output} COMMAND llmscape ${ARGN} > ${output} DEPENDS llmscape VERBATIM)
  set_property(GLOBAL APPEND PROPERTY llmscape_printed ${output})
  install(FILES ${output} DESTINATION ${folder})
endfunction()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/bash ${PROJECT_BINARY_DIR}/share/zsh)
llmscape_prints(llmscape.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
llmscape_prints(bash/llmscape ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
llmscape_prints(zsh/_llmscape ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
get_property(printed GLOBAL PROPERTY llmscape_printed)
add_custom_target(llmscape_printed ALL DEPENDS ${printed})

foreach(folder traces/measured models/catalog hardware/catalog workloads/catalog schemas examples studies)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/llmscape/${folder})
endforeach()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "the llmscape authors")
set(CPACK_PACKAGE_CONTACT "the llmscape authors <llmscape@localhost>")
set(CPACK_PACKAGE_FILE_NAME llmscape-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the libraries, as dpkg finds them
include(CPack)
