#pragma once

/// The header of an operation lists its rungs in one macro, such as HEDDLE_SOFTMAX_RUNGS. A row, `RUNG(name, ...)`,
/// says what the library and its tests know of a rung outside its kernel. Code that needs something of every rung
/// passes its own macro as RUNG. kernels/softmax/launch.hpp declares the functions of the rungs in this way.
/// src/softmax/rungs.cpp makes the table of them. The header says what a row has; src/rung_rows.hpp has `always` and
/// `never`. docs/add-a-kernel.md adds a row.

/// For the enumeration: the name.
#define HEDDLE_ENUMERATOR(name, ...) name,

/// Some rungs have several kernels, for different problems. A list with such a rung takes three macros, as
/// HEDDLE_POOL_RUNGS does. RUNG(name, ...) is a rung of one kernel. KERNELS(name) is a rung whose kernels follow, each
/// as KERNEL(rung, name, ...). Code that needs something of every rung, or of every kernel, passes this macro for the
/// rows that it passes over.
#define HEDDLE_NOTHING(...)
