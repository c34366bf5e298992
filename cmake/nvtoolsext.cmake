# Debian 12's CMake 3.25.1 fails to find a CUDA toolkit without nvToolsExt, which CUDA 13 has no more, unless a target
# of that name is there beforehand. Shared by the build and by the installed package.
if(CMAKE_VERSION VERSION_LESS 3.25.2 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
