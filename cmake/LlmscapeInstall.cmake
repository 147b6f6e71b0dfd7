# SPDX-License-Identifier: Apache-2.0
# `cmake --install` puts the program into bin and what it reads into share/llmscape, in the folders of the source tree, so
# that a path is the same in both; `cpack` makes a .deb and a .tar.gz of that.
include(GNUInstallDirs)
llmscape_library(data_folder SOURCES sim/cli/data_folder.cpp PUBLIC llmscape::base)
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

foreach(folder traces/measured models/catalog hardware/catalog workloads/catalog schemas examples studies
               tests/validation/rows)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/llmscape/${folder})
endforeach()
# The interface for programs of others (sim/api): all floors that it stands on in one archive.
set(archive ${PROJECT_BINARY_DIR}/libllmscape.a)
set(floors api run world scenario result metrics serving engine kernel workloads hardware traces models base)
set(script "create ${archive}\n")
set(floor_files "")
foreach(floor IN LISTS floors)
  string(APPEND script "addlib $<TARGET_FILE:llmscape_${floor}>\n")
  list(APPEND floor_files llmscape_${floor} $<TARGET_FILE:llmscape_${floor}>)
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/libllmscape.mri CONTENT "${script}save\nend\n")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND sh -c "$1 -M <$2" sh ${CMAKE_AR} ${PROJECT_BINARY_DIR}/libllmscape.mri
  DEPENDS ${floor_files} COMMENT "Putting libllmscape.a together" VERBATIM)
add_custom_target(llmscape_archive ALL DEPENDS ${archive})
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES sim/api/llmscape.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/llmscape)
include(CMakePackageConfigHelpers)
set(LLMSCAPE_DATA ${CMAKE_INSTALL_DATADIR}/llmscape)
configure_package_config_file(cmake/llmscape-config.cmake.in ${PROJECT_BINARY_DIR}/llmscape-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/llmscape
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR LLMSCAPE_DATA)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/llmscape-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/llmscape-config.cmake ${PROJECT_BINARY_DIR}/llmscape-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/llmscape)

# Where Debian's python3 looks; elsewhere PYTHONPATH names it.
set(LLMSCAPE_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Folder of the Python package, below the prefix")
install(DIRECTORY python/llmscape DESTINATION ${LLMSCAPE_PYTHON_FOLDER} FILES_MATCHING PATTERN "*.py" PATTERN py.typed
  PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Pages link to examples beside them.
file(RELATIVE_PATH examples ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR}/llmscape/examples)
install(CODE "file(CREATE_LINK ${examples} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/examples\" SYMBOLIC)")

# Without dpkg-shlibdeps (of dpkg-dev) CPack makes a package that depends on nothing, and says so in a log that nobody reads.
find_program(LLMSCAPE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(LLMSCAPE_SHLIBDEPS)
set(CPACK_GENERATOR TGZ)
if(LLMSCAPE_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_VENDOR "the llmscape authors")
set(CPACK_PACKAGE_CONTACT "the llmscape authors <llmscape@localhost>")
set(CPACK_PACKAGE_FILE_NAME llmscape-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # llmscape_0.1.0_amd64.deb
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the libraries, as dpkg finds them
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libyaml-cpp-dev, zlib1g-dev, libzstd-dev, libsimgrid-dev")  # find_package(llmscape)
include(CPack)
