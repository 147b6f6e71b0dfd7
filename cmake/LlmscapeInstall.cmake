# SPDX-License-Identifier: Apache-2.0
# `cmake --install` puts the program into bin and what it reads into share/llmscape, in the folders of the source tree, so
# that a path is the same in both; `cpack` makes a .deb and a .tar.gz of that.
include(GNUInstallDirs)
llmscape_library(data_folder SOURCES sim/cli/data_folder.cpp)
target_compile_definitions(llmscape_data_folder PRIVATE LLMSCAPE_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")

install(TARGETS llmscape)
foreach(folder traces/measured models/catalog hardware/catalog workloads/catalog schemas examples)
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
