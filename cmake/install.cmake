include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

install(TARGETS heddle EXPORT heddle_targets)
# Strips local names from the archive. They are an eighth of it, and no linker needs them.
if(NOT BUILD_SHARED_LIBS AND CMAKE_STRIP)
  install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:heddle>\" COMMAND_ERROR_IS_FATAL ANY)")
endif()
install(DIRECTORY include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The internal headers that heddle/conv.cuh, heddle/matmul.cuh and heddle/elementwise.cuh include.
install(DIRECTORY kernels/conv kernels/device kernels/frame kernels/matmul
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/internal/kernels
  FILES_MATCHING PATTERN *.cuh PATTERN *.hpp)
install(EXPORT heddle_targets NAMESPACE heddle:: DESTINATION ${package_dir})

cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH heddle_toolkit)
configure_package_config_file(cmake/heddle-config.cmake.in ${PROJECT_BINARY_DIR}/heddle-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/heddle-config.cmake
  ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
  cmake/cuda.cmake
  cmake/nvtoolsext.cmake
  DESTINATION ${package_dir})
