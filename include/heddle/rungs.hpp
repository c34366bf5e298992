#pragma once

/// The header of an operation lists its rungs in one macro, such as HEDDLE_SOFTMAX_RUNGS. A row, `RUNG(name, ...)`,
/// says what the library and its tests know of a rung outside its kernel. Code that needs something of every rung
/// passes its own macro as RUNG. kernels/softmax/launch.hpp declares the functions of the rungs in this way.
/// src/softmax/rungs.cpp makes the table of them. The header says what a row has; src/rung_rows.hpp has `always` and
/// `never`. docs/add-a-kernel.md adds a row.

/// For the enumeration: the name.
#define HEDDLE_ENUMERATOR(name, ...) name,
