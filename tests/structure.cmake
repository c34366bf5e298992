# Tests of the tree itself: layers, public headers that compile alone, the installed package, the pages' commands, the
# output of scripts, the content of the library, and comments without measured figures.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# A shared library exports the public symbols.
if(BUILD_SHARED_LIBS)
  add_test(NAME library.exports
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/library.py exports $<TARGET_FILE:heddle>
      ${PROJECT_SOURCE_DIR}/include/heddle)
endif()

# consumer_test(PROGRAM EXPECTED [FOLDER]): the program's folder is FOLDER, or that of the example of its name.
function(consumer_test program expected)
  if(ARGC GREATER 2)
    set(source ${ARGV2})
  else()
    set(source ${PROJECT_SOURCE_DIR}/examples/${program})
  endif()
  add_test(NAME ${program}
    COMMAND ${CMAKE_COMMAND}
      -D build=${PROJECT_BINARY_DIR}
      -D source=${source}
      -D program=${program}
      -D expected=${expected}
      -D work=${CMAKE_CURRENT_BINARY_DIR}/${program}
      -D generator=${CMAKE_GENERATOR}
      -D config=$<CONFIG>
      -D compiler=${CMAKE_CXX_COMPILER}
      -D cuda_compiler=${CMAKE_CUDA_COMPILER}
      -D flags=$<$<BOOL:${HEDDLE_SANITIZE}>:-fsanitize=address,undefined>
      -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer.cmake)
  set_tests_properties(${program} PROPERTIES TIMEOUT 300)
endfunction()
consumer_test(consumer "1.5 .+ = 3.75, a million times, on the (GPU|CPU)")

# README's program, with README's lines of CMake. It does not catch the exception for a missing GPU.
set(readme ${PROJECT_SOURCE_DIR}/README.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${readme})
file(READ ${readme} text)
foreach(language IN ITEMS cpp cmake)
  if(NOT text MATCHES "\n```${language}\n([^`]+)\n```\n")
    message(FATAL_ERROR "README.md has no block of ${language}")
  endif()
  set(${language} "${CMAKE_MATCH_1}")
endforeach()
set(folder ${CMAKE_CURRENT_BINARY_DIR}/readme_source)
file(CONFIGURE OUTPUT ${folder}/program.cpp CONTENT "@cpp@\n" @ONLY)
file(CONFIGURE OUTPUT ${folder}/CMakeLists.txt CONTENT [[
cmake_minimum_required(VERSION 3.25)
project(readme_program LANGUAGES CXX)
add_executable(program program.cpp)
set_target_properties(program PROPERTIES OUTPUT_NAME readme_program)
@cmake@
]] @ONLY)
consumer_test(readme_program "1.000000" ${folder})

# The others run none of heddle's host code, so they run only without sanitizers.
if(HEDDLE_SANITIZE)
  return()
endif()

foreach(example IN ITEMS custom_epilogue custom_conv_epilogue)
  consumer_test(${example} "(no CUDA device: .+|.+, 0 of them wrong)")
endforeach()

# Its link lines are Ninja's, and have an archive.
if(NOT BUILD_SHARED_LIBS AND CMAKE_GENERATOR STREQUAL "Ninja")
  add_test(NAME ways_to_link
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ways_to_link.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      ${CMAKE_CUDA_COMPILER})
  set_tests_properties(ways_to_link PROPERTIES TIMEOUT 300)
endif()

add_test(NAME layering COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/layering.py ${PROJECT_SOURCE_DIR})
add_test(NAME layering.self_test COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/layering.py --self-test)
add_test(NAME mutants COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/mutants --check)
add_test(NAME comments COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/comments.py ${PROJECT_SOURCE_DIR})
add_test(NAME comments.self_test COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/comments.py --self-test)
add_test(NAME bench_pytorch
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench_pytorch.py ${PROJECT_SOURCE_DIR})
add_test(NAME weight COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/weight.py ${PROJECT_SOURCE_DIR})
add_test(NAME gpu_id COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/gpu_id.py ${PROJECT_SOURCE_DIR})
add_test(NAME bench_headline
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench_headline.py ${PROJECT_SOURCE_DIR})
# Its pictures need matplotlib, which scripts/setup --ci installs.
set(report_python ${PROJECT_SOURCE_DIR}/.deps/report/bin/python3)
if(NOT EXISTS ${report_python})
  set(report_python ${Python3_EXECUTABLE})
endif()
add_test(NAME bench_report COMMAND ${report_python} ${CMAKE_CURRENT_SOURCE_DIR}/bench_report.py ${PROJECT_SOURCE_DIR})

# The pages' commands: they name programs of all parts, and paths in a folder of Ninja's.
add_test(NAME pages.self_test COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/pages.py --self-test)
if(HEDDLE_BUILD_BENCHMARKS AND HEDDLE_BUILD_EXAMPLES AND CMAKE_GENERATOR STREQUAL "Ninja")
  add_test(NAME pages
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/pages.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      ${CUDAToolkit_BIN_DIR} ${PROJECT_SOURCE_DIR}/.deps/cuda/bin ${PROJECT_SOURCE_DIR}/.deps/disassembler/bin)
  set_tests_properties(pages PROPERTIES TIMEOUT 300)
endif()

# The page that adds a rung, followed on a copy of the tree: its objects are linked instead of an archive's members.
add_test(NAME add_a_kernel.self_test
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/add_a_kernel.py --self-test)
if(NOT BUILD_SHARED_LIBS AND CMAKE_GENERATOR STREQUAL "Ninja")
  add_test(NAME add_a_kernel
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/add_a_kernel.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(add_a_kernel PROPERTIES TIMEOUT 300)
endif()

add_test(NAME install_preset
  COMMAND ${CMAKE_COMMAND}
    -D source=${PROJECT_SOURCE_DIR}
    -D build=${CMAKE_CURRENT_BINARY_DIR}/install_preset
    -D compiler=${CMAKE_CXX_COMPILER}
    -D cuda_compiler=${CMAKE_CUDA_COMPILER}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/install_preset.cmake)

# The machine code of the kernels. cuobjdump is beside nvcc, on PATH, or where scripts/setup puts it.
add_test(NAME sass
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/sass.py $<TARGET_FILE:heddle> ${CUDAToolkit_BIN_DIR}
    ${PROJECT_SOURCE_DIR}/.deps/cuda/bin ${PROJECT_SOURCE_DIR}/.deps/disassembler/bin)
set_tests_properties(sass PROPERTIES SKIP_RETURN_CODE 77)

# A glob, not a list: no header may be forgotten.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS
  RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/heddle/*.hpp)
get_target_property(cccl_folders heddle::cccl INTERFACE_INCLUDE_DIRECTORIES)
list(TRANSFORM CUDAToolkit_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE cuda_includes)
list(TRANSFORM cccl_folders PREPEND -isystem OUTPUT_VARIABLE cccl_includes)
foreach(header IN LISTS headers)
  add_test(NAME header.${header}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
      -I${PROJECT_SOURCE_DIR}/include ${cuda_includes} ${cccl_includes} -include ${header} -x c++ /dev/null)
endforeach()
