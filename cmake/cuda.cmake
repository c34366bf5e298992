# The parts of the CUDA toolkit that heddle uses beside nvcc. The build and the installed package share this file.

# heddle::cccl: the include folder of the toolkit's C++ libraries (<cuda/stream_ref>). nvcc knows it, but CMake's
# FindCUDAToolkit does not add it for a host compiler.
if(NOT TARGET heddle::cccl)
  find_path(heddle_cccl_include_dir cuda/stream_ref
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES cccl NO_DEFAULT_PATH REQUIRED)
  mark_as_advanced(heddle_cccl_include_dir)
  add_library(heddle::cccl INTERFACE IMPORTED)
  target_include_directories(heddle::cccl SYSTEM INTERFACE ${heddle_cccl_include_dir})
endif()

# heddle::cudart: the CUDA runtime of a program's property CUDA_RUNTIME_LIBRARY. CMake links the program's .cu files
# with the same runtime, so the program has only one. CMake's default is the static one.
if(NOT TARGET heddle::cudart)
  add_library(heddle::cudart INTERFACE IMPORTED)
  set_property(TARGET heddle::cudart PROPERTY INTERFACE_LINK_LIBRARIES
    "$<IF:$<STREQUAL:$<UPPER_CASE:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>>,SHARED>,CUDA::cudart,CUDA::cudart_static>")
endif()
