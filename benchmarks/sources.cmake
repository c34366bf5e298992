# Writes heddle_sources.hpp, where it changed: what the sources are. -D source=... -D output=...
execute_process(COMMAND git -C ${source} describe --always --abbrev=40 --dirty --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit unknown)
endif()
execute_process(COMMAND ${source}/scripts/source-digest
  OUTPUT_VARIABLE digest OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(digest unknown)
endif()
file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#pragma once

#define HEDDLE_COMMIT "@commit@"
#define HEDDLE_SOURCES_SHA256 "@digest@"
]])
