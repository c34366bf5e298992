# heddle::cccl carries the include folder of the CUDA toolkit's own C++ libraries (<cuda/stream_ref>). nvcc knows it;
# CMake's FindCUDAToolkit does not tell a host compiler of it. Shared by the build and by the installed package.
if(NOT TARGET heddle::cccl)
  find_path(heddle_cccl_include_dir cuda/stream_ref
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES cccl NO_DEFAULT_PATH REQUIRED)
  mark_as_advanced(heddle_cccl_include_dir)
  add_library(heddle::cccl INTERFACE IMPORTED)
  target_include_directories(heddle::cccl SYSTEM INTERFACE ${heddle_cccl_include_dir})
endif()
