# heddle_instantiations(TARGET HEADER <header> TYPES <type>... FUNCTIONS <declaration>... [TOGETHER <name>] [PART <name>]
#                       [NAMESPACE <name>])
#
# Adds to TARGET a source file for each type, which instantiates the function templates that the header defines; in the
# declarations, T is the type. TOGETHER: one file of that name for all types, where they compile fast.
# NAMESPACE: that of the functions, where it is not heddle::kernels::<the header's folder>.
# PART: these functions have files of their own, where all of a type would take long. The files lie in the
# build folder, and CMake writes them anew only where they change.
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
