# Configures the preset of README.md's installation in the folder `build`. It must make code for all GPUs that docs/use.md
# names, for the library alone, and compiler warnings must not stop it.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${build})
execute_process(COMMAND ${CMAKE_COMMAND} --preset install -B ${build}
    -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_CUDA_COMPILER=${cuda_compiler}
  WORKING_DIRECTORY ${source} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${build}/compile_commands.json commands)

foreach(wanted IN ITEMS "arch=compute_80,code=[compute_80,sm_80]" "arch=compute_90a,code=[sm_90a]" "naive.cu")
  string(FIND "${commands}" "${wanted}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "no command of the preset install has ${wanted}")
  endif()
endforeach()
foreach(unwanted IN ITEMS "-Werror" "${source}/tests/" "${source}/benchmarks/" "${source}/examples/")
  string(FIND "${commands}" "${unwanted}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "a command of the preset install has ${unwanted}")
  endif()
endforeach()
