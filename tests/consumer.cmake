# Installs heddle from `build` into a new prefix, then configures, builds and runs the `program` of `source` against it
# alone. Its output must match `expected`, and it must succeed. It may fail for lack of a GPU,
# unless the environment has HEDDLE_REQUIRE_GPU.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${work})
set(prefix ${work}/prefix)

execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} --config ${config}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${work}/build -G ${generator}
    -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_BUILD_TYPE=${config}
    -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_CXX_FLAGS=${flags}
    -D CMAKE_EXE_LINKER_FLAGS=${flags}
    -D CMAKE_CUDA_COMPILER=${cuda_compiler}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --config ${config} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/build/${program} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)

message("${output}${errors}")
if(NOT status EQUAL 0 AND errors MATCHES "cudaError(NoDevice|InsufficientDriver)" AND "$ENV{HEDDLE_REQUIRE_GPU}" STREQUAL "")
  return()
elseif(NOT status EQUAL 0)
  message(FATAL_ERROR "${program} failed: ${status}")
endif()
if(NOT output MATCHES "^${expected}\n$")
  message(FATAL_ERROR "${program} printed something else than expected")
endif()
