# Chooses the CUDA compiler, before project(). The caller's choice comes first, then the first recent nvcc on PATH, in
# /usr/local/cuda or in .deps/cuda. scripts/setup installs NVIDIA's wheels there if it finds no other.
set(deps ${CMAKE_CURRENT_LIST_DIR}/../.deps)
cmake_path(NORMAL_PATH deps)

if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(path_nvcc nvcc NO_CACHE)
  foreach(nvcc IN ITEMS ${path_nvcc} /usr/local/cuda/bin/nvcc ${deps}/cuda/bin/nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND version MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 13.0)
      set(CMAKE_CUDA_COMPILER ${nvcc})
      break()
    endif()
  endforeach()
endif()

# The baselines that scripts/setup --baselines installs because the toolkit lacks them.
list(APPEND CMAKE_PREFIX_PATH ${deps}/baselines ${deps}/cudnn-frontend)
