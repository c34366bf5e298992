# CUDA 13 has no nvToolsExt. Debian 12's CMake 3.25.1 then finds no toolkit, unless a target of that name exists. The
# build and the installed package share this file.
if(CMAKE_VERSION VERSION_LESS 3.25.2 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
