# Flags for heddle's own targets. Programs that link heddle do not get them.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)

option(HEDDLE_LINEINFO "Let ncu and compute-sanitizer name source lines of kernels" OFF)
option(HEDDLE_DELAYS "Let threads of kernels come late by chance wherever something orders them, to show faults of order" OFF)
option(HEDDLE_SANITIZE "Instrument the library's host code with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

function(heddle_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef>
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>
    # Compression shrinks machine code to a fifth. The driver unpacks it when it loads a module.
    $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size -Xcompiler=-Wall,-Wextra>)
  if(HEDDLE_LINEINFO)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
  endif()
  if(HEDDLE_DELAYS)
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:HEDDLE_DELAYS>)
  endif()
  if(HEDDLE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror>
      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
  endif()
endfunction()

# A shared library exports what the public headers declare: they make the visibility of their names `default` again, by
# a pragma. A source file that defines a function template of a public header has the pragma too, because GCC takes the
# template's visibility from its definition.
function(heddle_hide_internals target)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Instruments the library's host code, and enables its assertions. Targets that link it also link the sanitizers.
function(heddle_sanitize target)
  if(HEDDLE_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -UNDEBUG -O1 -g1)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${flags}>)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=address,undefined>)
  endif()
endfunction()

# For host code of tests and programs, which computes little: -O1 compiles in half the time of -O3.
function(heddle_compile_lightly target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
endfunction()
