# Installs heddle from `build` into a new prefix, then configures, builds and runs `source` against it alone.
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
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --config ${config} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)

message("${output}")
if(NOT output MATCHES "^1\\.5 \\+ 2\\.25 = 3\\.75, a million times, on the (GPU|CPU)\n$")
  message(FATAL_ERROR "the consumer printed something else than expected")
endif()
