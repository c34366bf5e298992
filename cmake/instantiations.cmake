# heddle_instantiations(TARGET HEADER <header> TYPES <type>... FUNCTIONS <declaration>... [TOGETHER <name>] [PART <name>]
#                       [NAMESPACE <name>])
#
# Adds a source file for each type to TARGET. The file instantiates the function templates of the header; T stands for
# the type in declarations. NAMESPACE is that of the functions, if it is not heddle::kernels::<the header's folder>.
# TOGETHER makes one file of that name for all types, if they compile fast.
# PART puts these functions into separate files, if all functions of a type would compile too long. The files lie in the
# build folder, and CMake rewrites only changed ones.
function(heddle_instantiations target)
  cmake_parse_arguments(arg "" "HEADER;TOGETHER;PART;NAMESPACE" "TYPES;FUNCTIONS" ${ARGN})
  cmake_path(GET arg_HEADER PARENT_PATH folder)
  cmake_path(GET arg_HEADER STEM header)
  cmake_path(GET folder FILENAME operation)
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE heddle::kernels::${operation})
  endif()

  set(files "")
  foreach(type IN LISTS arg_TYPES)
    string(REGEX REPLACE "^std::(.*)_t$" "\\1" name ${type})
    if(arg_TOGETHER)
      set(name ${arg_TOGETHER})
    endif()
    if(arg_PART)
      string(APPEND name _${arg_PART})
    endif()
    if(NOT name IN_LIST files)
      list(APPEND files ${name})
      set(instantiations_${name} "")
    endif()
    foreach(function IN LISTS arg_FUNCTIONS)
      string(REGEX REPLACE "([<, ])T([>,*])" "\\1${type}\\2" declaration ${function})
      string(APPEND instantiations_${name} "template ${declaration};\n")
    endforeach()
  endforeach()

  foreach(name IN LISTS files)
    set(instantiations "${instantiations_${name}}")
    set(file ${PROJECT_BINARY_DIR}/${folder}/${header}_${name}.cu)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
#include "@arg_HEADER@"

namespace @arg_NAMESPACE@ {

@instantiations@
}  // namespace @arg_NAMESPACE@
]])
    target_sources(${target} PRIVATE ${file})
  endforeach()
endfunction()
