option(HEDDLE_BASELINES "Compare with the vendor's libraries, and two for the CPU, where they are installed" ON)

# heddle_baselines: the installed ones of the vendor's libraries and of two for the CPU. The generated
# heddle_baselines.hpp defines HEDDLE_HAS_CUBLAS, HEDDLE_HAS_CUDNN, HEDDLE_HAS_CUDNN_FRONTEND, HEDDLE_HAS_NPP,
# HEDDLE_HAS_OPENBLAS and HEDDLE_HAS_OPENCV as 0 or 1. Only files that use these libraries include it.
# heddle_loaded_baselines: the same, but LOADABLE libraries are not linked. The program loads them from
# HEDDLE_BASELINE_FOLDERS.
add_library(heddle_baselines INTERFACE)
add_library(heddle_loaded_baselines INTERFACE)
set(HEDDLE_BASELINE_FOLDERS "")
set(baselines_header ${PROJECT_BINARY_DIR}/generated/heddle_baselines.hpp)
set(baselines_text "#pragma once\n\n")

function(heddle_baseline name)
  cmake_parse_arguments(arg "LOADABLE" "INCLUDES" "LIBRARIES" ${ARGN})
  set(found 0)
  if(HEDDLE_BASELINES)
    set(found 1)
  endif()
  foreach(item IN LISTS arg_LIBRARIES arg_INCLUDES)
    if(NOT item OR (item MATCHES "::" AND NOT TARGET ${item}))
      set(found 0)
    endif()
  endforeach()
  if(DEFINED arg_INCLUDES)
    # The include path is a link that may be missing, so that compile commands do not depend on what is installed.
    set(link ${PROJECT_BINARY_DIR}/generated/baselines/${name})
    file(REMOVE ${link})
    if(found AND NOT arg_INCLUDES IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/baselines)
      file(CREATE_LINK ${arg_INCLUDES} ${link} SYMBOLIC)
    endif()
    foreach(target IN ITEMS heddle_baselines heddle_loaded_baselines)
      target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${link}>")
    endforeach()
  endif()
  set(HEDDLE_HAS_${name} ${found} PARENT_SCOPE)
  set(baselines_text "${baselines_text}#define HEDDLE_HAS_${name} ${found}\n" PARENT_SCOPE)
  if(NOT found)
    message(STATUS "heddle: ${name} is not installed or not wanted, its baselines are left out")
    return()
  endif()
  target_link_libraries(heddle_baselines INTERFACE ${arg_LIBRARIES})
  if(NOT arg_LOADABLE)
    target_link_libraries(heddle_loaded_baselines INTERFACE ${arg_LIBRARIES})
    return()
  endif()
  foreach(library IN LISTS arg_LIBRARIES)
    if(TARGET ${library})
      get_target_property(library ${library} IMPORTED_LOCATION)
    endif()
    cmake_path(GET library PARENT_PATH folder)
    list(APPEND HEDDLE_BASELINE_FOLDERS ${folder})
  endforeach()
  list(REMOVE_DUPLICATES HEDDLE_BASELINE_FOLDERS)
  set(HEDDLE_BASELINE_FOLDERS ${HEDDLE_BASELINE_FOLDERS} PARENT_SCOPE)
endfunction()

heddle_baseline(CUBLAS LOADABLE LIBRARIES CUDA::cublas CUDA::cublasLt)

find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(CUDNN_INCLUDE_DIR CUDNN_LIBRARY)
heddle_baseline(CUDNN LOADABLE LIBRARIES ${CUDNN_LIBRARY} INCLUDES ${CUDNN_INCLUDE_DIR})

# cuDNN's graphs, which are only headers.
find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS ${CUDNN_INCLUDE_DIR})
mark_as_advanced(CUDNN_FRONTEND_INCLUDE_DIR)
heddle_baseline(CUDNN_FRONTEND INCLUDES ${CUDNN_FRONTEND_INCLUDE_DIR})

find_path(NPP_INCLUDE_DIR npp.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(NPP_INCLUDE_DIR)
heddle_baseline(NPP LOADABLE LIBRARIES CUDA::nppif CUDA::nppc INCLUDES ${NPP_INCLUDE_DIR})

find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas x86_64-linux-gnu openblas-pthread)
find_library(OPENBLAS_LIBRARY openblas)
mark_as_advanced(OPENBLAS_INCLUDE_DIR OPENBLAS_LIBRARY)
heddle_baseline(OPENBLAS LIBRARIES ${OPENBLAS_LIBRARY} INCLUDES ${OPENBLAS_INCLUDE_DIR})

# Found by files: only Debian's libopencv-dev has OpenCVConfig.cmake, and it needs all modules of OpenCV.
find_path(OPENCV_INCLUDE_DIR opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(OPENCV_IMGPROC_LIBRARY opencv_imgproc)
find_library(OPENCV_CORE_LIBRARY opencv_core)
mark_as_advanced(OPENCV_INCLUDE_DIR OPENCV_IMGPROC_LIBRARY OPENCV_CORE_LIBRARY)
heddle_baseline(OPENCV
  LIBRARIES ${OPENCV_IMGPROC_LIBRARY} ${OPENCV_CORE_LIBRARY}
  INCLUDES ${OPENCV_INCLUDE_DIR})

file(CONFIGURE OUTPUT ${baselines_header} CONTENT "${baselines_text}" @ONLY)
foreach(target IN ITEMS heddle_baselines heddle_loaded_baselines)
  target_include_directories(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_BINARY_DIR}/generated>")
endforeach()
